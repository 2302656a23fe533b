/*
 * Clearing and deleting a queue (http-api.md 12.2).
 *
 * A few steps are executed at once, which is enough for most queues. The rest continues as a bulk
 * operation in the background, in small steps, so that other requests get their turn; the response
 * waits for its end. A caller that does not want to wait (Prefer: respond-async, or async=true)
 * gets 202 with the operation, which it can watch or cancel.
 *
 * Only jobs that existed when the request was applied are removed. Jobs enqueued meanwhile stay,
 * and a queue that has such jobs keeps existing with its settings.
 */
#include "base/check.h"
#include "rest/rest_bulk_int.h"
#include "rest/rest_queues_int.h"
#include "svc/svc_bulk.h"

enum { STEPS_AT_ONCE = 4 };

struct removal {
    struct rest_call *call;
    enum command_queue_action action;
    const char *word; /* status in the response */
    struct str name;
    /* position after the immediate steps */
    struct id cursor, until;
    bool in_done;
    /* waiting for the end of the operation */
    struct svc_bulk_watch watch;
    bool leaving, gone, over;
    struct svc_bulk_news news;
};

/* The query. confirm is accepted for compatibility and has no effect. */
struct removal_in {
    bool confirm;
    bool async;
};

#define ASYNC_ROW                                                                                  \
    JSON_BOOL(                                                                                     \
        struct removal_in, async, 0,                                                               \
        "Return 202 at once and continue in the background. The header Prefer: respond-async "     \
        "does the same.")
static const struct json_field clear_rows[] = {ASYNC_ROW};
static const struct json_field delete_rows[] = {
    JSON_BOOL(struct removal_in, confirm, 0, "Accepted for compatibility; has no effect."),
    ASYNC_ROW,
};
#undef ASYNC_ROW
const struct json_schema rest_queue_removal__clear_schema =
    JSON_SCHEMA(struct removal_in, clear_rows);
const struct json_schema rest_queue_removal__delete_schema =
    JSON_SCHEMA(struct removal_in, delete_rows);

static bool wants_async(const struct rest_call *c)
{
    const struct removal_in *in = c->query;
    struct str prefer;
    if (in->async) {
        return true;
    }
    if (!http_request_known(c->req, HTTP_KNOWN_PREFER, &prefer)) {
        return false;
    }
    while (prefer.len > 0) {
        if (str_eq_nocase(str_trim(str_cut(&prefer, ',')), STR("respond-async"))) {
            return true;
        }
    }
    return false;
}

/* Waiting for the end */

static void leave(struct removal *r)
{
    if (!r->leaving) {
        r->leaving = true;
        svc_bulk_unwatch(&r->watch);
    }
}

static void told(struct svc_bulk_watch *w, const struct svc_bulk_news *n)
{
    struct removal *r = CONTAINER_OF(w, struct removal, watch);
    if (n->type == SVC_BULK_OVER && !r->over) {
        r->over = true;
        r->news = *n;
        leave(r);
    }
}

static void ended(struct svc_bulk_watch *w)
{
    struct removal *r = CONTAINER_OF(w, struct removal, watch);
    struct rest_call *c = r->call;
    char id[ID_TEXT_MAX];
    int len = (int)id_format(w->task, ID_BULK, id);
    if (r->gone) {
        rest_call__stream_drop(c);
    } else if (!r->over) {
        rest_call__fail(c, ERR_STOPPING,
                        "the server is shutting down; operation %.*s continues after the restart",
                        len, id);
    } else if (r->news.status == STORE_BULK_COMPLETED) {
        rest_call__reply_status(c, r->word);
    } else if (r->news.status == STORE_BULK_CANCELLED) {
        rest_call__fail(c, ERR_CONFLICT, "operation %.*s was cancelled; some jobs were not removed",
                        len, id);
    } else {
        rest_call__fail(c, ERR_INTERNAL, "operation %.*s failed: %s", len, id, r->news.error);
    }
}

static void on_gone(struct http_request *req)
{
    struct rest_call *c = req->data;
    struct removal *r = c->data;
    r->gone = true;
    leave(r);
}

/* The client has closed its sending side, but may still wait for the response. */
static void on_shut(struct http_request *req)
{
    (void)req;
}

static void on_stopping(struct http_request *req)
{
    struct rest_call *c = req->data;
    leave(c->data);
}

static const struct http_handlers wait_handlers = {
    .gone = on_gone, .shut = on_shut, .stopping = on_stopping};

static void wait_for(struct removal *r, struct id task)
{
    struct rest_call *c = r->call;
    r->watch = (struct svc_bulk_watch){
        .task = task, .reply_to = http_loop_mailbox(c->req->loop), .told = told, .ended = ended};
    c->req->on = &wait_handlers;
    svc_bulk_watch(c->rest->config.bulk, &r->watch);
}

/* Steps */

static struct command queue_command(const struct removal *r, uint32_t steps_max)
{
    return (struct command){.type = COMMAND_QUEUE,
                            .queue = {.action = r->action,
                                      .name = r->name,
                                      .cursor = r->cursor,
                                      .until = r->until,
                                      .in_done = r->in_done,
                                      .steps_max = steps_max}};
}

static void finished(struct rest_call *c, const struct result *result)
{
    const struct removal *r = c->data;
    if (!rest_call__refused(c, result)) {
        rest_call__reply_status(c, r->word);
    }
}

static void handed_over(struct rest_call *c, const struct result *result)
{
    struct removal *r = c->data;
    if (result->code == ERR_OK) {
        wait_for(r, result->id);
        return;
    }
    /* There are too many bulk operations. The removal has begun already, so finish it with one
     * command. */
    struct command command = queue_command(r, 0);
    rest_call__submit(c, &command, 0, finished);
}

static void accepted(struct rest_call *c, const struct result *result)
{
    if (!rest_call__refused(c, result)) {
        rest_bulk__reply_put(c, result->id, result->affected);
    }
}

static void put(struct removal *r, void (*then)(struct rest_call *c, const struct result *r))
{
    struct command command = {.type = COMMAND_BULK_QUEUE,
                              .bulk_queue = {.action = r->action,
                                             .name = r->name,
                                             .ns = r->call->ns,
                                             .cursor = r->cursor,
                                             .until = r->until,
                                             .in_done = r->in_done}};
    rest_call__submit(r->call, &command, 0, then);
}

static void stepped(struct rest_call *c, const struct result *result)
{
    struct removal *r = c->data;
    if (result->code != ERR_OK || !result->more) {
        finished(c, result);
        return;
    }
    r->cursor = result->cursor;
    r->until = result->until;
    r->in_done = result->in_done;
    put(r, handed_over);
}

static void begin(struct rest_call *c, enum command_queue_action action, const char *word)
{
    struct removal *r = REST_NEW(c, struct removal);
    struct err err;
    *r = (struct removal){.call = c, .action = action, .word = word};
    c->data = r;
    if (!rest_names__internal(c, "queue", c->param[0], &r->name, &err)) {
        rest_call__fail_err(c, &err);
    } else if (wants_async(c)) {
        put(r, accepted);
    } else {
        struct command command = queue_command(r, STEPS_AT_ONCE);
        rest_call__submit(c, &command, 0, stepped);
    }
}

void rest_queue_removal__clear(struct rest_call *c)
{
    begin(c, COMMAND_QUEUE_CLEAR, "cleared");
}

void rest_queue_removal__delete(struct rest_call *c)
{
    begin(c, COMMAND_QUEUE_DELETE, "deleted");
}
