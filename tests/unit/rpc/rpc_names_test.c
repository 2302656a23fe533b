#include "lib/expect.h"
#include "lib/test.h"
#include "rpc/rpc_names_int.h"

static const struct {
    const char *list, *before, *after;
} rows[] = {
    {"items", "acks[2].result: invalid JSON at byte 1",
     "items[2].result_json: invalid JSON at byte 1"},
    {"items", "acks[12]: usage.cost_usd: expected", "items[12]: usage.cost_usd: expected"},
    {"acks", "acks[0].result too large: 2 bytes", "acks[0].result_json too large: 2 bytes"},
    {"enqueues", "jobs[3].payload: invalid JSON", "enqueues[3].payload_json: invalid JSON"},
    {"enqueues", "jobs[3]: queue too large: 300 bytes", "enqueues[3]: queue too large: 300 bytes"},
    {"enqueues", "jobs has more than 10000 items", "enqueues has more than 10000 items"},
    {"enqueues", "job 7 payload too large: 9 bytes (max 8)",
     "enqueues[7]: payload too large: 9 bytes (max 8)"},
    {NULL, "payload too large: 9 bytes (max 8)", "payload too large: 9 bytes (max 8)"},
    {NULL, "payload: invalid JSON", "payload_json: invalid JSON"},
    {NULL, "checkpoint too large: 2 bytes", "checkpoint_json too large: 2 bytes"},
    {NULL, "result_json: expected a string", "result_json: expected a string"},
    {NULL, "jobs has more than 10000 items", "jobs has more than 10000 items"},
    {"acks", "job x not found", "job x not found"},
    {"acks", "acks[", "acks["},
    {"acks", "", ""},
};

static void test_renames(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct err err;
        ROW(rows[i].before);
        (void)err_set(&err, ERR_VALIDATION, "%s", rows[i].before);
        rpc_names__of_message(rows[i].list, &err);
        assert_string_equal(err.msg, rows[i].after);
        assert_int_equal(err.code, ERR_VALIDATION);
    }
}

TEST_GROUP(rpc_names, cmocka_unit_test(test_renames));
