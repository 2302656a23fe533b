/*
 * Markers: events shown in charts, such as a deployment or the first start of a new version.
 *
 * Clients add deployments. The state machine adds a version of the server or of a worker when it
 * first appears (fsm/state/markers.c). Markers are stored as access records, because no decision
 * depends on them.
 */
#include <inttypes.h>
#include <stdio.h>

#include "auth/auth.h"
#include "base/check.h"
#include "base/limits.h"
#include "core/timestamp.h"
#include "os/os_clock.h"
#include "rest/access/rest_access_int.h"
#include "rest/rest_query_int.h"

enum { TIME_BYTES_MAX = 64, KEPT_DAYS = 90, RANDOM_BYTES = 12, TRIMMED_MAX = 8 };

/* --- list --- */

struct markers_in {
    struct str queue, from, to;
};

/* clang-format off */
static const struct json_field list_rows[] = {
    JSON_STR(struct markers_in, queue, 0, LIMIT_INTERNAL_NAME_BYTES, 0, "Markers of this queue and markers without a queue. All markers if left out.", .told_max = LIMIT_QUEUE_NAME_BYTES),
    JSON_STR(struct markers_in, from, 0, TIME_BYTES_MAX, 0, "Start of the range: a time, or a duration before now such as 1h or 7d."),
    JSON_STR(struct markers_in, to, 0, TIME_BYTES_MAX, 0, "End of the range, in the same form. Now if left out."),
};
/* clang-format on */
static const struct markers_in list_init = {.from = {.ptr = "24h", .len = 3}};
static const struct json_schema list_schema =
    JSON_SCHEMA(struct markers_in, list_rows, .init = &list_init);

struct row {
    struct wall at;
    struct str id;
    struct store_marker marker;
};

struct list {
    struct rest_call *call;
    struct wall from, to;
    struct str queue; /* internal name; empty: all */
    struct row *rows;
    size_t count, cap;
};

static const char *kind_of(struct str id)
{
    return id.ptr[0] == STORE_MARKER_NODE     ? "server"
           : id.ptr[0] == STORE_MARKER_WORKER ? "worker"
                                              : "deploy";
}

static void write_marker(struct json_write *w, const struct rest_call *c, const struct row *row)
{
    json_write_object(w);
    rest_document__text(w, "id", row->id);
    rest_document__text(w, "kind", str_from_z(kind_of(row->id)));
    rest_document__time(w, "at", row->at);
    rest_document__text(w, "text", row->marker.text);
    rest_document__text(w, "queue", rest_names__visible(c, row->marker.queue));
    rest_document__text(w, "by", row->marker.by);
    json_write_end(w);
}

/* The default namespace sees all markers. Server versions are visible to all. */
static bool sees(const struct rest_call *c, const struct row *row)
{
    const struct store_marker *m = &row->marker;
    return (c->ns.len == 0 || row->id.ptr[0] == STORE_MARKER_NODE || str_eq(c->ns, m->ns)) &&
           (m->queue.len == 0 || rest_names__is_visible(c, m->queue));
}

static bool read_row(struct str name, const struct store_access_frame *f, struct row *out)
{
    if (name.len == 0 || !store_access_decode_marker(f->body, &out->marker)) {
        return false;
    }
    out->id = name;
    out->at = out->marker.at.ns != 0 ? out->marker.at : f->created_at;
    return true;
}

static void list_one(void *data, struct str name, const struct store_access_frame *f)
{
    struct list *l = data;
    struct row row;
    if (l->count < l->cap && read_row(name, f, &row) && sees(l->call, &row) &&
        row.at.ns >= l->from.ns && row.at.ns <= l->to.ns &&
        (l->queue.len == 0 || row.marker.queue.len == 0 || str_eq(row.marker.queue, l->queue))) {
        l->rows[l->count++] = row;
    }
}

static int compare_rows(const void *a, const void *b)
{
    const struct row *x = a;
    const struct row *y = b;
    return (x->at.ns > y->at.ns) - (x->at.ns < y->at.ns);
}

