/*
 * Commands that must not enter the log, as far as this can be decided without the state
 * (http-api.md 1.5, 6.8, 7 to 13). Each row makes one thing in a valid command invalid.
 */
#include "fsm/command/command_check.h"

#include "base/limits.h"
#include "fsm/command/command_names.h"
#include "lib/expect.h"
#include "lib/samples.h"
#include "lib/test.h"

static const struct command_limits no_limits = {0};

static void expect_fine(const struct command *c)
{
    struct err err;
    if (command_check(c, &no_limits, &err) != ERR_OK) {
        fail_msg("%s: %s", command_word(c->type), err.msg);
    }
}

static void expect_bad(const struct command *c, const struct command_limits *limits,
                       enum err_code code, const char *message)
{
    struct err err = {0};
    ROW(message);
    assert_int_equal(command_check(c, limits, &err), code);
    assert_string_equal(err.msg, message);
}

/* A text of this length. The next call overwrites it. */
static struct str long_text(size_t len)
{
    static char bytes[2 << 20];
    assert_true(len <= sizeof bytes);
    memset(bytes, 'x', len);
    return str_from(bytes, len);
}

/* A JSON string of this length, including the quotes. */
static struct str long_json(size_t len)
{
    static char bytes[2 << 20];
    assert_in_range(len, 2, sizeof bytes);
    memset(bytes, 'x', len);
    bytes[0] = bytes[len - 1] = '"';
    return str_from(bytes, len);
}

static struct command_new one;

/* A valid enqueue of one job. */
static struct command enqueue(void)
{
    one = (struct command_new){.job = {.queue = STR("q"), .payload = STR("{}")}};
    return (struct command){.type = COMMAND_ENQUEUE, .enqueue = {.jobs = &one, .count = 1}};
}

static void samples__are_fine(void **state)
{
    (void)state;
    for (unsigned type = COMMAND_CLAIM; type <= COMMAND_TYPE_LAST; type++) {
        if (!command_exists(type)) {
            continue;
        }
        struct command c = samples_command((enum command_type)type);
        expect_fine(&c);
    }
    struct command c = enqueue();
    expect_fine(&c);
}

static void enqueue__names_the_member_that_is_wrong(void **state)
{
    (void)state;
    struct command c = enqueue();
    one.job.queue = STR_EMPTY;
    expect_bad(&c, &no_limits, ERR_VALIDATION, "queue is required");
    one.job.queue = STR("a\nb");
    expect_bad(&c, &no_limits, ERR_VALIDATION, "queue contains a control character");
    one.job.queue = STR("\xff");
    expect_bad(&c, &no_limits, ERR_VALIDATION, "queue is not valid UTF-8");
    one.job.queue = long_text(321);
    expect_bad(&c, &no_limits, ERR_VALIDATION, "queue too large: 321 bytes (max 320)");
    one.job.queue = long_text(320);
    expect_fine(&c);

    c = enqueue();
    one.job.payload = STR("{");
    struct err err;
    assert_int_equal(command_check(&c, &no_limits, &err), ERR_PARSE);
    assert_true(str_starts_with(str_from_z(err.msg), STR("payload: invalid JSON")));
    one.job.payload = STR_EMPTY;
    expect_bad(&c, &no_limits, ERR_VALIDATION, "payload is required");

    c = enqueue();
    one.job.unique_key = long_text(513);
    expect_bad(&c, &no_limits, ERR_VALIDATION, "unique_key too large: 513 bytes (max 512)");
    one.job.unique_key = long_text(512);
    expect_fine(&c);

    c = enqueue();
    one.job.checkpoint = long_json(LIMIT_RESULT_BYTES + 1);
    expect_bad(&c, &no_limits, ERR_FIELD_TOO_LARGE,
               "checkpoint too large: 1048577 bytes (max 1048576)");
    one.job.checkpoint = long_json(LIMIT_RESULT_BYTES);
    expect_fine(&c);

    c = enqueue();
    c.enqueue.idempotency_key = long_text(513);
    expect_bad(&c, &no_limits, ERR_VALIDATION, "Idempotency-Key too large: 513 bytes (max 512)");
}

