/*
 * Finding jobs by words, and sums of usage.
 */
#include "view/view_words.h"

#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "lib/expect.h"
#include "lib/test.h"
#include "store/store_tally.h"
#include "view/view_db_int.h"
#include "view/view_usage.h"
#include "view_kit.h"

static int setup(void **state)
{
    *state = view_kit_open(NULL);
    return 0;
}

static int teardown(void **state)
{
    view_kit_close(*state);
    return 0;
}

static struct id put(struct view_kit *k, const char *queue, const char *payload, const char *tags)
{
    struct command_new job = engine_kit_new_job(queue);
    job.job.payload = str_from_z(payload);
    job.job.tags = str_from_z(tags);
    return engine_kit_put(k->engine, job);
}

static void expect_found(struct view_kit *k, const char *ns, const char *query,
                         const struct id *ids, size_t count)
{
    struct view_words w = {.ns = str_from_z(ns), .query = str_from_z(query), .limit = 10};
    ROW(query);
    view_kit_words(k, &w);
    assert_int_equal(w.count, count);
    for (size_t i = 0; i < count; i++) {
        bool found = false;
        for (size_t n = 0; n < w.count; n++) {
            found = found || id_eq(w.ids[n], ids[i]);
        }
        assert_true(found);
    }
    view_kit_forget(k);
}

/* Return the number of texts in the index. */
static int64_t count_known(struct view_kit *k)
{
    sqlite3 *db = NULL;
    struct err err;
    int64_t n = 0;
    assert_int_equal(view_db__open(view_kit_path(k).z, VIEW_DB_READ, &db, &err), ERR_OK);
    assert_int_equal(view_sql__number(db, "SELECT count(*) FROM words_docsize", &n, &err), ERR_OK);
    view_db__close(db);
    return n;
}

static void finds_words_wherever_they_stand(void **state)
{
    struct view_kit *k = *state;
    struct id a = put(k, "mail.fast", "{\"text\":\"the quick fox\"}", "");
    struct id b = put(k, "billing", "{\"text\":\"a slow fox\"}", "{\"env\":\"production\"}");
    struct id both[] = {a, b};
    expect_found(k, "", "fox", both, 2);
    expect_found(k, "", "FOX", both, 2);
    expect_found(k, "", "quick", &a, 1);
    expect_found(k, "", "quick fox", &a, 1);
    expect_found(k, "", "\"slow fox\"", &b, 1);
    expect_found(k, "", "\"fox slow\"", NULL, 0);
    expect_found(k, "", "quick OR slow", both, 2);
    expect_found(k, "", "qui*", &a, 1);
    expect_found(k, "", "production", &b, 1);
    expect_found(k, "", "billing", &b, 1);
    expect_found(k, "", "nothing", NULL, 0);
}

/* Words are found however they are escaped, in a payload of any size. Nothing is left of a deleted
 * payload. */
static void finds_words_that_are_escaped(void **state)
{
    static char large[4096];
    const struct str start = STR("[\"Stra\\u00dfe\"");
    struct view_kit *k = *state;
    memset(large, ' ', sizeof large - 1);
    memcpy(large, start.ptr, start.len);
    large[sizeof large - 2] = ']';
    struct id a = put(k, "q", "{\"text\":\"caf\\u00e9 \\u0062lack\\nnext\"}", "");
    struct id b = put(k, "q", "{\"text\":\"\\ud83d\\ude00 smile\\u0000d \\ud83d half\"}",
                      "{\"k\":\"na\\u00efve\"}");
    struct id c = put(k, "q", large, "");
    const struct id *all[] = {&a, &b, &c};
    expect_found(k, "", "caf\u00e9", &a, 1);
    expect_found(k, "", "\"caf\u00e9 black\"", &a, 1);
    expect_found(k, "", "black", &a, 1);
    expect_found(k, "", "next", &a, 1);
    expect_found(k, "", "af\u00e9 bl", &a, 1); /* a part of the text */
    expect_found(k, "", "\\u0062lack", &a, 1); /* as it is escaped */
    expect_found(k, "", "smile d half", &b, 1);
    expect_found(k, "", "na\u00efve", &b, 1);
    expect_found(k, "", "stra\u00dfe", &c, 1);
    expect_found(k, "", "u00e9", &a, 1); /* a part of the escaped text */
    view_kit_check(k);
    for (size_t i = 0; i < COUNT_OF(all); i++) {
        engine_kit_job(k->engine, COMMAND_JOB_DELETE, *all[i]);
    }
    expect_found(k, "", "black", NULL, 0);
    view_kit_check(k);
}

