/*
 * The router: finds the route of a request.
 *
 * A path is compared segment by segment. If two patterns match, the one with a literal where the
 * other has a parameter wins. The patterns are compiled at the start and indexed: those without
 * parameters by the length of the path, with one or two per length; the others by method and number
 * of segments.
 */
#include <stdlib.h>

#include "base/check.h"
#include "rest/rest_int.h"

/* clang-format off */
static const struct rest_routes *const tables[] = {
    &rest_enqueue_routes,
    &rest_work_routes,
    &rest_jobs_routes,
    &rest_queues_routes,
    &rest_schedules_routes,
    &rest_system_routes,
    &rest_cluster_routes,
    &rest_events_routes,
    &rest_explain_routes,
    &rest_bulk_routes,
    &rest_backup_routes,
    &rest_restore_routes,
    &rest_search_routes,
    &rest_usage_routes,
    &rest_history_routes,
    &rest_markers_routes,
    &rest_node_history_routes,
    &rest_guide_routes,
    &rest_errors_routes,
    &rest_webhooks_routes,
    &rest_policies_routes,
    &rest_push_routes,
    &rest_keys_routes,
    &rest_roles_routes,
    &rest_permissions_routes,
    &rest_namespaces_routes,
    &rest_audit_routes,
    &rest_budgets_routes,
    &rest_org_routes,
    &rest_sso_settings_routes,
    &rest_sso_login_routes,
    &rest_sessions_routes,
    &rest_sdb_routes,
    &rest_sdb_health_routes,
    &rest_ui_routes,
};
/* clang-format on */

size_t rest_router__count(void)
{
    size_t n = 0;
    for (size_t t = 0; t < COUNT_OF(tables); t++) {
        n += tables[t]->count;
    }
    return n;
}

const struct rest_route *rest_router__route(size_t i)
{
    for (size_t t = 0; t < COUNT_OF(tables); t++) {
        if (i < tables[t]->count) {
            return &tables[t]->rows[i];
        }
        i -= tables[t]->count;
    }
    UNREACHABLE("there is no such route");
}

const struct json_schema *rest_router__query(const struct rest_route *route)
{
    for (size_t t = 0; t < COUNT_OF(tables); t++) {
        for (size_t i = 0; i < tables[t]->query_count; i++) {
            const struct rest_query *q = &tables[t]->queries[i];
            if (q->method == route->method && strcmp(q->pattern, route->pattern) == 0) {
                return q->schema;
            }
        }
    }
    return NULL;
}

size_t rest_router__query_count(void)
{
    size_t n = 0;
    for (size_t t = 0; t < COUNT_OF(tables); t++) {
        n += tables[t]->query_count;
    }
    return n;
}

enum { SEGMENTS_MAX = 8 };

/* A path or pattern, split at its slashes. */
struct segments {
    struct str at[SEGMENTS_MAX];
    unsigned count; /* SEGMENTS_MAX + 1: too many for any route */
};

static struct segments cut(struct str path)
{
    struct segments s = {0};
    const char *at = path.ptr + 1;
    const char *end = path.ptr + path.len;
    while (s.count < SEGMENTS_MAX) {
        const char *slash = memchr(at, '/', (size_t)(end - at));
        s.at[s.count++] = str_from(at, (size_t)((slash == NULL ? end : slash) - at));
        if (slash == NULL) {
            return s;
        }
        at = slash + 1;
    }
    s.count++;
    return s;
}

/* A compiled route. */
struct compiled {
    const struct rest_route *route;
    const struct json_schema *query;
    unsigned params; /* bit n: segment n is a parameter */
    struct segments segments;
    struct str pattern;
    const struct compiled *next; /* next route in the same list */
};

enum { PATTERN_BYTES_MAX = 64 };

struct rest_router {
    /* Routes without parameters, by the length of the path. */
    const struct compiled *literals[PATTERN_BYTES_MAX + 1];
    /* Routes with parameters, by method and number of segments. */
    const struct compiled *patterns[HTTP_METHOD_COUNT][SEGMENTS_MAX + 2];
    /* Routes whose last parameter is the rest of the path. */
    const struct compiled *tails;
    size_t count;
    struct compiled routes[];
};