static void enqueue__refuses_negative_numbers(void **state)
{
    (void)state;
    static const struct {
        const char *message;
        size_t offset;
    } rows[] = {
        {"retry_base_delay must not be negative", offsetof(struct command_new, job.retry_base_ms)},
        {"retry_max_delay must not be negative", offsetof(struct command_new, job.retry_max_ms)},
        {"expire_after must not be negative", offsetof(struct command_new, expire_after_ms)},
        {"scheduled_at must not be negative", offsetof(struct command_new, job.scheduled_at)},
        {"agent.max_iterations must not be negative",
         offsetof(struct command_new, job.agent.max_iterations)},
        {"agent.max_cost_usd must not be negative",
         offsetof(struct command_new, job.agent.max_cost_nusd)},
        {"agent.iteration_timeout must not be negative",
         offsetof(struct command_new, job.agent.timeout_ms)},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct command c = enqueue();
        const int64_t negative = -1;
        memcpy((char *)&one + rows[i].offset, &negative, sizeof negative);
        expect_bad(&c, &no_limits, ERR_VALIDATION, rows[i].message);
    }
    struct command c = enqueue();
    one.job.max_retries = 1U << 31;
    expect_bad(&c, &no_limits, ERR_VALIDATION, "max_retries must not be negative");
}

static void payload__has_a_limit_that_is_set(void **state)
{
    (void)state;
    const struct command_limits ten = {.payload_bytes = 10};
    struct command c = enqueue();
    struct err err;
    one.job.payload = STR("\"12345678\"");
    assert_int_equal(command_check(&c, &ten, &err), ERR_OK);
    one.job.payload = STR("\"123456789\"");
    expect_bad(&c, &ten, ERR_FIELD_TOO_LARGE, "payload too large: 11 bytes (max 10)");
    expect_fine(&c); /* 0 disables the limit */
    c.enqueue.is_list = true;
    expect_bad(&c, &ten, ERR_FIELD_TOO_LARGE, "job 0 payload too large: 11 bytes (max 10)");
    struct command_new two[2] = {one, one};
    two[0].job.payload = STR("1");
    c.enqueue.jobs = two;
    c.enqueue.count = 2;
    expect_bad(&c, &ten, ERR_FIELD_TOO_LARGE, "job 1 payload too large: 11 bytes (max 10)");
}

static void payload__that_is_known_to_be_json_has_the_same_limits(void **state)
{
    (void)state;
    const struct command_limits ten = {.payload_bytes = 10};
    struct command c = enqueue();
    one.payload_is_json = true;
    expect_fine(&c);
    one.job.payload = STR("\"123456789\"");
    expect_bad(&c, &ten, ERR_FIELD_TOO_LARGE, "payload too large: 11 bytes (max 10)");
    one.job.payload = STR_EMPTY;
    expect_bad(&c, &no_limits, ERR_VALIDATION, "payload is required");
}

static void payload__that_is_not_json_does_not_pass_because_another_is(void **state)
{
    (void)state;
    struct command c = enqueue();
    struct command_new two[2] = {one, one};
    struct err err;
    two[0].payload_is_json = true;
    two[1].job.payload = STR("[1,]");
    c.enqueue.jobs = two;
    c.enqueue.count = 2;
    assert_int_equal(command_check(&c, &no_limits, &err), ERR_PARSE);
    assert_true(str_starts_with(str_from_z(err.msg), STR("jobs[1].payload: invalid JSON")));
}

static void tags__are_a_small_object(void **state)
{
    (void)state;
    static const struct {
        const char *tags;
        const char *message; /* NULL: valid */
    } rows[] = {
        {"", NULL},
        {"{}", NULL},
        {"{\"a\":\"b\",\"c\":\"\"}", NULL},
        {"[]", "tags must be an object"},
        {"\"a:b\"", "tags must be an object"},
        {"{\"a\":1}", NULL},
        {"{\"a\":null}", NULL},
        {"{\"a\":{\"b\":\"c\"}}", NULL},
        {"{\"\\ud800\":\"\\ud800\"}", NULL},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct command c = enqueue();
        one.job.tags = str_from_z(rows[i].tags);
        if (rows[i].message == NULL) {
            expect_fine(&c);
        } else {
            expect_bad(&c, &no_limits, ERR_VALIDATION, rows[i].message);
        }
    }
}