static void finds_words_of_states(void **state)
{
    struct view_kit *k = *state;
    struct id a = put(k, "q", "{\"text\":\"fox\"}", "");
    struct id b = put(k, "q", "{\"text\":\"active fox\"}", "");
    struct id both[] = {a, b};
    expect_found(k, "", "pending", both, 2);
    expect_found(k, "", "fox pending", both, 2);
    assert_true(id_eq(engine_kit_claim(k->engine, "q"), a));
    expect_found(k, "", "active", both, 2); /* the state of one, a word of the other */
    expect_found(k, "", "pending", &b, 1);
    expect_found(k, "", "fox dead", NULL, 0);
}

static void falls_back_to_parts_of_texts(void **state)
{
    struct view_kit *k = *state;
    struct id a = put(k, "mail", "{\"address\":\"someone@example.org\"}", "");
    expect_found(k, "", "meone@EXAM", &a, 1);
    expect_found(k, "", "example.org\"}", &a, 1);
    expect_found(k, "", "AND", NULL, 0);
    expect_found(k, "", "\"", &a, 1);
    expect_found(k, "", "((", NULL, 0);
    expect_found(k, "", "nocolumn:x", NULL, 0);
    expect_found(k, "", "' OR 1=1 --", NULL, 0);
    expect_found(k, "", "dress", &a, 1);
}

static void shows_only_the_callers_namespace(void **state)
{
    struct view_kit *k = *state;
    struct id a = put(k, "one::q", "{\"text\":\"fox hound\"}", "");
    struct id b = put(k, "two::q", "{\"text\":\"fox\"}", "");
    struct id both[] = {a, b};
    expect_found(k, "", "fox", both, 2);
    expect_found(k, "one", "fox", &a, 1);
    expect_found(k, "two", "fox", &b, 1);
    expect_found(k, "two", "ox", &b, 1);
    expect_found(k, "two", "pending", &b, 1);
    expect_found(k, "three", "fox", NULL, 0);
}

static void forgets_what_is_gone_and_follows_what_moves(void **state)
{
    struct view_kit *k = *state;
    struct id a = put(k, "first", "{\"text\":\"fox\"}", "");
    struct id b = put(k, "first", "{\"text\":\"fox\"}", "");
    expect_found(k, "", "first", (struct id[]){a, b}, 2);
    struct command move = {
        .type = COMMAND_JOBS,
        .jobs = {.action = COMMAND_JOB_MOVE, .ids = &a, .count = 1, .queue = STR("second")}};
    (void)engine_kit_do(k->engine, &move);
    expect_found(k, "", "first", &b, 1);
    expect_found(k, "", "second", &a, 1);
    engine_kit_job(k->engine, COMMAND_JOB_DELETE, b);
    expect_found(k, "", "fox", &a, 1);
    expect_found(k, "", "first", NULL, 0);
    assert_int_equal(view_kit_rebuild(k), ERR_OK);
    expect_found(k, "", "fox", &a, 1);
    view_kit_check(k);
}

/* A payload that is not in the file is found like any other, but its words cannot be removed from
 * the index. If that applies to most of the index, the index is rebuilt. */
static void large_payloads_are_found_and_forgotten(void **state)
{
    enum { JOBS = 4200, KEPT = 10, FILL = 1024 };
    struct view_kit *k = *state;
    struct id *ids = calloc(JOBS, sizeof *ids);
    char payload[FILL + 64];
    CHECK(ids != NULL);
    for (int i = 0; i < JOBS; i++) {
        (void)snprintf(payload, sizeof payload, "{\"text\":\"fox number%d\",\"fill\":\"%0*d\"}", i,
                       FILL, 0);
        ids[i] = put(k, "q", payload, "");
    }
    expect_found(k, "", "number17", &ids[17], 1);
    expect_found(k, "", "umber4199", &ids[4199], 1); /* by a part of the text */
    view_kit_check(k);
    for (int i = KEPT; i < JOBS; i++) {
        engine_kit_job(k->engine, COMMAND_JOB_DELETE, ids[i]);
    }
    expect_found(k, "", "number17", NULL, 0);
    expect_found(k, "", "number7", &ids[7], 1);
    expect_found(k, "", "fox", ids, KEPT);
    view_kit_check(k);
    struct id last = put(k, "q", "{\"text\":\"hound\"}", "");
    expect_found(k, "", "hound", &last, 1);
    expect_found(k, "", "number7", &ids[7], 1);
    view_kit_check(k);
    assert_int_equal(count_known(k), KEPT + 1);
    free(ids);
}

static void the_best_match_comes_first(void **state)
{
    struct view_kit *k = *state;
    (void)put(k, "q", "{\"text\":\"fox and a lot of other words that say nothing of it\"}", "");
    struct id best = put(k, "q", "{\"text\":\"fox fox fox\"}", "");
    (void)put(k, "q", "{\"text\":\"one fox among the many animals of a forest\"}", "");
    struct view_words w = {.query = STR("fox"), .limit = 1};
    view_kit_words(k, &w);
    assert_int_equal(w.count, 1);
    assert_true(id_eq(w.ids[0], best));
}

