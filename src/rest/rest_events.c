/*
 * Events (http-api.md 15): the event log as a server-sent stream and as pages.
 */
#include <inttypes.h>
#include <stdio.h>

#include "base/check.h"
#include "base/limits.h"
#include "event/event_json.h"
#include "hub/hub.h"
#include "rest/rest_query_int.h"

enum {
    LIST_DEFAULT = 100,
    LIST_MAX = 1000,
    LIST_TURN_BYTES = 512 * 1024, /* events examined in one turn of the loop: about a millisecond */
};

/* An open stream. */
struct stream {
    struct hub_reader reader;
    bool by_tail; /* began relative to the end: the client does not know the position */
    struct rest_call *call;
    struct hub *hub;
};

static struct hub *hub_of(const struct rest_call *c)
{
    return c->rest->hubs[http_loop_index(c->req->loop)];
}

/* ---- query ---- */

enum { FORMAT_UNSAID, FORMAT_NAMED, FORMAT_MESSAGE, FORMAT_BOTH };

enum { NO_NUMBER = -1 };

struct stream_in {
    int64_t last_event_id, tail; /* NO_NUMBER: unset */
    struct str *queues, *job_ids, *types;
    size_t queue_count, job_count, type_count;
    int format;
};

static const struct json_word format_words[] = {
    {"named", FORMAT_NAMED},
    {"message", FORMAT_MESSAGE},
    {"both", FORMAT_BOTH},
    {NULL, 0},
};

/* clang-format off */
#define LIST(type, member, counter, doc)                                                           \
    JSON_STRS(type, member, counter, 0, REST_QUERY_VALUES_MAX, LIMIT_INTERNAL_NAME_BYTES,          \
              REST_QUERY_COMMAS, doc)
static const struct json_field stream_rows[] = {
    JSON_I64(struct stream_in, last_event_id, 0, INT64_MAX, JSON_LAX, "Return events after this sequence number. If the header Last-Event-ID is set too, the larger number is used."),
    JSON_I64(struct stream_in, tail, 0, INT64_MAX, 0, "If no position is given, start with this many past events. 0: new events only."),
    LIST(struct stream_in, queues, queue_count, "Only events of these queues."),
    LIST(struct stream_in, job_ids, job_count, "Only events of these jobs."),
    LIST(struct stream_in, types, type_count, "Only events of these types, such as completed, job.completed, job.* or *."),
    JSON_WORD(struct stream_in, format, format_words, 0, "Format of each event: named, message or both. Default: named; both for a browser's EventSource."),
};
/* clang-format on */

static const struct stream_in stream_init = {.last_event_id = NO_NUMBER, .tail = NO_NUMBER};
static const struct json_schema stream_schema =
    JSON_SCHEMA(struct stream_in, stream_rows, .init = &stream_init);

static bool read_queues(struct rest_call *c, const struct stream_in *in, struct event_match *m,
                        struct err *err)
{
    struct str *queues = REST_ARRAY(c, struct str, in->queue_count);
    for (size_t i = 0; i < in->queue_count; i++) {
        if (!rest_names__internal(c, "queues", in->queues[i], &queues[i], err)) {
            return false;
        }
    }
    m->queues = queues;
    m->queue_count = in->queue_count;
    m->by_queue = in->queue_count > 0;
    return true;
}

/* Invalid ids are ignored: no event has such a job. */
static void read_jobs(struct rest_call *c, const struct str *ids, size_t count,
                      struct event_match *m)
{
    struct id *jobs = REST_ARRAY(c, struct id, count);
    for (size_t i = 0; i < count; i++) {
        m->job_count += id_parse(ids[i], ID_JOB, &jobs[m->job_count]) ? 1 : 0;
    }
    m->by_job = count > 0;
    m->jobs = jobs;
}

/* The next value of a comma-separated list, trimmed; false after the last. Skips empty values. */
static bool next_value(struct str *list, struct str *out)
{
    while (list->len > 0) {
        *out = str_trim(str_cut(list, ','));
        if (out->len > 0) {
            return true;
        }
    }
    return false;
}

/* Only a browser's EventSource sends this Accept header; no SDK does. */
static bool is_browser(const struct rest_call *c)
{
    struct str accept;
    struct str value;
    if (!http_request_known(c->req, HTTP_KNOWN_ACCEPT, &accept)) {
        return false;
    }
    while (next_value(&accept, &value)) {
        if (str_eq_nocase(str_trim(str_cut(&value, ';')), STR("text/event-stream"))) {
            return true;
        }
    }
    return false;
}

