#include "fsm/command/command.h"

#include "lib/exact.h"
#include "lib/expect.h"
#include "lib/rng.h"
#include "lib/samples.h"
#include "lib/test.h"

enum { ARENA_BYTES = 8 << 20 };

static void encode(const struct command *c, struct buf *out)
{
    buf_init(out, 1 << 20);
    command_encode(c, out);
    assert_false(out->overflow);
}

/* Decode a command. If that succeeds, it must encode to the same bytes. */
static bool encodes_again(struct str bytes, struct err *err)
{
    struct arena *a = arena_new(ARENA_BYTES);
    struct command c;
    bool ok = command_decode(bytes, a, &c, err) == ERR_OK;
    if (ok) {
        struct buf again;
        encode(&c, &again);
        assert_true(str_eq(buf_str(&again), bytes));
        buf_deinit(&again);
    } else {
        assert_int_equal(err->code, ERR_CORRUPT);
    }
    arena_free(a);
    return ok;
}

static void expect_round_trip(const struct command *c)
{
    struct arena *a = arena_new(ARENA_BYTES);
    struct command back;
    struct err err;
    struct buf bytes;
    encode(c, &bytes);
    if (command_decode(buf_str(&bytes), a, &back, &err) != ERR_OK) {
        fail_msg("%s", err.msg);
    }
    samples_same_command(&back, c);
    assert_true(encodes_again(buf_str(&bytes), &err));
    buf_deinit(&bytes);
    arena_free(a);
}

static void words__name_every_command(void **state)
{
    (void)state;
    static const char *const words[] = {
        [COMMAND_ENQUEUE] = "enqueue",
        [COMMAND_CLAIM] = "claim",
        [COMMAND_ACK] = "ack",
        [COMMAND_FAIL] = "fail",
        [COMMAND_HEARTBEAT] = "heartbeat",
        [COMMAND_JOBS] = "jobs",
        [COMMAND_REPLAY] = "replay",
        [COMMAND_QUEUE] = "queue",
        [COMMAND_TICK] = "tick",
        [COMMAND_PURGE] = "purge",
        [COMMAND_BATCH_OPEN] = "batch_open",
        [COMMAND_BATCH_SEAL] = "batch_seal",
        [COMMAND_SCHEDULE_PUT] = "schedule_put",
        [COMMAND_SCHEDULE_DELETE] = "schedule_delete",
        [COMMAND_SCHEDULE_FIRE] = "schedule_fire",
        [COMMAND_WEBHOOK_PUT] = "webhook_put",
        [COMMAND_WEBHOOK_DELETE] = "webhook_delete",
        [COMMAND_WEBHOOK_MARK] = "webhook_mark",
        [COMMAND_BULK_PUT] = "bulk_put",
        [COMMAND_BULK_STEP] = "bulk_step",
        [COMMAND_BULK_END] = "bulk_end",
        [COMMAND_RESTORE] = "restore",
        [COMMAND_POLICY_PUT] = "policy_put",
        [COMMAND_POLICY_DELETE] = "policy_delete",
        [COMMAND_BULK_QUEUE] = "bulk_queue",
        [COMMAND_RETURN] = "return",
        [COMMAND_NODE_PUT] = "node_put",
        [COMMAND_NODE_STATE] = "node_state",
        [COMMAND_ACCESS] = "access",
        [COMMAND_AUDIT] = "audit",
        [COMMAND_PUSH_CLAIM] = "push_claim",
        [COMMAND_PUSH_FINISH] = "push_finish",
        [COMMAND_NAMED_PUT] = "named_put",
        [COMMAND_NAMED_PURGE] = "named_purge",
    };
    assert_int_equal(COUNT_OF(words), COMMAND_TYPE_LAST + 1);
    for (unsigned i = 0; i < COUNT_OF(words); i++) {
        assert_int_equal(command_exists(i), words[i] != NULL);
        if (words[i] != NULL) {
            assert_string_equal(command_word((enum command_type)i), words[i]);
        }
    }
    assert_false(command_exists(COMMAND_TYPE_LAST + 1));
}

static void command__keeps_every_field(void **state)
{
    (void)state;
    for (unsigned type = COMMAND_ENQUEUE; type <= COMMAND_TYPE_LAST; type++) {
        if (!command_exists(type)) {
            continue;
        }
        struct command c = samples_command((enum command_type)type);
        ROW(command_word(c.type));
        expect_round_trip(&c);
    }
}

