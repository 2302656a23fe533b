/*
 * The requests of workers, in any dialect: waits and leases, the words of an ack, heartbeats.
 */
#include "svc/svc_work.h"

#include <math.h>

#include "base/limits.h"
#include "fsm/command/command_check.h"
#include "fsm/command/command_names.h"
#include "lib/expect.h"
#include "lib/test.h"
#include "svc/svc_beat.h"

static struct svc_caller caller(struct arena *arena)
{
    return (struct svc_caller){.arena = arena};
}

static struct str id_text(unsigned n, char out[static ID_TEXT_MAX])
{
    struct id id = id_make((struct wall){.ns = NS_PER_S}, n, 0);
    return str_from(out, id_format(id, ID_JOB, out));
}

static void claim__waits_and_leases(void **state)
{
    static const struct {
        const char *name;
        int64_t timeout, lease, count;
        int64_t wait_ms, lease_ms;
        uint32_t jobs;
    } rows[] = {
        {"nothing said", 0, 0, 0, 29750, 60000, 1},
        {"a short wait", 1, 0, 1, 950, 60000, 1},
        {"a wait that is too long", 3600, 0, 1, 59750, 60000, 1},
        {"a lease of its own", 0, 7, 2, 29750, 7000, 2},
        {"the longest lease", 5, LIMIT_LEASE_S_MAX, 1, 4750, LIMIT_LEASE_S_MAX * 1000LL, 1},
        {"more than there may be", INT64_MAX, 1, INT64_MAX, 59750, 1000, LIMIT_CLAIM_COUNT},
        {"below zero", INT64_MIN, 0, INT64_MIN, 29750, 60000, 1},
    };
    struct str queues[] = {STR("a"), STR("b")};
    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct arena *arena = arena_new(4096);
        struct svc_caller who = caller(arena);
        struct svc_work_fetch in = {.queues = queues,
                                    .queues_count = 2,
                                    .worker_id = STR("w"),
                                    .timeout = rows[i].timeout,
                                    .lease_duration = rows[i].lease,
                                    .count = rows[i].count};
        struct command c;
        struct err err;
        int64_t wait_ms;
        ROW(rows[i].name);
        assert_int_equal(svc_work_claim(&who, &in, &c, &wait_ms, &err), ERR_OK);
        assert_int_equal(wait_ms, rows[i].wait_ms);
        assert_int_equal(c.claim.lease_ms, rows[i].lease_ms);
        assert_int_equal(c.claim.count, rows[i].jobs);
        expect_str(c.claim.queues[1], STR("b"));
        arena_free(arena);
    }
}

static void claim__is_refused(void **state)
{
    struct str queues[] = {STR("a")};
    struct arena *arena = arena_new(4096);
    struct svc_caller who = caller(arena);
    struct svc_work_fetch in = {.queues = queues};
    struct command c;
    struct err err;
    int64_t wait_ms;
    (void)state;
    assert_int_equal(svc_work_claim(&who, &in, &c, &wait_ms, &err), ERR_VALIDATION);
    assert_string_equal(err.msg, "queues is required");
    in.queues_count = 1;
    in.lease_duration = LIMIT_LEASE_S_MAX + 1;
    assert_int_equal(svc_work_claim(&who, &in, &c, &wait_ms, &err), ERR_VALIDATION);
    assert_non_null(strstr(err.msg, "lease_duration"));
    arena_free(arena);
    in.lease_duration = 1;
    in.queues_count = 1000;
    arena = arena_new(64);
    who = caller(arena);
    assert_int_equal(svc_work_claim(&who, &in, &c, &wait_ms, &err), ERR_TOO_LARGE);
    arena_free(arena);
}

static void ack__words(void **state)
{
    static const struct {
        const char *agent, *ack, *step;
        enum command_agent_status status;
        const char *refusal;
    } rows[] = {
        {"", "", "", COMMAND_AGENT_NONE, NULL},
        {"Continue", "", "", COMMAND_AGENT_CONTINUE, NULL},
        {"done", "", "exit", COMMAND_AGENT_DONE, NULL},
        {"", "HOLD", "", COMMAND_AGENT_HOLD_ANY, NULL},
        {"", "done", "continue", COMMAND_AGENT_NONE, NULL},
        {"later", "", "", 0, "agent_status: expected continue, done or hold, got 'later'"},
        {"", "continue", "", 0, "ack_status: expected done or hold, got 'continue'"},
        {"", "", "stop", 0, "step_status: expected continue or exit, got 'stop'"},
        {"hold", "hold", "", 0, "ack_status and agent_status cannot both be set"},
    };
    char text[ID_TEXT_MAX];
    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct svc_caller who = {0};
        struct svc_work_ack in = {.job_id = id_text(1, text),
                                  .agent_status = str_from_z(rows[i].agent),
                                  .ack_status = str_from_z(rows[i].ack),
                                  .step_status = str_from_z(rows[i].step)};
        struct command_ack_item room;
        struct command c;
        struct err err;
        enum err_code code = svc_work_ack_one(&who, &in, &room, &c, &err);
        if (rows[i].refusal != NULL) {
            ROW(rows[i].refusal);
            assert_int_equal(code, ERR_ACK);
            assert_string_equal(err.msg, rows[i].refusal);
        } else {
            assert_int_equal(code, ERR_OK);
            assert_int_equal(c.ack.items[0].agent_status, rows[i].status);
            assert_false(c.ack.lenient);
        }
    }
}

