#include <endian.h>
#include <stdlib.h>

#include <uv.h>

#include "audit/audit.h"
#include "base/check.h"
#include "base/limits.h"
#include "core/timestamp.h"
#include "rest/access/rest_access_int.h"
#include "rest/access/rest_audit_int.h"
#include "rest/rest_document_int.h"
#include "rest/rest_page_int.h"

enum {
    READ_WAIT_MS = 5000, /* maximum time that a reader waits for pending entries */
    PIECE = 1000,        /* entries examined or written in one turn */
};

/* A call that waits until entries recorded before it are readable. */
struct waiter {
    struct audit_reader reader;
    uv_timer_t timer;
    struct rest_call *call;
};

/* A node that does not lead reports its refused requests to the leader, which records them. */

#define TOLD_PATH "/api/v1/cluster/audit"

struct told_in {
    struct str ns, principal, role, method, path, query;
    int64_t status, duration_ms, suppressed;
};

static const struct json_field told_rows[] = {
    JSON_STR(struct told_in, ns, 0, LIMIT_AUDIT_TEXT_BYTES, 0, "Namespace of the request."),
    JSON_STR(struct told_in, principal, 0, LIMIT_AUDIT_TEXT_BYTES, 0, "The caller, if known."),
    JSON_STR(struct told_in, role, 0, LIMIT_AUDIT_TEXT_BYTES, 0, "Role of the caller."),
    JSON_STR(struct told_in, method, 1, LIMIT_AUDIT_TEXT_BYTES, 0, "Method of the request."),
    JSON_STR(struct told_in, path, 1, LIMIT_AUDIT_TEXT_BYTES, 0, "Path of the request."),
    JSON_STR(struct told_in, query, 0, LIMIT_AUDIT_TEXT_BYTES, 0, "Query of the request."),
    JSON_I64(struct told_in, status, 400, 499, 0, "Status of the response."),
    JSON_I64(struct told_in, duration_ms, 0, UINT32_MAX, 0, "How long the request took."),
    JSON_I64(struct told_in, suppressed, 0, UINT32_MAX, 0,
             "Refused requests before this one that have no entry."),
};
static const struct json_schema told_schema = JSON_SCHEMA(struct told_in, told_rows);

static bool tell_one(struct rest_call *c, const struct store_audit *rec, uint32_t suppressed)
{
    struct front_gate *gate = c->rest->gates[http_loop_index(c->req->loop)];
    const struct {
        const char *name;
        struct str value;
    } texts[] = {{"ns", rec->ns},         {"principal", rec->principal}, {"role", rec->role},
                 {"method", rec->method}, {"path", rec->path},           {"query", rec->query}};
    struct buf body;
    buf_init(&body, SIZE_MAX);
    struct json_write w = json_write_to(&body);
    json_write_object(&w);
    for (size_t i = 0; i < COUNT_OF(texts); i++) {
        struct str text = str_at_most(texts[i].value, LIMIT_AUDIT_TEXT_BYTES);
        if (text.len > 0) {
            rest_document__text(&w, texts[i].name, text);
        }
    }
    rest_document__i64(&w, "status", rec->status);
    rest_document__i64(&w, "duration_ms", rec->duration_ms);
    rest_document__i64(&w, "suppressed", suppressed);
    json_write_end(&w);
    json_write_finish(&w);
    bool told = gate != NULL && front_gate_tell(gate, STR(TOLD_PATH), buf_str(&body));
    buf_deinit(&body);
    return told;
}

static void tell(struct rest_call *c, const struct store_audit *rec)
{
    struct audit *a = c->rest->config.audit;
    uint32_t left_out;
    if (audit_may_tell(a, &left_out) && !tell_one(c, rec, left_out)) {
        audit_left_out(a, left_out + 1);
    }
}

/* Nodes never forward this request, so a signed one is from the peer itself. */
static void handle_told(struct rest_call *c)
{
    const struct front_shared *front = c->rest->config.front;
    const struct told_in *in = c->in;
    if (front == NULL || !front->key.is_secret || !c->client.forwarded) {
        rest_call__fail(c, ERR_FORBIDDEN, "only nodes of the cluster may send this request");
        return;
    }
    audit_note(c->rest->config.audit,
               &(struct store_audit){.ns = in->ns,
                                     .principal = in->principal,
                                     .role = in->role,
                                     .method = in->method,
                                     .path = in->path,
                                     .query = in->query,
                                     .status = (uint32_t)in->status,
                                     .duration_ms = (uint32_t)in->duration_ms,
                                     .suppressed = (uint32_t)in->suppressed},
               true);
    rest_call__reply_status(c, "ok");
}

