#include "server/server_trace.h"

#include "base/build.h"
#include "base/check.h"

static const char *keep(struct arena *arena, struct str text)
{
    char *z = arena_strz(arena, text);
    CHECK(z != NULL);
    return z;
}

/* The URL of the collector; NULL if there is none. */
static const char *url_of(struct str endpoint, struct arena *arena)
{
    struct buf url;
    bool has_scheme = str_starts_with(endpoint, STR("http://"));
    if (endpoint.len == 0) {
        return NULL;
    }
    buf_init(&url, 1024);
    buf_printf(&url, "%s" STR_FMT "/v1/traces", has_scheme ? "" : "http://", STR_ARG(endpoint));
    const char *kept = keep(arena, buf_str(&url));
    buf_deinit(&url);
    return kept;
}

struct trace *server_trace_open(const struct settings *set, struct arena *arena,
                                const char *user_agent)
{
    struct trace_config config = trace_config_default();
    if (!set->otel_enabled) {
        return NULL;
    }
    config.url = url_of(set->otel_endpoint, arena);
    config.version = build_release;
    config.node_id = keep(arena, set->node_id);
    config.user_agent = user_agent;
    return trace_open(&config);
}
