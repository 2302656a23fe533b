/*
 * Namespaces: list, request limits (http-api.md 18.4) and quotas.
 */
#include "base/limits.h"
#include "core/queue_name.h"
#include "rest/access/rest_access_int.h"
#include "rest/rest_page_int.h"

struct row {
    struct str name;
    struct store_access_frame frame;
    struct store_namespace rec;
};

static bool has_limits(const struct store_namespace *n)
{
    return n->read_rps > 0 || n->read_burst > 0 || n->write_rps > 0 || n->write_burst > 0;
}

static void write_real(struct json_write *w, const char *key, double v)
{
    if (v > 0) {
        json_write_key(w, str_from_z(key));
        json_write_f64(w, v);
    }
}

static void write_limits(struct json_write *w, const struct store_namespace *n)
{
    write_real(w, "read_rps", n->read_rps);
    write_real(w, "read_burst", n->read_burst);
    write_real(w, "write_rps", n->write_rps);
    write_real(w, "write_burst", n->write_burst);
}

static void add_row(struct rest_page *p, const struct row *row)
{
    struct rest_call *c = p->call;
    bool own = c->ns.len == 0 || str_eq(c->ns, row->name);
    if (own && str_starts_with(row->name, p->prefix) && rest_page__wants(p, row->name)) {
        struct row *kept = REST_NEW(c, struct row);
        *kept = *row;
        rest_page__add(p, row->name, kept);
    }
}

static void list_one(void *data, struct str name, const struct store_access_frame *f)
{
    struct row row = {.name = name, .frame = *f};
    if (!str_eq(name, STR("default")) && store_access_decode_namespace(f->body, &row.rec)) {
        add_row(data, &row);
    }
}

/* The default namespace exists even without a record, since the creation of the organisation. */
static struct row default_row(struct rest_call *c)
{
    struct row row = {.name = STR("default")};
    struct store_access_frame org;
    if (rest_access__read(c, STORE_ACCESS_NAMESPACE, row.name, &row.frame) &&
        !store_access_decode_namespace(row.frame.body, &row.rec)) {
        row.rec = (struct store_namespace){0};
    }
    if (rest_access__read(c, STORE_ACCESS_ORG, STR_EMPTY, &org) &&
        (row.frame.created_at.ns == 0 || org.created_at.ns < row.frame.created_at.ns)) {
        row.frame.created_at = org.created_at;
    }
    return row;
}

static void reply_list(struct rest_call *c)
{
    struct rest_page page;
    if (!rest_page__begin(c, &page)) {
        return;
    }
    struct row first = default_row(c);
    add_row(&page, &first);
    rest_access__each(c, STORE_ACCESS_NAMESPACE, STR_EMPTY, list_one, &page);
    rest_page__finish(&page);
    struct json_write w = rest_call__json(c);
    json_write_array(&w);
    for (size_t i = 0; i < page.count; i++) {
        const struct row *row = page.rows[i].data;
        json_write_object(&w);
        rest_document__text(&w, "name", row->name);
        rest_document__time(&w, "created_at", row->frame.created_at);
        if (has_limits(&row->rec)) {
            rest_document__object(&w, "rate_limit");
            write_limits(&w, &row->rec);
            json_write_end(&w);
        }
        json_write_end(&w);
    }
    json_write_end(&w);
    rest_page__reply(&page, &w);
}

/* ERR_CONFLICT: another request created it first. */
static void seeded(struct rest_call *c, const struct result *r)
{
    if (r->code == ERR_CONFLICT || !rest_call__refused(c, r)) {
        reply_list(c);
    }
}

/* The first request for the organisation or for the namespaces creates the organisation. */
static void handle_list(struct rest_call *c)
{
    if (!rest_access__has_feature(c, "namespaces")) {
        return;
    }
    if (default_row(c).frame.created_at.ns == 0) {
        rest_org__seed(c, seeded);
    } else {
        reply_list(c);
    }
}

struct name_in {
    struct str name;
};
static const struct json_field name_rows[] = {
    JSON_STR(struct name_in, name, 0, LIMIT_NAME_BYTES, JSON_INSISTED,
             "Lower-case letters, digits and inner hyphens, at most 63 characters."),
};
static const struct json_schema name_schema = JSON_SCHEMA(struct name_in, name_rows);

