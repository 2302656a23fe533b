/*
 * Jobs: the only place that writes jobs and updates the indexes.
 */
#include <stdlib.h>

#include "base/check.h"
#include "base/limits.h"
#include "core/queue_name.h"
#include "fsm/apply/apply_int.h"
#include "store/store_job.h"

/* Refuse a move that the state of j does not allow. */
static void refuse_move(struct machine *m, const struct job *j, enum job_move move,
                        enum err_code code, struct result *r)
{
    struct str id = entry__id_text(m, j->id, ID_JOB);
    if (code == ERR_ACK) {
        entry__refuse(m, r, code, "job " STR_FMT " is not active", STR_ARG(id));
    } else if (code == ERR_FAIL) {
        entry__refuse(m, r, code, "job " STR_FMT " is not active (state=%s)", STR_ARG(id),
                      job_state_name(j->state));
    } else {
        entry__refuse(m, r, code, "cannot %s job " STR_FMT " in state %s", job_move_word(move),
                      STR_ARG(id), job_state_name(j->state));
    }
}

bool jobs__may_move(struct machine *m, const struct job *j, enum job_move move, enum err_code code,
                    struct result *r)
{
    enum job_state to;
    if (job_move_target(j->state, move, &to)) {
        return true;
    }
    refuse_move(m, j, move, code, r);
    return false;
}

bool jobs__move(struct machine *m, struct job *j, enum job_move move, enum err_code code,
                struct result *r)
{
    enum job_state to;
    if (job_move_target(j->state, move, &to)) {
        j->state = to;
        return true;
    }
    refuse_move(m, j, move, code, r);
    return false;
}

bool jobs__lease_holds(struct machine *m, const struct job *j, uint64_t token, enum err_code code,
                       struct result *r)
{
    if (token == 0 || token == j->lease_token) {
        return true;
    }
    entry__refuse(m, r, code, "job " STR_FMT " is not active: its lease was lost",
                  STR_ARG(entry__id_text(m, j->id, ID_JOB)));
    return false;
}

bool jobs__was_ended(const struct job *j, uint64_t token, enum job_ended how)
{
    bool same = j->ended == how || (how == JOB_ENDED_ACK && j->ended == JOB_ENDED_CONTINUE);
    return token != 0 && token == j->lease_token && j->ended != JOB_ENDED_NOT && same;
}

void jobs__forget_end(struct job *j)
{
    j->ended = JOB_ENDED_NOT;
    j->fail_ended_at = WALL_NONE;
}

void jobs__join(const struct machine *m, struct job *j)
{
    if (m->entry_version >= COMMAND_ENTRY_EXACT) {
        j->joined = jobs__last_id(m);
    }
}

void jobs__emit_event(struct machine *m, const struct store_event *e)
{
    throughput_add_event(&m->throughput, e->type);
    history__event(m, e->type, e->queue);
    if (m->events_on) {
        store_event_add(&m->events, e);
        if (m->oldest_event_at.ns == 0) {
            m->oldest_event_at = m->now;
        }
    }
}

void jobs__emit(struct machine *m, enum store_event_type type, const struct job *j)
{
    jobs__emit_event(m, &(struct store_event){.type = type, .job = j->id, .queue = j->queue});
}

void jobs__add_error(struct machine *m, struct job *j, struct str error, struct str backtrace)
{
    store_rows_add_error(
        &m->store, j,
        &(struct store_error){
            .attempt = j->attempt,
            .created_at = m->now,
            .error = error,
            .backtrace = backtrace,
            .version = workers__version(m, queue_name_namespace(j->queue), j->worker_id)});
}

void jobs__tell_taken(struct machine *m, const struct job *j)
{
    if (m->hooks.taken != NULL) {
        m->hooks.taken(m->hooks.data, j->id, j->lease_token);
    }
}

void jobs__clear_claim(struct job *j)
{
    j->worker_id = STR_EMPTY;
    j->hostname = STR_EMPTY;
    j->lease_expires_at = WALL_NONE;
}

/* The queue's count of jobs in this terminal state. */
static uint64_t *done_count(struct queue *q, enum job_state state)
{
    switch ((int)state) {
    case JOB_COMPLETED:
        return &q->rec.completed;
    case JOB_DEAD:
        return &q->rec.dead;
    case JOB_CANCELLED:
        return &q->rec.cancelled;
    default:
        UNREACHABLE("the state is not a terminal one");
    }
}

