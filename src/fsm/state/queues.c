/*
 * Queues: their settings, their lines, and whether a job may be claimed now.
 */
#include <stdlib.h>

#include "base/check.h"
#include "base/limits.h"
#include "base/pack.h"
#include "fsm/apply/apply_int.h"

/* The key of a throttle record is a queue's internal name and a few bytes. */
enum { KEY_BYTES_MAX = 1024 };

/* The place in the ring, big-endian, after a NUL. */
enum { PLACE_BYTES = 4, KEY_TAIL_BYTES = 1 + PLACE_BYTES };

struct queue *queues__find(const struct machine *m, struct str name)
{
    if (m->queue_hint != NULL && str_eq(m->queue_hint->node.key, name)) {
        return m->queue_hint;
    }
    struct map_node *n = map_find(&m->queue_names, name);
    return n == NULL ? NULL : CONTAINER_OF(n, struct queue, node);
}

static struct queue *queue_new(struct machine *m, struct str name)
{
    struct queue *q = calloc(1, sizeof *q + name.len);
    CHECK(q != NULL);
    CHECK(name.len > 0);
    memcpy(q->name, name.ptr, name.len);
    q->node.key = str_from(q->name, name.len);
    q->active = live_line_empty();
    q->oldest = heap_node_out();
    /* Not ordered by rank: a restored id is from another log, and its rank is unrelated to its
     * time. */
    heap_init(&q->out_of_order, live_index_due_before);
    map_add(&m->queue_names, &q->node);
    /* Numbers of deleted queues are not used again: no live record refers to them, and they are
     * few. */
    CHECK(m->queue_count < UINT32_MAX);
    q->number = m->queue_count++;
    m->queues = realloc(m->queues, m->queue_count * sizeof(struct queue *));
    CHECK(m->queues != NULL);
    m->queues[q->number] = q;
    spaces__enter(m, q);
    return q;
}

static void queue_free(struct machine *m, struct queue *q)
{
    m->queue_bytes -= q->bytes;
    CHECK((q->claims == NULL) == (q->rec.throttle_rate == 0));
    heap_deinit(&q->out_of_order);
    slots_deinit(&q->slots);
    free(q->priority_lines);
    free(q->claims);
    free(q);
}

struct queue *queues__need(struct machine *m, struct str name)
{
    struct queue *q = queues__find(m, name);
    if (q == NULL) {
        q = queue_new(m, name);
        q->rec.created_at = m->now;
        queues__touch(m, q);
        spends__queue_made(m, name);
    }
    /* It was deleted in this entry and is used again. */
    if (q->gone) {
        q->gone = false;
        q->rec = (struct store_queue){.created_at = m->now};
        queues__touch(m, q);
        spends__queue_made(m, name);
    }
    m->queue_hint = q;
    return q;
}

void queues__touch(struct machine *m, struct queue *q)
{
    CHECK(m->queues[q->number] == q);
    if (!q->dirty) {
        q->dirty = true;
        q->dirty_next = m->dirty_queues;
        m->dirty_queues = q;
    }
}

void queues__note_removal(struct machine *m, struct queue *q, struct id until)
{
    if (m->entry_version >= COMMAND_ENTRY_EXACT && id_cmp(until, q->rec.removal) > 0) {
        q->rec.removal = until;
        queues__touch(m, q);
    }
}

bool queues__is_before(const struct machine *m, struct id job, struct id began)
{
    return !id_is_none(began) && (id_cmp(job, began) < 0 || id_cmp(job, jobs__last_id(m)) > 0);
}

bool queues__may_remove(const struct machine *m, const struct queue *q, struct id job)
{
    return queues__is_before(m, job, q->rec.removal);
}

