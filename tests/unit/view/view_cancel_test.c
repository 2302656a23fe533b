/*
 * Questions that are cancelled, and fair shares of the readers.
 */
#include <stdlib.h>

#include "base/check.h"
#include "lib/test.h"
#include "view/view_int.h"
#include "view/view_search.h"
#include "view_kit.h"

/* A question that does not end unless it is cancelled. */
struct endless {
    struct view_ask ask;
    uv_sem_t begun, done;
    struct err err;
    const char *program; /* NULL: SQLite does not end */
    enum view_kind kind;
};

static void run_endless(struct view_ask *ask, struct view_reader *r)
{
    struct endless *e = CONTAINER_OF(ask, struct endless, ask);
    uv_sem_post(&e->begun);
    if (e->program == NULL) {
        int64_t n;
        static const char sql[] = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n)"
                                  " SELECT count(*) FROM n";
        (void)(view_sql__number(r->db, sql, &n, &e->err) == ERR_OK);
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
    e->ask = (struct view_ask){
        .run = run_endless, .done = endless_done, .reply_to = &k->engine->box, .kind = e->kind};
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
        view_kit_check(k); /* the reader serves the next question */
    }
    view_kit_close(k);
}

/* Fair shares */

static void four_readers_for_ever(struct view_config *config)
{
    config->readers = 4;
    config->asks_max = 80;
    config->ask_ms = 24 * 3600 * 1000;
}

static void ask_many(struct view_kit *k, struct endless *asks, size_t count, enum view_kind kind)
{
    for (size_t i = 0; i < count; i++) {
        asks[i].kind = kind;
        asks[i].program = kind == VIEW_KIND_PROGRAM ? "last(range(1e18)) == 0" : NULL;
        ask_endless(k, &asks[i]);
    }
}

static void cancel_many(struct endless *asks, size_t count)
{
    for (size_t i = count; i-- > 0;) { /* the waiting ones first, so that none begins */
        view_cancel(&asks[i].ask);
    }
    for (size_t i = 0; i < count; i++) {
        end_endless(&asks[i]);
    }
}

static void slow_questions_leave_readers_to_others(void **state)
{
    enum { COUNT = 20 };
    struct view_kit *k = view_kit_open(four_readers_for_ever);
    struct endless *programs = calloc(COUNT, sizeof *programs);
    struct endless *texts = calloc(COUNT, sizeof *texts);
    struct endless more = {.kind = VIEW_KIND_PROGRAM};
    struct view_filter all = {0};
    (void)state;
    CHECK(programs != NULL);
    CHECK(texts != NULL);
    (void)engine_kit_put(k->engine, engine_kit_new_job("q"));
    view_kit_check(k);
    ask_many(k, programs, COUNT, VIEW_KIND_PROGRAM);
    uv_sem_wait(&programs[0].begun);
    ask_many(k, texts, COUNT, VIEW_KIND_TEXTS);
    uv_sem_wait(&texts[0].begun);
    assert_int_equal(view_kit_count(k, &all), 1);
    struct view_status s = view_kit_status(k);
    assert_int_equal(s.asks[VIEW_KIND_PROGRAM].running, 1); /* a quarter of the readers */
    assert_int_equal(s.asks[VIEW_KIND_PROGRAM].waiting, COUNT - 1);
    assert_int_equal(s.asks[VIEW_KIND_TEXTS].running, 1); /* half, including the program */
    assert_int_equal(s.asks[VIEW_KIND_TEXTS].waiting, COUNT - 1);
    ask_endless(k, &more); /* fills the quarter of the line */
    struct endless refused = {.kind = VIEW_KIND_PROGRAM};
    ask_endless(k, &refused); /* so this one is refused */
    end_endless(&refused);
    assert_int_equal(refused.ask.err.code, ERR_OVERLOADED);
    assert_int_equal(view_kit_status(k).asks[VIEW_KIND_PROGRAM].refused, 1);
    assert_int_equal(view_kit_count(k, &all), 1); /* other kinds are accepted */
    cancel_many(&more, 1);
    cancel_many(texts, COUNT);
    cancel_many(programs, COUNT);
    view_kit_close(k);
    free(programs);
    free(texts);
}

TEST_GROUP(view_cancel, cmocka_unit_test(a_question_that_nobody_wants_any_more_ends),
           cmocka_unit_test(slow_questions_leave_readers_to_others));