/* The slot in which a named job waits for its due time. False if it is in none. */
static bool find_slot(const struct machine *m, const struct live_job *l, int64_t due, int64_t *out)
{
    if (m->hooks.slot_ns == 0 || l->counted_bytes == 0 ||
        (l->state != JOB_SCHEDULED && l->state != JOB_RETRYING)) {
        return false;
    }
    *out = due / m->hooks.slot_ns;
    return true;
}

/* The set of the queue's pending jobs changes. */
static void pending_moved(struct machine *m, struct queue *q)
{
    if (!q->moved) {
        queues__moved(m, q);
        history__moved(m, q->node.key);
    }
}

/* Remove the record from its line, the heaps and the counters, according to its current values. */
static void unindex_live(struct machine *m, struct live_job *l)
{
    struct queue *q = m->queues[l->queue];
    CHECK(q != NULL);
    CHECK(q->number == l->queue);
    CHECK(q->live_count[l->state] > 0);
    CHECK(q->named_bytes >= l->counted_bytes);
    CHECK(q->named_count > 0 || l->counted_bytes == 0);
    CHECK(q->timed_out_waiting > 0 || !l->timed_out);
    CHECK(q->pending_again > 0 || !l->again);
    CHECK(q->recurring > 0 || !l->recurring);
    CHECK(m->pending_count > 0 || l->state != JOB_PENDING);
    q->live_count[l->state]--;
    spaces__uncount(q, l);
    q->named_count -= l->counted_bytes > 0 ? 1 : 0;
    q->named_bytes -= l->counted_bytes;
    q->timed_out_waiting -= l->timed_out ? 1 : 0;
    q->pending_again -= l->again ? 1 : 0;
    q->recurring -= l->recurring ? 1 : 0;
    if (l->state == JOB_PENDING) {
        m->pending_count--;
        pending_moved(m, q);
    }
    if (l->state == JOB_ACTIVE) {
        live_index_line_remove(&m->live_index, &q->active, l);
    } else if (l->push_line != 0) {
        push_lines__leave(m, q, l);
    } else if (l->state == JOB_PENDING) {
        queue_lines__leave(m, q, l);
    }
    int64_t slot;
    if (heap_node_is_in(&l->due) && find_slot(m, l, heap_key(&m->due, &l->due), &slot)) {
        slots_remove(&q->slots, slot);
    }
    heap_remove(&m->due, &l->due);
    heap_remove(&m->expiry, &l->expiry);
    CHECK(!l->in_line);
    CHECK(l->push_line == 0);
    /* A place is free; or the next job in line may be one that no budget holds. */
    if ((l->state == JOB_ACTIVE && q->rec.max_concurrency > 0) ||
        (l->state == JOB_PENDING && m->tag_budgets > 0)) {
        queues__ready(m, q);
    }
}

static bool is_timed_out(const struct job *j)
{
    return j->name.len > 0 && j->state == JOB_DEAD && job_last_failure(j) == JOB_OUTCOME_TIMEOUT;
}

/* Remove an ended job from the counts in its queue's record. Its stored document has the queue and
 * the state. */
static void uncount_done(struct machine *m, struct id id)
{
    struct job old;
    struct err err;
    struct str bytes = store_docs_head(m->store.docs, id);
    if (store_job_decode_head(id, bytes, &old, &err) != ERR_OK) {
        check_fatal("a stored document changed unexpectedly: %s", err.msg);
    }
    struct queue *q = queue_records__need(m, old.queue);
    uint64_t *count = done_count(q, old.state);
    CHECK(*count > 0);
    *count -= 1;
    q->rec.timed_out -= is_timed_out(&old) ? 1 : 0;
    q->rec.recurring -= old.cron.len > 0 ? 1 : 0;
    queues__touch(m, q);
}

static void count_done(struct machine *m, struct queue *q, const struct job *j)
{
    CHECK(m->queues[q->number] == q);
    *done_count(q, j->state) += 1;
    q->rec.timed_out += is_timed_out(j) ? 1 : 0;
    q->rec.recurring += j->cron.len > 0 ? 1 : 0;
    queues__touch(m, q);
}

/* When the machine must process the job by itself; 0: never. */
static int64_t due_at(const struct job *j)
{
    switch ((int)j->state) {
    case JOB_SCHEDULED:
    case JOB_RETRYING:
        return j->scheduled_at.ns;
    case JOB_ACTIVE: {
        int64_t end = j->lease_expires_at.ns;
        int64_t lease = end < INT64_MAX ? end + 1 : end; /* a lease includes its last moment */
        int64_t timeout = j->agent.timeout_ms == 0
                              ? INT64_MAX
                              : wall_add_ms(j->started_at, j->agent.timeout_ms).ns;
        return timeout < lease ? timeout : lease;
    }
    default:
        return 0;
    }
}

