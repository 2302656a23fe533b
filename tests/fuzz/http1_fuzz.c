/*
 * Fuzz: the HTTP/1 request parser. It accepts any input without a crash, and its events depend only
 * on the bytes, not on how they were split into reads.
 */
#include <stdint.h>

#include "base/check.h"
#include "lib/http1_trace.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { CUTS_MAX = 48 }; /* per input; more would make the fuzzer slow */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    /* Small limits, so that short inputs exceed them. */
    struct http_limits limits = HTTP_LIMITS_DEFAULT;
    limits.request_line_bytes = 96;
    limits.header_bytes = 256;
    limits.header_count = 8;
    limits.chunk_extension_bytes = 16;

    struct str input = str_from(data, size);
    struct buf whole;
    struct buf cut;
    http1_trace_run(&limits, input, 0, size + 1, &whole);
    http1_trace_run(&limits, input, 0, 1, &cut);
    CHECK(str_eq(buf_str(&whole), buf_str(&cut)));
    buf_deinit(&cut);
    size_t step = size / CUTS_MAX + 1;
    for (size_t at = 1; at < size; at += step) {
        http1_trace_run(&limits, input, at, size, &cut);
        CHECK(str_eq(buf_str(&whole), buf_str(&cut)));
        buf_deinit(&cut);
    }
    buf_deinit(&whole);
    return 0;
}
