/*
 * The web interface at /ui (http-api.md 20.7): files embedded in the program, served without
 * authentication. Its data comes from the API.
 */
#include "rest/rest_int.h"
#include "ui/ui.h"

/* Redirect to the interface, with the query of the request. */
static void redirect(struct rest_call *c, int status)
{
    struct str query = c->req->query;
    struct buf to;
    rest_call__buf(c, &to);
    buf_printf(&to, "/ui/%s" STR_FMT, query.len > 0 ? "?" : "", STR_ARG(query));
    const struct http_header location = {STR("Location"), rest_call__keep(c, &to)};
    rest_call__reply_headers(c, status, STR_EMPTY, STR_EMPTY, &location, 1);
}

static void handle_root(struct rest_call *c)
{
    redirect(c, 302);
}

static void handle_ui(struct rest_call *c)
{
    redirect(c, 301);
}

static void send_asset(struct rest_call *c, const struct ui_asset *asset)
{
    struct str accept = STR_EMPTY;
    struct str known = STR_EMPTY;
    (void)!http_request_known(c->req, HTTP_KNOWN_ACCEPT_ENCODING, &accept);
    (void)!http_request_known(c->req, HTTP_KNOWN_IF_NONE_MATCH, &known);
    struct ui_body body = ui_encode(asset, accept);
    struct http_header headers[REST_HEADERS_MAX] = {
        {STR("Cache-Control"),
         ui_is_immutable(asset) ? STR("public, max-age=31536000, immutable") : STR("no-cache")},
        {STR("ETag"), asset->etag},
        {STR("Vary"), STR("Accept-Encoding")},
        {STR("Content-Security-Policy"), str_from_z(ui_policy)},
        {STR("X-Content-Type-Options"), STR("nosniff")},
        {STR("Referrer-Policy"), STR("no-referrer")},
    };
    size_t count = 6;
    if (ui_is_known(asset, known)) {
        rest_call__reply_headers(c, 304, STR_EMPTY, STR_EMPTY, headers, count);
        return;
    }
    if (body.encoding.len > 0) {
        headers[count++] = (struct http_header){STR("Content-Encoding"), body.encoding};
    }
    /* 404 if the program was built without the interface: the file is then a placeholder */
    rest_call__reply_static(c, ui_is_built() ? 200 : 404, asset->type, body.bytes, headers, count);
}

static void handle_page(struct rest_call *c)
{
    const struct ui_asset *asset = ui_find(c->param[0]);
    if (asset == NULL) {
        rest_call__fail(c, ERR_NOT_FOUND, "not found");
    } else {
        send_asset(c, asset);
    }
}

/* clang-format off */
static const struct rest_route rows[] = {
    /* method   pattern       roles      flags                    in    handler      cost  answer             doc */
    {HTTP_GET, "/",           ROLES_ALL, ROUTE_OPEN,              NULL, handle_root, NULL, "302 to /ui/",     "Redirect to the web interface, with the query string."},
    {HTTP_GET, "/ui",         ROLES_ALL, ROUTE_OPEN,              NULL, handle_ui,   NULL, "301 to /ui/",     "Redirect to the web interface, with the query string."},
    {HTTP_GET, "/ui/{path}",  ROLES_ALL, ROUTE_OPEN | ROUTE_TAIL, NULL, handle_page, NULL, "200 */*, 304 not modified", "Return a file or a page of the web interface."},
};
/* clang-format on */

const struct rest_routes rest_ui_routes = {.rows = rows, .count = COUNT_OF(rows)};
