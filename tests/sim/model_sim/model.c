#include "sim/model_sim/model.h"

#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "sim/model_sim/model_int.h"

enum { ARENA_BYTES = 1 << 30 };

void model_list_add(struct model_list *list, void *item)
{
    if (list->count == list->cap) {
        list->cap = list->cap == 0 ? 16 : 2 * list->cap;
        list->at = realloc(list->at, list->cap * sizeof *list->at);
        CHECK(list->at != NULL);
    }
    list->at[list->count++] = item;
}

void model_list_remove(struct model_list *list, const void *item)
{
    size_t i = 0;
    while (list->at[i] != item) {
        i++;
        CHECK(i < list->count);
    }
    list->count--;
    memmove(&list->at[i], &list->at[i + 1], (list->count - i) * sizeof *list->at);
}

void model_list_deinit(struct model_list *list)
{
    free(list->at);
    *list = (struct model_list){.at = NULL};
}

struct model *model_new(void)
{
    struct model *m = calloc(1, sizeof *m);
    CHECK(m != NULL);
    m->arena = arena_new(ARENA_BYTES);
    m->next_event = 1;
    m->next_order = 1;
    m->next_row = 1;
    return m;
}

void model_free(struct model *m)
{
    if (m == NULL) {
        return;
    }
    for (size_t i = 0; i < m->queues.count; i++) {
        struct model_queue *q = m->queues.at[i];
        free(q->claims);
    }
    struct model_list *lists[] = {
        &m->jobs,     &m->queues,  &m->locks,           &m->batches,        &m->schedules,
        &m->workers,  &m->replies, &m->bulks,           &m->events,         &m->webhooks,
        &m->policies, &m->owed,    &m->touched_batches, &m->purged_batches, &m->removed,
        &m->tallies};
    for (size_t i = 0; i < COUNT_OF(lists); i++) {
        model_list_deinit(lists[i]);
    }
    arena_free(m->arena);
    free(m);
}

void *model_alloc(struct model *m, size_t size)
{
    void *p = arena_alloc(m->arena, size == 0 ? 1 : size, _Alignof(max_align_t));
    CHECK(p != NULL);
    memset(p, 0, size);
    return p;
}

struct str model_keep(struct model *m, struct str s)
{
    if (s.len == 0) {
        return STR_EMPTY;
    }
    struct str copy = arena_str(m->arena, s);
    CHECK(copy.ptr != NULL);
    return copy;
}

/* Free: the numbers inside an entry are assigned from 0, one per id of any kind. */
struct id model_next_id(struct model *m)
{
    return id_make(m->now, m->index, m->next_number++);
}

struct str model_id_text(struct model *m, struct id id, struct str prefix)
{
    char text[ID_TEXT_MAX];
    return model_keep(m, str_from(text, id_format(id, prefix, text)));
}

void model_refuse(struct result *out, enum err_code code)
{
    *out = (struct result){.code = code};
}

struct store_event *model_event(struct model *m, enum store_event_type type, const struct job *j)
{
    if (!m->events_on) {
        return NULL;
    }
    struct store_event *e = model_alloc(m, sizeof *e);
    *e = (struct store_event){
        .seq = m->next_event++, .at = m->now, .type = type, .job = j->id, .queue = j->queue};
    model_list_add(&m->events, e);
    return e;
}

void model_event_queue(struct model *m, enum store_event_type type, struct str queue)
{
    (void)model_event(m, type, &(struct job){.queue = model_keep(m, queue)});
}

struct model_job *model_find_job(const struct model *m, struct id id)
{
    for (size_t i = 0; i < m->jobs.count; i++) {
        if (id_eq(model_job_at(m, i)->doc.id, id)) {
            return model_job_at(m, i);
        }
    }
    return NULL;
}

struct model_queue *model_find_queue(const struct model *m, struct str name)
{
    for (size_t i = 0; i < m->queues.count; i++) {
        struct model_queue *q = m->queues.at[i];
        if (str_eq(q->name, name)) {
            return q;
        }
    }
    return NULL;
}

struct model_batch *model_find_batch(const struct model *m, struct id id)
{
    for (size_t i = 0; i < m->batches.count; i++) {
        struct model_batch *b = m->batches.at[i];
        if (id_eq(b->id, id)) {
            return b;
        }
    }
    return NULL;
}

struct model_schedule *model_find_schedule(const struct model *m, struct id id)
{
    for (size_t i = 0; i < m->schedules.count; i++) {
        struct model_schedule *s = m->schedules.at[i];
        if (id_eq(s->id, id)) {
            return s;
        }
    }
    return NULL;
}

struct model_queue *model_queue_of(struct model *m, struct str name)
{
    struct model_queue *q = model_find_queue(m, name);
    if (q == NULL) {
        q = model_alloc(m, sizeof *q);
        q->name = model_keep(m, name);
        q->created_at = m->now;
        model_list_add(&m->queues, q);
    }
    return q;
}

uint64_t model_count(const struct model *m, struct str queue, enum job_state state)
{
    uint64_t count = 0;
    for (size_t i = 0; i < m->jobs.count; i++) {
        const struct job *j = &model_job_at(m, i)->doc;
        count += j->state == state && str_eq(j->queue, queue) ? 1 : 0;
    }
    return count;
}

