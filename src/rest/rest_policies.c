/*
 * Approval policies (http-api.md 17.4): which agent jobs wait for approval before they continue.
 */
#include <stdlib.h>

#include "base/check.h"
#include "base/limits.h"
#include "rest/backup/rest_backup_int.h"
#include "rest/rest_page_int.h"
#include "store/store_record.h"

struct policy_in {
    struct str name;
    struct str mode;
    struct str queue;
    struct str tag_key;
    struct str tag_value;
    bool enabled;
    bool all_namespaces;
};

static const struct json_word mode_words[] = {{"any", false}, {"all", true}, {NULL, 0}};

static const struct json_field policy_rows[] = {
    JSON_STR(struct policy_in, name, 0, LIMIT_NAME_BYTES, JSON_NO_CONTROL | JSON_INSISTED,
             "Name of the policy, shown to the approver."),
    JSON_STR(struct policy_in, mode, 0, LIMIT_NAME_BYTES, 0,
             "any: one check must match. all: every check must match.", .words = mode_words),
    JSON_BOOL(struct policy_in, enabled, 0, "Whether the policy is enabled."),
    JSON_STR(struct policy_in, queue, 0, LIMIT_INTERNAL_NAME_BYTES, JSON_NO_CONTROL,
             "Check: queue of the job.", .told_max = LIMIT_QUEUE_NAME_BYTES),
    JSON_STR(struct policy_in, tag_key, 0, LIMIT_TAG_KEY_BYTES, 0, "Check: tag of the job."),
    JSON_STR(struct policy_in, tag_value, 0, LIMIT_TAG_VALUE_BYTES, 0,
             "Check: value of the tag tag_key. A missing tag counts as empty."),
    JSON_BOOL(struct policy_in, all_namespaces, 0,
              "Apply to jobs of every namespace. Requires an admin of the default namespace."),
};
static const struct policy_in policy_init = {.enabled = true};
static const struct json_schema policy_schema =
    JSON_SCHEMA(struct policy_in, policy_rows, .init = &policy_init);

/* Reading */

struct row {
    struct id id;
    struct store_policy rec;
};

/* The default namespace sees all policies. A policy without a queue applies to all queues, so it is
 * visible. */
static bool sees(const struct rest_call *c, const struct store_policy *rec)
{
    return (c->ns.len == 0 || str_eq(c->ns, rec->ns)) &&
           (rec->queue.len == 0 || rest_names__is_visible(c, rec->queue));
}

/* A caller with a scope may change only policies that hold jobs of its queues and no others. False
 * if the call has ended. */
static bool may_change(struct rest_call *c, const struct store_policy *rec)
{
    bool confined = rec->queue.len > 0 && (rec->all || rec->tag_key.len == 0);
    if (c->caller.scope.len == 0 || confined) {
        return true;
    }
    rest_call__fail(
        c, ERR_FORBIDDEN,
        "a key that is limited to queues can only change policies that require a queue: "
        "set queue, and mode to all if there is a tag_key");
    return false;
}

static void list_one(void *data, struct str rest, struct str value)
{
    struct rest_page *p = data;
    struct rest_call *c = p->call;
    struct row *row = REST_NEW(c, struct row);
    struct str kept = arena_str(c->arena, value);
    if (rest.len != ID_BYTES || kept.len != value.len ||
        !store_record_decode_policy(kept, &row->rec) || !sees(c, &row->rec) ||
        !str_starts_with(row->rec.name, p->prefix)) {
        return;
    }
    row->id = id_from_bytes(rest.ptr);
    struct id key = row->id; /* inverted: newest first */
    for (size_t i = 0; i < ID_BYTES; i++) {
        key.b[i] = (uint8_t)~key.b[i];
    }
    if (rest_page__wants(p, str_from(key.b, ID_BYTES))) {
        rest_page__add(p, str_from(key.b, ID_BYTES), row);
    }
}

void rest_policies__write(struct json_write *w, const struct rest_call *c, struct id id,
                          const struct store_policy *p)
{
    json_write_object(w);
    rest_document__id(w, "id", id, ID_POLICY);
    rest_document__text(w, "name", p->name);
    rest_document__text(w, "mode", str_from_z(mode_words[p->all].word));
    rest_document__bool(w, "enabled", p->enabled);
    rest_document__text(w, "queue", rest_names__visible(c, p->queue));
    rest_document__text(w, "tag_key", p->tag_key);
    rest_document__text(w, "tag_value", p->tag_value);
    rest_document__bool(w, "all_namespaces", p->all_namespaces);
    rest_document__time(w, "created_at", p->created_at);
    json_write_end(w);
}

static void handle_list(struct rest_call *c)
{
    struct rest_page page;
    if (!rest_page__begin(c, &page)) {
        return;
    }
    store_each(engine_store(c->rest->config.engine), STORE_KIND_POLICY, list_one, &page);
    rest_page__finish(&page);
    struct json_write w = rest_call__json(c);
    json_write_array(&w);
    for (size_t i = 0; i < page.count; i++) {
        const struct row *row = page.rows[i].data;
        rest_policies__write(&w, c, row->id, &row->rec);
    }
    json_write_end(&w);
    rest_page__reply(&page, &w);
}

