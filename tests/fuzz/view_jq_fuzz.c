/*
 * Fuzz: payload_jq. The input is an expression, a NUL byte and a payload. An accepted expression
 * can be evaluated on any JSON. A condition and its opposite are never both true.
 */
#include "view/view_jq.h"

#include <string.h>

#include "base/check.h"
#include "json/json_scan.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static enum view_jq_op opposite(enum view_jq_op op)
{
    static const enum view_jq_op of[] = {
        [VIEW_JQ_EQ] = VIEW_JQ_NE, [VIEW_JQ_NE] = VIEW_JQ_EQ, [VIEW_JQ_GE] = VIEW_JQ_LT,
        [VIEW_JQ_LT] = VIEW_JQ_GE, [VIEW_JQ_LE] = VIEW_JQ_GT, [VIEW_JQ_GT] = VIEW_JQ_LE,
    };
    return of[op];
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const uint8_t *end = size == 0 ? NULL : memchr(data, 0, size);
    size_t len = end == NULL ? size : (size_t)(end - data);
    struct str payload = end == NULL ? STR("{\"a\":[1,\"x\"]}") : str_from(end + 1, size - len - 1);
    struct arena *a = arena_new(1 << 20);
    struct view_jq jq;
    struct err err = {0};
    if (view_jq_parse(str_from(data, len), a, &jq, &err) != ERR_OK) {
        CHECK(err.code == ERR_VALIDATION);
    } else if (jq.kind != VIEW_JQ_PROGRAM && json_scan_check(payload, &err) == ERR_OK) {
        bool match = view_jq_matches(&jq, payload);
        if (jq.kind != VIEW_JQ_STARTS && jq.kind != VIEW_JQ_HAS) {
            jq.op = opposite(jq.op);
            CHECK(!(match && view_jq_matches(&jq, payload)));
        }
    }
    arena_free(a);
    return 0;
}