/* Routine requests of workers and producers, and POSTs that change nothing, are not recorded. */
static bool is_daily(struct str path)
{
    if (str_eq(path, STR("/jobs")) || str_eq(path, STR("/jobs/batch"))) {
        return true; /* these create jobs; other routes below /jobs cancel and delete them */
    }
    static const char *const starts[] = {"/api/v1/enqueue",       "/api/v1/fetch",
                                         "/api/v1/ack",           "/api/v1/fail",
                                         "/api/v1/heartbeat",     "/api/v1/jobs/search",
                                         "/api/v1/jobs/bulk-get", "/api/v1/cluster/audit"};
    for (size_t i = 0; i < COUNT_OF(starts); i++) {
        size_t len = strlen(starts[i]);
        if (str_starts_with(path, str_from_z(starts[i])) &&
            (path.len == len || path.ptr[len] == '/')) {
            return true;
        }
    }
    return false;
}

/* Pages and files are public and not recorded. The Scheduled-DB API is recorded like /api/v1/,
 * without requests that create jobs (scheduler.md 16). */
static bool is_of_interest(const struct rest_call *c)
{
    bool scheduler = c->route != NULL && (c->route->flags & ROUTE_SCHEDULER) != 0;
    return c->is_rpc || scheduler || str_starts_with(c->req->path_raw, STR("/api/v1/"));
}

void rest_audit__note(struct rest_call *c, int status, int64_t took_ns)
{
    struct http_request *req = c->req;
    if (c->rest->config.audit == NULL || c->relayed || req->method == HTTP_OPTIONS ||
        !is_of_interest(c)) {
        return;
    }
    bool sign_in = c->route != NULL && (c->route->flags & ROUTE_SIGN_IN) != 0;
    struct str path = c->route != NULL ? str_from_z(c->route->pattern) : req->path;
    bool other = req->method != HTTP_GET && !c->is_rpc && !is_daily(path);
    bool nowhere = c->route == NULL && other && (status == 404 || status == 405);
    bool refused = status == 401 || status == 403 || nowhere;
    bool change = sign_in ? c->verdict == REST_KNOWN : c->route != NULL && other;
    if (!refused && !change) {
        return;
    }
    bool known = c->verdict == REST_KNOWN || c->verdict == REST_OPEN;
    struct buf room;
    buf_init(&room, LIMIT_ACCESS_BODY_BYTES);
    struct store_audit rec = {.ns = c->ns,
                              .principal = known ? rest_auth__principal(c, &room) : STR_EMPTY,
                              .role = known ? c->caller.role : STR_EMPTY,
                              .method = req->method_name,
                              .path = req->path,
                              .query = sign_in ? STR_EMPTY : req->query, /* it contains a secret */
                              .status = (uint32_t)status,
                              .duration_ms = (uint32_t)(took_ns / NS_PER_MS)};
    if (refused && !engine_leads(c->rest->config.engine)) {
        tell(c, &rec);
    } else {
        audit_note(c->rest->config.audit, &rec, refused);
    }
    buf_deinit(&room);
}

/* Reading */

struct audit_in {
    int64_t limit, offset;
    struct str principal, method, path_prefix, ns, format;
    struct wall since, until;
};

static const struct json_field audit_rows[] = {
    JSON_I64(struct audit_in, limit, 1, INT32_MAX, 0, "Maximum number of entries.",
             .told_max = 1000),
    JSON_I64(struct audit_in, offset, 0, INT32_MAX, 0, "Number of newest entries to skip."),
    JSON_STR(struct audit_in, principal, 0, LIMIT_AUDIT_TEXT_BYTES, 0,
             "Only requests of this caller."),
    JSON_STR(struct audit_in, method, 0, LIMIT_NAME_BYTES, 0,
             "Only requests with this method. Not case-sensitive."),
    JSON_STR(struct audit_in, path_prefix, 0, LIMIT_AUDIT_TEXT_BYTES, 0,
             "Only paths with this prefix."),
    {JSON_ROW("namespace", "Only requests in this namespace.", JSON_KIND_STR, 0),
     JSON_RANGE(0, LIMIT_NAME_BYTES), .offset = JSON_OFFSET(struct audit_in, ns, struct str)},
    JSON_TIME(struct audit_in, since, timestamp_parse, 0, "Start of the range."),
    JSON_TIME(struct audit_in, until, timestamp_parse, 0, "End of the range."),
    JSON_STR(struct audit_in, format, 0, LIMIT_NAME_BYTES, 0,
             "jsonl returns all entries, one per line, for exports."),
};
static const struct audit_in audit_init = {.limit = 100};
static const struct json_schema audit_schema =
    JSON_SCHEMA(struct audit_in, audit_rows, .init = &audit_init);