static void handle_list(struct rest_call *c)
{
    const struct markers_in *in = c->query;
    struct wall now = os_clock_wall();
    struct list l = {.call = c, .cap = (size_t)3 * LIMIT_MARKERS};
    struct err err;
    if (!rest_query__moment(in->from, now, &l.from) || !rest_query__moment(in->to, now, &l.to)) {
        rest_call__fail(c, ERR_VALIDATION, REST_QUERY_MOMENT_REFUSAL);
        return;
    }
    if (in->queue.len > 0 && !rest_names__internal(c, "queue", in->queue, &l.queue, &err)) {
        rest_call__fail_err(c, &err);
        return;
    }
    l.rows = REST_ARRAY(c, struct row, l.cap);
    if (!rest_call__has_memory(c)) {
        return;
    }
    rest_access__each(c, STORE_ACCESS_MARKER, STR_EMPTY, list_one, &l);
    qsort(l.rows, l.count, sizeof *l.rows, compare_rows);
    struct json_write w = rest_call__json(c);
    json_write_array(&w);
    for (size_t i = 0; i < l.count; i++) {
        write_marker(&w, c, &l.rows[i]);
    }
    json_write_end(&w);
    rest_call__reply(c, 200, &w);
}

/* --- add --- */

struct marker_in {
    struct str text;
    struct str queue;
    struct wall at;
};

static const struct json_field add_rows[] = {
    JSON_STR(struct marker_in, text, 0, LIMIT_MARKER_TEXT_BYTES, JSON_NO_CONTROL | JSON_INSISTED,
             "What happened, for example \"deployed 1.4.2\"."),
    JSON_STR(struct marker_in, queue, 0, LIMIT_INTERNAL_NAME_BYTES, 0,
             "Queue that the marker is about. All queues if left out.",
             .told_max = LIMIT_QUEUE_NAME_BYTES),
    JSON_TIME(struct marker_in, at, timestamp_parse, 0, "When it happened. Default: now."),
};
static const struct json_schema add_schema = JSON_SCHEMA(struct marker_in, add_rows);

/* Markers of one namespace. */
struct tally {
    struct str ns;
    size_t count;
};

struct trimming {
    struct command_access_item *items; /* those to delete */
    size_t count, kept;
    struct wall keep_from;
    struct tally *tallies;
    size_t tally_count;
    struct str fullest; /* the namespace with the most markers */
    size_t excess;      /* how many of its markers are left to delete */
};

static void drop(struct trimming *t, struct str name)
{
    t->items[t->count++] =
        (struct command_access_item){.kind = STORE_ACCESS_MARKER, .deletes = true, .name = name};
}

static void tally(struct trimming *t, const struct store_access_frame *f)
{
    struct store_marker marker;
    size_t i = 0;
    if (!store_access_decode_marker(f->body, &marker)) {
        return;
    }
    while (i < t->tally_count && !str_eq(t->tallies[i].ns, marker.ns)) {
        i++;
    }
    if (i == t->tally_count && i < LIMIT_MARKERS) {
        t->tallies[t->tally_count++] = (struct tally){.ns = marker.ns};
    }
    if (i < t->tally_count) {
        t->tallies[i].count++;
    }
}

/* Called in order of time. */
static void trim_old(void *data, struct str name, const struct store_access_frame *f)
{
    struct trimming *t = data;
    if (f->created_at.ns < t->keep_from.ns && t->count < TRIMMED_MAX) {
        drop(t, name);
    } else {
        t->kept++;
        tally(t, f);
    }
}

static void trim_fullest(void *data, struct str name, const struct store_access_frame *f)
{
    struct trimming *t = data;
    struct store_marker marker;
    if (t->excess > 0 && t->count < TRIMMED_MAX && f->created_at.ns >= t->keep_from.ns &&
        store_access_decode_marker(f->body, &marker) && str_eq(marker.ns, t->fullest)) {
        drop(t, name);
        t->excess--;
    }
}

/* Choose the markers to delete for a new one: those that are too old, and if there are still too
 * many, the oldest of the namespace that has the most. So no namespace can displace the markers of
 * one that has fewer. */
static void trim(struct rest_call *c, struct trimming *t)
{
    struct tally *most = t->tallies;
    rest_access__each(c, STORE_ACCESS_MARKER, STR("d"), trim_old, t);
    if (t->kept < LIMIT_MARKERS || t->tally_count == 0) {
        return;
    }
    for (size_t i = 1; i < t->tally_count; i++) {
        most = t->tallies[i].count > most->count ? &t->tallies[i] : most;
    }
    t->fullest = most->ns;
    t->excess = t->kept - LIMIT_MARKERS + 1;
    rest_access__each(c, STORE_ACCESS_MARKER, STR("d"), trim_fullest, t);
}

static struct str new_name(struct rest_call *c, struct wall now)
{
    enum { DIGITS = 16, LEN = 1 + DIGITS + RANDOM_BYTES };
    char secret[AUTH_SECRET_BYTES];
    char *name = rest_call__alloc(c, LEN + 1);
    auth_new_secret(STR("sk_"), secret);
    (void)snprintf(name, 1 + DIGITS + 1, "%c%016" PRIx64, STORE_MARKER_DEPLOY,
                   (uint64_t)(now.ns / NS_PER_MS));
    memcpy(name + 1 + DIGITS, secret + 3, RANDOM_BYTES);
    return str_from(name, LEN);
}