static void acks__pass_over_what_is_no_id(void **state)
{
    char text[ID_TEXT_MAX];
    struct svc_usage usage = {.input_tokens = -5, .output_tokens = 7, .model = STR(" m ")};
    struct svc_work_ack acks[] = {{.job_id = STR("nonsense")},
                                  {.job_id = id_text(1, text), .usage = &usage}};
    struct arena *arena = arena_new(4096);
    struct svc_caller who = caller(arena);
    struct command c;
    struct err err;
    (void)state;
    assert_int_equal(svc_work_ack_many(&who, acks, 2, &c, &err), ERR_OK);
    assert_true(c.ack.lenient);
    assert_int_equal(c.ack.count, 1);
    assert_int_equal(c.ack.items[0].usage.input, 0);
    assert_int_equal(c.ack.items[0].usage.output, 7);
    expect_str(c.ack.items[0].usage.model, STR("m"));
    assert_int_equal(svc_work_ack_many(&who, acks, 1, &c, &err), ERR_OK);
    assert_int_equal(c.ack.count, 0);
    assert_int_equal(svc_work_ack_many(&who, acks, 0, &c, &err), ERR_VALIDATION);
    usage.cost_usd = 1e300;
    assert_int_equal(svc_work_ack_many(&who, acks, 2, &c, &err), ERR_VALIDATION);
    assert_string_equal(err.msg, "acks[1]: usage.cost_usd: expected at most 1000000, got 1e+300");
    usage.cost_usd = (double)NAN;
    assert_int_equal(svc_work_ack_many(&who, acks, 2, &c, &err), ERR_VALIDATION);
    assert_string_equal(err.msg, "acks[1]: usage.cost_usd: expected at most 1000000, got nan");
    static char name[LIMIT_MODEL_NAME_BYTES + 1];
    memset(name, 'm', sizeof name);
    usage = (struct svc_usage){.provider = str_from(name, sizeof name)};
    assert_int_equal(svc_work_ack_many(&who, acks, 2, &c, &err), ERR_VALIDATION);
    assert_string_equal(err.msg, "acks[1]: usage.provider too large: 256 bytes (max 255)");
    arena_free(arena);
}

/* The check of the command sees only the acks that are in it. */
static void acks__are_named_by_their_place_in_the_request(void **state)
{
    char text[ID_TEXT_MAX];
    struct svc_work_ack acks[] = {
        {.job_id = STR("nonsense")}, {.job_id = STR("")}, {.job_id = id_text(1, text)}};
    struct arena *arena = arena_new(4096);
    struct svc_caller who = caller(arena);
    struct command c;
    struct err err;
    (void)state;
    acks[2].result = STR("{");
    assert_int_equal(svc_work_ack_many(&who, acks, COUNT_OF(acks), &c, &err), ERR_OK);
    assert_int_equal(c.ack.count, 1);
    assert_int_equal(command_check(&c, &(struct command_limits){0}, &err), ERR_PARSE);
    assert_string_equal(err.msg,
                        "acks[2].result: invalid JSON at byte 1: unexpected end of the text");
    struct svc_usage usage = {.cost_usd = 1e300};
    static const struct command_names names = {.acks = "items", .result = "result_json"};
    who.names = &names;
    assert_int_equal(svc_work_ack_many(&who, acks, COUNT_OF(acks), &c, &err), ERR_OK);
    assert_int_equal(command_check(&c, &(struct command_limits){0}, &err), ERR_PARSE);
    assert_string_equal(err.msg,
                        "items[2].result_json: invalid JSON at byte 1: unexpected end of the text");
    acks[1].usage = &usage;
    assert_int_equal(svc_work_ack_many(&who, acks, COUNT_OF(acks), &c, &err), ERR_VALIDATION);
    assert_string_equal(err.msg, "items[1]: usage.cost_usd: expected at most 1000000, got 1e+300");
    arena_free(arena);
}

static void fail__cuts_what_is_too_long(void **state)
{
    static char long_text[LIMIT_BACKTRACE_BYTES + 10];
    char text[ID_TEXT_MAX];
    struct svc_caller who = {0};
    struct svc_work_fail in = {.job_id = id_text(1, text),
                               .error = str_from(long_text, sizeof long_text),
                               .backtrace = str_from(long_text, sizeof long_text)};
    struct command c;
    struct err err;
    (void)state;
    memset(long_text, 'x', sizeof long_text);
    assert_int_equal(svc_work_fail(&who, &in, &c, &err), ERR_OK);
    assert_int_equal(c.fail.error.len, LIMIT_ERROR_BYTES);
    assert_int_equal(c.fail.backtrace.len, LIMIT_BACKTRACE_BYTES);
    in.job_id = STR("job_1");
    assert_int_equal(svc_work_fail(&who, &in, &c, &err), ERR_NOT_FOUND);
    assert_string_equal(err.msg, "job \"job_1\" not found");
}

