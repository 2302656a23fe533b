/*
 * Custom roles (http-api.md 3.6, 18.2).
 */
#include "base/limits.h"
#include "rest/access/rest_access_int.h"
#include "rest/rest_page_int.h"

enum { PERMISSIONS_MAX = 256, SHOWN_MAX = 32 };

#define ACTIONS                                                                                    \
    "read, write, delete, pause, resume, drain, clear, retry, cancel, approve, reject, hold, "     \
    "move, replay or *"

struct permission_in {
    struct str resource;
    struct str *actions;
    size_t action_count;
};
static const struct json_field permission_rows[] = {
    JSON_STR(struct permission_in, resource, 1, LIMIT_NAME_BYTES, JSON_REQUIRED | JSON_NO_CONTROL,
             "First path segment after /api/v1. A trailing * matches any ending; * alone matches "
             "everything."),
    JSON_STRS(struct permission_in, actions, action_count, 0, STORE_ACCESS_ACTIONS_MAX,
              LIMIT_NAME_BYTES, 0, "Actions: " ACTIONS ". write includes everything except read."),
};
static const struct json_schema permission_schema =
    JSON_SCHEMA(struct permission_in, permission_rows);

struct role_in {
    struct str name;
    struct permission_in *permissions;
    size_t permission_count;
};
static const struct json_field role_rows[] = {
    JSON_STR(struct role_in, name, 0, LIMIT_NAME_BYTES, JSON_NO_CONTROL | JSON_INSISTED,
             "Name of the role. An existing role is replaced."),
    JSON_OBJECTS(struct role_in, permissions, permission_count, struct permission_in,
                 &permission_schema, 0, PERMISSIONS_MAX, JSON_INSISTED, "Permissions of the role."),
};
static const struct json_schema role_schema = JSON_SCHEMA(struct role_in, role_rows);

struct row {
    struct store_access_frame frame;
    struct store_role role;
};

static void list_one(void *data, struct str name, const struct store_access_frame *f)
{
    struct rest_page *p = data;
    struct row *row = REST_NEW(p->call, struct row);
    row->frame = *f;
    if (store_access_decode_role(f->body, &row->role) &&
        str_starts_with(row->role.name, p->prefix) && rest_page__wants(p, name)) {
        rest_page__add(p, name, row);
    }
}

static void write_role(struct json_write *w, const struct row *row)
{
    struct store_permission p;
    struct str rest = row->role.permissions;
    json_write_object(w);
    rest_document__text(w, "name", row->role.name);
    rest_document__array(w, "permissions");
    while (store_access_next_permission(&rest, &p)) {
        json_write_object(w);
        rest_document__text(w, "resource", p.resource);
        rest_document__array(w, "actions");
        for (size_t i = 0; i < p.action_count; i++) {
            json_write_str(w, p.actions[i]);
        }
        json_write_end(w);
        json_write_end(w);
    }
    json_write_end(w);
    rest_document__time(w, "created_at", row->frame.created_at);
    rest_document__time(w, "updated_at", row->frame.updated_at);
    json_write_end(w);
}

static void handle_list(struct rest_call *c)
{
    struct rest_page page;
    if (!rest_access__has_feature(c, "rbac") || !rest_page__begin(c, &page)) {
        return;
    }
    rest_access__each(c, STORE_ACCESS_ROLE, STR_EMPTY, list_one, &page);
    rest_page__finish(&page);
    struct json_write w = rest_call__json(c);
    json_write_array(&w);
    for (size_t i = 0; i < page.count; i++) {
        write_role(&w, page.rows[i].data);
    }
    json_write_end(&w);
    rest_page__reply(&page, &w);
}

/* False, with the call ended, if an action is unknown: it would never grant anything. */
static bool know_actions(struct rest_call *c, const struct role_in *in)
{
    for (size_t i = 0; i < in->permission_count; i++) {
        const struct permission_in *p = &in->permissions[i];
        for (size_t k = 0; k < p->action_count; k++) {
            if (!auth_knows_action(p->actions[k])) {
                rest_call__fail(c, ERR_VALIDATION,
                                "permissions[%zu].actions[%zu]: expected " ACTIONS ", got '" STR_FMT
                                "'",
                                i, k, STR_ARG(str_at_most(p->actions[k], SHOWN_MAX)));
                return false;
            }
        }
    }
    return true;
}

