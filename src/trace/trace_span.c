/*
 * What a finished span says: its name, its attributes, and the server that it is from.
 */
#include <stdlib.h>

#include "base/check.h"
#include "trace/trace_int.h"

static const struct {
    const char *scope;
    unsigned role; /* SpanKind: 1 internal, 2 server */
} kinds[TRACE_KIND_COUNT] = {
    [TRACE_REQUEST] = {"corvo/http", 2},
    [TRACE_APPLY] = {"corvo/store", 1},
};

/* Copy a text; a byte that is not UTF-8 becomes a question mark. */
static struct str copy(char **at, struct str text, size_t max)
{
    char *out = *at;
    text = str_at_most(text, max);
    for (struct str rest = text; rest.len > 0;) {
        size_t n = str_utf8_len(rest);
        if (n == 0) {
            *(*at)++ = '?';
            n = 1;
        } else {
            memcpy(*at, rest.ptr, n);
            *at += n;
        }
        rest = str_from_offset(rest, n);
    }
    return str_from(out, (size_t)(*at - out));
}

struct trace_done *trace_span__new(const struct trace_span *s, enum trace_kind kind,
                                   struct str method, struct str path, struct str error)
{
    size_t bytes = method.len < TRACE_METHOD_BYTES_MAX ? method.len : TRACE_METHOD_BYTES_MAX;
    bytes += path.len < TRACE_PATH_BYTES_MAX ? path.len : TRACE_PATH_BYTES_MAX;
    bytes += error.len < TRACE_ERROR_BYTES_MAX ? error.len : TRACE_ERROR_BYTES_MAX;
    struct trace_done *d = malloc(sizeof *d + bytes);
    CHECK(d != NULL);
    char *at = (char *)(d + 1);
    *d = (struct trace_done){.trace = s->trace, .kind = kind, .span = *s};
    d->method = copy(&at, method, TRACE_METHOD_BYTES_MAX);
    d->path = copy(&at, path, TRACE_PATH_BYTES_MAX);
    d->error = copy(&at, error, TRACE_ERROR_BYTES_MAX);
    return d;
}

void trace_span__name(const struct trace_done *d, struct buf *out)
{
    if (d->kind == TRACE_APPLY) {
        buf_add_str(out, STR("raft.apply"));
        return;
    }
    buf_add_str(out, d->method);
    buf_add_char(out, ' ');
    buf_add_str(out, d->path);
}

size_t trace_span__attributes(const struct trace_done *d,
                              struct trace_attribute out[TRACE_ATTRIBUTES_MAX])
{
    if (d->kind == TRACE_APPLY) {
        out[0] = (struct trace_attribute){.key = "corvo.op_type", .number = d->number};
        return 1;
    }
    out[0] = (struct trace_attribute){.key = "http.method", .text = d->method};
    out[1] = (struct trace_attribute){.key = "http.path", .text = d->path};
    out[2] = (struct trace_attribute){.key = "http.status_code", .number = d->number};
    return 3;
}

const char *trace_span__scope(enum trace_kind kind)
{
    return kinds[kind].scope;
}

unsigned trace_span__role(enum trace_kind kind)
{
    return kinds[kind].role;
}

void trace_span__resource(const struct trace_config *config,
                          struct trace_attribute out[TRACE_RESOURCE_ATTRIBUTES])
{
    out[0] = (struct trace_attribute){.key = "service.name", .text = STR("corvo-server")};
    out[1] =
        (struct trace_attribute){.key = "service.version", .text = str_from_z(config->version)};
    out[2] =
        (struct trace_attribute){.key = "service.instance.id", .text = str_from_z(config->node_id)};
}
