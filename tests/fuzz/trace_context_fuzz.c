/*
 * Fuzz: the header traceparent. What was accepted is the same after it was written and read again.
 */
#include "trace/trace_context.h"

#include <stdint.h>
#include <string.h>

#include "base/check.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct trace_context c;
    struct trace_context again;
    char room[TRACE_PARENT_BYTES];

    if (trace_context_parse(str_from(data, size), &c)) {
        CHECK(trace_context_parse(trace_context_format(&c, room), &again));
        CHECK(memcmp(c.trace, again.trace, sizeof c.trace) == 0);
        CHECK(memcmp(c.span, again.span, sizeof c.span) == 0);
        CHECK(c.sampled == again.sampled);
    }
    return 0;
}