/* Build an object with this many pairs, with keys and values of these lengths. */
static void build_tags(struct buf *out, unsigned pairs, size_t key_len, size_t value_len)
{
    buf_clear(out);
    buf_add_char(out, '{');
    for (unsigned i = 0; i < pairs; i++) {
        buf_printf(out, "%s\"%0*u\":\"", i == 0 ? "" : ",", (int)key_len, i);
        buf_add_str(out, long_text(value_len));
        buf_add_char(out, '"');
    }
    buf_add_char(out, '}');
}

static void tags__have_limits(void **state)
{
    (void)state;
    static const struct {
        unsigned pairs;
        size_t key_len, value_len;
        const char *message;
    } rows[] = {
        {64, 128, 1024, NULL},
        {65, 2, 0, "tags has more than 64 pairs"},
        {1, 129, 0, "tags has a key of more than 128 bytes"},
        {1, 1, 1025, "tags has a value of more than 1024 bytes"},
    };
    struct buf tags;
    buf_init(&tags, 1 << 20);
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct command c = enqueue();
        build_tags(&tags, rows[i].pairs, rows[i].key_len, rows[i].value_len);
        one.job.tags = buf_str(&tags);
        if (rows[i].message == NULL) {
            expect_fine(&c);
        } else {
            expect_bad(&c, &no_limits, ERR_VALIDATION, rows[i].message);
        }
    }
    buf_deinit(&tags);
}

/* An array nested that deep. The next call overwrites it. */
static struct str nested(size_t depth)
{
    static char bytes[2 * LIMIT_JSON_DEPTH];
    assert_true(2 * depth <= sizeof bytes);
    memset(bytes, '[', depth);
    memset(bytes + depth, ']', depth);
    return str_from(bytes, 2 * depth);
}

/* A value from a client may be nested less than what the server makes of it. */
static void depth__is_that_of_a_value(void **state)
{
    (void)state;
    for (size_t depth = LIMIT_JSON_VALUE_DEPTH; depth <= LIMIT_JSON_VALUE_DEPTH + 1; depth++) {
        const char *const messages[] = {"payload: nested more than 512 deep",
                                        "checkpoint: nested more than 512 deep"};
        struct command c = enqueue();
        struct str *const values[] = {&one.job.payload, &one.job.checkpoint};
        for (size_t i = 0; i < COUNT_OF(values); i++) {
            (void)enqueue();
            *values[i] = nested(depth);
            if (depth == LIMIT_JSON_VALUE_DEPTH) {
                expect_fine(&c);
            } else {
                expect_bad(&c, &no_limits, ERR_VALIDATION, messages[i]);
            }
        }
        struct buf config;
        buf_init(&config, 1 << 16);
        buf_printf(&config, "{\"steps\":[{\"queue\":\"q\",\"payload\":" STR_FMT "}]}",
                   STR_ARG(nested(depth)));
        (void)enqueue();
        one.job.chain_config = buf_str(&config);
        expect_fine(&c);
        buf_deinit(&config);
    }
    struct command c = samples_command(COMMAND_RESTORE);
    struct command_restore_item item = {0};
    for (size_t i = 0; i < c.restore.count; i++) {
        if (c.restore.items[i].kind == COMMAND_RESTORE_JOB) {
            item = c.restore.items[i];
        }
    }
    assert_int_equal(item.kind, COMMAND_RESTORE_JOB);
    item.job.payload = nested(LIMIT_JSON_VALUE_DEPTH + 1);
    c.restore.items = &item;
    c.restore.count = 1;
    expect_fine(&c);
}