/* Usage */

static void report(struct view_kit *k, const char *queue, const char *tags,
                   struct store_tokens tokens)
{
    struct id id = put(k, queue, "{}", tags);
    assert_true(id_eq(engine_kit_claim(k->engine, queue), id));
    struct command_ack_item item = {.id = id, .usage = tokens};
    struct command ack = {.type = COMMAND_ACK, .ack = {.items = &item, .count = 1}};
    (void)engine_kit_do(k->engine, &ack);
}

static void run_sum(struct view_kit *k, struct view_reader *r, void *data)
{
    (void)(view_usage_sum(r, data, k->arena, &k->err) == ERR_OK);
}

static struct view_usage sum(struct view_kit *k, const char *ns, enum view_usage_by by)
{
    struct view_usage u = {.ns = str_from_z(ns),
                           .from = {.ns = 1},
                           .to = {.ns = INT64_MAX},
                           .rows_before = INT64_MAX,
                           .by = by,
                           .tag = STR("team")};
    view_kit_ask(k, false, run_sum, &u);
    assert_int_equal(k->err.code, ERR_OK);
    return u;
}

static void sums_usage_by_what_is_asked(void **state)
{
    struct view_kit *k = *state;
    report(k, "one::q", "{\"team\":\"red\"}",
           (struct store_tokens){.input = 10, .output = 1, .cost_nusd = 5, .model = STR("big")});
    report(
        k, "two::q", "{\"team\":\"red\"}",
        (struct store_tokens){.input = 20, .cache_read = 2, .cost_nusd = 7, .model = STR("big")});
    report(k, "two::r", "",
           (struct store_tokens){.input = 1, .cache_creation = 3, .provider = STR("p")});
    struct view_usage u = sum(k, "", VIEW_USAGE_ALL);
    assert_int_equal(u.total.input, 31);
    assert_int_equal(u.total.output, 1);
    assert_int_equal(u.total.cache_creation, 3);
    assert_int_equal(u.total.cache_read, 2);
    assert_int_equal(u.total.cost_nusd, 12);
    assert_int_equal(u.total.reports, 3);
    assert_int_equal(u.group_count, 0);
    u = sum(k, "two", VIEW_USAGE_BY_QUEUE);
    assert_int_equal(u.total.input, 21);
    assert_int_equal(u.group_count, 2);
    expect_str(u.groups[0].key, STR("two::q")); /* the most expensive */
    u = sum(k, "", VIEW_USAGE_BY_MODEL);
    expect_str(u.groups[0].key, STR("big"));
    assert_int_equal(u.groups[0].reports, 2);
    expect_str(u.groups[1].key, STR(""));
    u = sum(k, "", VIEW_USAGE_BY_TAG);
    expect_str(u.groups[0].key, STR("red"));
    assert_int_equal(u.groups[0].cost_nusd, 12);
    assert_int_equal(u.group_count, 2);
    u = sum(k, "three", VIEW_USAGE_BY_PROVIDER);
    assert_int_equal(u.total.reports, 0);
    assert_int_equal(u.group_count, 0);
    u = (struct view_usage){.from = {.ns = 1}, .to = {.ns = INT64_MAX}};
    u.rows_before = (int64_t)store_tally_start_get(engine_store(k->engine->engine)).row;
    view_kit_ask(k, false, run_sum, &u);
    assert_int_equal(u.total.reports, 0); /* the machine has counted all of them */
}

static void sums_that_do_not_fit_are_held_at_the_end(void **state)
{
    struct view_kit *k = *state;
    report(k, "q", "", (struct store_tokens){.input = INT64_MAX});
    report(k, "q", "", (struct store_tokens){.input = INT64_MAX});
    assert_true(sum(k, "", VIEW_USAGE_ALL).total.input == INT64_MAX);
}

#define WITH_KIT(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

TEST_GROUP(view_words, WITH_KIT(finds_words_wherever_they_stand),
           WITH_KIT(finds_words_that_are_escaped), WITH_KIT(finds_words_of_states),
           WITH_KIT(falls_back_to_parts_of_texts), WITH_KIT(shows_only_the_callers_namespace),
           WITH_KIT(forgets_what_is_gone_and_follows_what_moves),
           WITH_KIT(large_payloads_are_found_and_forgotten), WITH_KIT(the_best_match_comes_first),
           WITH_KIT(sums_usage_by_what_is_asked),
           WITH_KIT(sums_that_do_not_fit_are_held_at_the_end));
