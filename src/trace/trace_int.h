/*
 * Shared by the files of trace: a finished span, and what is written about it.
 */
#pragma once

#include "base/buf.h"
#include "loop/mailbox.h"
#include "trace/trace.h"

/* A piece of work that has a span; the rows of trace_span.c. */
enum trace_kind { TRACE_REQUEST, TRACE_APPLY, TRACE_KIND_COUNT };

/* A finished span. The texts follow it in memory. */
struct trace_done {
    struct msg msg;
    struct trace *trace;
    struct trace_done *next; /* in a batch */
    enum trace_kind kind;
    bool failed;
    struct trace_span span;
    int64_t took_ns;
    int64_t number;          /* status of a request; type of an operation */
    struct str method, path; /* of a request */
    struct str error;        /* of an operation that failed */
};

enum { TRACE_PATH_BYTES_MAX = 1024, TRACE_ERROR_BYTES_MAX = 512, TRACE_METHOD_BYTES_MAX = 32 };
enum { TRACE_ATTRIBUTES_MAX = 3 };
/* Bytes of a span in a request to the collector: method and path are in it twice. */
enum {
    TRACE_SPAN_BYTES_MAX =
        2 * (TRACE_METHOD_BYTES_MAX + TRACE_PATH_BYTES_MAX) + TRACE_ERROR_BYTES_MAX + 256
};

/* The value of an attribute: a text, or a number if the text is NULL. */
struct trace_attribute {
    const char *key;
    struct str text;
    int64_t number;
};

/* trace_span.c: what a finished span says. Texts are well-formed UTF-8. */

/* Allocate a finished span with copies of the texts. */
struct trace_done *trace_span__new(const struct trace_span *s, enum trace_kind kind,
                                   struct str method, struct str path, struct str error);
void trace_span__name(const struct trace_done *d, struct buf *out);
size_t trace_span__attributes(const struct trace_done *d,
                              struct trace_attribute out[TRACE_ATTRIBUTES_MAX]);
/* Name of the instrumentation scope. */
const char *trace_span__scope(enum trace_kind kind);
/* The number of SpanKind in OTLP. */
unsigned trace_span__role(enum trace_kind kind);

/* Attributes of the resource: this server. */
enum { TRACE_RESOURCE_ATTRIBUTES = 3 };
void trace_span__resource(const struct trace_config *config,
                          struct trace_attribute out[TRACE_RESOURCE_ATTRIBUTES]);

/* trace_otlp.c: append a request to a collector, an ExportTraceServiceRequest, with a batch of
 * spans. */
void trace_otlp__encode(const struct trace_config *config, const struct trace_done *first,
                        struct buf *out);

/* trace_text.c: append a span as indented JSON, one member per line. */
void trace_text__add(const struct trace_config *config, const struct trace_done *d,
                     struct buf *out);

/* trace_print.c: write a text to standard output. False if that was not possible until then. */
ATTR_NODISCARD bool trace_print__write(struct str text, struct mono until);
