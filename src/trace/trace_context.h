/*
 * Trace_context: which trace a request belongs to, and its header, traceparent (W3C Trace Context).
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/str.h"

enum { TRACE_ID_BYTES = 16, TRACE_SPAN_ID_BYTES = 8 };
enum { TRACE_PARENT_BYTES = 55 }; /* of the header's value */

struct trace_context {
    uint8_t trace[TRACE_ID_BYTES];
    uint8_t span[TRACE_SPAN_ID_BYTES]; /* zeros: the trace has no span yet */
    bool sampled;                      /* the caller records its spans */
};

/* Parse the value of the header. False if it is invalid: it is then ignored. */
ATTR_NODISCARD bool trace_context_parse(struct str header, struct trace_context *out);

/* The value of the header, in room. */
struct str trace_context_format(const struct trace_context *c, char room[TRACE_PARENT_BYTES]);