static struct priority_line *need_priority_line(struct queue *q, uint8_t priority)
{
    unsigned at = 0;
    while (at < q->priority_line_count && q->priority_lines[at].priority < priority) {
        at++;
    }
    if (at == q->priority_line_count || q->priority_lines[at].priority != priority) {
        q->priority_lines =
            realloc(q->priority_lines, (q->priority_line_count + 1) * sizeof(struct priority_line));
        CHECK(q->priority_lines != NULL);
        memmove(q->priority_lines + at + 1, q->priority_lines + at,
                (q->priority_line_count - at) * sizeof(struct priority_line));
        q->priority_lines[at] = (struct priority_line){
            .priority = priority, .line = live_line_empty(), .oldest = LIVE_NONE};
        q->priority_line_count++;
        CHECK(at == 0 || q->priority_lines[at - 1].priority < priority);
        CHECK(at + 1 == q->priority_line_count || q->priority_lines[at + 1].priority > priority);
    }
    CHECK(q->priority_lines[at].priority == priority);
    return &q->priority_lines[at];
}

/* The oldest pending job is needed often, but the line is not in the order of ids, because jobs
 * that come back go to its end. Of the jobs that came in the order of their ids, only the first
 * must be known. The others, usually few, are also in a heap. It uses the node for due times, which
 * is free because a pending job is not due. */
void queues__stand(struct machine *m, struct queue *q, struct live_job *l)
{
    struct priority_line *priority_line = need_priority_line(q, l->priority);
    CHECK(l->queue == q->number);
    CHECK(!heap_node_is_in(&l->due)); /* the node is free for the heap of jobs out of order */
    live_index_line_add(&m->live_index, &priority_line->line, l);
    if (priority_line->oldest == LIVE_NONE) {
        priority_line->oldest = priority_line->line.last;
        priority_line->newest = l->id;
    } else if (id_cmp(l->id, priority_line->newest) > 0) {
        priority_line->newest = l->id;
    } else {
        queues__wait(m, q, l);
    }
    CHECK(priority_line->oldest != LIVE_NONE);
    CHECK(priority_line->line.count > 0);
}

/* Claims remove jobs from the front of the line, so only jobs that were also returned can be before
 * this one. It counts as out of order, whatever its id is. */
bool queues__stand_back(struct machine *m, struct queue *q, struct live_job *l, uint64_t order)
{
    struct priority_line *priority_line = need_priority_line(q, l->priority);
    uint32_t at = priority_line->line.first;
    for (unsigned passed = 0; at != LIVE_NONE; passed++) {
        struct job j;
        bool found =
            store_docs_get(m->store.docs, STORE_LIVE, live_index_at(&m->live_index, at)->id, &j);
        CHECK(found);
        if (j.order > order) {
            break;
        }
        if (passed == LIMIT_CLAIM_COUNT) {
            return false;
        }
        at = live_index_at(&m->live_index, at)->next;
    }
    CHECK(l->queue == q->number);
    if (at == LIVE_NONE) {
        live_index_line_add(&m->live_index, &priority_line->line, l);
    } else {
        live_index_line_insert(&m->live_index, &priority_line->line, l,
                               live_index_at(&m->live_index, at));
    }
    queues__wait(m, q, l);
    CHECK(l->in_line);
    return true;
}

void queues__wait(struct machine *m, struct queue *q, struct live_job *l)
{
    heap_set(&q->out_of_order, &l->due, 0);
    queues__note_bytes(m, q);
}

void queues__note_bytes(struct machine *m, struct queue *q)
{
    uint64_t bytes = q->out_of_order.cap * sizeof(struct heap_item) + slots_bytes(&q->slots);
    m->queue_bytes += bytes - q->bytes;
    q->bytes = bytes;
}