static bool is_param(struct str segment)
{
    return segment.len > 2 && segment.ptr[0] == '{';
}

static const struct compiled *find_literal(const struct rest_router *r, enum http_method method,
                                           struct str path)
{
    const struct compiled *c = path.len <= PATTERN_BYTES_MAX ? r->literals[path.len] : NULL;
    while (c != NULL && (c->route->method != method || !str_eq(c->pattern, path))) {
        c = c->next;
    }
    return c;
}

/* The list of a route. */
static const struct compiled **list_of(struct rest_router *r, const struct compiled *c)
{
    if (c->params == 0) {
        return &r->literals[c->pattern.len];
    }
    return (c->route->flags & ROUTE_TAIL) != 0 ? &r->tails
                                               : &r->patterns[c->route->method][c->segments.count];
}

static void compile(struct rest_router *r, struct compiled *c, const struct rest_route *route)
{
    CHECK(route->roles != 0 || (route->flags & ROUTE_OPEN) != 0);
    c->route = route;
    c->query = rest_router__query(route);
    c->pattern = str_from_z(route->pattern);
    CHECK(c->pattern.len <= PATTERN_BYTES_MAX);
    c->segments = cut(c->pattern);
    CHECK(c->segments.count <= SEGMENTS_MAX);
    for (unsigned s = 0; s < c->segments.count; s++) {
        c->params |= is_param(c->segments.at[s]) ? 1U << s : 0U;
    }
    CHECK(__builtin_popcount(c->params) <= REST_PARAMS_MAX);
    const struct compiled **list = list_of(r, c);
    c->next = *list;
    *list = c;
}

struct rest_router *rest_router__new(void)
{
    size_t count = rest_router__count();
    struct rest_router *r = calloc(1, sizeof *r + count * sizeof r->routes[0]);
    CHECK(r != NULL);
    r->count = count;
    /* backwards, so that each list is in the order of the tables */
    for (size_t i = count; i-- > 0;) {
        compile(r, &r->routes[i], rest_router__route(i));
    }
    return r;
}

void rest_router__free(struct rest_router *r)
{
    free(r);
}

static bool is_tail(const struct compiled *c, unsigned segment)
{
    return (c->route->flags & ROUTE_TAIL) != 0 && segment == c->segments.count - 1;
}

static bool fits(const struct compiled *c, const struct segments *path)
{
    bool tail = (c->route->flags & ROUTE_TAIL) != 0;
    if (tail ? path->count < c->segments.count : path->count != c->segments.count) {
        return false;
    }
    /* from the right, because nearly all routes begin alike */
    for (unsigned i = c->segments.count; i-- > 0;) {
        if (is_tail(c, i)) {
            continue;
        }
        bool param = (c->params >> i & 1U) != 0;
        if (param ? path->at[i].len == 0 : !str_eq(c->segments.at[i], path->at[i])) {
            return false;
        }
    }
    return true;
}

/* Does a take precedence over b? At the first difference from the left, a literal precedes a
 * parameter. */
static bool is_closer(const struct compiled *a, const struct compiled *b)
{
    unsigned differ = a->params ^ b->params;
    return differ != 0 && (a->params & (differ & -differ)) == 0;
}

static const char *const method_names[HTTP_METHOD_COUNT] = {
    [HTTP_GET] = "GET",       [HTTP_POST] = "POST",       [HTTP_PUT] = "PUT",
    [HTTP_DELETE] = "DELETE", [HTTP_OPTIONS] = "OPTIONS", [HTTP_PATCH] = "PATCH",
    [HTTP_METHOD_OTHER] = "",
};

const char *rest_router__method(enum http_method method)
{
    CHECK(method < HTTP_METHOD_COUNT);
    return method_names[method];
}

