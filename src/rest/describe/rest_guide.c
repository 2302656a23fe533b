/*
 * The guide at /docs/guide: pages embedded in the program, generated from docs/guide.
 */
#include "rest/describe/rest_guide_int.h"
#include "rest/rest_int.h"

static const struct ui_asset *find(struct str path)
{
    struct str wanted = path.len == 0 ? STR("index.html") : path;
    for (size_t i = 0; i < rest_guide_count; i++) {
        if (str_eq(rest_guide_rows[i].path, wanted)) {
            return &rest_guide_rows[i];
        }
    }
    return NULL;
}

static void handle_guide(struct rest_call *c)
{
    const struct http_header location = {STR("Location"), STR("/docs/guide/")};
    rest_call__reply_headers(c, 301, STR_EMPTY, STR_EMPTY, &location, 1);
}

static void handle_page(struct rest_call *c)
{
    const struct ui_asset *asset = c->rest->config.docs_enabled ? find(c->param[0]) : NULL;
    struct str known = STR_EMPTY;
    if (asset == NULL) {
        rest_call__fail(c, ERR_NOT_FOUND, "not found");
        return;
    }
    (void)!http_request_known(c->req, HTTP_KNOWN_IF_NONE_MATCH, &known);
    const struct http_header headers[] = {
        {STR("Cache-Control"), STR("no-cache")},
        {STR("ETag"), asset->etag},
        {STR("Content-Security-Policy"), str_from_z(ui_policy)},
        {STR("X-Content-Type-Options"), STR("nosniff")},
    };
    bool same = ui_is_known(asset, known);
    rest_call__reply_static(c, same ? 304 : 200, same ? STR_EMPTY : asset->type,
                            same ? STR_EMPTY : asset->plain, headers, COUNT_OF(headers));
}

/* clang-format off */
static const struct rest_route rows[] = {
    /* method  pattern               roles      flags                    in    handler       cost  answer                       doc */
    {HTTP_GET, "/docs/guide",        ROLES_ALL, ROUTE_OPEN,              NULL, handle_guide, NULL, "301 to /docs/guide/",       "User guide: tutorial, concepts, workers, deployment, operations."},
    {HTTP_GET, "/docs/guide/{path}", ROLES_ALL, ROUTE_OPEN | ROUTE_TAIL, NULL, handle_page,  NULL, "200 */*, 304 not modified", "A page of the guide."},
};
/* clang-format on */

const struct rest_routes rest_guide_routes = {.rows = rows, .count = COUNT_OF(rows)};