void queues__leave(struct machine *m, struct queue *q, struct live_job *l)
{
    if (l->in_line) {
        struct priority_line *priority_line = need_priority_line(q, l->priority);
        if (priority_line->oldest != LIVE_NONE &&
            live_index_at(&m->live_index, priority_line->oldest) == l) {
            priority_line->oldest = l->next;
            while (priority_line->oldest != LIVE_NONE &&
                   heap_node_is_in(&live_index_at(&m->live_index, priority_line->oldest)->due)) {
                priority_line->oldest = live_index_at(&m->live_index, priority_line->oldest)->next;
            }
        }
        live_index_line_remove(&m->live_index, &priority_line->line, l);
        CHECK(priority_line->oldest == LIVE_NONE || priority_line->line.count > 0);
    }
    heap_remove(&q->out_of_order, &l->due);
    CHECK(!l->in_line);
    CHECK(!heap_node_is_in(&l->due));
}

struct live_job *queues__first_of_priority(const struct machine *m, const struct queue *q,
                                           unsigned priority)
{
    for (unsigned i = 0; i < q->priority_line_count; i++) {
        const struct priority_line *p = &q->priority_lines[i];
        if (p->priority >= priority && p->line.first != LIVE_NONE) {
            return live_index_at(&m->live_index, p->line.first);
        }
    }
    return NULL;
}

struct live_job *queues__first_in_line(const struct machine *m, const struct queue *q)
{
    return queues__first_of_priority(m, q, 0);
}

struct id queues__oldest_pending(const struct machine *m, const struct queue *q)
{
    const struct heap_node *out_of_order = heap_first(&q->out_of_order);
    struct id oldest =
        out_of_order == NULL ? ID_NONE : CONTAINER_OF(out_of_order, const struct live_job, due)->id;
    for (unsigned i = 0; i < q->priority_line_count; i++) {
        if (q->priority_lines[i].oldest != LIVE_NONE) {
            struct id id = live_index_at(&m->live_index, q->priority_lines[i].oldest)->id;
            oldest = id_is_none(oldest) || id_cmp(id, oldest) < 0 ? id : oldest;
        }
    }
    return oldest;
}

void queues__moved(struct machine *m, struct queue *q)
{
    if (!q->moved) {
        q->moved = true;
        q->moved_next = m->moved_queues;
        m->moved_queues = q;
        history__moved(m, q->node.key);
    }
}

/* Called once per entry, because most jobs are the oldest only for a short time. */
void queues__settle_oldest(struct machine *m)
{
    while (m->moved_queues != NULL) {
        struct queue *q = m->moved_queues;
        struct id id = queues__oldest_pending(m, q);
        m->moved_queues = q->moved_next;
        q->moved = false;
        if (id_is_none(id)) {
            heap_remove(&m->oldest, &q->oldest);
        } else {
            heap_set(&m->oldest, &q->oldest, id_ms(id));
        }
    }
}

bool queues__oldest_ms(const struct machine *m, const struct queue *q, int64_t *out)
{
    const struct heap_node *n = q != NULL ? &q->oldest : heap_first(&m->oldest);
    CHECK(m->moved_queues == NULL);
    if (n == NULL || !heap_node_is_in(n)) {
        return false;
    }
    *out = heap_key(&m->oldest, n);
    return true;
}

struct wall queues__throttled_until(const struct queue *q, struct wall now)
{
    if (q->rec.throttle_rate == 0 || q->rec.throttle_claims < q->rec.throttle_rate) {
        return WALL_NONE;
    }
    CHECK(q->claims != NULL);
    /* The claim that must have left the window: the oldest of the last throttle_rate claims. */
    struct wall oldest = {.ns = q->claims[q->rec.throttle_claims % q->rec.throttle_rate]};
    struct wall until = wall_add_ms(oldest, q->rec.throttle_window_ms);
    return until.ns <= now.ns ? WALL_NONE : until;
}

bool queues__open(const struct queue *q, struct wall now, struct wall *out_until)
{
    *out_until = WALL_NONE;
    if (q->rec.paused || q->gone) {
        return false;
    }
    if (q->rec.max_concurrency > 0 && q->live_count[JOB_ACTIVE] >= q->rec.max_concurrency) {
        return false;
    }
    *out_until = queues__throttled_until(q, now);
    return out_until->ns == 0;
}

