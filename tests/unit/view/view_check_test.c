/*
 * The check of the view: it detects every wrong counter.
 */
#include "view/view_check.h"

#include "lib/test.h"
#include "view/view_int.h"
#include "view_kit.h"

static void run_check(struct view_kit *k, struct view_reader *r, void *data)
{
    (void)(view_check_run(r, engine_store(k->engine->engine), data, &k->err) == ERR_OK);
}

static uint64_t differences_after(struct view_kit *k, sqlite3 *db, const char *sql)
{
    struct err err;
    struct view_check check;
    assert_int_equal(view_sql__exec(db, sql, &err), ERR_OK);
    assert_int_equal(sqlite3_changes(db) > 0, 1);
    view_kit_ask(k, false, run_check, &check);
    assert_int_equal(k->err.code, ERR_OK);
    return check.differences;
}

static void a_wrong_counter_is_found(void **state)
{
    static const struct {
        const char *spoil, *mend;
    } rows[] = {
        {"UPDATE counts SET n = n + 1 WHERE queue = 0",
         "UPDATE counts SET n = n - 1 WHERE queue = 0"},
        {"UPDATE counts SET n = n + 1 WHERE queue = 1",
         "UPDATE counts SET n = n - 1 WHERE queue = 1"},
        {"UPDATE counts SET failing = 1 WHERE queue = 1",
         "UPDATE counts SET failing = 0 WHERE queue = 1"},
        {"UPDATE ranks SET n = n + 1 WHERE kind = 0 AND queue = 0",
         "UPDATE ranks SET n = n - 1 WHERE kind = 0 AND queue = 0"},
        {"UPDATE ranks SET n = n + 1 WHERE kind = 0 AND queue = 1",
         "UPDATE ranks SET n = n - 1 WHERE kind = 0 AND queue = 1"},
        {"UPDATE ranks SET n = n - 1 WHERE kind = 4", "UPDATE ranks SET n = n + 1 WHERE kind = 4"},
        {"UPDATE ranks SET queue = 7 WHERE queue = 1",
         "UPDATE ranks SET queue = 1 WHERE queue = 7"},
    };
    struct view_kit *k = view_kit_open(NULL);
    struct err err;
    sqlite3 *db = NULL;
    (void)state;
    for (unsigned i = 0; i < 10; i++) {
        (void)engine_kit_put(k->engine, engine_kit_new_job("q"));
    }
    for (unsigned i = 0; i < 5; i++) {
        engine_kit_ack(k->engine, engine_kit_claim(k->engine, "q"));
    }
    view_kit_check(k);
    assert_int_equal(view_db__open(view_kit_path(k).z, VIEW_DB_WRITE, &db, &err), ERR_OK);
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        ROW(rows[i].spoil);
        assert_true(differences_after(k, db, rows[i].spoil) > 0);
        assert_int_equal(differences_after(k, db, rows[i].mend), 0);
    }
    view_db__close(db);
    view_kit_close(k);
}

static void a_wrong_error_is_found(void **state)
{
    static const struct {
        const char *spoil, *mend;
    } rows[] = {
        {"UPDATE errors SET before = 1", "UPDATE errors SET before = -1"},
        {"UPDATE errors SET dead = 1", "UPDATE errors SET dead = 0"},
        {"UPDATE errors SET error = 'yes'", "UPDATE errors SET error = 'no'"},
    };
    struct view_kit *k = view_kit_open(NULL);
    struct err err;
    sqlite3 *db = NULL;
    (void)state;
    (void)engine_kit_put(k->engine, engine_kit_new_job("q"));
    engine_kit_fail(k->engine, engine_kit_claim(k->engine, "q"));
    view_kit_check(k);
    assert_int_equal(view_db__open(view_kit_path(k).z, VIEW_DB_WRITE, &db, &err), ERR_OK);
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        ROW(rows[i].spoil);
        assert_true(differences_after(k, db, rows[i].spoil) > 0);
        assert_int_equal(differences_after(k, db, rows[i].mend), 0);
    }
    view_db__close(db);
    view_kit_close(k);
}

/* Numbers that are used as indexes in memory. A file with invalid ones is rebuilt. */
static void numbers_that_cannot_be_are_damage(void **state)
{
    static const char *const rows[] = {
        "UPDATE queues SET num = 1000000000",
        "UPDATE counts SET queue = 1000000000 WHERE queue = 1",
        "UPDATE ranks SET queue = 1000000000 WHERE queue = 1",
        "UPDATE counts SET state = 77 WHERE queue = 1",
        "UPDATE jobs SET queue = 1000000000",
        "UPDATE jobs SET queue = -1",
        "UPDATE jobs SET state = 77",
        "UPDATE jobs SET state = -1",
    };
    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct view_kit *k = view_kit_open(NULL);
        struct err err;
        sqlite3 *db = NULL;
        ROW(rows[i]);
        struct id id = engine_kit_put(k->engine, engine_kit_new_job("q"));
        view_kit_check(k);
        view_kit_stop_view(k);
        assert_int_equal(view_db__open(view_kit_path(k).z, VIEW_DB_WRITE, &db, &err), ERR_OK);
        assert_int_equal(view_sql__exec(db, rows[i], &err), ERR_OK);
        assert_true(sqlite3_changes(db) > 0);
        view_db__close(db);
        view_kit_start_view(k);
        engine_kit_job(k->engine, COMMAND_JOB_CANCEL, id);
        view_kit_check(k);
        assert_true(view_kit_status(k).rebuilt);
        view_kit_close(k);
    }
}

TEST_GROUP(view_check, cmocka_unit_test(a_wrong_counter_is_found),
           cmocka_unit_test(a_wrong_error_is_found),
           cmocka_unit_test(numbers_that_cannot_be_are_damage));
