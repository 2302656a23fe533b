/*
 * Subscribe (rpc.md 12): streams the event log from a position. The hub of the thread notifies of
 * new events. An event is encoded when the connection has room for it.
 */
#include "base/check.h"
#include "core/queue_name.h"
#include "event/event_json.h"
#include "hub/hub.h"
#include "rpc/rpc_push_int.h"
#include "svc/svc_names.h"

struct subscription {
    struct rpc_push push;
    struct hub_reader reader;
    struct err refusal; /* why it may no longer read */
};

/* Remove the empty strings, in place. Returns how many are left. */
static size_t drop_empty(struct str *list, size_t count)
{
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        if (list[i].len > 0) {
            list[kept++] = list[i];
        }
    }
    return kept;
}

static enum err_code read_queues(const struct svc_caller *who, const struct rpc_subscribe *in,
                                 struct event_match *m, struct err *err)
{
    m->queue_count = drop_empty(in->queues, in->queue_count);
    m->queues = in->queues;
    m->by_queue = m->queue_count > 0;
    for (size_t i = 0; i < m->queue_count; i++) {
        if (svc_names_internal(who, "queues", in->queues[i], &in->queues[i], err) != ERR_OK) {
            return err->code;
        }
    }
    return ERR_OK;
}

/* A text that is not a job id matches no event. */
static enum err_code read_jobs(const struct svc_caller *who, const struct rpc_subscribe *in,
                               struct event_match *m, struct err *err)
{
    size_t count = drop_empty(in->job_ids, in->job_id_count);
    struct id *jobs = SVC_CALLER_ARRAY(who, struct id, count, err);
    if (jobs == NULL) {
        return err->code;
    }
    for (size_t i = 0; i < count; i++) {
        m->job_count += id_parse(in->job_ids[i], ID_JOB, &jobs[m->job_count]) ? 1 : 0;
    }
    m->jobs = jobs;
    m->by_job = count > 0;
    return ERR_OK;
}

/* False if the call has ended with an error. */
static bool read_types(struct rpc_call *c, const struct rpc_subscribe *in, struct event_match *m)
{
    struct str unknown;
    struct buf text;
    if (event_match_read_types(in->types, drop_empty(in->types, in->type_count), &m->types,
                               &unknown)) {
        return true;
    }
    buf_init(&text, EVENT_MATCH_REFUSAL_BYTES);
    event_match_refuse("types", unknown, &text);
    rpc_answer__fail(c, RPC_INVALID_ARGUMENT, buf_str(&text), 0);
    buf_deinit(&text);
    return false;
}

/* False if the call has ended with an error. */
static bool read_filters(struct rpc_call *c, const struct rpc_subscribe *in, struct event_match *m)
{
    ATTR_UNINITIALIZED struct err err;
    m->ns = c->who.ns;
    m->scope = c->who.scope;
    if (!read_types(c, in, m)) {
        return false;
    }
    if (read_queues(&c->who, in, m, &err) != ERR_OK || read_jobs(&c->who, in, m, &err) != ERR_OK) {
        rpc_answer__fail_err(c, &err, 0);
        return false;
    }
    return true;
}

/* Send an event; NULL: an empty message as a keep-alive. */
static enum http_write give(struct hub_reader *r, const struct store_event *e)
{
    struct subscription *s = CONTAINER_OF(r, struct subscription, reader);
    struct rpc_event out = {0};
    struct buf data;
    char job[ID_TEXT_MAX];
    buf_init(&data, SIZE_MAX);
    if (e != NULL) {
        event_json_data(&data, e, r->match.ns);
        out = (struct rpc_event){.seq = e->seq,
                                 .type = str_from_z(store_event_word(e->type)),
                                 .queue = queue_name_visible(r->match.ns, e->queue),
                                 .at_ns = (uint64_t)e->at.ns,
                                 .data_json = buf_str(&data)};
        if (!id_is_none(e->job)) {
            out.job_id = str_from(job, id_format(e->job, ID_JOB, job));
        }
    }
    bool sent = rpc_push__send(&s->push, &out);
    buf_deinit(&data);
    return sent ? HTTP_WRITE_OK : HTTP_WRITE_FULL;
}

static void room(struct rpc_push *p)
{
    struct subscription *s = CONTAINER_OF(p, struct subscription, push);
    if (s->reader.blocked) {
        hub_writable(p->call->peer.hub, &s->reader);
    }
}

static void left(struct rpc_push *p)
{
    hub_leave(p->call->peer.hub, &CONTAINER_OF(p, struct subscription, push)->reader);
}

static void cut(struct hub_reader *r)
{
    rpc_push__cut(&CONTAINER_OF(r, struct subscription, reader)->push);
}

static bool may_read(struct hub_reader *r)
{
    struct subscription *s = CONTAINER_OF(r, struct subscription, reader);
    return front_client_recheck(&s->push.call->client, &s->refusal) == ERR_OK;
}

static void refused(struct hub_reader *r)
{
    struct subscription *s = CONTAINER_OF(r, struct subscription, reader);
    rpc_push__end(&s->push, rpc_status_of(s->refusal.code), str_from_z(s->refusal.msg));
}

/* The first event to send: the one after last_event_id, or the oldest one kept. */
static uint64_t first_event(struct hub *hub, uint64_t last)
{
    uint64_t next = last == UINT64_MAX ? last : last + 1;
    return next < hub_end(hub) ? hub_oldest(hub, next) : next;
}

void rpc_subscribe__handle(struct rpc_call *c)
{
    const struct rpc_subscribe *in = c->in;
    struct hub *hub = c->peer.hub;
    ATTR_UNINITIALIZED struct err err;
    struct subscription *s = SVC_CALLER_ARRAY(&c->who, struct subscription, 1, &err);
    if (s == NULL) {
        rpc_answer__fail_err(c, &err, 0);
        return;
    }
    *s = (struct subscription){
        .push = {.call = c, .room = room, .left = left},
        .reader = {.give = give, .cut = cut, .may_read = may_read, .refused = refused}};
    if (!read_filters(c, in, &s->reader.match)) {
        return;
    }
    if (hub_is_full(hub)) {
        (void)err_set(&err, ERR_OVERLOADED, "too many event streams are open");
        rpc_answer__fail_err(c, &err, 0);
        return;
    }
    s->reader.next = first_event(hub, in->last_event_id);
    hub_join(hub, &s->reader);
    rpc_push__begin(&s->push);
}
