/*
 * The protobuf messages of OTLP (opentelemetry/proto/trace/v1), which are only written here. The
 * tables of proto/ have no bytes and no fixed numbers, which these messages need.
 *
 *   ExportTraceServiceRequest
 *     1 ResourceSpans
 *         1 Resource                the server
 *         2 ScopeSpans, one per kind of span
 *             1 InstrumentationScope
 *             2 Span …
 */
#include "base/check.h"
#include "base/pack.h"
#include "trace/trace_int.h"

enum wire { WIRE_VARINT = 0, WIRE_FIXED64 = 1, WIRE_BYTES = 2 };

/* Field numbers. */
enum { REQUEST_RESOURCE_SPANS = 1 };
enum { RESOURCE_SPANS_RESOURCE = 1, RESOURCE_SPANS_SCOPE_SPANS = 2 };
enum { RESOURCE_ATTRIBUTES = 1 };
enum { SCOPE_SPANS_SCOPE = 1, SCOPE_SPANS_SPANS = 2 };
enum { SCOPE_NAME = 1 };
enum {
    SPAN_TRACE_ID = 1,
    SPAN_SPAN_ID = 2,
    SPAN_PARENT_SPAN_ID = 4,
    SPAN_NAME = 5,
    SPAN_KIND = 6,
    SPAN_START = 7,
    SPAN_END = 8,
    SPAN_ATTRIBUTES = 9,
    SPAN_STATUS = 15,
};
enum { KEY_VALUE_KEY = 1, KEY_VALUE_VALUE = 2 };
enum { ANY_STRING = 1, ANY_INT = 3 };
enum { STATUS_MESSAGE = 2, STATUS_CODE = 3 };
enum { STATUS_CODE_ERROR = 2 };

static void put_tag(struct buf *out, unsigned field, enum wire wire)
{
    pack_varint(out, field << 3 | wire);
}

static void put_number(struct buf *out, unsigned field, uint64_t v)
{
    put_tag(out, field, WIRE_VARINT);
    pack_varint(out, v);
}

static void put_fixed(struct buf *out, unsigned field, uint64_t v)
{
    put_tag(out, field, WIRE_FIXED64);
    pack_u64(out, v);
}

static void put_bytes(struct buf *out, unsigned field, struct str bytes)
{
    put_tag(out, field, WIRE_BYTES);
    pack_varint(out, bytes.len);
    buf_add_str(out, bytes);
}

/* An inner message: begin it, add its fields, end it. Its length takes LENGTH_BYTES, whatever it
 * is, so that nothing has to be moved; decoders accept varints with leading zeros. */
enum { LENGTH_BYTES = 4, LENGTH_MAX = 1 << (7 * LENGTH_BYTES) };

static size_t begin(struct buf *out, unsigned field)
{
    static const char room[LENGTH_BYTES];
    put_tag(out, field, WIRE_BYTES);
    buf_add(out, room, sizeof room);
    return out->len;
}

static void end(struct buf *out, size_t from)
{
    size_t len = out->len - from;
    if (out->overflow) {
        return;
    }
    CHECK(len < LENGTH_MAX); /* a batch is much smaller */
    for (unsigned i = 0; i < LENGTH_BYTES; i++) {
        unsigned more = i < LENGTH_BYTES - 1 ? 0x80 : 0;
        out->ptr[from - LENGTH_BYTES + i] = (char)(((len >> (7 * i)) & 0x7f) | more);
    }
}

static void put_attribute(struct buf *out, unsigned field, const struct trace_attribute *a)
{
    size_t pair = begin(out, field);
    put_bytes(out, KEY_VALUE_KEY, str_from_z(a->key));
    size_t value = begin(out, KEY_VALUE_VALUE);
    if (a->text.ptr != NULL) {
        put_bytes(out, ANY_STRING, a->text);
    } else {
        put_number(out, ANY_INT, (uint64_t)a->number);
    }
    end(out, value);
    end(out, pair);
}

static bool has_parent(const struct trace_span *s)
{
    static const uint8_t none[TRACE_SPAN_ID_BYTES];
    return memcmp(s->parent, none, sizeof none) != 0;
}

static void put_span(struct buf *out, const struct trace_done *d)
{
    const struct trace_span *s = &d->span;
    struct trace_attribute attributes[TRACE_ATTRIBUTES_MAX];
    size_t span = begin(out, SCOPE_SPANS_SPANS);
    put_bytes(out, SPAN_TRACE_ID, str_from(s->context.trace, TRACE_ID_BYTES));
    put_bytes(out, SPAN_SPAN_ID, str_from(s->context.span, TRACE_SPAN_ID_BYTES));
    if (has_parent(s)) {
        put_bytes(out, SPAN_PARENT_SPAN_ID, str_from(s->parent, TRACE_SPAN_ID_BYTES));
    }
    size_t name = begin(out, SPAN_NAME);
    trace_span__name(d, out);
    end(out, name);
    put_number(out, SPAN_KIND, trace_span__role(d->kind));
    put_fixed(out, SPAN_START, (uint64_t)s->started.ns);
    put_fixed(out, SPAN_END, (uint64_t)(s->started.ns + d->took_ns));
    size_t count = trace_span__attributes(d, attributes);
    for (size_t i = 0; i < count; i++) {
        put_attribute(out, SPAN_ATTRIBUTES, &attributes[i]);
    }
    if (d->failed) {
        size_t status = begin(out, SPAN_STATUS);
        put_bytes(out, STATUS_MESSAGE, d->error);
        put_number(out, STATUS_CODE, STATUS_CODE_ERROR);
        end(out, status);
    }
    end(out, span);
}

static void put_resource(struct buf *out, const struct trace_config *config)
{
    struct trace_attribute attributes[TRACE_RESOURCE_ATTRIBUTES];
    size_t resource = begin(out, RESOURCE_SPANS_RESOURCE);
    trace_span__resource(config, attributes);
    for (size_t i = 0; i < TRACE_RESOURCE_ATTRIBUTES; i++) {
        put_attribute(out, RESOURCE_ATTRIBUTES, &attributes[i]);
    }
    end(out, resource);
}

void trace_otlp__encode(const struct trace_config *config, const struct trace_done *first,
                        struct buf *out)
{
    size_t all = begin(out, REQUEST_RESOURCE_SPANS);
    put_resource(out, config);
    for (enum trace_kind kind = 0; kind < TRACE_KIND_COUNT; kind++) {
        size_t spans = begin(out, RESOURCE_SPANS_SCOPE_SPANS);
        size_t scope = begin(out, SCOPE_SPANS_SCOPE);
        put_bytes(out, SCOPE_NAME, str_from_z(trace_span__scope(kind)));
        end(out, scope);
        for (const struct trace_done *d = first; d != NULL; d = d->next) {
            if (d->kind == kind) {
                put_span(out, d);
            }
        }
        end(out, spans);
    }
    end(out, all);
}
