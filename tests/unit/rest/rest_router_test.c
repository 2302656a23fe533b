#include "lib/expect.h"
#include "lib/test.h"
#include "rest/rest_int.h"

struct fixture {
    struct rest_router *router;
    struct arena *arena;
};

static int setup(void **state)
{
    static struct fixture f;
    f = (struct fixture){.router = rest_router__new(), .arena = arena_new(1 << 20)};
    *state = &f;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *f = *state;
    rest_router__free(f->router);
    arena_free(f->arena);
    return 0;
}

static struct rest_match match(void **state, enum http_method method, const char *path)
{
    struct fixture *f = *state;
    struct rest_match m;
    rest_router__match(f->router, method, str_from_z(path), f->arena, &m);
    return m;
}

static void router__finds_the_row(void **state)
{
    static const struct {
        enum http_method method;
        const char *path, *pattern, *param;
    } rows[] = {
        {HTTP_POST, "/api/v1/enqueue", "/api/v1/enqueue", ""},
        {HTTP_GET, "/api/v1/jobs/x", "/api/v1/jobs/{id}", "x"},
        {HTTP_POST, "/api/v1/ack/batch", "/api/v1/ack/batch", ""}, /* a literal wins */
        {HTTP_POST, "/api/v1/ack/batches", "/api/v1/ack/{job_id}", "batches"},
        {HTTP_POST, "/api/v1/jobs/bulk-get", "/api/v1/jobs/bulk-get", ""},
        {HTTP_GET, "/api/v1/jobs/bulk-get", "/api/v1/jobs/{id}", "bulk-get"},
        {HTTP_DELETE, "/api/v1/queues/a", "/api/v1/queues/{name}", "a"},
        {HTTP_POST, "/api/v1/queues/a/pause", "/api/v1/queues/{name}/pause", "a"},
        {HTTP_GET, "/", "/", ""},
        {HTTP_GET, "/healthz", "/healthz", ""},
        {HTTP_GET, "/ui", "/ui", ""},
        {HTTP_GET, "/ui/", "/ui/{path}", ""}, /* the rest of the path, or nothing */
        {HTTP_GET, "/ui/queues/a%2Fb", "/ui/{path}", "queues/a/b"},
        {HTTP_GET, "/ui/a/b/c/d/e/f/g/h/i/j/", "/ui/{path}", "a/b/c/d/e/f/g/h/i/j/"},
    };
    for (unsigned i = 0; i < COUNT_OF(rows); i++) {
        ROW(rows[i].path);
        struct rest_match m = match(state, rows[i].method, rows[i].path);
        assert_non_null(m.route);
        expect_str(str_from_z(m.route->pattern), str_from_z(rows[i].pattern));
        expect_str(m.param[0], str_from_z(rows[i].param));
    }
}

static void router__decodes_a_parameter_after_cutting(void **state)
{
    static const struct {
        const char *path, *param;
    } rows[] = {
        {"/api/v1/queues/a%2Fb/pause", "a/b"},    {"/api/v1/queues/a%2fpause/pause", "a/pause"},
        {"/api/v1/queues/%C3%A4%20/pause", "ä "}, {"/api/v1/queues/100%/pause", "100%"},
        {"/api/v1/queues/%zz%41/pause", "%zzA"},  {"/api/v1/queues/%4/pause", "%4"},
        {"/api/v1/queues/%2e%2E/pause", ".."},    {"/api/v1/queues/a+b/pause", "a+b"},
        {"/api/v1/queues/%252F/pause", "%2F"},
    };
    for (unsigned i = 0; i < COUNT_OF(rows); i++) {
        ROW(rows[i].path);
        struct rest_match m = match(state, HTTP_POST, rows[i].path);
        assert_non_null(m.route);
        expect_str(m.param[0], str_from_z(rows[i].param));
    }
}

