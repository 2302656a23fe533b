/*
 * The organisation: its name, its members and its keys (http-api.md 19). A key of the organisation
 * is an admin of the default namespace. Its record is named by the hash of its secret, as for any
 * key; clients see an id.
 */
#include "base/limits.h"
#include "crypto/crypto.h"
#include "rest/access/rest_access_int.h"
#include "rest/rest_page_int.h"

enum { PREFIX_BYTES = 8 };

/* Ids sort by creation (http-api.md 2.1): the time to the nanosecond, and random bits. */
static struct str new_id(struct rest_call *c, struct str prefix)
{
    enum { INDEX_RANDOM_BITS = 28 };
    struct wall now = engine_time(c->rest->config.engine);
    char *text = rest_call__alloc(c, prefix.len + ID_TEXT_LEN);
    uint64_t random;
    crypto_random(&random, sizeof random);
    uint64_t index =
        (uint64_t)(now.ns % NS_PER_MS) << INDEX_RANDOM_BITS | random >> (64 - INDEX_RANDOM_BITS);
    return str_from(text, id_format(id_make(now, index, (uint32_t)random), prefix, text));
}

struct name_in {
    struct str name;
};
static const struct json_field name_rows[] = {
    JSON_STR(struct name_in, name, 0, LIMIT_NAME_BYTES, JSON_NO_CONTROL | JSON_INSISTED,
             "Name of the organization."),
};
static const struct json_schema name_schema = JSON_SCHEMA(struct name_in, name_rows);

/* --- organisation --- */

static struct command_access_item *org_item(struct rest_call *c, struct str name,
                                            enum command_access_rule rule)
{
    struct buf body;
    struct command_access_item *item = rest_access__items(c, 1);
    rest_call__buf(c, &body);
    store_access_encode_org(&(struct store_org){.name = name}, &body);
    *item = (struct command_access_item){
        .kind = STORE_ACCESS_ORG, .rule = rule, .body = rest_access__keep(c, &body)};
    return item;
}

static void reply_org(struct rest_call *c, const struct store_access_frame *frame)
{
    struct store_org org;
    if (!store_access_decode_org(frame->body, &org)) {
        rest_call__fail(c, ERR_NOT_FOUND, "organization not found");
        return;
    }
    struct json_write w = rest_call__json(c);
    json_write_object(&w);
    rest_document__text(&w, "id", STR("org_default"));
    rest_document__text(&w, "name", org.name);
    rest_document__time(&w, "created_at", frame->created_at);
    json_write_end(&w);
    rest_call__reply(c, 200, &w);
}

static void seeded(struct rest_call *c, const struct result *r)
{
    struct store_access_frame frame;
    if (r->code != ERR_OK && r->code != ERR_CONFLICT) {
        (void)rest_call__refused(c, r);
    } else if (rest_access__read(c, STORE_ACCESS_ORG, STR_EMPTY, &frame)) {
        reply_org(c, &frame);
    } else {
        rest_call__fail(c, ERR_NOT_FOUND, "organization not found");
    }
}

void rest_org__seed(struct rest_call *c, void (*then)(struct rest_call *c, const struct result *r))
{
    if (rest_forward__takes(c, false)) {
        return; /* forwarded: only the leader can create it */
    }
    rest_access__submit(c, org_item(c, STR("My Organization"), COMMAND_ACCESS_NEW), 1, then);
}

/* The first request creates the organisation. */
static void handle_get(struct rest_call *c)
{
    struct store_access_frame frame;
    if (rest_access__read(c, STORE_ACCESS_ORG, STR_EMPTY, &frame)) {
        reply_org(c, &frame);
        return;
    }
    rest_org__seed(c, seeded);
}

/* The name in the body; empty if the call has ended. */
static struct str need_name(struct rest_call *c)
{
    const struct name_in *in = c->in;
    struct str name = str_trim(in->name);
    if (name.len == 0) {
        rest_call__fail(c, ERR_VALIDATION, "name is required");
    }
    return name;
}