/* Commands without optional members. */
static void command__may_be_empty(void **state)
{
    (void)state;
    for (unsigned type = COMMAND_ENQUEUE; type <= COMMAND_TYPE_LAST; type++) {
        if (!command_exists(type)) {
            continue;
        }
        struct command c = {.type = (enum command_type)type};
        struct command_ack_item item = {.id = samples_id(1)};
        struct id id = samples_id(2);
        struct command_new new = {.expire_after_ms = 0};
        ROW(command_word(c.type));
        if (type == COMMAND_ACK) {
            c.ack = (struct command_ack){.items = &item, .count = 1};
        } else if (type == COMMAND_JOBS) {
            c.jobs = (struct command_jobs){.action = COMMAND_JOB_RETRY, .ids = &id, .count = 1};
        } else if (type == COMMAND_QUEUE) {
            c.queue.action = COMMAND_QUEUE_PAUSE;
        } else if (type == COMMAND_BULK_PUT) {
            c.bulk_put.action = COMMAND_JOB_RETRY;
        } else if (type == COMMAND_BULK_QUEUE) {
            c.bulk_queue.action = COMMAND_QUEUE_CLEAR;
            c.bulk_queue.name = STR("q");
        } else if (type == COMMAND_NAMED_PUT) {
            c.named_put.job = &new;
        }
        expect_round_trip(&c);
    }
}

static void command__keeps_every_action_and_status(void **state)
{
    (void)state;
    for (unsigned i = COMMAND_JOB_RETRY; i <= COMMAND_JOB_ACTION_LAST; i++) {
        struct command c = samples_command(COMMAND_JOBS);
        c.jobs.action = (enum command_job_action)i;
        expect_round_trip(&c);
    }
    for (unsigned i = COMMAND_QUEUE_PAUSE; i <= COMMAND_QUEUE_ACTION_LAST; i++) {
        struct command c = samples_command(COMMAND_QUEUE);
        c.queue.action = (enum command_queue_action)i;
        expect_round_trip(&c);
    }
    for (unsigned agent = 0; agent <= COMMAND_AGENT_HOLD_ANY; agent++) {
        for (unsigned step = 0; step <= COMMAND_STEP_EXIT; step++) {
            struct command_ack_item item = {.id = samples_id(1),
                                            .has_result = true,
                                            .agent_status = (enum command_agent_status)agent,
                                            .step_status = (enum command_step_status)step};
            struct command c = {.type = COMMAND_ACK, .ack = {.items = &item, .count = 1}};
            expect_round_trip(&c);
        }
    }
}

static void truncation__is_always_found(void **state)
{
    (void)state;
    for (unsigned type = COMMAND_ENQUEUE; type <= COMMAND_TYPE_LAST; type++) {
        if (!command_exists(type)) {
            continue;
        }
        struct command c = samples_command((enum command_type)type);
        struct buf bytes;
        struct err err;
        encode(&c, &bytes);
        for (size_t len = 0; len < bytes.len; len++) {
            struct str cut = exact_copy(bytes.ptr, len);
            if (encodes_again(cut, &err)) {
                fail_msg("%s, cut at %zu of %zu", command_word(c.type), len, bytes.len);
            }
            exact_free(cut);
        }
        buf_add_char(&bytes, '\0');
        assert_false(encodes_again(buf_str(&bytes), &err));
        buf_deinit(&bytes);
    }
}

static void corruption__is_found_or_makes_another_command(void **state)
{
    (void)state;
    struct rng rng = rng_from(43);
    for (unsigned type = COMMAND_ENQUEUE; type <= COMMAND_TYPE_LAST; type++) {
        if (!command_exists(type)) {
            continue;
        }
        struct command c = samples_command((enum command_type)type);
        struct buf bytes;
        struct err err;
        encode(&c, &bytes);
        for (unsigned i = 0; i < 3000; i++) {
            size_t at = rng_below(&rng, bytes.len);
            size_t at2 = rng_below(&rng, bytes.len);
            char old = bytes.ptr[at];
            bytes.ptr[at] = (char)(uint8_t)rng_next(&rng);
            char old2 = bytes.ptr[at2];
            bytes.ptr[at2] = (char)(uint8_t)rng_next(&rng);
            (void)encodes_again(buf_str(&bytes), &err);
            bytes.ptr[at2] = old2;
            bytes.ptr[at] = old;
        }
        buf_deinit(&bytes);
    }
}