static void created(struct rest_call *c, const struct result *r)
{
    struct command_access_item *item = c->data;
    if (r->code == ERR_CONFLICT) {
        rest_call__fail(c, ERR_CONFLICT, "namespace already exists");
        return;
    }
    if (rest_call__refused(c, r)) {
        return;
    }
    struct json_write w = rest_call__json(c);
    json_write_object(&w);
    rest_document__text(&w, "name", item->name);
    rest_document__text(&w, "status", STR("created"));
    json_write_end(&w);
    rest_call__reply(c, 201, &w);
}

static struct command_access_item *put(struct rest_call *c, struct str name,
                                       const struct store_namespace *rec,
                                       enum command_access_rule rule)
{
    struct buf body;
    struct command_access_item *item = rest_access__items(c, 1);
    rest_call__buf(c, &body);
    store_access_encode_namespace(rec, &body);
    *item = (struct command_access_item){.kind = STORE_ACCESS_NAMESPACE,
                                         .rule = rule,
                                         .name = name,
                                         .body = rest_access__keep(c, &body)};
    return item;
}

static void handle_create(struct rest_call *c)
{
    const struct name_in *in = c->in;
    struct store_namespace none = {0};
    if (!rest_access__has_feature(c, "namespaces")) {
        return;
    }
    if (str_eq(in->name, STR("default"))) {
        rest_call__fail(c, ERR_CONFLICT, "namespace already exists");
    } else if (!queue_name_is_namespace(in->name)) {
        rest_call__fail(
            c, ERR_VALIDATION,
            "name: expected 1 to 63 lower-case letters, digits or hyphens, with no hyphen at "
            "either end");
    } else {
        c->data = put(c, in->name, &none, COMMAND_ACCESS_NEW);
        rest_access__submit(c, c->data, 1, created);
    }
}

static void deleted(struct rest_call *c, const struct result *r)
{
    if (r->code == ERR_NOT_FOUND) {
        rest_call__fail(c, ERR_NOT_FOUND, "namespace not found");
    } else {
        rest_access__reply_deleted(c, r);
    }
}

static void handle_delete(struct rest_call *c)
{
    if (!rest_access__has_feature(c, "namespaces")) {
        return;
    }
    if (str_eq(c->param[0], STR("default"))) {
        rest_call__fail(c, ERR_VALIDATION, "the default namespace cannot be deleted");
        return;
    }
    struct command_access_item *item = rest_access__items(c, 1);
    *item = (struct command_access_item){.kind = STORE_ACCESS_NAMESPACE,
                                         .rule = COMMAND_ACCESS_THERE,
                                         .deletes = true,
                                         .name = c->param[0]};
    rest_access__submit(c, item, 1, deleted);
}

/* Limits. 0 means not given; given values must be positive. */

enum { LIMIT_MAX = 1000000000 };

struct limit_in {
    double read_rps, read_burst, write_rps, write_burst;
    uint64_t set;
};
enum { ROW_READ_RPS, ROW_READ_BURST, ROW_WRITE_RPS, ROW_WRITE_BURST };
static const struct json_field limit_rows[] = {
    [ROW_READ_RPS] = JSON_F64(struct limit_in, read_rps, INT64_MIN, LIMIT_MAX, 0,
                              "Reads per second and client, above 0."),
    [ROW_READ_BURST] = JSON_F64(struct limit_in, read_burst, INT64_MIN, LIMIT_MAX, 0,
                                "Reads in a burst, above 0."),
    [ROW_WRITE_RPS] = JSON_F64(struct limit_in, write_rps, INT64_MIN, LIMIT_MAX, 0,
                               "Writes per second and client, above 0."),
    [ROW_WRITE_BURST] = JSON_F64(struct limit_in, write_burst, INT64_MIN, LIMIT_MAX, 0,
                                 "Writes in a burst, above 0."),
};
static const struct json_schema limit_schema =
    JSON_SCHEMA(struct limit_in, limit_rows, JSON_SET(struct limit_in, set));

