/*
 * A bulk operation in the background: who may see it, and its progress as server-sent events
 * (http-api.md 11.3).
 *
 * A stream watches the operation. For a slow reader, only the newest frame is kept; the last one is
 * always sent. The call ends when the watch has ended.
 */
#include "base/check.h"
#include "json/json_scan.h"
#include "rest/rest_bulk_int.h"
#include "svc/svc_bulk.h"

enum { FRAME_BYTES_MAX = 2048 };

const char *rest_bulk_progress__status_word(enum store_bulk_status status)
{
    static const char *const words[] = {
        [STORE_BULK_QUEUED] = "queued",       [STORE_BULK_RUNNING] = "running",
        [STORE_BULK_COMPLETED] = "completed", [STORE_BULK_FAILED] = "failed",
        [STORE_BULK_CANCELLED] = "cancelled",
    };
    return words[status];
}

/* A caller with a scope sees operations that were started with the same scope, and those on a
 * queue, or with a filter on a queue, that it may use. */
static bool sees(struct rest_call *c, const struct store_bulk *rec)
{
    struct json_value queue;
    struct str name;
    struct err err;
    if (c->caller.scope.len == 0) {
        return c->ns.len == 0 || str_eq(c->ns, rec->ns);
    }
    if (!str_eq(c->ns, rec->ns)) {
        return false;
    }
    if (store_bulk_is_queue(rec)) {
        return rest_names__is_visible(c, rec->queue);
    }
    return str_eq(rec->scope, c->caller.scope) ||
           (json_scan_member(rec->filter, STR("queue"), &queue) &&
            json_value_text(queue, c->arena, &name, &err) == ERR_OK && name.len > 0 &&
            rest_names__internal(c, "queue", name, &name, &err));
}

bool rest_bulk_progress__record(struct rest_call *c, struct id *out_id, struct buf *value,
                                struct store_bulk *out)
{
    if (id_parse(c->param[0], ID_BULK, out_id) &&
        svc_bulk_read(c->rest->config.engine, *out_id, value, out) && sees(c, out)) {
        return true;
    }
    rest_call__fail(c, ERR_NOT_FOUND, "bulk operation not found");
    return false;
}

/* The stream */

struct progress {
    struct svc_bulk_watch watch;
    struct rest_call *call;
    struct buf waiting; /* the newest unsent frame */
    bool over;          /* the last frame was written */
    bool leaving;       /* unwatched */
    bool gone;          /* the client disconnected */
};

static struct progress *progress_of(struct http_request *req)
{
    struct rest_call *c = req->data;
    return c->data;
}

static void leave(struct progress *p)
{
    if (!p->leaving) {
        p->leaving = true;
        svc_bulk_unwatch(&p->watch);
    }
}

static const char *type_word(const struct svc_bulk_news *n)
{
    if (n->type == SVC_BULK_OVER) {
        return n->status == STORE_BULK_COMPLETED ? "bulk.async.completed" : "bulk.async.failed";
    }
    return n->type == SVC_BULK_STARTED ? "bulk.async.started" : "bulk.async.progress";
}

static void write_frame(const struct progress *p, const struct svc_bulk_news *n, struct buf *out)
{
    const char *type = type_word(n);
    uint64_t percent = n->total == 0 ? 0 : n->processed * 100 / n->total;
    if (n->type == SVC_BULK_KEEPALIVE) {
        buf_add_str(out, STR(":keepalive\n\n"));
        return;
    }
    buf_printf(out, "event: %s\ndata: ", type);
    struct json_write w = json_write_to(out);
    json_write_object(&w);
    rest_document__text(&w, "type", str_from_z(type));
    rest_document__id(&w, "task_id", p->watch.task, ID_BULK);
    rest_document__text(&w, "status", str_from_z(rest_bulk_progress__status_word(n->status)));
    rest_document__i64_if_set(&w, "affected", (int64_t)n->affected);
    rest_document__i64_if_set(&w, "total", (int64_t)n->total);
    rest_document__i64_if_set(&w, "processed", (int64_t)n->processed);
    rest_document__i64_if_set(&w, "percent", (int64_t)percent);
    rest_document__i64_if_set(&w, "errors", (int64_t)n->errors);
    rest_document__text(&w, "error", str_from_z(n->error));
    rest_document__i64(&w, "created_at_ns", n->at.ns);
    json_write_end(&w);
    json_write_finish(&w);
    buf_add_str(out, STR("\n\n"));
    CHECK(!out->overflow);
}

/* Send the waiting frame if there is room. */
static void flush(struct progress *p)
{
    if (p->waiting.len > 0) {
        enum http_write written = http_request_write(p->call->req, buf_str(&p->waiting));
        if (written == HTTP_WRITE_FULL) {
            return; /* continues in on_writable */
        }
        buf_clear(&p->waiting);
    }
    if (p->over) {
        leave(p);
    }
}

static void told(struct svc_bulk_watch *watch, const struct svc_bulk_news *n)
{
    struct progress *p = CONTAINER_OF(watch, struct progress, watch);
    struct err err;
    if (p->gone || p->leaving || p->over) {
        return;
    }
    if (front_client_recheck(&p->call->client, &err) != ERR_OK) {
        leave(p); /* its credential was revoked */
        return;
    }
    if (n->type == SVC_BULK_KEEPALIVE && p->waiting.len > 0) {
        return;
    }
    buf_clear(&p->waiting);
    write_frame(p, n, &p->waiting);
    p->over = n->type == SVC_BULK_OVER;
    flush(p);
}

static void ended(struct svc_bulk_watch *watch)
{
    struct progress *p = CONTAINER_OF(watch, struct progress, watch);
    buf_deinit(&p->waiting);
    if (p->gone) {
        rest_call__stream_drop(p->call);
    } else {
        rest_call__stream_end(p->call);
    }
}

static void on_gone(struct http_request *req)
{
    struct progress *p = progress_of(req);
    p->gone = true;
    leave(p);
}

static void on_stopping(struct http_request *req)
{
    leave(progress_of(req));
}

static void on_writable(struct http_request *req)
{
    struct progress *p = progress_of(req);
    if (!p->leaving) {
        flush(p);
    }
}

static const struct http_handlers stream_handlers = {
    .gone = on_gone, .stopping = on_stopping, .writable = on_writable};

void rest_bulk_progress__handle(struct rest_call *c)
{
    struct progress *p = REST_NEW(c, struct progress);
    struct store_bulk rec;
    struct buf value;
    rest_call__buf(c, &value);
    bool found = rest_bulk_progress__record(c, &p->watch.task, &value, &rec);
    buf_deinit(&value);
    if (!found || !rest_call__has_memory(c)) {
        return;
    }
    p->call = c;
    c->data = p;
    buf_init(&p->waiting, FRAME_BYTES_MAX);
    rest_call__stream_events(c, &stream_handlers);
    if (c->req->head || http_loop_stopping(c->req->loop)) {
        rest_call__stream_end(c);
        return;
    }
    p->watch.reply_to = http_loop_mailbox(c->req->loop);
    p->watch.told = told;
    p->watch.ended = ended;
    svc_bulk_watch(c->rest->config.bulk, &p->watch);
}
