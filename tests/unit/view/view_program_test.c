/*
 * Programs of payload_jq, over more jobs than one block of texts has.
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
    struct command_new jobs[CHUNK];
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

/* The first block is full when the program ends its child: the row that found it full has no place
 * in it. */
static void a_full_block_that_cannot_be_judged_ends_the_search(void **state)
{
    struct view_kit *k = *state;
    struct view_filter f = {.payload_jq = STR("[range(1e9)] | length > 0")};
    struct view_search s = {.filter = &f, .limit = 10};
    view_kit_ask(k, false, run_search, &s);
    assert_int_equal(k->err.code, ERR_VALIDATION);
    view_kit_forget(k);
    finds_in_every_block(state); /* and the reader serves the next one */
}

TEST_GROUP(view_program, cmocka_unit_test_setup_teardown(finds_in_every_block, setup, teardown),
           cmocka_unit_test_setup_teardown(a_full_block_that_cannot_be_judged_ends_the_search,
                                           setup, teardown));