static void read_format(struct rest_call *c, const struct stream_in *in, struct hub_reader *r)
{
    int by_caller = is_browser(c) ? FORMAT_BOTH : FORMAT_NAMED;
    int format = in->format == FORMAT_UNSAID ? by_caller : in->format;
    r->named = format != FORMAT_MESSAGE;
    r->message = format != FORMAT_NAMED;
}

/* The client's position: the larger one of header and query; NO_NUMBER if there is none. */
static int64_t read_position(struct rest_call *c, const struct stream_in *in)
{
    struct str header;
    int64_t n;
    bool any = http_request_known(c->req, HTTP_KNOWN_LAST_EVENT_ID, &header) &&
               str_to_i64(str_trim(header), &n);
    return any && n > in->last_event_id ? n : in->last_event_id;
}

/* Set the first event to send. */
static void read_start(struct rest_call *c, const struct stream_in *in, struct stream *s)
{
    uint64_t end = hub_end(s->hub);
    int64_t position = read_position(c, in);
    int64_t tail = in->tail == NO_NUMBER && is_browser(c) ? 0 : in->tail;
    uint64_t start = 1;
    if (position != NO_NUMBER) {
        start = (uint64_t)position + 1;
    } else if (tail != NO_NUMBER) {
        start = (uint64_t)tail < end ? end - (uint64_t)tail : 1;
        s->by_tail = true;
    }
    s->reader.next = start < end ? hub_oldest(s->hub, start) : start;
}

/* ---- the stream ---- */

static enum http_write write_frame(struct hub_reader *r, struct str frame)
{
    return http_request_write(CONTAINER_OF(r, struct stream, reader)->call->req, frame);
}

/* Send the start position, for a client that loses the connection before its first event. A frame
 * without data is no event, but a browser keeps its id and sends it when it reconnects. Only
 * clients that use tail get this frame. */
static void write_position(struct stream *s)
{
    char frame[sizeof "id: \n\n" + 20];
    int len = snprintf(frame, sizeof frame, "id: %" PRIu64 "\n\n", s->reader.next - 1);
    (void)write_frame(&s->reader, str_from(frame, (size_t)len));
}

/* Abort the response, so that the client does not take it as complete. */
static void cut(struct hub_reader *r)
{
    rest_call__stream_drop(CONTAINER_OF(r, struct stream, reader)->call);
}

static bool may_read(struct hub_reader *r)
{
    struct err err;
    return front_client_recheck(&CONTAINER_OF(r, struct stream, reader)->call->client, &err) ==
           ERR_OK;
}

/* End the response normally: a client that reconnects gets the error. */
static void refused(struct hub_reader *r)
{
    rest_call__stream_end(CONTAINER_OF(r, struct stream, reader)->call);
}

static struct stream *stream_of(struct http_request *req)
{
    struct rest_call *c = req->data;
    return c->data;
}

static void on_gone(struct http_request *req)
{
    struct stream *s = stream_of(req);
    hub_leave(s->hub, &s->reader);
    rest_call__stream_drop(s->call);
}

static void on_stopping(struct http_request *req)
{
    struct stream *s = stream_of(req);
    hub_leave(s->hub, &s->reader);
    rest_call__stream_end(s->call);
}

static void on_writable(struct http_request *req)
{
    struct stream *s = stream_of(req);
    hub_writable(s->hub, &s->reader);
}

static const struct http_handlers stream_handlers = {
    .gone = on_gone, .stopping = on_stopping, .writable = on_writable};

static void refuse_type(struct rest_call *c, struct str type)
{
    struct buf text;
    buf_init(&text, EVENT_MATCH_REFUSAL_BYTES);
    event_match_refuse("types", type, &text);
    rest_call__fail_with(c, ERR_VALIDATION, buf_str(&text), 1, NULL);
    buf_deinit(&text);
}

/* False if the call has ended with an error. */
static bool read_query(struct rest_call *c, struct stream *s)
{
    const struct stream_in *in = c->query;
    struct event_match *m = &s->reader.match;
    struct str unknown;
    struct err err;
    m->ns = c->ns;
    m->scope = c->caller.scope;
    if (!event_match_read_types(in->types, in->type_count, &m->types, &unknown)) {
        refuse_type(c, unknown);
        return false;
    }
    read_jobs(c, in->job_ids, in->job_count, m);
    read_format(c, in, &s->reader);
    read_start(c, in, s);
    if (!read_queues(c, in, m, &err)) {
        rest_call__fail_err(c, &err);
        return false;
    }
    return true;
}