static bool read_limits(struct rest_call *c, const struct limit_in *in, struct store_namespace *out)
{
    const struct {
        double from;
        double *to;
    } limits[] = {
        [ROW_READ_RPS] = {in->read_rps, &out->read_rps},
        [ROW_READ_BURST] = {in->read_burst, &out->read_burst},
        [ROW_WRITE_RPS] = {in->write_rps, &out->write_rps},
        [ROW_WRITE_BURST] = {in->write_burst, &out->write_burst},
    };
    for (size_t i = 0; i < COUNT_OF(limits); i++) {
        if ((in->set >> i & 1) != 0 && limits[i].from <= 0) {
            rest_call__fail(c, ERR_VALIDATION, "%s: expected a number above 0, got %g",
                            limit_rows[i].name, limits[i].from);
            return false;
        }
        *limits[i].to = limits[i].from;
    }
    return true;
}

static void limited(struct rest_call *c, const struct result *r)
{
    if (rest_access__again(c, r)) {
        return;
    }
    if (r->code == ERR_NOT_FOUND) {
        rest_call__fail(c, ERR_NOT_FOUND, "namespace not found");
    } else {
        rest_access__reply_updated(c, r);
    }
}

/* The current record, so that changing the limits keeps the quota and vice versa. */
struct known {
    bool there;
    struct store_access_frame frame;
    struct store_namespace rec;
};

static struct known known(struct rest_call *c)
{
    struct known k = {.there = false};
    k.there = rest_access__read(c, STORE_ACCESS_NAMESPACE, c->param[0], &k.frame);
    if (k.there && !store_access_decode_namespace(k.frame.body, &k.rec)) {
        k.rec = (struct store_namespace){0};
    }
    return k;
}

/* The default namespace may have no record yet. */
static void put_known(struct rest_call *c, const struct known *k)
{
    struct command_access_item *item = put(c, c->param[0], &k->rec, COMMAND_ACCESS_THERE);
    if (k->there || str_eq(c->param[0], STR("default"))) {
        rest_access__expect(c, item, k->there ? &k->frame : NULL);
    }
    rest_access__submit(c, item, 1, limited);
}

static void handle_set_limit(struct rest_call *c)
{
    const struct limit_in *in = c->in;
    struct known k = known(c);
    if (rest_access__has_feature(c, "namespaces") && read_limits(c, in, &k.rec)) {
        put_known(c, &k);
    }
}

/* Read the record of a namespace that the caller may see. False, with the call ended, if there is
 * none. */
static bool need_known(struct rest_call *c, struct store_namespace *out)
{
    struct store_access_frame frame;
    *out = (struct store_namespace){0};
    if (!rest_access__has_feature(c, "namespaces")) {
        return false;
    }
    bool own = c->ns.len == 0 || str_eq(c->ns, c->param[0]);
    bool there = own && rest_access__read(c, STORE_ACCESS_NAMESPACE, c->param[0], &frame) &&
                 store_access_decode_namespace(frame.body, out);
    if (!there && !(own && str_eq(c->param[0], STR("default")))) {
        rest_call__fail(c, ERR_NOT_FOUND, "namespace not found");
        return false;
    }
    return true;
}

static void handle_get_limit(struct rest_call *c)
{
    struct store_namespace n;
    if (!need_known(c, &n)) {
        return;
    }
    struct json_write w = rest_call__json(c);
    json_write_object(&w);
    rest_document__bool(&w, "using_defaults", !has_limits(&n));
    write_limits(&w, &n);
    json_write_end(&w);
    rest_call__reply(c, 200, &w);
}

/* Quotas. 0 or an omitted member removes a quota. */

struct quota_in {
    int64_t max_jobs, max_payload_bytes, max_queues;
};
static const struct json_field quota_rows[] = {
    JSON_I64(struct quota_in, max_jobs, 0, INT64_MAX, 0,
             "Maximum number of unfinished jobs. 0: no limit."),
    JSON_I64(struct quota_in, max_payload_bytes, 0, INT64_MAX, 0,
             "Maximum payload bytes of unfinished jobs. 0: no limit."),
    JSON_I64(struct quota_in, max_queues, 0, INT64_MAX, 0,
             "Maximum number of queues. 0: no limit."),
};
static const struct json_schema quota_schema = JSON_SCHEMA(struct quota_in, quota_rows);

