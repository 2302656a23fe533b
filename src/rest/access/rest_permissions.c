/*
 * Permissions of the caller: the routes that it may not use, each with the roles that may.
 *
 * The response is computed from the rules that requests are checked with, so clients that hide or
 * explain refused operations need no rules of their own. It does not cover checks of handlers on a
 * particular job, queue or namespace.
 */
#include "rest/access/rest_access_int.h"

/* Does the route require a permission? */
static bool is_shown(const struct rest_route *route)
{
    unsigned open = ROUTE_OPEN | ROUTE_OWN | ROUTE_SCHEDULER;
    return (route->flags & open) == 0 &&
           str_starts_with(str_from_z(route->pattern), STR("/api/v1/"));
}

static void write_roles(struct json_write *w, unsigned roles)
{
    rest_document__array(w, "roles");
    for (unsigned bit = ROLE_ADMIN; bit <= ROLE_READONLY; bit *= 2) {
        if ((roles & bit) != 0) {
            json_write_str(w, auth_role_word(bit));
        }
    }
    json_write_end(w);
}

static void handle_permissions(struct rest_call *c)
{
    struct json_write w = rest_call__json(c);
    json_write_object(&w);
    rest_document__text(&w, "role", c->caller.role);
    rest_document__array(&w, "refused");
    for (size_t i = 0; i < rest_router__count(); i++) {
        const struct rest_route *route = rest_router__route(i);
        struct auth_rule rule = rest_auth__rule(route);
        if (!is_shown(route) || rest_auth__may(c, route)) {
            continue;
        }
        json_write_object(&w);
        rest_document__text(&w, "method", str_from_z(rest_router__method(route->method)));
        rest_document__text(&w, "path", str_from_z(route->pattern));
        write_roles(&w, rule.roles);
        rest_document__bool(&w, "whole_server", (route->flags & ROUTE_SERVER) != 0);
        rest_document__text(&w, "resource", rule.resource);
        rest_document__text(&w, "action", rule.action);
        json_write_end(&w);
    }
    json_write_end(&w);
    json_write_end(&w);
    rest_call__reply(c, 200, &w);
}

/* clang-format off */
static const struct rest_route rows[] = {
    /* method     pattern                     roles      flags      in    handler             cost  answer             doc */
    {HTTP_GET, "/api/v1/auth/permissions", ROLES_ALL, ROUTE_OWN, NULL, handle_permissions, NULL, "200 {role, refused}", "List the operations that the caller may not use, with the roles that may. Every authenticated caller may ask."},
};
/* clang-format on */

const struct rest_routes rest_permissions_routes = {.rows = rows, .count = COUNT_OF(rows)};