static void handle_put(struct rest_call *c)
{
    struct str name = need_name(c);
    if (name.len > 0) {
        rest_access__submit(c, org_item(c, name, COMMAND_ACCESS_ANY), 1, rest_access__reply_ok);
    }
}

/* --- lists, by time --- */

struct row {
    struct str name;
    struct store_access_frame frame;
    struct store_member member;
    struct store_org_key key;
};

static void add_row(struct rest_page *p, const struct row *row, bool newest_first)
{
    struct str key = rest_page__time_key(p->call, row->frame.created_at, newest_first, row->name);
    if (rest_page__wants(p, key)) {
        struct row *kept = REST_NEW(p->call, struct row);
        *kept = *row;
        rest_page__add(p, key, kept);
    }
}

static void list_member(void *data, struct str name, const struct store_access_frame *f)
{
    struct row row = {.name = name, .frame = *f};
    if (store_access_decode_member(f->body, &row.member)) {
        add_row(data, &row, false);
    }
}

static void list_key(void *data, struct str name, const struct store_access_frame *f)
{
    struct row row = {.name = name, .frame = *f};
    if (store_access_decode_org_key(f->body, &row.key)) {
        add_row(data, &row, true);
    }
}

static void write_member(struct json_write *w, const struct row *row)
{
    json_write_object(w);
    rest_document__text(w, "id", row->name);
    rest_document__text(w, "name", row->member.name);
    rest_document__text(w, "email", row->member.email);
    rest_document__text(w, "role", row->member.role);
    rest_document__time(w, "created_at", row->frame.created_at);
    json_write_end(w);
}

static void write_key(struct json_write *w, const struct row *row)
{
    json_write_object(w);
    rest_document__text(w, "id", row->key.id);
    rest_document__text(w, "name", row->key.name);
    rest_document__text(w, "prefix", row->key.prefix);
    rest_document__time(w, "created_at", row->frame.created_at);
    json_write_end(w);
}

static void list(struct rest_call *c, char kind,
                 void (*add)(void *data, struct str name, const struct store_access_frame *f),
                 void (*write)(struct json_write *w, const struct row *row))
{
    struct rest_page page;
    if (!rest_page__begin(c, &page)) {
        return;
    }
    rest_access__each(c, kind, STR_EMPTY, add, &page);
    rest_page__finish(&page);
    struct json_write w = rest_call__json(c);
    json_write_array(&w);
    for (size_t i = 0; i < page.count; i++) {
        write(&w, page.rows[i].data);
    }
    json_write_end(&w);
    rest_page__reply(&page, &w);
}

static void handle_members(struct rest_call *c)
{
    list(c, STORE_ACCESS_MEMBER, list_member, write_member);
}

static void handle_keys(struct rest_call *c)
{
    list(c, STORE_ACCESS_ORG_KEY, list_key, write_key);
}

/* --- members --- */

struct member_in {
    struct str name, email, role;
};
static const struct json_field member_rows[] = {
    JSON_STR(struct member_in, name, 0, LIMIT_NAME_BYTES, JSON_NO_CONTROL | JSON_INSISTED,
             "Name of the member."),
    JSON_STR(struct member_in, email, 0, LIMIT_NAME_BYTES, JSON_NO_CONTROL, "Email address."),
    JSON_STR(struct member_in, role, 0, LIMIT_NAME_BYTES, JSON_NO_CONTROL,
             "Role: owner, admin or member."),
};
static const struct member_in member_init = {.role = {"member", sizeof "member" - 1}};
static const struct json_schema member_schema =
    JSON_SCHEMA(struct member_in, member_rows, .init = &member_init);

static void member_made(struct rest_call *c, const struct result *r)
{
    const struct command_access_item *item = c->data;
    struct row row = {.name = item->name};
    if (rest_call__refused(c, r)) {
        return;
    }
    if (!rest_access__read(c, STORE_ACCESS_MEMBER, item->name, &row.frame) ||
        !store_access_decode_member(row.frame.body, &row.member)) {
        rest_call__fail(c, ERR_NOT_FOUND, "the member was removed in the meantime");
        return;
    }
    struct json_write w = rest_call__json(c);
    write_member(&w, &row);
    rest_call__reply(c, 201, &w);
}