/* The number of claims that the throttle allows now. Claims in the ring are in order of time, so
 * those that have left the window are the first ones. */
static uint32_t throttle_places(const struct queue *q, struct wall now)
{
    uint32_t rate = q->rec.throttle_rate;
    uint64_t claims = q->rec.throttle_claims;
    uint32_t kept = claims < rate ? (uint32_t)claims : rate;
    uint32_t low = 0;
    uint32_t high = kept;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        struct wall at = {.ns = q->claims[(claims - kept + middle) % rate]};
        if (wall_add_ms(at, q->rec.throttle_window_ms).ns <= now.ns) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    CHECK(low <= kept);
    CHECK(kept <= rate);
    return rate - kept + low;
}

uint32_t queues__limits(const struct queue *q, struct wall now)
{
    uint32_t places = UINT32_MAX;
    if (q->rec.max_concurrency > 0) {
        uint32_t active = q->live_count[JOB_ACTIVE];
        places = active < q->rec.max_concurrency ? q->rec.max_concurrency - active : 0;
    }
    if (q->rec.throttle_rate > 0) {
        uint32_t through = throttle_places(q, now);
        places = through < places ? through : places;
    }
    return places;
}

uint32_t queues__places(const struct queue *q, struct wall now)
{
    struct wall until;
    return queues__open(q, now, &until) ? queues__limits(q, now) : 0;
}

/* The key of a place in the ring of claims. */
static struct str throttle_key(const struct queue *q, uint32_t place, struct buf *out)
{
    buf_clear(out);
    buf_add_str(out, q->node.key);
    buf_add_char(out, '\0');
    pack_u32_be(out, place);
    return buf_str(out);
}

void queues__count_claim(struct machine *m, struct queue *q)
{
    if (q->rec.throttle_rate == 0) {
        return;
    }
    uint32_t place = (uint32_t)(q->rec.throttle_claims % q->rec.throttle_rate);
    struct buf key;
    struct buf value;
    buf_init(&key, KEY_BYTES_MAX);
    buf_init(&value, sizeof(int64_t));
    CHECK(q->claims != NULL);
    CHECK(place < q->rec.throttle_rate);
    q->claims[place] = m->now.ns;
    q->rec.throttle_claims++;
    pack_i64(&value, m->now.ns);
    store_put(&m->store, STORE_KIND_THROTTLE, throttle_key(q, place, &key), buf_str(&value));
    queues__touch(m, q);
    CHECK(!key.overflow);
    CHECK(!value.overflow);
    buf_deinit(&key);
    buf_deinit(&value);
}

/* Allocate a ring for `rate` claims; NULL if rate is 0. */
static int64_t *new_ring(uint32_t rate)
{
    int64_t *claims = rate == 0 ? NULL : calloc(rate, sizeof *claims);
    CHECK(rate == 0 || claims != NULL);
    return claims;
}

void queues__drop_throttle(struct machine *m, struct queue *q)
{
    if (q->rec.throttle_rate == 0) {
        return;
    }
    /* All places of the ring: keys from name NUL up to name SOH. */
    struct buf from;
    struct buf until;
    buf_init(&from, KEY_BYTES_MAX);
    buf_init(&until, KEY_BYTES_MAX);
    buf_add_char(&from, STORE_KIND_THROTTLE);
    buf_add_str(&from, q->node.key);
    buf_add_str(&until, buf_str(&from));
    buf_add_char(&from, '\0');
    buf_add_char(&until, '\1');
    CHECK(!from.overflow);
    CHECK(!until.overflow);
    kv_delete_range(m->store.batch, STORE_META, buf_str(&from), buf_str(&until));
    buf_deinit(&from);
    buf_deinit(&until);
    free(q->claims);
    q->claims = NULL;
    q->rec.throttle_rate = 0;
    q->rec.throttle_window_ms = 0;
    q->rec.throttle_claims = 0;
    queues__touch(m, q);
}