/* If a job has several beats, the last counts. Each job is answered once. */
static void beats__are_one_per_job(void **state)
{
    char text[2][ID_TEXT_MAX];
    struct arena *arena = arena_new(1 << 16);
    struct svc_caller who = caller(arena);
    struct svc_beats beats;
    struct command c;
    struct err err;
    (void)state;
    assert_int_equal(svc_beat_room(&who, LIMIT_HEARTBEAT_JOBS + 1, &beats, &err), ERR_VALIDATION);
    assert_int_equal(svc_beat_room(&who, 4, &beats, &err), ERR_OK);
    beats.list[0] = (struct svc_beat){.job_id = id_text(1, text[0]), .progress = STR("1")};
    beats.list[1] = (struct svc_beat){.job_id = STR("nobody")};
    beats.list[2] = (struct svc_beat){.job_id = id_text(2, text[1])};
    beats.list[3] = (struct svc_beat){.job_id = beats.list[0].job_id, .checkpoint = STR("2")};
    beats.count = 4;
    assert_int_equal(svc_beat_command(&who, &beats, &c, &err), ERR_OK);
    assert_int_equal(beats.count, 3);
    assert_int_equal(c.heartbeat.count, 2);
    expect_str(c.heartbeat.items[0].progress, STR_EMPTY);
    expect_str(c.heartbeat.items[0].checkpoint, STR("2"));

    struct result_item items[] = {{.status = RESULT_OK}, {.status = RESULT_CANCEL}};
    struct result r = {.items = items, .count = 2, .at = {.ns = 77}};
    assert_int_equal(svc_beat_answer(&beats, &r, &err), ERR_OK);
    assert_int_equal(beats.list[0].status, SVC_BEAT_OK);
    assert_int_equal(beats.list[0].lease_expires_at.ns, 77);
    assert_int_equal(beats.list[2].lease_expires_at.ns, 0);
    assert_int_equal(beats.list[1].status, SVC_BEAT_UNKNOWN);
    assert_int_equal(beats.list[2].status, SVC_BEAT_CANCEL);
    r.count = 1;
    assert_int_equal(svc_beat_answer(&beats, &r, &err), ERR_INTERNAL);
    arena_free(arena);
}

/* A protocol with JSON in texts also has the text null. The result of a job may be null. */
static void null__supplies_nothing(void **state)
{
    static const struct {
        const char *text, *kept;
    } rows[] = {{"", ""}, {"null", ""}, {" null\n", ""}, {"{}", "{}"}, {"[null]", "[null]"}};
    char text[ID_TEXT_MAX];
    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct str json = str_from_z(rows[i].text);
        struct str kept = str_from_z(rows[i].kept);
        struct arena *arena = arena_new(4096);
        struct svc_caller who = caller(arena);
        struct svc_beat beat = {.job_id = id_text(1, text), .progress = json, .checkpoint = json};
        struct svc_work_ack ack = {.job_id = beat.job_id, .result = json, .checkpoint = json};
        struct svc_beats beats = {.list = &beat, .count = 1};
        struct command_ack_item room;
        struct command c;
        struct err err;
        ROW(rows[i].text);
        assert_int_equal(svc_beat_command(&who, &beats, &c, &err), ERR_OK);
        expect_str(c.heartbeat.items[0].progress, kept);
        expect_str(c.heartbeat.items[0].checkpoint, kept);
        assert_int_equal(svc_work_ack_one(&who, &ack, &room, &c, &err), ERR_OK);
        expect_str(c.ack.items[0].checkpoint, kept);
        expect_str(c.ack.items[0].result, json);
        arena_free(arena);
    }
}

static void fetched__that_cannot_be_read_is_an_error(void **state)
{
    struct svc_caller who = {0};
    struct result_item item = {.doc = STR("garbage")};
    struct svc_work_fetched job;
    struct err err;
    (void)state;
    assert_int_equal(svc_work_fetched(&who, &item, &job, &err), ERR_INTERNAL);
}

TEST_GROUP(svc_work, cmocka_unit_test(claim__waits_and_leases), cmocka_unit_test(claim__is_refused),
           cmocka_unit_test(ack__words), cmocka_unit_test(acks__pass_over_what_is_no_id),
           cmocka_unit_test(acks__are_named_by_their_place_in_the_request),
           cmocka_unit_test(fail__cuts_what_is_too_long), cmocka_unit_test(beats__are_one_per_job),
           cmocka_unit_test(null__supplies_nothing),
           cmocka_unit_test(fetched__that_cannot_be_read_is_an_error));
