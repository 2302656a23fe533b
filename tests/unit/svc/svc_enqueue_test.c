/*
 * From a requested job to a command, in any dialect: defaults, limits, names, chains, and what
 * happens when the arena is full.
 */
#include "svc/svc_enqueue.h"

#include <math.h>

#include "base/limits.h"
#include "fsm/command/command_check.h"
#include "lib/expect.h"
#include "lib/test.h"

enum { ARENA_BYTES = 1 << 20 };

struct ask {
    struct arena *arena;
    struct svc_caller who;
    struct command_new room;
    struct command command;
    struct err err;
};

static void ask_begin(struct ask *a, const char *ns)
{
    *a = (struct ask){.arena = arena_new(ARENA_BYTES)};
    a->who = (struct svc_caller){.ns = str_from_z(ns), .arena = a->arena};
}

static enum err_code ask_one(struct ask *a, const struct svc_enqueue_job *job)
{
    return svc_enqueue_one(&a->who, job, &a->room, &a->command, &a->err);
}

static void minimal_job__has_the_defaults(void **state)
{
    struct ask a;
    struct svc_enqueue_job job = {SVC_ENQUEUE_DEFAULTS, .queue = STR("q")};
    struct command_limits limits = {.payload_bytes = 1024};
    (void)state;
    ask_begin(&a, "");
    assert_int_equal(ask_one(&a, &job), ERR_OK);
    const struct job *j = &a.command.enqueue.jobs[0].job;
    assert_int_equal(a.command.type, COMMAND_ENQUEUE);
    assert_int_equal(a.command.enqueue.count, 1);
    expect_str(j->queue, STR("q"));
    expect_str(j->payload, STR("{}"));
    assert_int_equal(j->priority, JOB_PRIORITY_NORMAL);
    assert_int_equal(j->max_retries, JOB_MAX_RETRIES);
    assert_int_equal(j->backoff, JOB_BACKOFF_EXPONENTIAL);
    assert_int_equal(j->retry_base_ms, JOB_RETRY_BASE_MS);
    assert_int_equal(j->retry_max_ms, JOB_RETRY_MAX_MS);
    assert_false(j->is_agent);
    assert_false(j->has_chain_step);
    assert_int_equal(command_check(&a.command, &limits, &a.err), ERR_OK);
    arena_free(a.arena);
}

/* If a dialect has not checked that the payload is JSON, command_check does. */
static void payload__is_checked_once(void **state)
{
    struct ask a;
    struct svc_enqueue_job job = {SVC_ENQUEUE_DEFAULTS, .queue = STR("q"), .payload = STR("{oops")};
    struct command_limits limits = {.payload_bytes = 1024};
    (void)state;
    ask_begin(&a, "");
    assert_int_equal(ask_one(&a, &job), ERR_OK);
    assert_int_equal(command_check(&a.command, &limits, &a.err), ERR_PARSE);
    assert_non_null(strstr(a.err.msg, "payload"));
    job.payload = STR("[1]");
    assert_int_equal(ask_one(&a, &job), ERR_OK);
    assert_false(a.room.payload_is_json);
    assert_int_equal(command_check(&a.command, &limits, &a.err), ERR_OK);
    assert_ptr_equal(a.room.job.payload.ptr, job.payload.ptr); /* not copied */
    job.payload_checked = true;
    assert_int_equal(ask_one(&a, &job), ERR_OK);
    assert_true(a.room.payload_is_json);
    arena_free(a.arena);
}

static void number__that_does_not_fit_is_refused(void **state)
{
    struct svc_enqueue_agent dear = {.max_cost_usd = 1e9};
    struct svc_enqueue_agent endless = {.max_cost_usd = INFINITY};
    struct svc_enqueue_agent none = {.max_cost_usd = (double)NAN};
    const struct {
        const char *field;
        struct svc_enqueue_job job;
    } rows[] = {
        {"priority: expected 0 to 2, got 3", {.priority = 3}},
        {"priority: expected 0 to 2, got -1", {.priority = -1}},
        {"retry_backoff: expected 0 to 3, got 4", {.retry_backoff = 4}},
        {"max_retries: expected", {.max_retries = -1}},
        {"max_retries: expected", {.max_retries = 1LL << 32}},
        {"unique_period: expected", {.unique_period = 1LL << 33}},
        {"chain_step: expected -2 to 100", {.chain_step = -3}},
        {"agent.max_cost_usd: expected at most 1000000", {.agent = &dear}},
        {"agent.max_cost_usd: expected at most 1000000", {.agent = &endless}},
        {"agent.max_cost_usd: expected at most 1000000", {.agent = &none}},
    };
    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct ask a;
        struct svc_enqueue_job job = rows[i].job;
        ROW(rows[i].field);
        ask_begin(&a, "");
        job.queue = STR("q");
        assert_int_equal(ask_one(&a, &job), ERR_VALIDATION);
        assert_ptr_equal(strstr(a.err.msg, rows[i].field), a.err.msg);
        arena_free(a.arena);
    }
}

