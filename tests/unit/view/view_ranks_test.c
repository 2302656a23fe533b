/*
 * Ranks: whatever happens to jobs, the numbers before any moment are those that a count finds.
 */
#include "lib/rng.h"
#include "lib/test.h"
#include "lib/tmpdir.h"
#include "view/view_int.h"

enum { JOBS = 24000, TURN = 1024, MOMENTS = 1000000 };

struct world {
    struct tmpdir dir;
    sqlite3 *db;
    struct view_rows rows;
};

static void begin(struct world *w)
{
    struct err err;
    assert_int_equal(view_rows__begin(&w->rows, &err), ERR_OK);
}

static void commit(struct world *w)
{
    struct err err;
    struct view_mark mark = {.complete = 1};
    assert_int_equal(view_rows__commit(&w->rows, &mark, &err), ERR_OK);
}

static void open_world(struct world *w)
{
    struct err err;
    w->dir = tmpdir_new();
    struct os_file_path path = os_file_join(w->dir.path, "view.db");
    assert_int_equal(view_db__open(path.z, VIEW_DB_BUILD, &w->db, &err), ERR_OK);
    assert_int_equal(view_db__create(w->db, &err), ERR_OK);
    assert_int_equal(view_db__create_indexes(w->db, &err), ERR_OK);
    assert_int_equal(view_rows__open(&w->rows, w->db, NULL, &err), ERR_OK);
}

static void close_world(struct world *w)
{
    view_rows__close(&w->rows);
    view_db__close(w->db);
    tmpdir_remove(&w->dir);
}

/* Some moments are shared by thousands, some by none. */
static int64_t random_moment(struct rng *rng)
{
    switch (rng_below(rng, 4)) {
    case 0:
        return 0;
    case 1:
        return MOMENTS / 2;
    case 2:
        return MOMENTS / 2 + (int64_t)rng_below(rng, 3);
    default:
        return 1 + (int64_t)rng_below(rng, MOMENTS);
    }
}

static struct job job_number(struct rng *rng, uint64_t n, uint64_t version)
{
    struct wall created = {.ns = (1000 + (int64_t)n / 3) * NS_PER_MS};
    return (struct job){.id = id_make(created, n, 0),
                        .version = version,
                        .queue = n % 2 == 0 ? STR("a") : STR("b"),
                        .payload = STR("{}"),
                        .created_at = created,
                        .completed_at = {.ns = random_moment(rng)},
                        .scheduled_at = {.ns = random_moment(rng)},
                        .expire_at = {.ns = (int64_t)n + 1}};
}

static int64_t count(sqlite3 *db, const char *sql, int64_t moment)
{
    struct err err;
    sqlite3_stmt *st = NULL;
    bool row = false;
    assert_int_equal(view_db__prepare(db, sql, &st, &err), ERR_OK);
    (void)sqlite3_bind_int64(st, 1, moment);
    assert_int_equal(view_db__step(db, st, &row, &err), ERR_OK);
    int64_t n = sqlite3_column_int64(st, 0);
    (void)sqlite3_finalize(st);
    return n;
}

static void expect_before(struct world *w, enum view_rank kind, int64_t moment, const char *sql)
{
    struct err err;
    int64_t n = -1;
    struct view_place place = {.moment = moment};
    if (kind == VIEW_RANK_CREATED) {
        place.id = id_make((struct wall){.ns = moment * NS_PER_MS}, 0, 0);
    }
    assert_int_equal(view_ranks__before(w->db, kind, place, &n, &err), ERR_OK);
    assert_int_equal(n, count(w->db, sql, moment));
}