static void router__knows_no_other_paths(void **state)
{
    static const char *const paths[] = {
        "",
        "*",
        "api",
        "/api",
        "/api/v1",
        "/api/v1/",
        "/api/v1/enqueue/", /* no redirect, no alias */
        "//api/v1/enqueue",
        "/api//v1/enqueue",
        "/API/v1/enqueue",
        "/api/v1/jobs/",
        "/api/v1/jobs//retry",
        "/api/v1/jobs/a/b/c/d/e/f/g/h/i/j",
        "/api%2Fv1%2Fenqueue",
        "/healthz/x",
        "/uix",
    };
    for (unsigned i = 0; i < COUNT_OF(paths); i++) {
        ROW(paths[i]);
        for (int method = 0; method < HTTP_METHOD_COUNT; method++) {
            struct rest_match m = match(state, (enum http_method)method, paths[i]);
            assert_null(m.route);
            assert_false(m.path_known);
        }
    }
}

static void router__says_which_methods_a_path_has(void **state)
{
    static const struct {
        enum http_method method;
        const char *path, *allow;
    } rows[] = {
        {HTTP_PUT, "/api/v1/enqueue", "POST, OPTIONS"},
        {HTTP_PATCH, "/api/v1/jobs/x", "GET, HEAD, DELETE, OPTIONS"},
        {HTTP_POST, "/api/v1/queues/a", "GET, HEAD, DELETE, OPTIONS"},
        {HTTP_GET, "/api/v1/queues/a/throttle", "POST, DELETE, OPTIONS"},
        {HTTP_DELETE, "/healthz", "GET, HEAD, OPTIONS"},
        {HTTP_METHOD_OTHER, "/", "GET, HEAD, OPTIONS"},
    };
    for (unsigned i = 0; i < COUNT_OF(rows); i++) {
        ROW(rows[i].path);
        struct rest_match m = match(state, rows[i].method, rows[i].path);
        assert_null(m.route);
        assert_true(m.path_known);
        expect_str(str_from_z(m.allow), str_from_z(rows[i].allow));
    }
}

static void router__numbers_every_route(void **state)
{
    for (size_t i = 0; i < rest_router__count(); i++) {
        const struct rest_route *route = rest_router__route(i);
        struct rest_match m = match(state, route->method, route->pattern);
        ROW(route->pattern);
        assert_ptr_equal(m.route, route);
        assert_int_equal(m.number, i + 1);
    }
}

/* The requirements of every row. */
static void router__has_sound_rows(void **state)
{
    (void)state;
    for (size_t i = 0; i < rest_router__count(); i++) {
        const struct rest_route *r = rest_router__route(i);
        ROW(r->pattern);
        bool writes = r->method != HTTP_GET && (r->flags & ROUTE_READ) == 0;
        assert_int_equal(r->pattern[0], '/');
        assert_non_null(r->handle);
        assert_true(r->roles != 0);
        assert_true(r->in == NULL || (r->flags & (ROUTE_BODY | ROUTE_STREAM)) != 0);
        assert_true(r->cost == NULL || (r->flags & ROUTE_OPEN) == 0);
        /* Routes that write are not for the readonly role and not open. Exceptions: everybody may
         * sign in and out, and a node presents its own token or signature. */
        bool signs = strcmp(r->pattern, "/api/v1/auth/session") == 0;
        bool node =
            strcmp(r->pattern, "/join") == 0 || strcmp(r->pattern, "/api/v1/cluster/audit") == 0;
        assert_true(!writes || signs || node ||
                    ((r->roles & ROLE_READONLY) == 0 && (r->flags & ROUTE_OPEN) == 0));
        for (size_t j = 0; j < i; j++) {
            const struct rest_route *other = rest_router__route(j);
            assert_false(other->method == r->method && strcmp(other->pattern, r->pattern) == 0);
        }
    }
}

TEST_GROUP_FIXTURE(rest_router, setup, teardown, cmocka_unit_test(router__finds_the_row),
                   cmocka_unit_test(router__decodes_a_parameter_after_cutting),
                   cmocka_unit_test(router__knows_no_other_paths),
                   cmocka_unit_test(router__says_which_methods_a_path_has),
                   cmocka_unit_test(router__numbers_every_route),
                   cmocka_unit_test(router__has_sound_rows));