static void unknown__numbers_and_versions_are_named(void **state)
{
    (void)state;
    static const struct {
        struct str bytes;
        const char *message;
    } rows[] = {
        {{"\x00\x01", 2}, "command number 0 is not known to this version"},
        {{"\xc8\x01", 2}, "command number 200 is not known to this version"},
        {{"\xff\x01", 2}, "command number 255 is not known to this version"},
        {{"\x09\x02", 2}, "version 2 of command tick is not known to this version"},
        {{"\x02\x00", 2}, "version 0 of command claim is not known to this version"},
        {{"\x09\x01!", 3}, "a command tick of 3 bytes is damaged"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct err err;
        ROW(rows[i].message);
        assert_false(encodes_again(rows[i].bytes, &err));
        assert_string_equal(err.msg, rows[i].message);
    }
}

/* A command that is not lenient is refused as a whole, so it may name only one job. */
static void strict__commands_name_one_job(void **state)
{
    (void)state;
    struct command ack = samples_command(COMMAND_ACK);
    struct command jobs = samples_command(COMMAND_JOBS);
    struct buf bytes;
    struct err err;
    encode(&ack, &bytes);
    bytes.ptr[2] = 0; /* lenient */
    assert_false(encodes_again(buf_str(&bytes), &err));
    buf_deinit(&bytes);
    encode(&jobs, &bytes);
    bytes.ptr[3] = 0;
    assert_false(encodes_again(buf_str(&bytes), &err));
    buf_deinit(&bytes);
    /* It may not have a filter either, which could skip the job. */
    jobs.jobs.count = 1;
    encode(&jobs, &bytes);
    assert_int_equal(bytes.ptr[1], 3);
    bytes.ptr[3] = 0;
    assert_false(encodes_again(buf_str(&bytes), &err));
    buf_deinit(&bytes);
    jobs.jobs.fit = (struct job_fit){0};
    jobs.jobs.lenient = false;
    encode(&jobs, &bytes);
    assert_int_equal(bytes.ptr[1], 2);
    assert_true(encodes_again(buf_str(&bytes), &err));
    buf_deinit(&bytes);
}

/* An ack without flags is encoded as version 2. Only two flags exist. */
static void flags__of_an_ack_say_something(void **state)
{
    (void)state;
    struct command ack = samples_command(COMMAND_ACK);
    struct buf bytes;
    struct err err;
    ack.ack.next = NULL;
    encode(&ack, &bytes);
    assert_int_equal(bytes.ptr[1], 3);
    assert_int_equal(bytes.ptr[bytes.len - 1], 2);
    assert_true(encodes_again(buf_str(&bytes), &err));
    bytes.ptr[bytes.len - 1] = 0;
    assert_false(encodes_again(buf_str(&bytes), &err));
    bytes.ptr[bytes.len - 1] = 4;
    assert_false(encodes_again(buf_str(&bytes), &err));
    buf_deinit(&bytes);
    ack.ack.any_cost = false;
    encode(&ack, &bytes);
    assert_int_equal(bytes.ptr[1], 2);
    buf_deinit(&bytes);
}

/* A count larger than the remaining bytes must be refused before memory is allocated. */
static void lying__counts_are_found(void **state)
{
    (void)state;
    static const struct str rows[] = {
        {"\x01\x01\x00\x00\xff\xff\xff\xff\x0f", 9},          /* enqueue */
        {"\x03\x01\x01\xff\xff\xff\xff\xff\xff\xff\x7f", 11}, /* ack */
        {"\x05\x01\x80\x80\x80\x80\x10", 7},                  /* heartbeat */
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct err err;
        assert_false(encodes_again(rows[i], &err));
    }
}

/* Entries */

/* Return the types in order, beginning again after the last. */
static enum command_type type_at(unsigned i)
{
    unsigned type = 0;
    for (unsigned seen = 0; seen <= i; seen += command_exists(type) ? 1 : 0) {
        type = type % COMMAND_TYPE_LAST + 1;
    }
    return (enum command_type)type;
}

static void build_entry(struct buf *out, unsigned count)
{
    struct buf bytes;
    buf_init(out, 1 << 20);
    command_entry_begin(out, COMMAND_ENTRY_VERSION, (struct wall){.ns = 77}, true);
    for (unsigned i = 0; i < count; i++) {
        struct command c = samples_command(type_at(i));
        encode(&c, &bytes);
        command_entry_add(out, buf_str(&bytes));
        buf_deinit(&bytes);
    }
    command_entry_end(out, count);
}

static void entry__keeps_its_commands_and_is_padded(void **state)
{
    (void)state;
    for (unsigned count = 0; count <= 2 * COMMAND_TYPE_LAST; count++) {
        struct buf bytes;
        struct command_entry e;
        struct str command;
        struct err err;
        build_entry(&bytes, count);
        assert_int_equal(bytes.len % 8, 0);
        assert_int_equal(command_entry_decode(buf_str(&bytes), &e, &err), ERR_OK);
        assert_int_equal(e.now.ns, 77);
        assert_true(e.events);
        assert_int_equal(e.count, count);
        for (unsigned i = 0; i < count; i++) {
            assert_true(command_entry_next(&e, &command));
            assert_int_equal(command.ptr[0], type_at(i));
            assert_true(encodes_again(command, &err));
        }
        assert_false(command_entry_next(&e, &command));
        buf_deinit(&bytes);
    }
}

static bool is_entry(struct str bytes)
{
    struct command_entry e;
    struct err err;
    return command_entry_decode(bytes, &e, &err) == ERR_OK;
}

static void entry__that_is_not_whole_is_refused(void **state)
{
    (void)state;
    enum { AT_VERSION = 0, AT_FLAGS = 1, AT_ZERO = 2, AT_COUNT = 4, AT_TIME = 8, AT_LEN = 16 };
    static const struct {
        const char *name;
        size_t at;
        uint8_t value;
    } rows[] = {
        {"a later version", AT_VERSION, COMMAND_ENTRY_NEWEST + 1},
        {"no version", AT_VERSION, 0},
        {"an unknown flag", AT_FLAGS, 2},
        {"not zero", AT_ZERO, 1},
        {"one command too many", AT_COUNT, 4},
        {"one command too few", AT_COUNT, 2},
        {"a time before 1970", AT_TIME + 7, 0xff},
        {"another length", AT_LEN + 1, 0xff},
    };
    struct buf bytes;
    build_entry(&bytes, 3);
    assert_true(is_entry(buf_str(&bytes)));
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        ROW(rows[i].name);
        char old = bytes.ptr[rows[i].at];
        bytes.ptr[rows[i].at] = (char)rows[i].value;
        assert_false(is_entry(buf_str(&bytes)));
        bytes.ptr[rows[i].at] = old;
    }
    for (size_t len = 0; len < bytes.len; len++) {
        assert_false(is_entry(str_from(bytes.ptr, len)));
    }
    buf_add(&bytes, "\0\0\0\0\0\0\0\0", 8);
    assert_false(is_entry(buf_str(&bytes)));
    buf_deinit(&bytes);
}