/* Add the record to the counters and heaps, with the values of the document. The payload is not
 * read. */
static void index_live(struct machine *m, struct live_job *l, const struct job *j,
                       size_t payload_bytes, struct queue *q)
{
    CHECK(id_eq(l->id, j->id));
    CHECK(m->queues[q->number] == q);
    CHECK(!l->in_line);
    CHECK(!heap_node_is_in(&l->due));
    CHECK(!heap_node_is_in(&l->expiry));
    l->queue = q->number;
    l->state = (uint8_t)j->state;
    l->priority = j->priority;
    l->counted_bytes = j->counted_bytes;
    l->payload_bytes = (uint32_t)payload_bytes;
    l->timed_out = job_last_failure(j) == JOB_OUTCOME_TIMEOUT;
    l->again = j->state == JOB_PENDING && job_last_failure(j) != JOB_OUTCOME_NONE;
    l->recurring = j->cron.len > 0;
    q->live_count[j->state]++;
    spaces__count(q, l);
    q->named_count += l->counted_bytes > 0 ? 1 : 0;
    q->named_bytes += l->counted_bytes;
    q->timed_out_waiting += l->timed_out ? 1 : 0;
    q->pending_again += l->again ? 1 : 0;
    q->recurring += l->recurring ? 1 : 0;
    if (j->state == JOB_PENDING) {
        m->pending_count++;
        pending_moved(m, q);
    }
    int64_t due = due_at(j);
    int64_t slot;
    if (due != 0) {
        heap_set(&m->due, &l->due, due);
    }
    if (due != 0 && find_slot(m, l, due, &slot)) {
        slots_add(&q->slots, slot);
        queue_lines__note_bytes(m, q);
    }
    if (j->expire_at.ns != 0 && j->state != JOB_ACTIVE) {
        heap_set(&m->expiry, &l->expiry, j->expire_at.ns);
    }
}

static void line_up(struct machine *m, struct live_job *l, const struct job *j, struct queue *q)
{
    if (j->state == JOB_ACTIVE) {
        live_index_line_add(&m->live_index, &q->active, l);
    } else if (j->order != 0 && j->push.len > 0) {
        push_lines__choose(m, q, l, j);
        push_lines__stand(m, q, l);
    } else if (j->order != 0) {
        queue_lines__stand(m, q, l);
        queues__ready(m, q);
    } else if (j->state == JOB_PENDING) {
        queue_lines__wait(m, q, l);
    }
}

/* List the job as changed, once per entry: a document that was written in this entry has its
 * index. */
static void note_changed(struct machine *m, const struct job *j)
{
    if (j->version == m->index) {
        return;
    }
    if (m->changed_count == m->changed_cap) {
        m->changed_cap = m->changed_cap == 0 ? 256 : m->changed_cap * 2;
        m->changed = realloc(m->changed, m->changed_cap * sizeof(struct id));
        CHECK(m->changed != NULL);
    }
    CHECK(m->changed_count < m->changed_cap);
    m->changed[m->changed_count++] = j->id;
}

void jobs__note_rows(struct machine *m, const struct job *j)
{
    bool noted = m->changed_count > 0 && id_eq(m->changed[m->changed_count - 1], j->id);
    if (!noted) { /* the rows of a job follow each other, so the last id is enough */
        note_changed(m, j);
    }
}

static bool is_waiting(enum job_state state)
{
    return state == JOB_PENDING || state == JOB_SCHEDULED;
}

/* Record that j waits again, so that a clear that began earlier leaves it. The document records
 * this only if there may be such a clear. */
static void note_wait(const struct machine *m, struct job *j, const struct queue *q)
{
    if (m->entry_version >= COMMAND_ENTRY_SPARING && queues__may_remove(m, q, j->id)) {
        j->waits_since = jobs__last_id(m);
    }
}

void jobs__write_back(struct machine *m, struct job *j, uint64_t order)
{
    struct live_job *l = live_index_find(&m->live_index, j->id);
    struct queue *q = queue_records__need(m, j->queue);
    CHECK(l != NULL);
    CHECK(j->state == JOB_PENDING);
    CHECK(j->push.len == 0); /* only jobs of workers are returned */
    unindex_live(m, l);
    index_live(m, l, j, j->payload.len, q);
    note_changed(m, j);
    note_wait(m, j, q);
    j->version = m->index;
    j->order = order;
    if (order == 0 || order >= m->store.meta.next_order ||
        !queue_lines__stand_back(m, q, l, order)) {
        j->order = m->store.meta.next_order++;
        queue_lines__stand(m, q, l);
    }
    CHECK(l->in_line);
    CHECK(j->order != 0);
    store_docs_put(m->store.docs, j, STORE_LIVE);
    queues__ready(m, q);
}