static void write_entry(struct json_write *w, uint64_t id, const struct store_audit *e)
{
    json_write_object(w);
    rest_document__i64(w, "id", (int64_t)id);
    rest_document__text(w, "namespace", e->ns.len > 0 ? e->ns : STR("default"));
    json_write_key(w, STR("principal"));
    if (e->principal.len > 0) {
        json_write_str(w, e->principal);
    } else {
        json_write_null(w);
    }
    json_write_key(w, STR("role"));
    if (e->role.len > 0) {
        json_write_str(w, e->role);
    } else {
        json_write_null(w);
    }
    rest_document__text(w, "method", e->method);
    rest_document__text(w, "path", e->path);
    rest_document__i64(w, "status_code", e->status);
    rest_document__object(w, "metadata");
    rest_document__i64(w, "duration_ms", e->duration_ms);
    json_write_key(w, STR("query"));
    json_write_str(w, e->query);
    rest_document__i64_if_set(w, "suppressed", e->suppressed);
    json_write_end(w);
    rest_document__time(w, "created_at", e->at);
    json_write_end(w);
}

static bool is_wanted(const struct rest_call *c, const struct store_audit *e)
{
    const struct audit_in *in = c->query;
    struct str ns = e->ns.len > 0 ? e->ns : STR("default");
    return (c->ns.len == 0 || str_eq(c->ns, e->ns)) &&
           (in->principal.len == 0 || str_eq(in->principal, e->principal)) &&
           (in->method.len == 0 || str_eq_nocase(in->method, e->method)) &&
           str_starts_with(e->path, in->path_prefix) && (in->ns.len == 0 || str_eq(in->ns, ns)) &&
           (in->since.ns == 0 || e->at.ns >= in->since.ns) &&
           (in->until.ns == 0 || e->at.ns <= in->until.ns);
}

/* Keys are in order of time, but the list begins with the newest entry. The numbers of matching
 * entries are therefore collected first, and the entries shown are read again. Both happen in
 * pieces, so that other requests of the thread get their turn. */
struct finding {
    struct rest_call *call;
    uint64_t next; /* first number not examined yet */
    unsigned seen; /* entries examined in this piece */
    bool more;     /* the piece ended before the end of the log */
    uint64_t *ids;
    size_t count, cap;
    bool full;
    size_t shown; /* lines of an export written so far; they are in the call's answer */
};

/* False ends the piece. */
static bool look_at(void *data, struct str rest, struct str value)
{
    struct finding *f = data;
    struct store_audit e;
    struct unpack u = unpack_from(rest);
    uint64_t id = unpack_u64_be(&u);
    if (u.bad) {
        return true;
    }
    if (f->seen++ == PIECE) {
        f->more = true;
        return false;
    }
    f->next = id + 1;
    if (!store_access_decode_audit(value, &e) || !is_wanted(f->call, &e)) {
        return true;
    }
    uint64_t *ids = rest_call__grow(f->call, f->ids, f->count, &f->cap, sizeof *f->ids);
    if (ids == NULL) {
        f->full = true;
        return false;
    }
    f->ids = ids;
    f->ids[f->count++] = id;
    return true;
}

/* Omits an entry that was deleted since. */
static void show(struct rest_call *c, uint64_t id, struct json_write *w)
{
    struct store_audit e;
    struct buf value;
    uint64_t be = htobe64(id);
    buf_init(&value, SIZE_MAX);
    if (store_get(engine_store(c->rest->config.engine), STORE_KIND_AUDIT, str_from(&be, sizeof be),
                  &value) &&
        store_access_decode_audit(buf_str(&value), &e)) {
        write_entry(w, id, &e);
    }
    buf_deinit(&value);
}

