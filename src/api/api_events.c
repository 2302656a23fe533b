/*
 * Events (http-api.md 15): the log as a stream that is pushed, and as pages that are asked for.
 */
#include "api/api_hub_int.h"
#include "base/check.h"
#include "event/event_json.h"

enum { LIST_DEFAULT = 100, LIST_MAX = 1000 };

/* A stream: the reader, and the call that it answers. */
struct stream {
    struct api_hub_reader reader;
    struct api_call *call;
    struct api_hub *hub;
};

static struct api_hub *hub_of(const struct api_call *c)
{
    return c->api->hubs[http_loop_index(c->req->loop)];
}

/* ---- what the query asks for ---- */

static struct str param_of(struct api_call *c, struct str name)
{
    struct str value = STR_EMPTY;
    return http_request_param(c->req, name, &value) ? str_trim(value) : STR_EMPTY;
}

/* The next value of a comma list, without blanks; false after the last. Empty ones are left out. */
static bool next_value(struct str *list, struct str *out)
{
    while (list->len > 0) {
        const char *comma = memchr(list->ptr, ',', list->len);
        size_t len = comma == NULL ? list->len : (size_t)(comma - list->ptr);
        *out = str_trim(str_from(list->ptr, len));
        *list = str_from_offset(*list, comma == NULL ? len : len + 1);
        if (out->len > 0) {
            return true;
        }
    }
    return false;
}

static size_t count_values(struct str list)
{
    struct str value;
    size_t n = 0;
    while (next_value(&list, &value)) {
        n++;
    }
    return n;
}

static void read_types(struct api_call *c, struct event_match *m)
{
    struct str list = param_of(c, STR("types"));
    struct str value;
    uint32_t types = 0;
    bool any = false;
    while (next_value(&list, &value)) {
        types |= str_eq(value, STR("*")) ? EVENT_MATCH_ALL : event_match_types(value);
        any = true;
    }
    m->types = any ? types : EVENT_MATCH_ALL;
}

static bool read_queues(struct api_call *c, struct event_match *m, struct err *err)
{
    struct str list = param_of(c, STR("queues"));
    struct str value;
    struct str *queues = API_ARRAY(c, struct str, count_values(list));
    while (next_value(&list, &value)) {
        if (!api_names__internal(c, value, &queues[m->queue_count], err)) {
            return false;
        }
        m->queue_count++;
    }
    m->queues = queues;
    m->by_queue = m->queue_count > 0;
    return true;
}

/* What is no id of a job is no event's job either. */
static void read_jobs(struct api_call *c, struct event_match *m)
{
    struct str list = param_of(c, STR("job_ids"));
    struct str value;
    struct id *jobs = API_ARRAY(c, struct id, count_values(list));
    while (next_value(&list, &value)) {
        m->by_job = true;
        m->job_count += id_parse(value, ID_JOB, &jobs[m->job_count]) ? 1 : 0;
    }
    m->jobs = jobs;
}

/* Only a browser's EventSource says so; no SDK does. */
static bool is_browser(const struct api_call *c)
{
    struct str accept;
    struct str value;
    if (!http_request_header(c->req, STR("accept"), &accept)) {
        return false;
    }
    while (next_value(&accept, &value)) {
        const char *end = memchr(value.ptr, ';', value.len);
        size_t len = end == NULL ? value.len : (size_t)(end - value.ptr);
        if (str_eq_nocase(str_trim(str_from(value.ptr, len)), STR("text/event-stream"))) {
            return true;
        }
    }
    return false;
}

static bool read_format(struct api_call *c, struct api_hub_reader *r)
{
    struct str format = param_of(c, STR("format"));
    if (format.len == 0) {
        format = is_browser(c) ? STR("both") : STR("named");
    }
    bool both = str_eq(format, STR("both"));
    r->named = both || str_eq(format, STR("named"));
    r->message = both || str_eq(format, STR("message"));
    return r->named || r->message;
}

/* A position that the caller has; false when it has none, or none that is a number. */
static bool read_position(struct api_call *c, uint64_t *out)
{
    struct str header = STR_EMPTY;
    bool any = http_request_header(c->req, STR("last-event-id"), &header);
    struct str texts[2] = {param_of(c, STR("last_event_id")), any ? header : STR_EMPTY};
    *out = 0;
    any = false;
    for (unsigned i = 0; i < COUNT_OF(texts); i++) {
        int64_t n;
        if (str_to_i64(str_trim(texts[i]), &n) && n >= 0) {
            *out = (uint64_t)n > *out ? (uint64_t)n : *out;
            any = true;
        }
    }
    return any;
}

/* The first event to send. False when tail is no number. */
static bool read_start(struct api_call *c, struct api_hub *h, uint64_t *out)
{
    struct str text = param_of(c, STR("tail"));
    uint64_t end = api_hub__end(h);
    int64_t tail = 0;
    uint64_t position;
    if (text.len > 0 && (!str_to_i64(text, &tail) || tail < 0)) {
        return false;
    }
    if (read_position(c, &position)) {
        *out = position + 1;
    } else if (text.len > 0 || is_browser(c)) {
        *out = (uint64_t)tail < end ? end - (uint64_t)tail : 1;
    } else {
        *out = 1;
    }
    *out = *out < end ? api_hub__oldest(h, *out) : *out;
    return true;
}