static void handle_put(struct rest_call *c)
{
    const struct role_in *in = c->in;
    struct str name = str_trim(in->name);
    struct buf permissions;
    struct buf body;
    if (!rest_access__has_feature(c, "rbac")) {
        return;
    }
    if (name.len == 0 || in->permission_count == 0) {
        rest_call__fail(c, ERR_VALIDATION,
                        name.len == 0 ? "name is required"
                                      : "permissions: at least one permission is required");
        return;
    }
    if (auth_role(name) != 0) {
        rest_call__fail(c, ERR_VALIDATION, "name: '" STR_FMT "' is a built-in role", STR_ARG(name));
        return;
    }
    if (!know_actions(c, in)) {
        return;
    }
    rest_call__buf(c, &permissions);
    rest_call__buf(c, &body);
    for (size_t i = 0; i < in->permission_count; i++) {
        const struct permission_in *from = &in->permissions[i];
        struct store_permission p = {.resource = from->resource,
                                     .action_count = from->action_count};
        for (size_t k = 0; k < from->action_count; k++) {
            p.actions[k] = from->actions[k];
        }
        store_access_add_permission(&p, &permissions);
    }
    struct store_role role = {.name = name, .permissions = rest_access__keep(c, &permissions)};
    store_access_encode_role(&role, &body);
    struct command_access_item *item = rest_access__items(c, 1);
    *item = (struct command_access_item){.kind = STORE_ACCESS_ROLE,
                                         .name = rest_access__lower(c, name),
                                         .body = rest_access__keep(c, &body)};
    rest_access__submit(c, item, 1, rest_access__reply_ok);
}

/* Deleting a role removes it from all keys, in as many commands as needed; the role itself is
 * deleted last. */

struct removal {
    struct rest_call *call;
    struct str role;
    struct command_access_item *items;
    size_t count;
};

static void find_assignment(void *data, struct str name, const struct store_access_frame *f)
{
    struct removal *r = data;
    (void)f;
    if (r->count < LIMIT_ACCESS_ITEMS - 1 && name.len > AUTH_HASH_BYTES &&
        str_eq(str_from_offset(name, AUTH_HASH_BYTES), r->role)) {
        r->items[r->count++] = (struct command_access_item){
            .kind = STORE_ACCESS_ASSIGNMENT, .deletes = true, .name = name};
    }
}

static void remove_some(struct rest_call *c);

static void removed_some(struct rest_call *c, const struct result *r)
{
    if (!rest_call__refused(c, r)) {
        remove_some(c);
    }
}

static void remove_some(struct rest_call *c)
{
    struct removal *r = c->data;
    r->count = 0;
    rest_access__each(c, STORE_ACCESS_ASSIGNMENT, STR_EMPTY, find_assignment, r);
    bool last = r->count < LIMIT_ACCESS_ITEMS - 1;
    if (last) {
        r->items[r->count++] = (struct command_access_item){
            .kind = STORE_ACCESS_ROLE, .deletes = true, .name = r->role};
    }
    rest_access__submit(c, r->items, r->count, last ? rest_access__reply_deleted : removed_some);
}

static void handle_delete(struct rest_call *c)
{
    struct removal *r = REST_NEW(c, struct removal);
    if (!rest_access__has_feature(c, "rbac")) {
        return;
    }
    c->data = r;
    r->call = c;
    r->role = rest_access__lower(c, str_trim(c->param[0]));
    r->items = rest_access__items(c, LIMIT_ACCESS_ITEMS);
    remove_some(c);
}

/* clang-format off */
static const struct rest_route rows[] = {
    /* method      pattern                     roles       flags                                     in            handler        cost  answer          doc */
    {HTTP_GET,    "/api/v1/auth/roles",        ROLES_AOR,  0,                                        NULL,         handle_list,   NULL, "200 [role]",   "List custom roles by name."},
    {HTTP_POST,   "/api/v1/auth/roles",        ROLE_ADMIN, ROUTE_ACCESS | ROUTE_SERVER | ROUTE_BODY, &role_schema, handle_put,    NULL, "200 {status}", "Create or replace a custom role."},
    {HTTP_DELETE, "/api/v1/auth/roles/{name}", ROLE_ADMIN, ROUTE_ACCESS | ROUTE_SERVER,              NULL,         handle_delete, NULL, "200 {status}", "Delete a custom role and remove it from all keys."},
};
/* clang-format on */

static const struct rest_query queries[] = {{HTTP_GET, "/api/v1/auth/roles", &rest_page__schema}};

const struct rest_routes rest_roles_routes = {
    .rows = rows, .count = COUNT_OF(rows), .queries = queries, .query_count = COUNT_OF(queries)};