bool queues__set_throttle(struct machine *m, struct queue *q, uint32_t rate, int64_t window_ms)
{
    if (q->rec.throttle_rate == rate && q->rec.throttle_window_ms == window_ms) {
        return false;
    }
    queues__drop_throttle(m, q);
    q->rec.throttle_rate = rate;
    q->rec.throttle_window_ms = window_ms;
    q->claims = new_ring(rate);
    CHECK(q->rec.throttle_claims == 0);
    queues__touch(m, q);
    return true;
}

void queues__ready(struct machine *m, struct queue *q)
{
    if (m->hooks.ready != NULL) {
        m->hooks.ready(m->hooks.data, q->node.key);
    }
    if (m->push_line_count > m->push_line_free) {
        push_lines__ready(m);
    }
}

void queues__write_dirty(struct machine *m)
{
    queues__settle_oldest(m);
    while (m->dirty_queues != NULL) {
        struct queue *q = m->dirty_queues;
        m->dirty_queues = q->dirty_next;
        CHECK(q->dirty);
        q->dirty = false;
        if (q->gone) {
            CHECK(machine__in_line(q) == 0);
            CHECK(q->active.count == 0);
            CHECK(q->out_of_order.count == 0);
            CHECK(!heap_node_is_in(&q->oldest));
            store_delete(&m->store, STORE_KIND_QUEUE, q->node.key);
            history__drop(m, q->node.key);
            map_remove(&m->queue_names, &q->node);
            m->queues[q->number] = NULL;
            m->queue_hint = NULL;
            spaces__leave(m, q);
            queue_free(m, q);
            continue;
        }
        buf_clear(&m->store.scratch);
        store_record_encode_queue(&q->rec, &m->store.scratch);
        store_put(&m->store, STORE_KIND_QUEUE, q->node.key, buf_str(&m->store.scratch));
    }
}

static void load_queue(void *data, struct str name, struct str value)
{
    struct machine *m = data;
    struct queue *q = queue_new(m, name);
    if (!store_record_decode_queue(value, &q->rec)) {
        check_fatal("the record of queue '" STR_FMT "' cannot be read", STR_ARG(name));
    }
    q->claims = new_ring(q->rec.throttle_rate);
}

static void load_claim(void *data, struct str rest, struct str value)
{
    struct machine *m = data;
    struct unpack u = unpack_from(value);
    int64_t at = unpack_i64(&u);
    bool sound = unpack_done(&u) && rest.len > KEY_TAIL_BYTES;
    struct queue *q = sound ? queues__find(m, str_from(rest.ptr, rest.len - KEY_TAIL_BYTES)) : NULL;
    struct unpack place_bytes =
        unpack_from(sound ? str_from_offset(rest, rest.len - PLACE_BYTES) : STR_EMPTY);
    uint32_t place = unpack_u32_be(&place_bytes);
    if (q == NULL || place >= q->rec.throttle_rate) {
        check_fatal("a throttle record of queue '" STR_FMT "' does not fit it", STR_ARG(rest));
    }
    q->claims[place] = at;
}

/* Any order is correct: of queues with equally old jobs, only the time is used. */
static bool oldest_before(const struct heap_node *a, const struct heap_node *b)
{
    return CONTAINER_OF(a, const struct queue, oldest)->number <
           CONTAINER_OF(b, const struct queue, oldest)->number;
}

void queues__load(struct machine *m)
{
    heap_init(&m->oldest, oldest_before);
    store_each(&m->store, STORE_KIND_QUEUE, load_queue, m);
    store_each(&m->store, STORE_KIND_THROTTLE, load_claim, m);
}

void queues__close(struct machine *m)
{
    for (uint32_t i = 0; i < m->queue_count; i++) {
        if (m->queues[i] != NULL) {
            queue_free(m, m->queues[i]);
        }
    }
    heap_deinit(&m->oldest);
    free(m->queues);
    map_deinit(&m->queue_names);
    m->queue_hint = NULL;
}
