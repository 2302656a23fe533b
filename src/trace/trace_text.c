/*
 * Spans as text, for a person at a terminal: the members that OpenTelemetry's own printers show, as
 * indented JSON.
 */
#include "base/hex.h"
#include "core/timestamp.h"
#include "json/json_write.h"
#include "trace/trace_int.h"

enum { TEXT_BYTES_MAX = 32 << 10 }; /* a span has at most a few kilobytes */

static void member(struct json_write *w, const char *key, struct str value)
{
    json_write_key(w, str_from_z(key));
    json_write_str(w, value);
}

static void hex_member(struct json_write *w, const char *key, const uint8_t *bytes, unsigned n)
{
    char room[2 * TRACE_ID_BYTES];
    char *last = hex_write(room, bytes, n);
    member(w, key, str_from(room, (size_t)(last - room)));
}

static void time_member(struct json_write *w, const char *key, int64_t ns)
{
    char room[TIMESTAMP_TEXT_MAX];
    member(w, key, str_from(room, timestamp_format((struct wall){.ns = ns}, room)));
}

static void add_context(struct json_write *w, const char *key, const struct trace_span *s,
                        const uint8_t span[TRACE_SPAN_ID_BYTES])
{
    json_write_key(w, str_from_z(key));
    json_write_object(w);
    hex_member(w, "TraceID", s->context.trace, TRACE_ID_BYTES);
    hex_member(w, "SpanID", span, TRACE_SPAN_ID_BYTES);
    json_write_end(w);
}

static void add_attributes(struct json_write *w, const char *key,
                           const struct trace_attribute *rows, size_t count)
{
    json_write_key(w, str_from_z(key));
    json_write_array(w);
    for (size_t i = 0; i < count; i++) {
        bool text = rows[i].text.ptr != NULL;
        json_write_object(w);
        member(w, "Key", str_from_z(rows[i].key));
        json_write_key(w, STR("Value"));
        json_write_object(w);
        member(w, "Type", text ? STR("STRING") : STR("INT64"));
        json_write_key(w, STR("Value"));
        if (text) {
            json_write_str(w, rows[i].text);
        } else {
            json_write_i64(w, rows[i].number);
        }
        json_write_end(w);
        json_write_end(w);
    }
    json_write_end(w);
}

static void write_span(struct json_write *w, const struct trace_config *config,
                       const struct trace_done *d)
{
    struct trace_attribute attributes[TRACE_ATTRIBUTES_MAX];
    struct trace_attribute resource[TRACE_RESOURCE_ATTRIBUTES];
    struct buf name;
    buf_init(&name, TEXT_BYTES_MAX);
    trace_span__name(d, &name);
    json_write_object(w);
    member(w, "Name", buf_str(&name));
    add_context(w, "SpanContext", &d->span, d->span.context.span);
    add_context(w, "Parent", &d->span, d->span.parent);
    json_write_key(w, STR("SpanKind"));
    json_write_u64(w, trace_span__role(d->kind));
    time_member(w, "StartTime", d->span.started.ns);
    time_member(w, "EndTime", d->span.started.ns + d->took_ns);
    add_attributes(w, "Attributes", attributes, trace_span__attributes(d, attributes));
    json_write_key(w, STR("Status"));
    json_write_object(w);
    member(w, "Code", d->failed ? STR("Error") : STR("Unset"));
    member(w, "Description", d->error);
    json_write_end(w);
    trace_span__resource(config, resource);
    add_attributes(w, "Resource", resource, TRACE_RESOURCE_ATTRIBUTES);
    json_write_key(w, STR("InstrumentationScope"));
    json_write_object(w);
    member(w, "Name", str_from_z(trace_span__scope(d->kind)));
    json_write_end(w);
    json_write_end(w);
    json_write_finish(w);
    buf_deinit(&name);
}

static void new_line(struct buf *out, unsigned depth)
{
    buf_add_char(out, '\n');
    for (unsigned i = 0; i < depth; i++) {
        buf_add_char(out, '\t');
    }
}

/* Copy compact JSON with line breaks and tabs. */
static void indent(struct str json, struct buf *out)
{
    unsigned depth = 0;
    bool quoted = false;
    for (size_t i = 0; i < json.len; i++) {
        char c = json.ptr[i];
        if (quoted) {
            buf_add_char(out, c);
            if (c == '\\') {
                buf_add_char(out, json.ptr[++i]); /* an escape has another character */
            }
            quoted = c != '"';
            continue;
        }
        if (c == '}' || c == ']') {
            new_line(out, --depth);
        }
        buf_add_char(out, c);
        if (c == '{' || c == '[') {
            new_line(out, ++depth);
        } else if (c == ',') {
            new_line(out, depth);
        } else if (c == ':') {
            buf_add_char(out, ' ');
        }
        quoted = c == '"';
    }
    buf_add_char(out, '\n');
}

void trace_text__add(const struct trace_config *config, const struct trace_done *d, struct buf *out)
{
    struct buf json;
    buf_init(&json, TEXT_BYTES_MAX);
    struct json_write w = json_write_to(&json);
    write_span(&w, config, d);
    indent(buf_str(&json), out);
    buf_deinit(&json);
}
