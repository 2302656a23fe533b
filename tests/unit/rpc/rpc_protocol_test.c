#include "rpc/rpc_protocol.h"

#include "lib/expect.h"
#include "rpc/rpc_status.h"

static const struct {
    const char *type;
    bool known;
    enum rpc_protocol protocol;
    enum rpc_codec codec;
    bool bare;
} types[] = {
    {"application/proto", true, RPC_CONNECT, RPC_PROTO, true},
    {"application/json", true, RPC_CONNECT, RPC_JSON, true},
    {"application/json; charset=utf-8", true, RPC_CONNECT, RPC_JSON, true},
    {"Application/JSON;Charset=\"UTF-8\"", true, RPC_CONNECT, RPC_JSON, true},
    {"application/json; charset=latin1", false, 0, 0, false},
    {"application/json; q=1", false, 0, 0, false},
    {"application/proto; charset=utf-8", false, 0, 0, false},
    {"application/connect+proto", true, RPC_CONNECT, RPC_PROTO, false},
    {"application/connect+json", true, RPC_CONNECT, RPC_JSON, false},
    {"application/connect+json; charset=utf-8", true, RPC_CONNECT, RPC_JSON, false},
    {"application/grpc", true, RPC_GRPC, RPC_PROTO, false},
    {"application/grpc+proto", true, RPC_GRPC, RPC_PROTO, false},
    {"application/grpc+json; charset=utf-8", true, RPC_GRPC, RPC_JSON, false},
    {"application/grpc-web", true, RPC_GRPC_WEB, RPC_PROTO, false},
    {"application/grpc-web+json", true, RPC_GRPC_WEB, RPC_JSON, false},
    {"application/grpc-web+json; charset=utf-8", true, RPC_GRPC_WEB, RPC_JSON, false},
    {"application/grpc-web-text", false, 0, 0, false},
    {"application/grpc-web-text+proto", false, 0, 0, false},
    {"application/grpcx", false, 0, 0, false},
    {"text/plain", false, 0, 0, false},
    {"", false, 0, 0, false},
};

static void test_content_types(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(types); i++) {
        ROW(types[i].type);
        const struct rpc_format *f = rpc_protocol_format(str_from_z(types[i].type));
        assert_int_equal(f != NULL, types[i].known);
        if (f != NULL) {
            assert_int_equal(f->protocol, types[i].protocol);
            assert_int_equal(f->codec, types[i].codec);
            assert_int_equal(f->bare, types[i].bare);
        }
    }
}

/* The content type of an answer is that of the request, in the contract's spelling. */
static void test_types_of_answers(void **state)
{
    static const struct {
        const char *request, *answer;
    } rows[] = {
        {"application/json", "application/json"},
        {"application/json;", "application/json"},
        {"application/json; charset=utf-8", "application/json; charset=utf-8"},
        {"Application/JSON;Charset=\"UTF-8\"", "application/json; charset=utf-8"},
        {"application/connect+json;charset=utf-8", "application/connect+json; charset=utf-8"},
        {"application/grpc+json; charset=UTF-8", "application/grpc+json; charset=utf-8"},
        {"application/grpc-web+json; charset=utf-8", "application/grpc-web+json; charset=utf-8"},
        {"application/grpc", "application/grpc"},
        {"application/grpc+proto", "application/grpc+proto"},
    };
    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        ROW(rows[i].request);
        expect_str(rpc_protocol_format(str_from_z(rows[i].request))->type,
                   str_from_z(rows[i].answer));
    }
}

static void test_accepted_types(void **state)
{
    (void)state;
    struct buf out;
    buf_init(&out, 4096);
    rpc_protocol_accepted(true, false, &out);
    expect_str(buf_str(&out),
               STR("application/grpc, application/grpc+json, application/grpc+json; charset=utf-8, "
                   "application/grpc+proto, application/grpc-web, application/grpc-web+json, "
                   "application/grpc-web+json; charset=utf-8, application/grpc-web+proto, "
                   "application/json, application/json; charset=utf-8, application/proto"));
    buf_clear(&out);
    rpc_protocol_accepted(false, true, &out);
    assert_true(str_starts_with(buf_str(&out), STR("application/connect+json, ")));
    buf_deinit(&out);
}