static void agent__below_zero_is_without_limit(void **state)
{
    struct svc_enqueue_agent agent = {
        .max_iterations = -3, .max_cost_usd = -1, .iteration_timeout = STR("later")};
    struct svc_enqueue_job job = {SVC_ENQUEUE_DEFAULTS, .queue = STR("q"), .agent = &agent};
    struct ask a;
    (void)state;
    ask_begin(&a, "");
    assert_int_equal(ask_one(&a, &job), ERR_OK);
    assert_true(a.room.job.is_agent);
    assert_int_equal(a.room.job.agent.max_iterations, 0);
    assert_int_equal(a.room.job.agent.max_cost_nusd, 0);
    assert_int_equal(a.room.job.agent.timeout_ms, 0);
    expect_str(a.room.job.agent.timeout, STR("later"));
    arena_free(a.arena);
}

static void agent__smallest_limit_is_a_limit(void **state)
{
    struct svc_enqueue_agent agent = {.max_cost_usd = 1e-12};
    struct svc_enqueue_job job = {SVC_ENQUEUE_DEFAULTS, .queue = STR("q"), .agent = &agent};
    struct ask a;
    (void)state;
    ask_begin(&a, "");
    assert_int_equal(ask_one(&a, &job), ERR_OK);
    assert_int_equal(a.room.job.agent.max_cost_nusd, 1);
    arena_free(a.arena);
}

static void names__are_those_of_the_namespace(void **state)
{
    struct svc_chain_step steps[] = {{.queue = STR("q"), .payload = STR("{\"n\":1}")},
                                     {.queue = STR("team::r")}};
    struct svc_chain chain = {.steps = steps, .steps_count = 2, .on_failure = STR("\"f\"")};
    struct svc_enqueue_job job = {SVC_ENQUEUE_DEFAULTS, .queue = STR("q"), .chain = &chain};
    struct ask a;
    (void)state;
    ask_begin(&a, "team");
    assert_int_equal(ask_one(&a, &job), ERR_OK);
    expect_str(a.room.job.queue, STR("team::q"));
    expect_str(a.room.job.payload, STR("{\"n\":1}")); /* the payload of the first step */
    expect_str(a.room.job.chain_config,
               STR("{\"steps\":[{\"queue\":\"team::q\",\"payload\":{\"n\":1}},"
                   "{\"queue\":\"team::r\"}],\"on_failure\":{\"queue\":\"team::f\"}}"));
    assert_true(a.room.starts_chain);
    job.queue = STR("other::q");
    assert_int_equal(ask_one(&a, &job), ERR_VALIDATION);
    assert_string_equal(a.err.msg, "queue 'other::q' belongs to another namespace");
    arena_free(a.arena);
}

static void dependencies__are_listed_once(void **state)
{
    char text[2][ID_TEXT_MAX];
    struct str ids[5];
    struct ask a;
    (void)state;
    for (unsigned i = 0; i < 2; i++) {
        struct id id = id_make((struct wall){.ns = NS_PER_S}, i + 1, 0);
        ids[i] = str_from(text[i], id_format(id, ID_JOB, text[i]));
    }
    ids[2] = STR("  ");
    ids[3] = ids[0];
    ids[4] = STR("job_nonsense");
    struct svc_enqueue_job job = {SVC_ENQUEUE_DEFAULTS, .queue = STR("q"), .depends_on = ids,
                                  .depends_on_count = 4};
    ask_begin(&a, "");
    assert_int_equal(ask_one(&a, &job), ERR_OK);
    assert_int_equal(a.room.job.waits_for.len, 2 * ID_BYTES);
    job.depends_on_count = 5;
    assert_int_equal(ask_one(&a, &job), ERR_VALIDATION);
    assert_string_equal(a.err.msg, "depends_on: job \"job_nonsense\" not found");
    arena_free(a.arena);
}

static void list__says_which_job_is_meant(void **state)
{
    struct svc_enqueue_job good = {SVC_ENQUEUE_DEFAULTS, .queue = STR("q")};
    struct svc_enqueue_job bad = {.queue = STR("q"), .priority = 7};
    struct svc_enqueue_job nowhere = {SVC_ENQUEUE_DEFAULTS};
    struct svc_batch batch = {.callback_queue = STR("done")};
    struct ask a;
    (void)state;
    ask_begin(&a, "team");
    assert_int_equal(svc_enqueue_list(&a.who, 0, &a.command, &a.err), ERR_VALIDATION);
    assert_int_equal(svc_enqueue_list(&a.who, LIMIT_ENQUEUE_BATCH + 1, &a.command, &a.err),
                     ERR_VALIDATION);
    assert_int_equal(svc_enqueue_list(&a.who, 2, &a.command, &a.err), ERR_OK);
    assert_int_equal(svc_enqueue_put(&a.who, &a.command, 0, &good, &a.err), ERR_OK);
    assert_int_equal(svc_enqueue_put(&a.who, &a.command, 1, &bad, &a.err), ERR_VALIDATION);
    assert_string_equal(a.err.msg, "jobs[1]: priority: expected 0 to 2, got 7");
    assert_int_equal(svc_enqueue_put(&a.who, &a.command, 1, &nowhere, &a.err), ERR_VALIDATION);
    assert_int_equal(svc_enqueue_put(&a.who, &a.command, 1, &good, &a.err), ERR_OK);
    assert_int_equal(svc_enqueue_as_batch(&a.who, &a.command, &batch, &a.err), ERR_OK);
    assert_true(a.command.enqueue.has_batch);
    expect_str(a.command.enqueue.callback_queue, STR("team::done"));
    arena_free(a.arena);
}