static void add_allowed(struct rest_match *m, struct str name)
{
    size_t at = strlen(m->allow);
    size_t gap = at > 0 ? 2 : 0;
    if (strstr(m->allow, name.ptr) == NULL && at + gap + name.len < sizeof m->allow) {
        memcpy(m->allow + at, ", ", gap);
        memcpy(m->allow + at + gap, name.ptr, name.len + 1);
    }
}

/* Segments are matched as sent and decoded afterwards, so that an encoded '/' stays part of a
 * name. */
static struct str decoded(struct str raw, struct arena *arena)
{
    bool encoded = raw.len > 0 && memchr(raw.ptr, '%', raw.len) != NULL;
    char *out = encoded ? arena_alloc(arena, raw.len, 1) : NULL;
    size_t len = 0;
    if (out == NULL) {
        return raw;
    }
    for (size_t i = 0; i < raw.len; i++) {
        static const char hex[] = "0123456789abcdef0123456789ABCDEF";
        const char *high =
            raw.ptr[i] == '%' && i + 2 < raw.len ? strchr(hex, raw.ptr[i + 1]) : NULL;
        const char *low = high != NULL ? strchr(hex, raw.ptr[i + 2]) : NULL;
        if (high != NULL && low != NULL && *high != '\0' && *low != '\0') {
            out[len++] = (char)((high - hex) % 16 * 16 + (low - hex) % 16);
            i += 2;
        } else {
            out[len++] = raw.ptr[i];
        }
    }
    return str_from(out, len);
}

/* The best matching route of a list, or `best` if that is better. */
static const struct compiled *closest(const struct compiled *list, enum http_method method,
                                      const struct segments *path, const struct compiled *best)
{
    for (const struct compiled *c = list; c != NULL; c = c->next) {
        if (c->route->method == method && fits(c, path) && (best == NULL || is_closer(c, best))) {
            best = c;
        }
    }
    return best;
}

/* The best matching route with parameters. */
static const struct compiled *find_pattern(const struct rest_router *r, enum http_method method,
                                           const struct segments *path)
{
    const struct compiled *best = closest(r->patterns[method][path->count], method, path, NULL);
    return closest(r->tails, method, path, best);
}

/* List the methods of a path that has no route for the requested method. */
static void list_allowed(const struct rest_router *r, const struct segments *path,
                         struct rest_match *out)
{
    for (size_t i = 0; i < r->count; i++) {
        if (fits(&r->routes[i], path)) {
            out->path_known = true;
            out->path_open |= (r->routes[i].route->flags & ROUTE_OPEN) != 0;
            out->path_scheduler |= (r->routes[i].route->flags & ROUTE_SCHEDULER) != 0;
            add_allowed(out, str_from_z(method_names[r->routes[i].route->method]));
            if (r->routes[i].route->method == HTTP_GET) {
                add_allowed(out, STR("HEAD"));
            }
        }
    }
    if (out->path_known) {
        add_allowed(out, STR("OPTIONS"));
    }
}

static void take(const struct rest_router *r, const struct compiled *c, struct rest_match *out)
{
    out->route = c->route;
    out->number = (size_t)(c - r->routes) + 1;
    out->query = c->query;
}

void rest_router__match(const struct rest_router *r, enum http_method method, struct str path,
                        struct arena *arena, struct rest_match *out)
{
    const struct compiled *best = find_literal(r, method, path);
    *out = (struct rest_match){0};
    if (best != NULL) { /* a route without parameters is always the best */
        take(r, best, out);
        return;
    }
    if (path.len == 0 || path.ptr[0] != '/') {
        return;
    }
    struct segments segments = cut(path);
    best = find_pattern(r, method, &segments);
    if (best == NULL) {
        list_allowed(r, &segments, out);
        return;
    }
    take(r, best, out);
    unsigned n = 0;
    for (unsigned i = 0; i < best->segments.count; i++) {
        if ((best->params >> i & 1U) != 0) {
            struct str segment = segments.at[i];
            segment.len =
                is_tail(best, i) ? path.len - (size_t)(segment.ptr - path.ptr) : segment.len;
            out->param[n++] = decoded(segment, arena);
        }
    }
}