static void handle_set_quota(struct rest_call *c)
{
    const struct quota_in *in = c->in;
    struct known k = known(c);
    if (!rest_access__has_feature(c, "namespaces")) {
        return;
    }
    k.rec.quota = (struct store_quota){.max_jobs = (uint64_t)in->max_jobs,
                                       .max_payload_bytes = (uint64_t)in->max_payload_bytes,
                                       .max_queues = (uint64_t)in->max_queues};
    put_known(c, &k);
}

struct quota_out {
    struct store_namespace rec;
    struct machine_space used;
};

static void look_quota(struct rest_call *c, struct machine *m)
{
    struct quota_out *out = c->data;
    bool is_default = str_eq(c->param[0], STR("default"));
    machine_space(m, is_default ? STR_EMPTY : c->param[0], &out->used);
}

static void write_quota(struct json_write *w, const char *what, uint64_t max, uint64_t used)
{
    json_write_key(w, str_from_z(what));
    json_write_object(w);
    json_write_key(w, STR("used"));
    json_write_u64(w, used);
    if (max > 0) {
        json_write_key(w, STR("max"));
        json_write_u64(w, max);
    }
    json_write_end(w);
}

static void say_quota(struct rest_call *c)
{
    const struct quota_out *out = c->data;
    const struct store_quota *quota = &out->rec.quota;
    struct json_write w = rest_call__json(c);
    json_write_object(&w);
    write_quota(&w, "jobs", quota->max_jobs, out->used.jobs);
    write_quota(&w, "payload_bytes", quota->max_payload_bytes, out->used.payload_bytes);
    write_quota(&w, "queues", quota->max_queues, out->used.queues);
    json_write_end(&w);
    rest_call__reply(c, 200, &w);
}

static void handle_get_quota(struct rest_call *c)
{
    struct quota_out *out = REST_NEW(c, struct quota_out);
    if (need_known(c, &out->rec)) {
        c->data = out;
        rest_call__on_core(c, look_quota, say_quota);
    }
}

/* clang-format off */
static const struct rest_route rows[] = {
    /* method      pattern                                roles       flags                                     in             handler           cost  answer                  doc */
    {HTTP_GET,    "/api/v1/namespaces",                   ROLES_AOR,  0,                                        NULL,          handle_list,      NULL, "200 [namespace]",      "List namespaces by name."},
    {HTTP_POST,   "/api/v1/namespaces",                   ROLE_ADMIN, ROUTE_ACCESS | ROUTE_SERVER | ROUTE_BODY, &name_schema,  handle_create,    NULL, "201 {name, status}",   "Register a namespace."},
    {HTTP_DELETE, "/api/v1/namespaces/{name}",            ROLE_ADMIN, ROUTE_ACCESS | ROUTE_SERVER,              NULL,          handle_delete,    NULL, "200 {status}",         "Unregister a namespace. Its jobs and keys are kept."},
    {HTTP_PUT,    "/api/v1/namespaces/{name}/rate-limit", ROLE_ADMIN, ROUTE_ACCESS | ROUTE_SERVER | ROUTE_BODY, &limit_schema, handle_set_limit, NULL, "200 {status}",         "Set the request limits of a namespace. Limits that are left out get their defaults."},
    {HTTP_PUT,    "/api/v1/namespaces/{name}/quota",      ROLE_ADMIN, ROUTE_ACCESS | ROUTE_SERVER | ROUTE_BODY, &quota_schema, handle_set_quota, NULL, "200 {status}",         "Set the quota of a namespace. Limits that are left out are removed."},
    {HTTP_GET,    "/api/v1/namespaces/{name}/quota",      ROLES_AOR,  0,                                        NULL,          handle_get_quota, NULL, "200 {jobs, payload_bytes, queues}", "Return the quota of a namespace and its current use."},
    {HTTP_GET,    "/api/v1/namespaces/{name}/rate-limit", ROLES_AOR,  0,                                        NULL,          handle_get_limit, NULL, "200 {using_defaults}", "Return the request limits of a namespace."},
};
/* clang-format on */

static const struct rest_query queries[] = {{HTTP_GET, "/api/v1/namespaces", &rest_page__schema}};

const struct rest_routes rest_namespaces_routes = {
    .rows = rows, .count = COUNT_OF(rows), .queries = queries, .query_count = COUNT_OF(queries)};
