/*
 * Programs of payload_jq, over more jobs than fit in one block of texts.
 */
#include "base/check.h"
#include "jqbox/jqbox.h"
#include "lib/test.h"
#include "view/view_search.h"
#include "view_kit.h"

enum { JOBS = JQBOX_TEXTS_MAX + 100, CHUNK = 25 };

static int setup(void **state)
{
    struct view_kit *k = view_kit_open(NULL);
    static struct command_new jobs[CHUNK];
    for (unsigned i = 0; i < CHUNK; i++) {
        jobs[i] = engine_kit_new_job("q");
    }
    for (unsigned put = 0; put < JOBS; put += CHUNK) {
        unsigned n = JOBS - put < CHUNK ? JOBS - put : CHUNK;
        struct command c = {.type = COMMAND_ENQUEUE, .enqueue = {.jobs = jobs, .count = n}};
        (void)engine_kit_do(k->engine, &c);
    }
    *state = k;
    return 0;
}

static int teardown(void **state)
{
    view_kit_close(*state);
    return 0;
}

static void run_search(struct view_kit *k, struct view_reader *r, void *data)
{
    (void)(view_search_run(r, data, k->arena, &k->err) == ERR_OK);
}

static void finds_in_every_block(void **state)
{
    struct view_kit *k = *state;
    struct view_filter all = {.payload_jq = STR("(. | type) != \"number\"")};
    struct view_filter none = {.payload_jq = STR("(. | type) == \"number\"")};
    assert_int_equal(view_kit_count(k, &all), JOBS);
    assert_int_equal(view_kit_count(k, &none), 0);
}

static void ask_for(struct view_kit *k, int64_t ask_ms)
{
    view_kit_check(k);
    view_kit_stop_view(k);
    k->config.ask_ms = ask_ms;
    view_kit_start_view(k);
}

/* When the time is over, the first block is nearly always full. The row that found it full is not
 * in it. */
static void a_full_block_that_cannot_be_judged_ends_the_search(void **state)
{
    struct view_kit *k = *state;
    struct view_filter f = {.payload_jq = STR("last(range(1e18)) == 0")};
    struct view_search s = {.filter = &f, .limit = 10};
    ask_for(k, 2000);
    view_kit_ask(k, false, run_search, &s);
    assert_int_equal(k->err.code, ERR_SEARCH);
    view_kit_forget(k);
    ask_for(k, VIEW_KIT_PATIENCE_MS);
    finds_in_every_block(state);
}

/* The same if the program ends its child. Not under a sanitizer, where the child's memory is not
 * limited. */
static void a_program_that_ends_its_child_ends_the_search(void **state)
{
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
    struct view_kit *k = *state;
    struct view_filter f = {.payload_jq = STR("[range(1e9)] | length > 0")};
    struct view_search s = {.filter = &f, .limit = 10};
    view_kit_ask(k, false, run_search, &s);
    assert_int_equal(k->err.code, ERR_VALIDATION);
    view_kit_forget(k);
#endif
    finds_in_every_block(state); /* the reader serves the next question */
}

/* Otherwise it would depend on the jobs whether a mistake is noticed. */
static void a_mistake_is_reported_even_if_no_job_can_match(void **state)
{
    struct view_kit *k = *state;
    struct view_filter f = {.queue = STR("no such queue"), .payload_jq = STR("foo bar")};
    struct view_search s = {.filter = &f, .limit = 10};
    view_kit_ask(k, false, run_search, &s);
    assert_int_equal(k->err.code, ERR_VALIDATION);
    f.payload_jq = STR(".a and .b");
    assert_int_equal(view_kit_count(k, &f), 0);
    finds_in_every_block(state);
}

#define WITH_KIT(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

TEST_GROUP(view_program, WITH_KIT(finds_in_every_block),
           WITH_KIT(a_mistake_is_reported_even_if_no_job_can_match),
           WITH_KIT(a_program_that_ends_its_child_ends_the_search),
           WITH_KIT(a_full_block_that_cannot_be_judged_ends_the_search));
