/*
 * Trace: spans for OpenTelemetry (config-and-metrics.md 13.1).
 *
 * A span is the record of one piece of work: a request, or an operation that a request had applied
 * to the state. A thread that has finished one posts it. A thread of its own collects them and
 * sends them to a collector (OTLP over HTTP), or prints them on standard output. No other thread
 * waits for it: if spans arrive faster than they can be sent, or the collector does not answer,
 * spans are dropped, and the log says how many.
 *
 * The caller decides whether its trace is recorded (the flag in traceparent). A request without a
 * trace begins one.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/clock.h"
#include "base/str.h"
#include "trace/trace_context.h"

struct trace;

struct trace_config {
    const char *url;     /* of the collector; NULL: print the spans on standard output */
    const char *version; /* of the server */
    const char *node_id; /* the name of this node */
    const char *user_agent;
    unsigned linger_ms; /* how long spans are collected before they are sent */
    unsigned retry_ms;  /* pause after a first failed attempt; doubles with each further one */
    unsigned close_ms;  /* maximum time that trace_close takes */
};

struct trace_config trace_config_default(void);

/* The texts of the config must stay valid. Starts the thread. */
struct trace *trace_open(const struct trace_config *config);
/* Send what has been collected, within close_ms. Call when no thread ends spans any more. NULL is
 * allowed. */
void trace_close(struct trace *t);

/* Number of spans that were dropped. Any thread. */
uint64_t trace_dropped(const struct trace *t);

/* A span in progress. Belongs to its thread. */
struct trace_span {
    struct trace *trace;
    struct trace_context context;        /* with the span's own id */
    uint8_t parent[TRACE_SPAN_ID_BYTES]; /* zeros: none */
    struct wall started;
    struct mono began;
};

/* Begin the span of a request. traceparent: the value of its header, or empty. False if the caller
 * does not want its trace recorded. */
ATTR_NODISCARD bool trace_begin(struct trace *t, struct str traceparent, struct trace_span *out);
/* Begin a span inside another one. */
void trace_begin_inside(const struct trace_span *outer, struct trace_span *out);

/* End the span of a request. Texts are copied, and cut if they are very long. */
void trace_end_request(const struct trace_span *s, struct str method, struct str path, int status);
/* End the span of an operation. error: why it failed; empty if it was applied. */
void trace_end_apply(const struct trace_span *s, unsigned op_type, struct str error);