static void handle_add_member(struct rest_call *c)
{
    const struct member_in *in = c->in;
    struct store_member m = {
        .name = str_trim(in->name), .email = str_trim(in->email), .role = str_trim(in->role)};
    struct buf body;
    if (m.name.len == 0) {
        rest_call__fail(c, ERR_VALIDATION, "name is required");
        return;
    }
    if (m.role.len == 0) {
        m.role = member_init.role;
    }
    struct command_access_item *item = rest_access__items(c, 1);
    rest_call__buf(c, &body);
    store_access_encode_member(&m, &body);
    *item = (struct command_access_item){.kind = STORE_ACCESS_MEMBER,
                                         .rule = COMMAND_ACCESS_NEW,
                                         .name = new_id(c, STR("mem_")),
                                         .body = rest_access__keep(c, &body)};
    c->data = item;
    rest_access__submit(c, item, 1, member_made);
}

static void delete_record(struct rest_call *c, char kind, struct str name)
{
    struct command_access_item *item = rest_access__items(c, 1);
    *item = (struct command_access_item){
        .kind = kind, .rule = COMMAND_ACCESS_THERE, .deletes = true, .name = name};
    rest_access__submit(c, item, 1, rest_access__reply_deleted);
}

static void handle_delete_member(struct rest_call *c)
{
    struct store_access_frame frame;
    struct store_member m;
    if (c->param[0].len > LIMIT_ACCESS_NAME_BYTES ||
        !rest_access__read(c, STORE_ACCESS_MEMBER, c->param[0], &frame) ||
        !store_access_decode_member(frame.body, &m)) {
        rest_call__fail(c, ERR_NOT_FOUND, "member not found");
    } else if (str_eq_nocase(m.role, STR("owner"))) {
        rest_call__fail(c, ERR_FORBIDDEN, "cannot remove the owner");
    } else {
        delete_record(c, STORE_ACCESS_MEMBER, c->param[0]);
    }
}

/* --- keys --- */

struct making {
    struct store_org_key rec;
    struct str secret;
    uint8_t hash[AUTH_HASH_BYTES];
    bool closes; /* the first key: the server needed no credentials before */
};

static void key_made(struct rest_call *c, const struct result *r)
{
    const struct making *m = c->data;
    struct store_access_frame frame = {0};
    if (rest_call__refused(c, r)) {
        return;
    }
    if (!rest_access__read(c, STORE_ACCESS_ORG_KEY, str_from(m->hash, AUTH_HASH_BYTES), &frame)) {
        rest_call__fail(c, ERR_NOT_FOUND, "the key was deleted in the meantime");
        return;
    }
    struct json_write w = rest_call__json(c);
    json_write_object(&w);
    rest_document__text(&w, "id", m->rec.id);
    rest_document__text(&w, "name", m->rec.name);
    rest_document__text(&w, "key", m->secret);
    rest_document__text(&w, "prefix", m->rec.prefix);
    rest_document__time(&w, "created_at", frame.created_at);
    if (m->closes) {
        rest_document__text(&w, "note", STR(REST_ACCESS_FIRST_KEY_NOTE));
    }
    json_write_end(&w);
    rest_call__reply(c, 201, &w);
}