void model_begin(struct model *m, uint64_t index, uint8_t version, struct wall stamp, bool events)
{
    CHECK(index > m->index);
    m->index = index;
    m->version = version;
    m->now = stamp.ns > m->now.ns ? stamp : m->now;
    m->events_on = events;
    m->next_number = 0;
    m->events.count = 0;
    m->removed.count = 0;
    m->purged_batches.count = 0;
    for (size_t i = 0; i < m->jobs.count; i++) {
        struct model_job *j = model_job_at(m, i);
        j->touched = false;
        j->stored = job_state_is_terminal(j->doc.state) ? MODEL_STORED_DONE : MODEL_STORED_LIVE;
        j->stored_queue = j->doc.queue;
    }
}

/* Free: the callbacks of batches are created at the end of the entry, in reverse order of the first
 * change of the batches. */
void model_end(struct model *m)
{
    while (m->touched_batches.count > 0) {
        struct model_batch *b = m->touched_batches.at[--m->touched_batches.count];
        b->touched = false;
        if (b->record.sealed && b->record.pending == 0) {
            model_batch_finish(m, b);
        }
        b->seals = NULL;
    }
}

void model_apply(struct model *m, const struct command *c, struct result *out)
{
    *out = (struct result){.code = ERR_OK};
    switch (c->type) {
    case COMMAND_ENQUEUE:
        model_enqueue(m, &c->enqueue, out);
        break;
    case COMMAND_CLAIM:
        model_claim(m, &c->claim, out);
        break;
    case COMMAND_ACK:
        model_ack(m, &c->ack, out);
        break;
    case COMMAND_FAIL:
        model_fail(m, &c->fail, out);
        break;
    case COMMAND_HEARTBEAT:
        model_heartbeat(m, &c->heartbeat, out);
        break;
    case COMMAND_JOBS:
        model_action(m, &c->jobs, out);
        break;
    case COMMAND_REPLAY:
        model_replay(m, &c->replay, out);
        break;
    case COMMAND_QUEUE:
        model_queue_change(m, &c->queue, out);
        break;
    case COMMAND_TICK:
        model_tick(m, out);
        break;
    case COMMAND_PURGE:
        model_purge(m, &c->purge, out);
        break;
    case COMMAND_BATCH_OPEN:
        model_batch_open(m, &c->batch_open, out);
        break;
    case COMMAND_BATCH_SEAL:
        model_batch_seal(m, &c->batch_seal, out);
        break;
    case COMMAND_SCHEDULE_PUT:
        model_schedule_put(m, &c->schedule_put, out);
        break;
    case COMMAND_SCHEDULE_DELETE:
        model_schedule_delete(m, &c->schedule_delete, out);
        break;
    case COMMAND_SCHEDULE_FIRE:
        model_schedule_fire(m, &c->schedule_fire, out);
        break;
    case COMMAND_WEBHOOK_PUT:
        model_webhook_put(m, &c->webhook_put, out);
        break;
    case COMMAND_WEBHOOK_DELETE:
        model_webhook_delete(m, &c->webhook_delete, out);
        break;
    case COMMAND_WEBHOOK_MARK:
        model_webhook_mark(m, &c->webhook_mark);
        break;
    case COMMAND_BULK_PUT:
        model_bulk_put(m, &c->bulk_put, out);
        break;
    case COMMAND_BULK_STEP:
        model_bulk_step(m, &c->bulk_step, out);
        break;
    case COMMAND_BULK_END:
        model_bulk_end(m, &c->bulk_end, out);
        break;
    case COMMAND_POLICY_PUT:
        model_policy_put(m, &c->policy_put, out);
        break;
    case COMMAND_POLICY_DELETE:
        model_policy_delete(m, &c->policy_delete, out);
        break;
    case COMMAND_RETURN:
        model_claim_return(m, &c->give_back, out);
        break;
    case COMMAND_RESTORE:
    case COMMAND_BULK_QUEUE:
    case COMMAND_NODE_PUT:
    case COMMAND_NODE_STATE:
    case COMMAND_ACCESS:
    case COMMAND_AUDIT:
    case COMMAND_PUSH_CLAIM:
    case COMMAND_PUSH_FINISH:
    case COMMAND_NAMED_PUT:
    case COMMAND_NAMED_PURGE:
        UNREACHABLE("the model does not know it, so it is not generated");
    }
}

bool model_reaches(const struct model *m, struct id id)
{
    bool found = m->reach == NULL;
    for (size_t i = 0; !found && i < m->reach->changed_count; i++) {
        found = id_eq(m->reach->changed[i], id);
    }
    return found;
}

void model_apply_some(struct model *m, const struct command *c, const struct model_reach *reach,
                      struct result *out)
{
    struct command part = *c;
    size_t *counts[COMMAND_TYPE_LAST + 1] = {[COMMAND_ACK] = &part.ack.count,
                                             [COMMAND_HEARTBEAT] = &part.heartbeat.count,
                                             [COMMAND_JOBS] = &part.jobs.count,
                                             [COMMAND_RETURN] = &part.give_back.count};
    m->reach = reach;
    if (c->type == COMMAND_ACK && reach->got->more && reach->got->done < c->ack.count) {
        part.ack.next = NULL; /* not reached */
    }
    if (c->type == COMMAND_RETURN && reach->got->more) { /* a return starts with the last item */
        part.give_back.items += part.give_back.count - reach->got->done;
    }
    if (counts[c->type] != NULL && reach->got->more) {
        *counts[c->type] = reach->got->done;
    }
    model_apply(m, &part, out);
    if (counts[c->type] != NULL) {
        out->more = reach->got->more;
    }
    m->reach = NULL;
}