static enum err_code ask_once(struct ask *a, enum svc_once_route route, struct str key,
                              const char *target, const char *body)
{
    struct svc_once once = {
        .route = route, .key = key, .target = str_from_z(target), .body = str_from_z(body)};
    return svc_enqueue_once(&a->who, &a->command, &once, &a->err);
}

static void once__is_of_a_namespace_a_kind_and_a_body(void **state)
{
    struct svc_enqueue_job job = {SVC_ENQUEUE_DEFAULTS, .queue = STR("q")};
    struct ask a;
    static char long_key[LIMIT_IDEMPOTENCY_KEY_BYTES + 1];
    (void)state;
    ask_begin(&a, "team");
    assert_int_equal(ask_one(&a, &job), ERR_OK);
    assert_int_equal(ask_once(&a, SVC_ONCE_ONE, STR_EMPTY, "", "a"), ERR_OK);
    assert_int_equal(a.command.enqueue.idempotency_key.len, 0);
    assert_int_equal(ask_once(&a, SVC_ONCE_ONE, STR("k 1"), "", "a"), ERR_OK);
    expect_str(a.command.enqueue.idempotency_key, STR("one team k 1"));
    uint64_t first = a.command.enqueue.body_hash;
    assert_true(first != 0);
    assert_int_equal(ask_once(&a, SVC_ONCE_ONE, STR("k 1"), "/x", "a"), ERR_OK);
    assert_true(a.command.enqueue.body_hash != first);
    assert_int_equal(svc_enqueue_list(&a.who, 1, &a.command, &a.err), ERR_OK);
    assert_int_equal(ask_once(&a, SVC_ONCE_MANY, STR("k 1"), "", "b"), ERR_OK);
    expect_str(a.command.enqueue.idempotency_key, STR("many team k 1"));
    assert_true(a.command.enqueue.body_hash != first);
    memset(long_key, 'k', sizeof long_key);
    assert_int_equal(ask_once(&a, SVC_ONCE_MANY, str_from(long_key, sizeof long_key), "", "b"),
                     ERR_VALIDATION);
    arena_free(a.arena);
}

/* Whatever the arena's limit, the result is the command or ERR_TOO_LARGE. */
static void memory__that_runs_out_is_an_answer(void **state)
{
    struct svc_chain_step steps[] = {{.queue = STR("q")}, {.queue = STR("r")}};
    struct svc_chain chain = {.steps = steps, .steps_count = 2, .on_failure = STR("\"a\\u0062\"")};
    char text[ID_TEXT_MAX];
    struct id id = id_make((struct wall){.ns = NS_PER_S}, 1, 0);
    struct str waits[] = {str_from(text, id_format(id, ID_JOB, text))};
    struct svc_enqueue_job job = {SVC_ENQUEUE_DEFAULTS, .queue = STR("q"), .chain = &chain};
    job.depends_on = waits;
    unsigned refused = 0;
    unsigned done = 0;
    (void)state;
    for (size_t limit = 1; limit < 4096 || done == 0; limit += 7) {
        struct err err;
        struct command command;
        struct arena *arena = arena_new(limit);
        struct svc_caller who = {.ns = STR_EMPTY, .arena = arena};
        job.depends_on_count = limit % 2;
        enum err_code code = svc_enqueue_list(&who, 2, &command, &err);
        for (size_t i = 0; i < 2 && code == ERR_OK; i++) {
            code = svc_enqueue_put(&who, &command, i, &job, &err);
        }
        if (code == ERR_OK) {
            struct svc_once once = {.route = SVC_ONCE_MANY, .key = STR("key"), .body = STR("{}")};
            code = svc_enqueue_once(&who, &command, &once, &err);
        }
        if (code == ERR_OK) {
            done++;
        } else {
            assert_int_equal(code, ERR_TOO_LARGE);
            refused++;
        }
        arena_free(arena);
    }
    assert_true(refused > 0);
    assert_true(done > 0);
}

TEST_GROUP(svc_enqueue, cmocka_unit_test(minimal_job__has_the_defaults),
           cmocka_unit_test(payload__is_checked_once),
           cmocka_unit_test(number__that_does_not_fit_is_refused),
           cmocka_unit_test(agent__below_zero_is_without_limit),
           cmocka_unit_test(agent__smallest_limit_is_a_limit),
           cmocka_unit_test(names__are_those_of_the_namespace),
           cmocka_unit_test(dependencies__are_listed_once),
           cmocka_unit_test(list__says_which_job_is_meant),
           cmocka_unit_test(once__is_of_a_namespace_a_kind_and_a_body),
           cmocka_unit_test(memory__that_runs_out_is_an_answer));