void jobs__write(struct machine *m, struct job *j, enum store_family was_in)
{
    struct live_job *l = was_in == STORE_LIVE ? live_index_find(&m->live_index, j->id) : NULL;
    struct queue *q = queue_records__need(m, j->queue);

    CHECK(was_in != STORE_LIVE || l != NULL);
    if (l != NULL) {
        unindex_live(m, l);
    } else if (was_in == STORE_DONE) {
        uncount_done(m, j->id);
    }
    note_changed(m, j);
    if (!is_waiting(j->state)) {
        j->waits_since = ID_NONE;
    } else if (was_in == STORE_DONE || (l != NULL && !is_waiting((enum job_state)l->state))) {
        note_wait(m, j, q);
    }
    j->version = m->index;
    bool in_line = j->state == JOB_PENDING && j->waits_for.len == 0;
    if (in_line) {
        history__line_up(m, j);
    }
    j->order = in_line ? m->store.meta.next_order++ : 0;
    store_docs_put(m->store.docs, j, was_in);
    if (job_state_is_terminal(j->state)) {
        count_done(m, q, j);
        if (l != NULL) {
            live_index_remove(&m->live_index, l);
        }
    } else {
        l = l != NULL ? l : live_index_add(&m->live_index, j->id);
        index_live(m, l, j, j->payload.len, q);
        line_up(m, l, j, q);
        CHECK(l->in_line == (j->order != 0 || j->state == JOB_ACTIVE));
        CHECK(l->in_line || j->state != JOB_PENDING || heap_node_is_in(&l->due));
    }
    dependencies__written(m, j);
    CHECK(m->pending_count <= m->live_index.count);
    DCHECK(job_state_is_terminal(j->state) == (live_index_find(&m->live_index, j->id) == NULL));
}

void jobs__create(struct machine *m, struct job *j)
{
    j->id = ids__new(m);
    jobs__create_as(m, j);
}

void jobs__create_as(struct machine *m, struct job *j)
{
    DCHECK(live_index_find(&m->live_index, j->id) == NULL);
    j->created_at = m->now;
    j->state = j->scheduled_at.ns != 0 ? JOB_SCHEDULED : JOB_PENDING;
    if (j->push.len > 0) {
        j->due_at = j->scheduled_at.ns != 0 ? j->scheduled_at : m->now;
    }
    jobs__write(m, j, STORE_FAMILY_COUNT);
    if (j->waits_for.len > 0) {
        dependencies__add(m, j);
    }
    jobs__emit(m, STORE_EVENT_ENQUEUED, j);
}

void jobs__remove(struct machine *m, struct job *j, enum store_family was_in)
{
    struct live_job *l = was_in == STORE_LIVE ? live_index_find(&m->live_index, j->id) : NULL;
    CHECK(was_in != STORE_LIVE || l != NULL);
    tallies__settle(m, j, was_in);
    if (l != NULL) {
        unindex_live(m, l);
        live_index_remove(&m->live_index, l);
    } else {
        uncount_done(m, j->id);
    }
    names__forget(m, j);
    store_rows_remove(&m->store, j);
    store_docs_remove(m->store.docs, was_in, j->id);
    dependencies__removed(m, j->id);
    promises__removed(m, j->id);
    note_changed(m, j);
}

/* At start: add a live document to memory. The caller adds jobs with a place in line to their
 * lines, in order. */
struct live_job *jobs__load(struct machine *m, const struct job *j, size_t payload_bytes)
{
    struct queue *q = queues__find(m, j->queue);
    if (q == NULL) {
        check_fatal("a job is in queue '" STR_FMT "', which has no record", STR_ARG(j->queue));
    }
    m->queue_hint = q;
    struct live_job *l = live_index_add(&m->live_index, j->id);
    index_live(m, l, j, payload_bytes, q);
    if (j->order == 0) {
        line_up(m, l, j, q);
    } else if (j->push.len > 0) {
        push_lines__choose(m, q, l, j);
    }
    if (j->waits_for.len > 0) {
        dependencies__add(m, j);
    }
    return l;
}
