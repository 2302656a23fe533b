/*
 * The byte vectors of rpc.md 16.1.
 */
#include "rpc/rpc_message.h"

#include "lib/expect.h"
#include "proto/proto_decode.h"
#include "proto/proto_encode.h"
#include "rpc/rpc_envelope.h"

static void test_the_tables_are_sound(void **state)
{
    (void)state;
    for (size_t i = 0; rpc_message_all[i] != NULL; i++) {
        ROW(rpc_message_all[i]->name);
        proto_check(rpc_message_all[i]);
    }
}

static void test_enqueue(void **state)
{
    (void)state;
    struct buf out;
    buf_init(&out, 4096);
    struct rpc_enqueue in = {.queue = STR("emails"), .payload_json = STR("{}")};
    proto_encode(&rpc_message_enqueue_request, &in, &out);
    expect_str(buf_str(&out), STR("\x0a\x06"
                                  "emails\x12\x02{}"));
    buf_deinit(&out);
}

static void test_lifecycle_request(void **state)
{
    (void)state;
    struct buf out;
    struct arena *arena = arena_new(4096);
    struct err err;
    struct rpc_frame back;
    struct str queue = STR("q");
    struct rpc_frame in = {.request_id = 1,
                           .queues = &queue,
                           .queue_count = 1,
                           .worker_id = STR("w1"),
                           .hostname = STR("h"),
                           .lease_duration = 30,
                           .fetch_count = 2};
    buf_init(&out, 4096);
    size_t begin = rpc_envelope_begin(&out, 0);
    proto_encode(&rpc_message_lifecycle_request, &in, &out);
    rpc_envelope_finish(&out, begin);
    struct str want =
        STR("\x00\x00\x00\x00\x10\x08\x01\x12\x01q\x1a\x02w1\x22\x01h\x28\x1e\x30\x02");
    expect_str(buf_str(&out), want);
    assert_int_equal(proto_decode(&rpc_message_lifecycle_request,
                                  str_from_offset(want, RPC_ENVELOPE_HEAD), arena, &back, &err),
                     ERR_OK);
    assert_int_equal(back.request_id, 1);
    assert_int_equal(back.queue_count, 1);
    expect_str(back.queues[0], queue);
    assert_int_equal(back.fetch_count, 2);
    arena_free(arena);
    buf_deinit(&out);
}

static void test_lifecycle_responses(void **state)
{
    (void)state;
    struct buf out;
    buf_init(&out, 4096);
    struct rpc_frame_answer acked = {.request_id = 2, .acked = 2};
    size_t begin = rpc_envelope_begin(&out, 0);
    proto_encode(&rpc_message_lifecycle_response, &acked, &out);
    rpc_envelope_finish(&out, begin);
    expect_str(buf_str(&out), STR("\x00\x00\x00\x00\x04\x08\x02\x18\x02"));

    buf_clear(&out);
    struct rpc_frame_answer moved = {.error = STR("NOT_LEADER"),
                                     .leader_addr = STR("http://10.0.0.2:8080")};
    begin = rpc_envelope_begin(&out, 0);
    proto_encode(&rpc_message_lifecycle_response, &moved, &out);
    rpc_envelope_finish(&out, begin);
    expect_str(buf_str(&out), STR("\x00\x00\x00\x00\x22\x22\x0aNOT_LEADER\x32\x14"
                                  "http://10.0.0.2:8080"));
    buf_deinit(&out);
}

static void test_a_keep_alive_is_empty(void **state)
{
    (void)state;
    struct buf out;
    buf_init(&out, 4096);
    struct rpc_event event = {0};
    size_t begin = rpc_envelope_begin(&out, 0);
    proto_encode(&rpc_message_subscribe_event, &event, &out);
    rpc_envelope_finish(&out, begin);
    expect_str(buf_str(&out), STR("\0\0\0\0\0"));
    buf_deinit(&out);
}

/* Check that the schema file contains every row of every table, in the message of the same name. */

static const char *const words[PROTO_KIND_COUNT] = {
    [PROTO_STR] = "string",
    [PROTO_I32] = "int32",
    [PROTO_I64] = "int64",
    [PROTO_U64] = "uint64",
    [PROTO_F64] = "double",
    [PROTO_BOOL] = "bool",
    [PROTO_TIME] = "google.protobuf.Timestamp",
};

static const char *short_name(const struct proto_message *type)
{
    return strrchr(type->name, '.') + 1;
}

static void expect_field(const char *block, const char *end, const struct proto_field *field)
{
    char line[256];
    const char *type =
        field->kind == PROTO_MESSAGE ? short_name(field->message) : words[field->kind];
    const char *many = field->label == PROTO_MANY ? "repeated " : "";
    if (field->label == PROTO_MAP) {
        (void)snprintf(line, sizeof line, "  map<string, %s> %s = %u;\n",
                       short_name(field->message->fields[1].message), field->name, field->number);
    } else {
        (void)snprintf(line, sizeof line, "  %s%s %s = %u;\n", many, type, field->name,
                       field->number);
    }
    const char *found = strstr(block, line);
    if (found == NULL || found > end) {
        fail_msg("the schema lacks: %s", line);
    }
}

static void expect_message(const char *schema, const struct proto_message *type)
{
    char head[128];
    (void)snprintf(head, sizeof head, "message %s {", short_name(type));
    const char *block = strstr(schema, head);
    assert_non_null(block);
    const char *end = strchr(block, '}');
    assert_non_null(end);
    size_t lines = 0;
    for (const char *at = block; at < end; at++) {
        lines += *at == ';' ? 1 : 0;
    }
    assert_int_equal(lines, type->count);
    for (size_t i = 0; i < type->count; i++) {
        const struct proto_field *field = &type->fields[i];
        expect_field(block, end, field);
        if (field->label == PROTO_MAP) {
            expect_message(schema, field->message->fields[1].message);
        } else if (field->message != NULL) {
            expect_message(schema, field->message);
        }
    }
}

static void test_the_schema_file_has_the_same_fields(void **state)
{
    (void)state;
    static char schema[32768];
    FILE *file = fopen(CORVO_TESTS_DIR "/../proto/corvo/v1/worker.proto", "r");
    assert_non_null(file);
    size_t len = fread(schema, 1, sizeof schema - 1, file);
    (void)fclose(file);
    schema[len] = '\0';
    for (size_t i = 0; rpc_message_all[i] != NULL; i++) {
        ROW(rpc_message_all[i]->name);
        expect_message(schema, rpc_message_all[i]);
    }
}

TEST_GROUP(rpc_message, cmocka_unit_test(test_the_schema_file_has_the_same_fields),
           cmocka_unit_test(test_the_tables_are_sound), cmocka_unit_test(test_enqueue),
           cmocka_unit_test(test_lifecycle_request), cmocka_unit_test(test_lifecycle_responses),
           cmocka_unit_test(test_a_keep_alive_is_empty));
