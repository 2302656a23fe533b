#include "event/event_match.h"

#include "lib/expect.h"
#include "lib/test.h"

static uint32_t bit(enum store_event_type type)
{
    return 1U << type;
}

static uint32_t all_types(void)
{
    uint32_t all = 0;
    for (unsigned t = 1; t <= STORE_EVENT_TYPE_LAST; t++) {
        all |= 1U << t;
    }
    return all;
}

static void match__patterns_become_sets_of_types(void **state)
{
    uint32_t queue_types = bit(STORE_EVENT_QUEUE_PAUSED) | bit(STORE_EVENT_QUEUE_RESUMED) |
                           bit(STORE_EVENT_QUEUE_CLEARED) | bit(STORE_EVENT_QUEUE_DELETED);
    const struct {
        const char *pattern;
        uint32_t types;
    } rows[] = {
        {"completed", bit(STORE_EVENT_COMPLETED)},
        {"Completed", bit(STORE_EVENT_COMPLETED)},
        {"job.completed", bit(STORE_EVENT_COMPLETED)},
        {"JOB.COMPLETED", bit(STORE_EVENT_COMPLETED)},
        {"*", all_types()},
        {"**", all_types()},
        {"job.*", all_types() & ~queue_types & ~bit(STORE_EVENT_BUDGET_EXCEEDED)},
        {"budget.*", bit(STORE_EVENT_BUDGET_EXCEEDED)},
        {"queue.*", queue_types},
        {"queue.paused", bit(STORE_EVENT_QUEUE_PAUSED)},
        {"job.queue.paused", 0},
        {"paused", 0},
        {"re?ried", bit(STORE_EVENT_RETRIED)},
        {"retr*", bit(STORE_EVENT_RETRYING) | bit(STORE_EVENT_RETRIED)},
        {"*d*a*d*", bit(STORE_EVENT_DEAD)},
        {"*ead", bit(STORE_EVENT_DEAD)},
        {"dea", 0},
        {"deadd", 0},
        {"", 0},
        {"job.", 0},
        {"?", 0},
    };
    (void)state;
    for (unsigned i = 0; i < COUNT_OF(rows); i++) {
        ROW(rows[i].pattern);
        assert_int_equal(event_match_types(str_from_z(rows[i].pattern)), rows[i].types);
    }
}

static void match__unknown_words_are_refused_with_all_types(void **state)
{
    static const char *const rows[] = {"x", "exploded", "thirty-two-bytes-of-a-type-name-",
                                       "job.*x"};
    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct str word = str_from_z(rows[i]);
        struct str unknown;
        struct buf text;
        uint32_t types;
        char begin[64];
        ROW(rows[i]);
        assert_false(event_match_read_types(&word, 1, &types, &unknown));
        expect_str(unknown, word);
        buf_init(&text, EVENT_MATCH_REFUSAL_BYTES);
        event_match_refuse("types", unknown, &text);
        (void)snprintf(begin, sizeof begin, "types: got '%s', expected enqueued, ", rows[i]);
        assert_true(str_starts_with(buf_str(&text), str_from_z(begin)));
        buf_add_char(&text, '\0');
        assert_false(text.overflow);
        for (unsigned t = 1; t <= STORE_EVENT_TYPE_LAST; t++) {
            assert_non_null(strstr(text.ptr, store_event_word((enum store_event_type)t)));
        }
        assert_non_null(strstr(text.ptr, "queue.deleted or budget.exceeded"));
        buf_deinit(&text);
    }
}

static void match__dimensions_are_joined_by_and(void **state)
{
    const struct id job = id_make((struct wall){.ns = 1}, 1, 1);
    const struct id other = id_make((struct wall){.ns = 1}, 1, 2);
    const struct str queues[] = {STR("mail"), STR("acme::mail")};
    const struct id jobs[] = {other, job};
    const struct store_event e = {.type = STORE_EVENT_DEAD, .job = job, .queue = STR("acme::mail")};
    const struct {
        const char *name;
        struct event_match match;
        bool fits;
    } rows[] = {
        {"open", {.types = EVENT_MATCH_ALL}, true},
        {"its type", {.types = bit(STORE_EVENT_DEAD)}, true},
        {"another type", {.types = bit(STORE_EVENT_STARTED)}, false},
        {"no type", {.types = 0}, false},
        {"its namespace", {.types = EVENT_MATCH_ALL, .ns = STR("acme")}, true},
        {"a namespace that its begins with", {.types = EVENT_MATCH_ALL, .ns = STR("acm")}, false},
        {"another namespace", {.types = EVENT_MATCH_ALL, .ns = STR("b")}, false},
        {"one of the queues",
         {.types = EVENT_MATCH_ALL, .by_queue = true, .queues = queues, .queue_count = 2},
         true},
        {"not among the queues",
         {.types = EVENT_MATCH_ALL, .by_queue = true, .queues = queues, .queue_count = 1},
         false},
        {"one of the jobs",
         {.types = EVENT_MATCH_ALL, .by_job = true, .jobs = jobs, .job_count = 2},
         true},
        {"not among the jobs",
         {.types = EVENT_MATCH_ALL, .by_job = true, .jobs = jobs, .job_count = 1},
         false},
        {"jobs that do not exist", {.types = EVENT_MATCH_ALL, .by_job = true}, false},
        {"its queue but not its job",
         {.types = EVENT_MATCH_ALL,
          .by_queue = true,
          .queues = queues,
          .queue_count = 2,
          .by_job = true,
          .jobs = jobs,
          .job_count = 1},
         false},
    };
    (void)state;
    for (unsigned i = 0; i < COUNT_OF(rows); i++) {
        ROW(rows[i].name);
        assert_int_equal(event_match_fits(&rows[i].match, &e), rows[i].fits);
        assert_int_equal(event_match_is_open(&rows[i].match), i == 0);
    }
}

TEST_GROUP(event_match, cmocka_unit_test(match__patterns_become_sets_of_types),
           cmocka_unit_test(match__unknown_words_are_refused_with_all_types),
           cmocka_unit_test(match__dimensions_are_joined_by_and));