/* ---- the stream ---- */

static enum http_write write_frame(struct api_hub_reader *r, struct str frame)
{
    return http_request_write(CONTAINER_OF(r, struct stream, reader)->call->req, frame);
}

/* In the middle, so that the client does not take it for the end. */
static void cut(struct api_hub_reader *r)
{
    api_call__stream_drop(CONTAINER_OF(r, struct stream, reader)->call);
}

static struct stream *stream_of(struct http_request *req)
{
    struct api_call *c = req->data;
    return c->data;
}

static void watch_gone(struct http_request *req)
{
    struct stream *s = stream_of(req);
    api_hub__leave(s->hub, &s->reader);
    api_call__stream_drop(s->call);
}

static void watch_stopping(struct http_request *req)
{
    struct stream *s = stream_of(req);
    api_hub__leave(s->hub, &s->reader);
    api_call__stream_end(s->call);
}

static void watch_writable(struct http_request *req)
{
    struct stream *s = stream_of(req);
    api_hub__writable(s->hub, &s->reader);
}

static const struct http_watch stream_watch = {
    .gone = watch_gone, .stopping = watch_stopping, .writable = watch_writable};

static bool read_query(struct api_call *c, struct stream *s, struct err *err)
{
    struct event_match *m = &s->reader.match;
    m->ns = c->ns;
    read_types(c, m);
    read_jobs(c, m);
    if (!read_queues(c, m, err)) {
        return false;
    }
    if (!read_format(c, &s->reader)) {
        (void)err_set(err, ERR_VALIDATION, "format: expected named, message or both");
        return false;
    }
    if (!read_start(c, s->hub, &s->reader.next)) {
        (void)err_set(err, ERR_VALIDATION, "tail: expected a number that is not negative");
        return false;
    }
    return true;
}

static void handle_stream(struct api_call *c)
{
    const struct http_header headers[] = {
        {STR("Cache-Control"), STR("no-cache")},
        {STR("X-Accel-Buffering"), STR("no")}, /* a proxy in front must not collect */
    };
    struct stream *s = API_NEW(c, struct stream);
    struct err err;
    s->call = c;
    s->hub = hub_of(c);
    s->reader.write = write_frame;
    s->reader.cut = cut;
    if (!read_query(c, s, &err)) {
        api_call__fail_err(c, &err);
        return;
    }
    if (api_hub__is_full(s->hub)) {
        api_call__fail(c, ERR_OVERLOADED, "too many event streams are open");
        return;
    }
    c->data = s;
    api_call__stream_begin(c, STR("text/event-stream"), headers, COUNT_OF(headers), &stream_watch);
    if (c->req->head || http_loop_stopping(c->req->loop)) {
        api_call__stream_end(c);
    } else {
        api_hub__join(s->hub, &s->reader);
    }
}

/* ---- a page of the log ---- */

struct listing {
    struct json_write w;
    struct event_match match;
    int64_t left;
};

static bool list_one(void *data, const struct store_event *e)
{
    struct listing *l = data;
    if (event_match_fits(&l->match, e)) {
        event_json_write(&l->w, e, l->match.ns, EVENT_JSON_NAMED);
        l->left--;
    }
    return l->left > 0;
}

/* A number of the query; def when it is not there. False, and the call has ended, when it is none.
 */
static bool read_number(struct api_call *c, struct str name, int64_t min, int64_t def, int64_t *out)
{
    struct str text;
    *out = def;
    if (!http_request_param(c->req, name, &text) || text.len == 0) {
        return true;
    }
    if (!str_to_i64(text, out) || *out < min) {
        api_call__fail(c, ERR_VALIDATION, "invalid " STR_FMT, STR_ARG(name));
        return false;
    }
    return true;
}

static void handle_list(struct api_call *c)
{
    struct listing l = {.match = {.ns = c->ns, .types = EVENT_MATCH_ALL}};
    struct buf json;
    int64_t after;
    if (!read_number(c, STR("after_seq"), 0, 0, &after) ||
        !read_number(c, STR("limit"), 1, LIST_DEFAULT, &l.left)) {
        return;
    }
    l.left = l.left < LIST_MAX ? l.left : LIST_MAX;
    api_call__buf(&json);
    l.w = json_write_to(&json);
    json_write_object(&l.w);
    json_write_key(&l.w, STR("events"));
    json_write_array(&l.w);
    store_event_read(engine_store(c->api->config.engine), (uint64_t)after, list_one, &l);
    json_write_end(&l.w);
    json_write_end(&l.w);
    json_write_finish(&l.w);
    api_call__reply(c, 200, buf_str(&json));
    buf_deinit(&json);
}

/* clang-format off */
static const struct api_route rows[] = {
    /* method   pattern                   roles      flags in    handler        cost  answer                   doc */
    {HTTP_GET, "/api/v1/events",          ROLES_AOR, 0,    NULL, handle_stream, NULL, "200 text/event-stream", "Events as they happen. Query: last_event_id or tail, queues, job_ids, types, format."},
    {HTTP_GET, "/api/v1/cluster/events",  ROLES_AOR, 0,    NULL, handle_list,   NULL, "200 {events}",          "Events that are kept. Query: after_seq, limit."},
};
/* clang-format on */

const struct api_routes api_events_routes = {.rows = rows, .count = COUNT_OF(rows)};