/* Read the stored record; *out points into bytes. False if there is none that the caller may
 * see. */
static bool read_policy(struct rest_call *c, struct id id, struct buf *bytes,
                        struct store_policy *out)
{
    return store_get(engine_store(c->rest->config.engine), STORE_KIND_POLICY,
                     str_from(id.b, ID_BYTES), bytes) &&
           store_record_decode_policy(buf_str(bytes), out) && sees(c, out);
}

/* Changes */

static void created(struct rest_call *c, const struct result *r)
{
    struct store_policy rec;
    struct buf bytes;
    if (rest_call__refused(c, r)) {
        return;
    }
    buf_init(&bytes, LIMIT_OP_BYTES);
    if (read_policy(c, r->id, &bytes, &rec)) {
        struct json_write w = rest_call__json(c);
        rest_policies__write(&w, c, r->id, &rec);
        rest_call__reply(c, 200, &w);
    } else {
        rest_call__fail(c, ERR_NOT_FOUND, "the approval policy was deleted in the meantime");
    }
    buf_deinit(&bytes);
}

/* Does the caller have the admin role, or a role that allows everything? */
static bool is_admin(struct rest_call *c)
{
    struct auth_rule all = {.roles = ROLE_ADMIN, .resource = STR("*"), .action = STR("*")};
    return auth_allows(c->rest->config.auth, &c->caller, &all);
}

static void handle_create(struct rest_call *c)
{
    const struct policy_in *in = c->in;
    struct command command = {.type = COMMAND_POLICY_PUT};
    struct store_policy *p = &command.policy_put.policy;
    struct err err;
    int all;
    bool known = rest_names__word(mode_words, in->mode, &all);
    *p = (struct store_policy){.ns = c->ns,
                               .name = str_trim(in->name),
                               .tag_key = in->tag_key,
                               .tag_value = in->tag_value,
                               .all = all != 0,
                               .all_namespaces = in->all_namespaces,
                               .enabled = in->enabled};
    if (p->all_namespaces && (c->ns.len > 0 || !is_admin(c))) {
        rest_call__fail(c, ERR_FORBIDDEN,
                        "all_namespaces requires an admin of the default namespace");
    } else if (p->name.len == 0) {
        rest_call__fail(c, ERR_POLICY, "name is required");
    } else if (!known) {
        rest_call__fail(c, ERR_POLICY, "mode: expected any or all, got '" STR_FMT "'",
                        STR_ARG(in->mode));
    } else if (!rest_names__internal(c, "queue", in->queue, &p->queue, &err)) {
        rest_call__fail_err(c, &err);
    } else if (may_change(c, p)) {
        rest_call__submit(c, &command, 0, created);
    }
}

static void deleted(struct rest_call *c, const struct result *r)
{
    if (!rest_call__refused(c, r)) {
        rest_call__reply_status(c, "deleted");
    }
}

static void handle_delete(struct rest_call *c)
{
    struct command command = {.type = COMMAND_POLICY_DELETE};
    struct store_policy rec;
    struct buf bytes;
    buf_init(&bytes, LIMIT_OP_BYTES);
    if (!id_parse(c->param[0], ID_POLICY, &command.policy_delete.id) ||
        !read_policy(c, command.policy_delete.id, &bytes, &rec)) {
        rest_call__fail(c, ERR_NOT_FOUND, "approval policy \"" STR_FMT "\" not found",
                        STR_ARG(c->param[0]));
    } else if (may_change(c, &rec)) {
        rest_call__submit(c, &command, 0, deleted);
    }
    buf_deinit(&bytes);
}

/* clang-format off */
static const struct rest_route rows[] = {
    /* method      pattern                           roles      flags                      in              handler        cost  answer          doc */
    {HTTP_GET,    "/api/v1/approval-policies",       ROLES_AOR, 0,                         NULL,           handle_list,   NULL, "200 [policy]", "List approval policies, newest first."},
    {HTTP_POST,   "/api/v1/approval-policies",       ROLES_AO,  ROUTE_LEADER | ROUTE_BODY, &policy_schema, handle_create, NULL, "200 policy",   "Create an approval policy. It holds matching agent jobs before they continue."},
    {HTTP_DELETE, "/api/v1/approval-policies/{id}",  ROLES_AO,  ROUTE_LEADER,              NULL,           handle_delete, NULL, "200 {status}", "Delete an approval policy. Jobs that it held stay held."},
};
/* clang-format on */

static const struct rest_query queries[] = {
    {HTTP_GET, "/api/v1/approval-policies", &rest_page__schema},
};

const struct rest_routes rest_policies_routes = {
    .rows = rows, .count = COUNT_OF(rows), .queries = queries, .query_count = COUNT_OF(queries)};