static void chain__is_a_definition_with_queues(void **state)
{
    (void)state;
    static const struct {
        const char *config;
        const char *message; /* NULL: valid */
    } rows[] = {
        {"{\"steps\":[{\"queue\":\"q\"},{\"queue\":\"b\",\"payload\":1}]}", NULL},
        {"{\"steps\":[{\"queue\":\"\\u0071\"},{\"queue\":\"b\"}]}", NULL},
        {"{\"steps\":[{\"queue\":\"q\"},{\"queue\":\"b\"}],\"on_exit\":{\"queue\":\"x\"},"
         "\"on_failure\":{\"queue\":\"y\"}}",
         NULL},
        {"{\"steps\":[{\"queue\":\"q\"},{\"queue\":\"b\"}],\"on_failure\":\"continue\"}", NULL},
        {"{\"steps\":[{\"queue\":\"q\"},{\"queue\":\"b\"}],\"on_failure\":null,\"on_exit\":null}",
         NULL},
        {"[]", "chain_config must be an object"},
        {"{}", "chain.steps is required"},
        {"{\"steps\":{}}", "chain.steps is required"},
        {"{\"steps\":[]}", "chain.steps needs at least two steps"},
        {"{\"steps\":[{\"queue\":\"q\"}]}", "chain.steps needs at least two steps"},
        {"{\"steps\":[{\"queue\":\"other\"},{\"queue\":\"b\"}]}",
         "chain.steps[0].queue must equal queue"},
        {"{\"steps\":[{\"queue\":\"q\"},{}]}", "chain step has empty queue"},
        {"{\"steps\":[{\"queue\":\"q\"},{\"queue\":\"\"}]}", "chain step has empty queue"},
        {"{\"steps\":[{\"queue\":\"q\"},{\"queue\":7}]}", "chain step has empty queue"},
        {"{\"steps\":[{\"queue\":\"q\"},7]}", "chain step has empty queue"},
        {"{\"steps\":[{\"queue\":\"q\"},{\"queue\":\"a\\u0001\"}]}",
         "chain step queue contains a control character"},
        {"{\"steps\":[{\"queue\":\"q\"},{\"queue\":\"b\"}],\"on_exit\":{}}",
         "chain.on_exit has empty queue"},
        {"{\"steps\":[{\"queue\":\"q\"},{\"queue\":\"b\"}],\"on_exit\":\"continue\"}",
         "chain.on_exit has empty queue"},
        {"{\"steps\":[{\"queue\":\"q\"},{\"queue\":\"b\"}],\"on_failure\":\"queue.name\"}",
         "chain.on_failure has empty queue"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct command c = enqueue();
        one.starts_chain = true;
        one.job.chain_config = str_from_z(rows[i].config);
        if (rows[i].message == NULL) {
            expect_fine(&c);
        } else {
            expect_bad(&c, &no_limits, ERR_VALIDATION, rows[i].message);
        }
    }
    /* If no chain is started, the configuration may be any object. */
    struct command c = enqueue();
    one.job.chain_config = STR("{\"steps\":7}");
    expect_fine(&c);
}

static void chain__has_at_most_a_hundred_steps(void **state)
{
    (void)state;
    struct buf config;
    buf_init(&config, 1 << 16);
    for (unsigned steps = LIMIT_CHAIN_STEPS; steps <= LIMIT_CHAIN_STEPS + 1; steps++) {
        struct command c = enqueue();
        buf_clear(&config);
        buf_printf(&config, "{\"steps\":[");
        for (unsigned i = 0; i < steps; i++) {
            buf_printf(&config, "%s{\"queue\":\"q\"}", i == 0 ? "" : ",");
        }
        buf_printf(&config, "]}");
        one.starts_chain = true;
        one.job.chain_config = buf_str(&config);
        if (steps == LIMIT_CHAIN_STEPS) {
            expect_fine(&c);
        } else {
            expect_bad(&c, &no_limits, ERR_VALIDATION, "chain.steps has more than 100 steps");
        }
    }
    buf_deinit(&config);
}

static void batch__callback_is_checked(void **state)
{
    (void)state;
    struct command c = enqueue();
    c.enqueue.has_batch = true;
    expect_fine(&c); /* without a callback */
    c.enqueue.callback_queue = STR("a\tb");
    expect_bad(&c, &no_limits, ERR_VALIDATION, "batch.callback_queue contains a control character");
    c.enqueue.callback_queue = STR("q");
    c.enqueue.callback_payload = STR("\"12345678\"");
    expect_bad(&c, &(struct command_limits){.payload_bytes = 9}, ERR_FIELD_TOO_LARGE,
               "batch.callback_payload too large: 10 bytes (max 9)");
}

static void lists__have_limits(void **state)
{
    (void)state;
    static struct id ids[LIMIT_DEPENDS_ON + 1];
    static struct str queues[LIMIT_CLAIM_QUEUES + 1];
    struct command c = enqueue();
    one.job.waits_for = str_from(ids, sizeof ids);
    expect_bad(&c, &no_limits, ERR_VALIDATION, "depends_on has more than 1000 ids");
    c.enqueue.count = 0;
    expect_bad(&c, &no_limits, ERR_VALIDATION, "jobs array is required");
    c.enqueue.count = LIMIT_ENQUEUE_BATCH + 1;
    expect_bad(&c, &no_limits, ERR_VALIDATION, "jobs has more than 10000 items");

    c = samples_command(COMMAND_CLAIM);
    c.claim.queue_count = 0;
    expect_bad(&c, &no_limits, ERR_VALIDATION, "queues is required");
    c.claim.queues = queues;
    c.claim.queue_count = COUNT_OF(queues);
    expect_bad(&c, &no_limits, ERR_VALIDATION, "queues has more than 256 names");
    c.claim.queue_count = 1;
    expect_bad(&c, &no_limits, ERR_VALIDATION, "queues[0] is required");

    c = samples_command(COMMAND_ACK);
    c.ack.count = 0;
    expect_bad(&c, &no_limits, ERR_VALIDATION, "acks array is required");
    c.ack.count = LIMIT_ACK_BATCH + 1;
    expect_bad(&c, &no_limits, ERR_VALIDATION, "ack batch exceeds maximum of 512 items");
    c = samples_command(COMMAND_HEARTBEAT);
    c.heartbeat.count = LIMIT_HEARTBEAT_JOBS + 1;
    expect_bad(&c, &no_limits, ERR_VALIDATION, "jobs has more than 10000 items");
    c = samples_command(COMMAND_JOBS);
    c.jobs.count = LIMIT_BULK_SYNC + 1;
    expect_bad(&c, &no_limits, ERR_BULK, "job_ids must have 1 to 10000 ids in one step");
}

static void claim__has_bounds(void **state)
{
    (void)state;
    struct command c = samples_command(COMMAND_CLAIM);
    c.claim.lease_ms = 0;
    expect_bad(&c, &no_limits, ERR_VALIDATION, "lease_duration must be 1 to 86400 seconds");
    c.claim.lease_ms = 86400001;
    expect_bad(&c, &no_limits, ERR_VALIDATION, "lease_duration must be 1 to 86400 seconds");
    c.claim.lease_ms = 86400000;
    expect_fine(&c);
    c.claim.count = 0;
    expect_bad(&c, &no_limits, ERR_VALIDATION, "count must be 1 to 512");
    c.claim.count = 513;
    expect_bad(&c, &no_limits, ERR_VALIDATION, "count must be 1 to 512");
    c.claim.count = 512;
    c.claim.worker_id = long_text(256);
    expect_bad(&c, &no_limits, ERR_VALIDATION, "worker_id too large: 256 bytes (max 255)");
}

static void ack_and_heartbeat__name_the_item(void **state)
{
    (void)state;
    struct command c = samples_command(COMMAND_ACK);
    c.ack.items[1].has_result = true;
    c.ack.items[1].place = 3; /* in the request: two acks before it are not in the command */
    expect_bad(&c, &no_limits, ERR_VALIDATION, "acks[3].result is empty");
    c.ack.items[1].result = long_json(LIMIT_RESULT_BYTES + 1);
    expect_bad(&c, &no_limits, ERR_FIELD_TOO_LARGE,
               "acks[3].result too large: 1048577 bytes (max 1048576)");
    c = samples_command(COMMAND_ACK);
    c.ack.items[0].usage.input = -1;
    expect_bad(&c, &no_limits, ERR_VALIDATION, "acks[0].usage must not be negative");
    c = samples_command(COMMAND_ACK);
    c.ack.items[0].hold_reason = long_text(LIMIT_REASON_BYTES + 1);
    expect_bad(&c, &no_limits, ERR_VALIDATION,
               "acks[0].hold_reason too large: 4097 bytes (max 4096)");
    c = samples_command(COMMAND_ACK);
    struct command_claim next = *c.ack.next;
    next.count = LIMIT_CLAIM_COUNT + 1;
    c.ack.next = &next;
    expect_bad(&c, &no_limits, ERR_VALIDATION, "next: count must be 1 to 512");
    c = samples_command(COMMAND_HEARTBEAT);
    c.heartbeat.items[0].progress = long_json(LIMIT_PROGRESS_BYTES + 1);
    expect_bad(&c, &no_limits, ERR_FIELD_TOO_LARGE,
               "jobs[0].progress too large: 32769 bytes (max 32768)");
}

static void names__are_those_of_the_caller(void **state)
{
    static const struct command_names names = {.jobs = "enqueues",
                                               .acks = "items",
                                               .payload = "payload_json",
                                               .result = "result_json",
                                               .checkpoint = "checkpoint_json"};
    (void)state;
    const struct command_limits ten = {.payload_bytes = 10};
    struct command c = enqueue();
    c.enqueue.names = &names;
    one.job.payload = STR("{");
    expect_bad(&c, &no_limits, ERR_PARSE,
               "payload_json: invalid JSON at byte 1: unexpected end of the text");
    one.job.payload = STR("\"123456789\"");
    expect_bad(&c, &ten, ERR_FIELD_TOO_LARGE, "payload too large: 11 bytes (max 10)");
    c.enqueue.is_list = true;
    expect_bad(&c, &ten, ERR_FIELD_TOO_LARGE, "enqueues[0]: payload too large: 11 bytes (max 10)");
    one.job.queue = STR("a\1");
    expect_bad(&c, &ten, ERR_VALIDATION, "enqueues[0].queue contains a control character");
    c = samples_command(COMMAND_ACK);
    c.ack.names = &names;
    c.ack.items[0].checkpoint = STR("[");
    expect_bad(&c, &no_limits, ERR_PARSE,
               "items[0].checkpoint_json: invalid JSON at byte 1: unexpected end of the text");
    c.ack.items[0].result = long_json(LIMIT_RESULT_BYTES + 1);
    expect_bad(&c, &no_limits, ERR_FIELD_TOO_LARGE,
               "items[0].result_json too large: 1048577 bytes (max 1048576)");
}

static void others__have_their_rules(void **state)
{
    (void)state;
    struct command c = samples_command(COMMAND_REPLAY);
    c.replay.from = 0;
    expect_bad(&c, &no_limits, ERR_VALIDATION, "from must be > 0");
    c = samples_command(COMMAND_JOBS);
    c.jobs.queue = STR_EMPTY;
    expect_bad(&c, &no_limits, ERR_VALIDATION, "queue is required");
    c = samples_command(COMMAND_JOBS);
    c.jobs.fit.queue = long_text(LIMIT_INTERNAL_NAME_BYTES + 1);
    expect_bad(&c, &no_limits, ERR_VALIDATION, "filter.queue too large: 321 bytes (max 320)");
    c = samples_command(COMMAND_QUEUE);
    c.queue.action = COMMAND_QUEUE_THROTTLE;
    c.queue.rate = 0;
    expect_bad(&c, &no_limits, ERR_VALIDATION, "rate and window_ms must be positive");
    c.queue.rate = 1;
    c.queue.window_ms = 0;
    expect_bad(&c, &no_limits, ERR_VALIDATION, "rate and window_ms must be positive");
    c.queue.window_ms = 1;
    c.queue.rate = LIMIT_THROTTLE_RATE + 1;
    expect_bad(&c, &no_limits, ERR_VALIDATION, "rate must be at most 1000000");
    c = samples_command(COMMAND_PURGE);
    c.purge.retention_ms = -1;
    expect_bad(&c, &no_limits, ERR_VALIDATION, "retention must not be negative");
    c = samples_command(COMMAND_FAIL);
    c.fail.error = long_text(LIMIT_ERROR_BYTES + 1);
    expect_bad(&c, &no_limits, ERR_VALIDATION, "error too large: 65537 bytes (max 65536)");
    c = samples_command(COMMAND_BATCH_OPEN);
    c.batch_open.callback_queue = STR("\n");
    expect_bad(&c, &no_limits, ERR_VALIDATION, "batch.callback_queue contains a control character");
}

static void schedule__has_its_rules(void **state)
{
    (void)state;
    struct command c = samples_command(COMMAND_SCHEDULE_PUT);
    struct store_schedule *s = &c.schedule_put.schedule;
    s->name = STR_EMPTY;
    expect_bad(&c, &no_limits, ERR_VALIDATION, "name is required");
    s->name = long_text(321);
    expect_bad(&c, &no_limits, ERR_VALIDATION, "name too large: 321 bytes (max 320)");
    c = samples_command(COMMAND_SCHEDULE_PUT);
    s->cron = STR_EMPTY;
    expect_bad(&c, &no_limits, ERR_VALIDATION, "cron is required");
    c = samples_command(COMMAND_SCHEDULE_PUT);
    s->queue = STR_EMPTY;
    expect_bad(&c, &no_limits, ERR_VALIDATION, "queue is required");
    c = samples_command(COMMAND_SCHEDULE_PUT);
    s->tags = STR("[]");
    expect_bad(&c, &no_limits, ERR_VALIDATION, "tags must be an object");
}

static void bulk__is_by_filter_or_by_ids(void **state)
{
    (void)state;
    struct command c = samples_command(COMMAND_BULK_PUT);
    c.bulk_put.filter = STR("{}");
    expect_bad(&c, &no_limits, ERR_BULK, "exactly one of filter and job_ids must be set");
    c.bulk_put.count = 0;
    expect_fine(&c);
    c.bulk_put.filter = long_json(LIMIT_BULK_FILTER_BYTES + 1);
    expect_bad(&c, &no_limits, ERR_FIELD_TOO_LARGE, "filter too large: 65537 bytes (max 65536)");
    c = samples_command(COMMAND_BULK_PUT);
    c.bulk_put.queue = STR_EMPTY;
    expect_bad(&c, &no_limits, ERR_VALIDATION, "move_to_queue is required");
    c.bulk_put.action = COMMAND_JOB_RETRY;
    expect_fine(&c);
    c.bulk_put.count = LIMIT_BULK_IDS + 1;
    expect_bad(&c, &no_limits, ERR_BULK, "job_ids has more than 1000000 ids");
    c = samples_command(COMMAND_BULK_PUT);
    c.bulk_put.fit.queue = long_text(LIMIT_INTERNAL_NAME_BYTES + 1);
    expect_bad(&c, &no_limits, ERR_VALIDATION, "filter.queue too large: 321 bytes (max 320)");
    c = samples_command(COMMAND_BULK_STEP);
    c.bulk_step.count = LIMIT_BULK_CHUNK + 1;
    expect_bad(&c, &no_limits, ERR_BULK, "a step must have at most 500 ids");
    c = samples_command(COMMAND_BULK_END);
    c.bulk_end.error = long_text(LIMIT_REASON_BYTES + 1);
    expect_bad(&c, &no_limits, ERR_VALIDATION, "error too large: 4097 bytes (max 4096)");
}

/* Jobs with which the machine could not continue. */
static void restore__takes_only_jobs_that_can_go_on(void **state)
{
    (void)state;
    struct command_restore_item *it;
    struct command c;
    c = samples_command(COMMAND_RESTORE);
    it = &c.restore.items[3];
    it->id = ID_NONE;
    expect_bad(&c, &no_limits, ERR_VALIDATION, "items[3].id is required");
    c = samples_command(COMMAND_RESTORE);
    it->job.created_at.ns = 0;
    expect_bad(&c, &no_limits, ERR_VALIDATION, "items[3].created_at is required");
    c = samples_command(COMMAND_RESTORE);
    it->job.lease_expires_at.ns = 0; /* the sample is active */
    expect_bad(&c, &no_limits, ERR_VALIDATION,
               "items[3].lease_expires_at and started_at are required in state active");
    it->job.state = JOB_COMPLETED;
    expect_fine(&c);
    it->job.state = JOB_RETRYING;
    it->job.scheduled_at.ns = 0;
    expect_bad(&c, &no_limits, ERR_VALIDATION, "items[3].scheduled_at is required in this state");
    c = samples_command(COMMAND_RESTORE);
    it->job.failed_at.ns = -1;
    expect_bad(&c, &no_limits, ERR_VALIDATION, "items[3].times must not be before 1970");
    c = samples_command(COMMAND_RESTORE);
    it->job.usage_count = LIMIT_RESTORE_ROWS + 1;
    expect_bad(&c, &no_limits, ERR_VALIDATION,
               "items[3].errors, iterations and usage are too many");
    c = samples_command(COMMAND_RESTORE);
    it->job.result = long_json(LIMIT_RESULT_BYTES + 1);
    expect_bad(&c, &no_limits, ERR_FIELD_TOO_LARGE,
               "items[3].result too large: 1048577 bytes (max 1048576)");
    c = samples_command(COMMAND_RESTORE);
    c.restore.items[0].queue.throttle_window_ms = 0;
    expect_bad(&c, &no_limits, ERR_VALIDATION,
               "items[0].rate_limit and rate_window_ms must be positive or left out");
    c = samples_command(COMMAND_RESTORE);
    c.restore.items[6].usage.tokens.input = -1;
    expect_bad(&c, &no_limits, ERR_VALIDATION, "items[6].usage must not be negative");
}

/* Tokens and counters continue from the restored values, so there must be room for more. */
static void restore__takes_no_counter_that_could_overflow(void **state)
{
    (void)state;
    struct command c = samples_command(COMMAND_RESTORE);
    c.restore.items[3].job.lease_token = COMMAND_RESTORE_COUNTER_MAX;
    expect_fine(&c);
    c.restore.items[3].job.lease_token++;
    expect_bad(&c, &no_limits, ERR_VALIDATION, "items[3].restore.lease_token is too large");
    c = samples_command(COMMAND_RESTORE);
    assert_int_equal(c.restore.items[2].kind, COMMAND_RESTORE_BATCH);
    c.restore.items[2].batch.succeeded = INT64_MAX;
    expect_bad(&c, &no_limits, ERR_VALIDATION, "items[2].succeeded is too large");
    c = samples_command(COMMAND_RESTORE);
    c.restore.items[0].queue.failures = UINT64_MAX;
    expect_bad(&c, &no_limits, ERR_VALIDATION, "items[0].failed is too large");
}

TEST_GROUP(command_check, cmocka_unit_test(samples__are_fine),
           cmocka_unit_test(bulk__is_by_filter_or_by_ids),
           cmocka_unit_test(restore__takes_only_jobs_that_can_go_on),
           cmocka_unit_test(restore__takes_no_counter_that_could_overflow),
           cmocka_unit_test(enqueue__names_the_member_that_is_wrong),
           cmocka_unit_test(enqueue__refuses_negative_numbers),
           cmocka_unit_test(payload__has_a_limit_that_is_set),
           cmocka_unit_test(payload__that_is_known_to_be_json_has_the_same_limits),
           cmocka_unit_test(payload__that_is_not_json_does_not_pass_because_another_is),
           cmocka_unit_test(tags__are_a_small_object), cmocka_unit_test(tags__have_limits),
           cmocka_unit_test(depth__is_that_of_a_value),
           cmocka_unit_test(chain__is_a_definition_with_queues),
           cmocka_unit_test(chain__has_at_most_a_hundred_steps),
           cmocka_unit_test(batch__callback_is_checked), cmocka_unit_test(lists__have_limits),
           cmocka_unit_test(claim__has_bounds), cmocka_unit_test(ack_and_heartbeat__name_the_item),
           cmocka_unit_test(names__are_those_of_the_caller),
           cmocka_unit_test(others__have_their_rules), cmocka_unit_test(schedule__has_its_rules));