static void added(struct rest_call *c, const struct result *r)
{
    struct row *row = c->data;
    if (rest_call__refused(c, r)) {
        return;
    }
    struct json_write w = rest_call__json(c);
    write_marker(&w, c, row);
    rest_call__reply(c, 201, &w);
}

static void handle_add(struct rest_call *c)
{
    const struct marker_in *in = c->in;
    struct row *row = REST_NEW(c, struct row);
    struct wall now = os_clock_wall();
    struct trimming t = {.items = rest_access__items(c, 1 + TRIMMED_MAX),
                         .tallies = REST_ARRAY(c, struct tally, LIMIT_MARKERS),
                         .keep_from = wall_add_ms(now, -(int64_t)KEPT_DAYS * 24 * 3600 * 1000)};
    struct buf body;
    struct buf by;
    struct err err;
    if (!rest_call__has_memory(c)) {
        return;
    }
    *row = (struct row){.at = in->at.ns != 0 ? in->at : now,
                        .marker = {.ns = c->ns, .text = str_trim(in->text)}};
    if (row->marker.text.len == 0) {
        rest_call__fail(c, ERR_VALIDATION, "text is required");
        return;
    }
    if (in->queue.len > 0 &&
        !rest_names__internal(c, "queue", in->queue, &row->marker.queue, &err)) {
        rest_call__fail_err(c, &err);
        return;
    }
    if (in->queue.len == 0 && c->caller.scope.len > 0) {
        rest_call__fail(c, ERR_FORBIDDEN, "queue is required: this key is limited to queues");
        return;
    }
    trim(c, &t);
    rest_call__buf(c, &by);
    row->marker.by = arena_str(c->arena, rest_auth__principal(c, &by));
    row->marker.at = row->at;
    row->id = new_name(c, now);
    buf_deinit(&by);
    rest_call__buf(c, &body);
    store_access_encode_marker(&row->marker, &body);
    t.items[t.count++] = (struct command_access_item){
        .kind = STORE_ACCESS_MARKER, .name = row->id, .body = rest_access__keep(c, &body)};
    c->data = row;
    rest_access__submit(c, t.items, t.count, added);
}

/* --- delete --- */

static void handle_delete(struct rest_call *c)
{
    struct store_access_frame frame;
    struct row row;
    struct command_access_item *item = rest_access__items(c, 1);
    if (!rest_call__has_memory(c)) {
        return;
    }
    if (c->param[0].len == 0 || c->param[0].len > LIMIT_ACCESS_NAME_BYTES ||
        !rest_access__read(c, STORE_ACCESS_MARKER, c->param[0], &frame) ||
        !read_row(c->param[0], &frame, &row) || !sees(c, &row) ||
        (c->ns.len > 0 && !str_eq(c->ns, row.marker.ns)) ||
        (c->caller.scope.len > 0 && row.marker.queue.len == 0)) {
        rest_call__fail(c, ERR_NOT_FOUND, "marker not found");
        return;
    }
    *item = (struct command_access_item){.kind = STORE_ACCESS_MARKER,
                                         .rule = COMMAND_ACCESS_THERE,
                                         .deletes = true,
                                         .name = c->param[0]};
    rest_access__submit(c, item, 1, rest_access__reply_deleted);
}

/* clang-format off */
static const struct rest_route rows[] = {
    /* method     pattern                 roles      flags                       in           handler        cost  answer          doc */
    {HTTP_GET,    "/api/v1/markers",      ROLES_AOR, 0,                         NULL,        handle_list,   NULL, "200 [marker]", "List markers of a time range, oldest first: deployments, and versions of the server and of workers when they were first seen."},
    {HTTP_POST,   "/api/v1/markers",      ROLES_AO,  ROUTE_LEADER | ROUTE_BODY, &add_schema, handle_add,    NULL, "201 marker",   "Add a marker, for example for a deployment. Charts show it."},
    {HTTP_DELETE, "/api/v1/markers/{id}", ROLES_AO,  ROUTE_LEADER,              NULL,        handle_delete, NULL, "200 {status}", "Delete a marker."},
};
/* clang-format on */

static const struct rest_query queries[] = {{HTTP_GET, "/api/v1/markers", &list_schema}};

const struct rest_routes rest_markers_routes = {
    .rows = rows, .count = COUNT_OF(rows), .queries = queries, .query_count = COUNT_OF(queries)};