static void compare(struct world *w, struct rng *rng)
{
    static const struct {
        enum view_rank kind;
        const char *sql;
    } rows[] = {
        {VIEW_RANK_CREATED, "SELECT count(*) FROM jobs WHERE created_at / 1000000 < ?"},
        {VIEW_RANK_COMPLETED,
         "SELECT count(*) FROM jobs WHERE completed_at > 0 AND completed_at < ?"},
        {VIEW_RANK_SCHEDULED,
         "SELECT count(*) FROM jobs WHERE scheduled_at > 0 AND scheduled_at < ?"},
        {VIEW_RANK_EXPIRE, "SELECT count(*) FROM jobs WHERE expire_at > 0 AND expire_at < ?"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct err err;
        int64_t all = -1;
        assert_int_equal(view_ranks__all(w->db, rows[i].kind, &all, &err), ERR_OK);
        assert_int_equal(all, count(w->db, rows[i].sql, INT64_MAX));
        for (int64_t d = -1; d <= 4; d++) {
            expect_before(w, rows[i].kind, MOMENTS / 2 + d, rows[i].sql);
        }
        for (int n = 0; n < 20; n++) {
            int64_t most = i == 0 ? 1000 + JOBS / 3 : i == 3 ? JOBS : MOMENTS;
            expect_before(w, rows[i].kind, (int64_t)rng_below(rng, (uint64_t)most + 2),
                          rows[i].sql);
        }
    }
}

static void ranks__are_what_a_count_finds(void **state)
{
    struct world w = {0};
    struct rng rng = rng_from(7);
    struct err err;
    (void)state;
    open_world(&w);
    for (uint64_t n = 0; n < JOBS;) {
        begin(&w);
        for (unsigned i = 0; i < TURN; i++, n++) {
            struct job j = job_number(&rng, n, 1);
            assert_int_equal(view_rows__put(&w.rows, &j, &err), ERR_OK);
        }
        commit(&w);
    }
    compare(&w, &rng);
    assert_true(count(w.db, "SELECT count(*) FROM ranks WHERE kind = 0", 0) > 3); /* it was cut */
    for (uint64_t version = 2; version < 10; version++) {
        begin(&w);
        for (unsigned i = 0; i < TURN; i++) {
            struct job j = job_number(&rng, rng_below(&rng, JOBS), version);
            enum err_code code = rng_below(&rng, 3) == 0 ? view_rows__remove(&w.rows, j.id, &err)
                                                         : view_rows__put(&w.rows, &j, &err);
            assert_int_equal(code, ERR_OK);
        }
        commit(&w);
    }
    compare(&w, &rng);
    /* The same after the file was opened again, and changed again. */
    view_rows__close(&w.rows);
    assert_int_equal(view_rows__open(&w.rows, w.db, NULL, &err), ERR_OK);
    begin(&w);
    for (uint64_t n = 0; n < JOBS; n += 2) {
        assert_int_equal(view_rows__remove(&w.rows, job_number(&rng, n, 1).id, &err), ERR_OK);
    }
    commit(&w);
    compare(&w, &rng);
    close_world(&w);
}

/* A moment that all share is one bucket: a count before or behind it looks at no job. */
static void ranks__give_a_crowd_a_bucket_of_its_own(void **state)
{
    struct world w = {0};
    struct err err;
    struct rng rng = rng_from(1);
    (void)state;
    open_world(&w);
    begin(&w);
    for (uint64_t n = 0; n < 3 * 8192; n++) {
        struct job j = job_number(&rng, n, 1);
        j.completed_at.ns = n < 5 ? 70 + (int64_t)n : 80;
        assert_int_equal(view_rows__put(&w.rows, &j, &err), ERR_OK);
    }
    commit(&w);
    assert_int_equal(count(w.db, "SELECT n FROM ranks WHERE kind = 1 AND first = 0", 0), 5);
    assert_int_equal(count(w.db, "SELECT n FROM ranks WHERE kind = 1 AND first = 80", 0),
                     3 * 8192 - 5);
    assert_int_equal(count(w.db, "SELECT n FROM ranks WHERE kind = 1 AND first = 81", 0), 0);
    assert_int_equal(count(w.db, "SELECT count(*) FROM ranks WHERE kind = 1", 0), 3);
    close_world(&w);
}

TEST_GROUP(view_ranks, cmocka_unit_test(ranks__are_what_a_count_finds),
           cmocka_unit_test(ranks__give_a_crowd_a_bucket_of_its_own));