static void entry__is_padded_with_zeros_only(void **state)
{
    (void)state;
    struct buf bytes;
    build_entry(&bytes, 0); /* a head of 20 bytes and 4 bytes of padding */
    assert_int_equal(bytes.len, 24);
    assert_true(is_entry(buf_str(&bytes)));
    bytes.ptr[23] = 1;
    assert_false(is_entry(buf_str(&bytes)));
    buf_deinit(&bytes);
}

static void entry__of_an_unknown_version_says_so(void **state)
{
    (void)state;
    struct command_entry e;
    struct err err;
    assert_int_equal(command_entry_decode(STR("\xfa"), &e, &err), ERR_CORRUPT);
    assert_string_equal(err.msg, "a log entry has the unknown version 250");
    assert_int_equal(command_entry_decode(STR("\x01"), &e, &err), ERR_CORRUPT);
    assert_string_equal(err.msg, "a log entry of 1 bytes is damaged");
}

TEST_GROUP(command, cmocka_unit_test(words__name_every_command),
           cmocka_unit_test(command__keeps_every_field), cmocka_unit_test(command__may_be_empty),
           cmocka_unit_test(command__keeps_every_action_and_status),
           cmocka_unit_test(truncation__is_always_found),
           cmocka_unit_test(corruption__is_found_or_makes_another_command),
           cmocka_unit_test(unknown__numbers_and_versions_are_named),
           cmocka_unit_test(strict__commands_name_one_job),
           cmocka_unit_test(flags__of_an_ack_say_something),
           cmocka_unit_test(lying__counts_are_found),
           cmocka_unit_test(entry__keeps_its_commands_and_is_padded),
           cmocka_unit_test(entry__that_is_not_whole_is_refused),
           cmocka_unit_test(entry__is_padded_with_zeros_only),
           cmocka_unit_test(entry__of_an_unknown_version_says_so));
