/*
 * Questions that nobody wants any more.
 */
#include "base/check.h"
#include "lib/test.h"
#include "view/view_int.h"
#include "view/view_search.h"
#include "view_kit.h"

/* A question that never ends by itself, and one behind it in the line. */
struct endless {
    struct view_ask ask;
    uv_sem_t begun, done;
    struct err err;
    const char *program; /* NULL: it is SQLite that does not end */
};

static void run_endless(struct view_ask *ask, struct view_reader *r)
{
    struct endless *e = CONTAINER_OF(ask, struct endless, ask);
    uv_sem_post(&e->begun);
    if (e->program == NULL) {
        int64_t n;
        static const char sql[] = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n)"
                                  " SELECT count(*) FROM n";
        (void)(view_db__number(r->db, sql, &n, &e->err) == ERR_OK);
    } else {
        struct view_filter f = {.payload_jq = str_from_z(e->program)};
        struct view_search s = {.filter = &f, .limit = 1};
        struct arena *a = arena_new(1 << 20);
        (void)(view_search_run(r, &s, a, &e->err) == ERR_OK);
        arena_free(a);
    }
}

static void endless_done(struct view_ask *ask)
{
    uv_sem_post(&CONTAINER_OF(ask, struct endless, ask)->done);
}

static void ask_endless(struct view_kit *k, struct endless *e)
{
    e->ask =
        (struct view_ask){.run = run_endless, .done = endless_done, .reply_to = &k->engine->box};
    CHECK(uv_sem_init(&e->begun, 0) == 0);
    CHECK(uv_sem_init(&e->done, 0) == 0);
    view_ask(k->view, &e->ask);
}

static void end_endless(struct endless *e)
{
    uv_sem_wait(&e->done);
    uv_sem_destroy(&e->begun);
    uv_sem_destroy(&e->done);
}

static void one_reader_for_ever(struct view_config *config)
{
    config->readers = 1;
    config->ask_ms = 24 * 3600 * 1000;
}

static void a_question_that_nobody_wants_any_more_ends(void **state)
{
    static const char *const programs[] = {NULL, "last(range(1e18)) == 0"};
    struct view_kit *k = view_kit_open(one_reader_for_ever);
    (void)state;
    (void)engine_kit_put(k->engine, engine_kit_new_job("q"));
    view_kit_check(k);
    for (size_t i = 0; i < COUNT_OF(programs); i++) {
        struct endless runs = {.program = programs[i]};
        struct endless waits = {.program = programs[i]};
        ask_endless(k, &runs);
        uv_sem_wait(&runs.begun);
        ask_endless(k, &waits);
        view_cancel(&waits.ask); /* while the only reader is busy */
        end_endless(&waits);
        assert_int_equal(waits.ask.err.code, ERR_SEARCH);
        assert_int_equal(waits.err.code, ERR_OK); /* it never ran */
        view_cancel(&runs.ask);
        end_endless(&runs);
        assert_int_equal(runs.ask.err.code, ERR_OK);
        assert_int_equal(runs.err.code, ERR_SEARCH);
        view_kit_check(k); /* the reader serves the next one */
    }
    view_kit_close(k);
}

TEST_GROUP(view_cancel, cmocka_unit_test(a_question_that_nobody_wants_any_more_ends));