static const struct {
    const char *text;
    int64_t ms; /* -1: refused */
} connect_times[] =
    {
        {"0", 0},
        {"50", 50},
        {"9999999999", 9999999999},
        {"10000000000", -1},
        {"-1", -1},
        {"", -1},
        {"1.5", -1},
        {" 1", -1},
},
  grpc_times[] = {
      {"1H", 3600000},    {"2M", 120000}, {"3S", 3000},
      {"4m", 4},          {"5u", 1},      {"1001u", 2},
      {"6n", 1},          {"0n", 0},      {"99999999H", 99999999LL * 3600000},
      {"100000000S", -1}, {"S", -1},      {"5", -1},
      {"5s", -1},         {"-5S", -1},    {"", -1},
};

static void test_timeouts(void **state)
{
    (void)state;
    struct err err;
    int64_t ms;
    for (size_t i = 0; i < COUNT_OF(connect_times); i++) {
        ROW(connect_times[i].text);
        enum err_code code =
            rpc_protocol_connect_timeout(str_from_z(connect_times[i].text), &ms, &err);
        assert_int_equal(code, connect_times[i].ms < 0 ? ERR_VALIDATION : ERR_OK);
        assert_true(code != ERR_OK || ms == connect_times[i].ms);
    }
    for (size_t i = 0; i < COUNT_OF(grpc_times); i++) {
        ROW(grpc_times[i].text);
        enum err_code code = rpc_protocol_grpc_timeout(str_from_z(grpc_times[i].text), &ms, &err);
        assert_int_equal(code, grpc_times[i].ms < 0 ? ERR_VALIDATION : ERR_OK);
        assert_true(code != ERR_OK || ms == grpc_times[i].ms);
    }
}

static void test_messages(void **state)
{
    (void)state;
    struct buf out;
    buf_init(&out, 256);
    rpc_protocol_grpc_message(STR("100% of \xc3\xa9\n~"), &out);
    expect_str(buf_str(&out), STR("100%25 of %C3%A9%0A~"));
    buf_clear(&out);
    rpc_protocol_grpc_message(STR("got '\xff', \xc3\xa9\xc3"), &out);
    expect_str(buf_str(&out), STR("got '%EF%BF%BD', %C3%A9%EF%BF%BD"));
    buf_deinit(&out);
}

static const struct {
    enum err_code code;
    enum rpc_status status;
} statuses[] = {
    {ERR_OK, RPC_OK},
    {ERR_PARSE, RPC_INVALID_ARGUMENT},
    {ERR_ACK, RPC_INVALID_ARGUMENT},
    {ERR_UNAUTHORIZED, RPC_UNAUTHENTICATED},
    {ERR_FORBIDDEN, RPC_PERMISSION_DENIED},
    {ERR_NOT_FOUND, RPC_NOT_FOUND},
    {ERR_OVERLOADED, RPC_RESOURCE_EXHAUSTED},
    {ERR_BUDGET_EXCEEDED, RPC_RESOURCE_EXHAUSTED},
    {ERR_TOO_LARGE, RPC_RESOURCE_EXHAUSTED},
    {ERR_FIELD_TOO_LARGE, RPC_INVALID_ARGUMENT},
    {ERR_LEADER_UNAVAILABLE, RPC_UNAVAILABLE},
    {ERR_STOPPING, RPC_UNAVAILABLE},
    {ERR_UNKNOWN_OUTCOME, RPC_UNAVAILABLE},
    {ERR_DEADLINE, RPC_DEADLINE_EXCEEDED},
    {ERR_CORRUPT, RPC_INTERNAL},
};

static void test_statuses(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(statuses); i++) {
        ROW(err_wire(statuses[i].code));
        assert_int_equal(rpc_status_of(statuses[i].code), statuses[i].status);
    }
    assert_int_equal(rpc_status_retry_ms(ERR_OVERLOADED, 7), 7);
    assert_int_equal(rpc_status_retry_ms(ERR_OVERLOADED, 0), 1000);
    assert_int_equal(rpc_status_retry_ms(ERR_RATE_LIMITED, 7), 1000);
    assert_int_equal(rpc_status_retry_ms(ERR_BUDGET_EXCEEDED, 7), 0);
    assert_int_equal(RPC_UNAUTHENTICATED, 16); /* gRPC's number */
    assert_string_equal(rpc_status_word(RPC_DATA_LOSS), "data_loss");
    assert_int_equal(rpc_status_http(RPC_CANCELED), 499);
}

TEST_GROUP(rpc_protocol, cmocka_unit_test(test_content_types),
           cmocka_unit_test(test_types_of_answers), cmocka_unit_test(test_accepted_types),
           cmocka_unit_test(test_timeouts), cmocka_unit_test(test_messages),
           cmocka_unit_test(test_statuses));