static void reply_page(struct rest_call *c)
{
    enum { LIMIT_MAX = 1000 };
    const struct finding *f = c->data;
    const struct audit_in *in = c->query;
    size_t limit = (size_t)(in->limit > LIMIT_MAX ? LIMIT_MAX : in->limit);
    struct json_write w = rest_call__json(c);
    json_write_object(&w);
    rest_document__array(&w, "audit_logs");
    for (size_t n = (size_t)in->offset; n < f->count && n - (size_t)in->offset < limit; n++) {
        show(c, f->ids[f->count - 1 - n], &w);
    }
    json_write_end(&w);
    rest_document__i64(&w, "total", (int64_t)f->count);
    rest_document__i64(&w, "limit", (int64_t)limit);
    rest_document__i64(&w, "offset", in->offset);
    json_write_end(&w);
    rest_call__reply(c, 200, &w);
}
static void write_lines(struct rest_call *c)
{
    struct finding *f = c->data;
    size_t end = f->count - f->shown > PIECE ? f->shown + PIECE : f->count;
    for (; f->shown < end; f->shown++) {
        struct json_write w = json_write_to(&c->answer);
        size_t before = c->answer.len;
        show(c, f->ids[f->count - 1 - f->shown], &w);
        if (c->answer.len > before) {
            json_write_finish(&w);
            buf_add_char(&c->answer, '\n');
        }
    }
    if (f->shown < f->count && buf_error(&c->answer) == ERR_OK) {
        rest_call__later(c, write_lines);
    } else {
        rest_call__reply_written(c, STR("application/x-ndjson"));
    }
}

static void find_piece(struct rest_call *c)
{
    const struct audit_in *in = c->query;
    struct finding *f = c->data;
    uint64_t from = htobe64(f->next);
    f->seen = 0;
    f->more = false;
    store_each_from(engine_store(c->rest->config.engine), STORE_KIND_AUDIT, STR_EMPTY,
                    str_from(&from, sizeof from), look_at, f);
    if (f->full) {
        rest_call__fail_memory(c, ERR_TOO_LARGE);
    } else if (f->more) {
        rest_call__later(c, find_piece);
    } else if (str_eq(in->format, STR("jsonl"))) {
        rest_call__buf(c, &c->answer);
        write_lines(c);
    } else {
        reply_page(c);
    }
}

static void reply_list(struct rest_call *c)
{
    struct finding *f = REST_NEW(c, struct finding);
    f->call = c;
    c->data = f;
    find_piece(c);
}

static void free_waiter(uv_handle_t *h)
{
    free(h->data);
}

static void waiter_end(struct waiter *w)
{
    struct rest_call *c = w->call;
    uv_close((uv_handle_t *)&w->timer, free_waiter);
    rest_call__wake(c);
}

static void deliver_written(struct msg *m)
{
    waiter_end(CONTAINER_OF(m, struct waiter, reader.msg));
}

static void waited_cb(uv_timer_t *t)
{
    struct waiter *w = t->data;
    if (audit_wait_end(w->call->rest->config.audit, &w->reader)) {
        waiter_end(w);
    }
}

/* Call `then` when all entries recorded before are readable. */
static void after_noted(struct rest_call *c, void (*then)(struct rest_call *c))
{
    struct waiter *w = calloc(1, sizeof *w);
    CHECK(w != NULL);
    w->reader.msg.deliver = deliver_written;
    w->reader.mailbox = http_loop_mailbox(c->req->loop);
    w->call = c;
    w->timer.data = w;
    if (!audit_wait(c->rest->config.audit, &w->reader)) {
        free(w);
        then(c);
        return;
    }
    /* this thread's loop delivers the message, so not before this function returns */
    CHECK(uv_timer_init(http_loop_uv(c->req->loop), &w->timer) == 0);
    CHECK(uv_timer_start(&w->timer, waited_cb, READ_WAIT_MS, 0) == 0);
    rest_call__wait(c, then);
}

static void handle_list(struct rest_call *c)
{
    if (!rest_access__has_feature(c, "audit")) {
        return;
    }
    if (c->rest->config.audit == NULL) {
        reply_list(c);
    } else {
        after_noted(c, reply_list);
    }
}

/* clang-format off */
static const struct rest_route rows[] = {
    /* method    pattern               roles      flags  in    handler      cost  answer                            doc */
    {HTTP_GET, "/api/v1/audit-logs",   ROLES_AOR, 0,     NULL, handle_list, NULL, "200 {audit_logs, total, limit, offset}", "List audited requests: changes and refused requests, newest first."},
    {HTTP_POST, TOLD_PATH,             ROLES_ALL, ROUTE_OPEN | ROUTE_BODY, &told_schema, handle_told, NULL, "200 {status}, 403 not a node of the cluster", "Record a request that another node refused. Only for the nodes of the cluster."},
};
/* clang-format on */

static const struct rest_query queries[] = {{HTTP_GET, "/api/v1/audit-logs", &audit_schema}};

const struct rest_routes rest_audit_routes = {
    .rows = rows, .count = COUNT_OF(rows), .queries = queries, .query_count = COUNT_OF(queries)};