static void handle_stream(struct rest_call *c)
{
    struct stream *s = REST_NEW(c, struct stream);
    s->call = c;
    s->hub = hub_of(c);
    s->reader.write = write_frame;
    s->reader.cut = cut;
    s->reader.may_read = may_read;
    s->reader.refused = refused;
    if (!read_query(c, s)) {
        return;
    }
    if (hub_is_full(s->hub)) {
        rest_call__fail(c, ERR_OVERLOADED, "too many event streams are open; retry later");
        return;
    }
    if (!rest_call__has_memory(c)) {
        return;
    }
    c->data = s;
    rest_call__stream_events(c, &stream_handlers);
    if (c->req->head || http_loop_stopping(c->req->loop)) {
        rest_call__stream_end(c);
    } else {
        if (s->by_tail) {
            write_position(s);
        }
        hub_join(s->hub, &s->reader);
    }
}

/* ---- pages ---- */

struct list_in {
    int64_t after_seq, limit;
    struct str *job_ids;
    size_t job_count;
};

static const struct json_field list_rows[] = {
    JSON_I64(struct list_in, after_seq, 0, INT64_MAX, 0,
             "Return events after this sequence number."),
    JSON_I64(struct list_in, limit, 1, LIST_MAX, JSON_CLAMP, "Maximum number of events."),
    LIST(struct list_in, job_ids, job_count, "Only events of these jobs."),
};
static const struct list_in list_init = {.limit = LIST_DEFAULT};
static const struct json_schema list_schema =
    JSON_SCHEMA(struct list_in, list_rows, .init = &list_init);

/* The log has the events of all namespaces, so those of one may be far apart. One turn of the
 * network thread therefore examines a limited number of bytes; then other requests get their
 * turn. */
struct listing {
    struct json_write w;
    struct event_match match;
    uint64_t after; /* events up to here were examined */
    int64_t left;
    size_t looked; /* bytes examined in this turn */
    bool paused;   /* the turn is over, but not the log */
};

static bool list_one(void *data, const struct store_event *e)
{
    struct listing *l = data;
    if (l->looked >= LIST_TURN_BYTES) {
        l->paused = true;
        return false;
    }
    l->looked += sizeof *e + e->queue.len + e->text.len + e->text2.len;
    l->after = e->seq;
    if (event_match_fits(&l->match, e)) {
        event_json_write(&l->w, e, l->match.ns, EVENT_JSON_NAMED);
        l->left--;
    }
    return l->left > 0;
}

static void list_piece(struct rest_call *c)
{
    struct listing *l = c->data;
    l->looked = 0;
    l->paused = false;
    store_event_read(engine_store(c->rest->config.engine), l->after, list_one, l);
    if (l->paused) {
        rest_call__later(c, list_piece);
        return;
    }
    json_write_end(&l->w);
    json_write_end(&l->w);
    rest_call__reply(c, 200, &l->w);
}

static void handle_list(struct rest_call *c)
{
    const struct list_in *in = c->query;
    struct listing *l = REST_NEW(c, struct listing);
    *l =
        (struct listing){.match = {.ns = c->ns, .scope = c->caller.scope, .types = EVENT_MATCH_ALL},
                         .after = (uint64_t)in->after_seq,
                         .left = in->limit};
    c->data = l;
    read_jobs(c, in->job_ids, in->job_count, &l->match);
    l->w = rest_call__json(c);
    json_write_object(&l->w);
    rest_document__array(&l->w, "events");
    list_piece(c);
}

/* clang-format off */
static const struct rest_route rows[] = {
    /* method   pattern                   roles      flags in    handler        cost  answer                   doc */
    {HTTP_GET, "/api/v1/events",          ROLES_AOR, ROUTE_LOCAL, NULL, handle_stream, NULL, "200 text/event-stream", "Stream events as they happen (server-sent events)."},
    {HTTP_GET, "/api/v1/cluster/events",  ROLES_AOR, 0,    NULL, handle_list,   NULL, "200 {events}",          "List stored events."},
};
/* clang-format on */

static const struct rest_query queries[] = {
    {HTTP_GET, "/api/v1/events", &stream_schema},
    {HTTP_GET, "/api/v1/cluster/events", &list_schema},
};

const struct rest_routes rest_events_routes = {
    .rows = rows, .count = COUNT_OF(rows), .queries = queries, .query_count = COUNT_OF(queries)};