static void handle_add_key(struct rest_call *c)
{
    struct making *m = REST_NEW(c, struct making);
    char *secret = rest_call__alloc(c, AUTH_SECRET_BYTES);
    struct buf body;
    struct str name = need_name(c);
    if (name.len == 0) {
        return;
    }
    auth_new_secret(STR("sk_"), secret);
    m->secret = str_from(secret, AUTH_SECRET_BYTES);
    m->rec = (struct store_org_key){
        .id = new_id(c, STR("key_")), .name = name, .prefix = str_from(secret, PREFIX_BYTES)};
    auth_hash(m->secret, m->hash);
    m->closes = c->verdict == REST_OPEN;
    struct command_access_item *item = rest_access__items(c, 1);
    rest_call__buf(c, &body);
    store_access_encode_org_key(&m->rec, &body);
    *item = (struct command_access_item){.kind = STORE_ACCESS_ORG_KEY,
                                         .rule = COMMAND_ACCESS_NEW,
                                         .name = str_from(m->hash, AUTH_HASH_BYTES),
                                         .body = rest_access__keep(c, &body)};
    c->data = m;
    rest_access__submit(c, item, 1, key_made);
}

struct wanted {
    struct str id;
    struct str name; /* name of the record; empty: not found */
};

static void find_key(void *data, struct str name, const struct store_access_frame *f)
{
    struct wanted *wanted = data;
    struct store_org_key key;
    if (store_access_decode_org_key(f->body, &key) && str_eq(key.id, wanted->id)) {
        wanted->name = name;
    }
}

static void handle_delete_key(struct rest_call *c)
{
    struct wanted wanted = {.id = c->param[0]};
    rest_access__each(c, STORE_ACCESS_ORG_KEY, STR_EMPTY, find_key, &wanted);
    if (wanted.name.len == 0) {
        rest_call__fail(c, ERR_NOT_FOUND, "key not found");
    } else {
        delete_record(c, STORE_ACCESS_ORG_KEY, wanted.name);
    }
}

/* clang-format off */
static const struct rest_route rows[] = {
    /* method      pattern                     roles       flags                                     in              handler               cost  answer                     doc */
    {HTTP_GET,    "/api/v1/org",               ROLES_AOR,  0,                                        NULL,           handle_get,           NULL, "200 organisation",        "Return the organization."},
    {HTTP_PUT,    "/api/v1/org",               ROLE_ADMIN, ROUTE_ACCESS | ROUTE_SERVER | ROUTE_BODY, &name_schema,   handle_put,           NULL, "200 {status}",            "Rename the organization."},
    {HTTP_GET,    "/api/v1/org/members",       ROLES_AOR,  0,                                        NULL,           handle_members,       NULL, "200 [member]",            "List members, oldest first."},
    {HTTP_POST,   "/api/v1/org/members",       ROLE_ADMIN, ROUTE_ACCESS | ROUTE_SERVER | ROUTE_BODY, &member_schema, handle_add_member,    NULL, "201 member",              "Add a member."},
    {HTTP_DELETE, "/api/v1/org/members/{id}",  ROLE_ADMIN, ROUTE_ACCESS | ROUTE_SERVER,              NULL,           handle_delete_member, NULL, "200 {status}",            "Remove a member. The owner cannot be removed."},
    {HTTP_GET,    "/api/v1/org/api-keys",      ROLES_AOR,  0,                                        NULL,           handle_keys,          NULL, "200 [organisation key]",  "List keys of the organization, newest first."},
    {HTTP_POST,   "/api/v1/org/api-keys",      ROLE_ADMIN, ROUTE_ACCESS | ROUTE_SERVER | ROUTE_BODY, &name_schema,   handle_add_key,       NULL, "201 organisation secret", "Create a key of the organization with the role admin. The secret is shown only in this response."},
    {HTTP_DELETE, "/api/v1/org/api-keys/{id}", ROLE_ADMIN, ROUTE_ACCESS | ROUTE_SERVER,              NULL,           handle_delete_key,    NULL, "200 {status}",            "Delete a key of the organization."},
};
/* clang-format on */

static const struct rest_query queries[] = {
    {HTTP_GET, "/api/v1/org/members", &rest_page__schema},
    {HTTP_GET, "/api/v1/org/api-keys", &rest_page__schema},
};

const struct rest_routes rest_org_routes = {
    .rows = rows, .count = COUNT_OF(rows), .queries = queries, .query_count = COUNT_OF(queries)};
