/*
 * Feeds: sets of ids whose documents changed, for whoever keeps a copy.
 */
#include <stdatomic.h>
#include <stdlib.h>

#include "base/check.h"
#include "engine/engine_int.h"

enum { SET_FIRST_SLOTS = 1024 };

/* Ids in the order in which they came, each once: a ring, and a table of places in it. */
struct id_slot {
    uint32_t place; /* in the ring, plus one; 0: empty */
    uint32_t hash;  /* low half, of the id there */
};

struct id_set {
    struct id *ring;
    uint64_t *since; /* the entry that put the id into the ring, at the same place */
    struct id_slot *slots;
    uint32_t cap;   /* of the ring, a power of two; the table has twice as many */
    uint64_t first; /* number of the oldest; places are numbers modulo cap */
    uint64_t next;
};

struct engine_feed {
    struct engine_feed *next;
    struct engine *engine;
    struct mailbox *reply_to;
    void (*woken)(void *data);
    void *data;
    struct id_set set;
    bool replaced;      /* the state was exchanged as a whole since the last take */
    uint64_t untracked; /* changes since the set was given up; 0: it was not */
    uint64_t begin_index, begin_hash, begin_jobs;
    struct msg wake_msg;
    bool wake_out;        /* the subscriber has been told, or takes by itself */
    uint64_t wakes_sent;  /* the message is on its way while these differ… */
    uint64_t wakes_heard; /* …this one of the subscriber's thread */
    /* read by any thread */
    atomic_uint_fast64_t newest;
    atomic_uint_fast64_t waiting;
    atomic_uint_fast64_t handed; /* taken, and not yet in the copy */
    struct msg free_msg;
};

static struct id_slot *slot_for(const struct id_set *s, struct id id, uint32_t hash)
{
    uint32_t mask = s->cap * 2 - 1;
    uint32_t at = hash & mask;
    while (s->slots[at].place != 0 &&
           (s->slots[at].hash != hash || !id_eq(s->ring[s->slots[at].place - 1], id))) {
        at = (at + 1) & mask;
    }
    return &s->slots[at];
}

/* Known not to be there, and there is room. */
static void set_append(struct id_set *s, struct id_slot *slot, struct id id, uint32_t hash,
                       uint64_t since)
{
    CHECK(slot->place == 0);
    CHECK(s->next - s->first < s->cap);
    uint32_t place = (uint32_t)(s->next++ & (s->cap - 1));
    s->ring[place] = id;
    s->since[place] = since;
    *slot = (struct id_slot){.place = place + 1, .hash = hash};
}

static void set_clear(struct id_set *s)
{
    free(s->ring);
    free(s->since);
    free(s->slots);
    *s = (struct id_set){0};
}

static void set_grow(struct id_set *s)
{
    struct id_set bigger = {.cap = s->cap == 0 ? SET_FIRST_SLOTS : s->cap * 2};
    bigger.ring = malloc(bigger.cap * sizeof(struct id));
    bigger.since = malloc(bigger.cap * sizeof(uint64_t));
    bigger.slots = calloc((size_t)bigger.cap * 2, sizeof(struct id_slot));
    CHECK(bigger.ring != NULL);
    CHECK(bigger.since != NULL);
    CHECK(bigger.slots != NULL);
    for (uint64_t n = s->first; n < s->next; n++) {
        struct id id = s->ring[n & (s->cap - 1)];
        uint32_t hash = (uint32_t)id_hash(id);
        set_append(&bigger, slot_for(&bigger, id, hash), id, hash, s->since[n & (s->cap - 1)]);
    }
    CHECK(bigger.next == s->next - s->first);
    set_clear(s);
    *s = bigger;
}

static bool set_is_full(const struct id_set *s)
{
    return s->next - s->first == s->cap;
}

static void set_add(struct id_set *s, struct id id, uint64_t index)
{
    uint32_t hash = (uint32_t)id_hash(id);
    if (set_is_full(s)) {
        set_grow(s);
    }
    struct id_slot *slot = slot_for(s, id, hash);
    if (slot->place == 0) {
        set_append(s, slot, id, hash, index);
    }
}

/* Linear probing without marks: what may move into the gap does. */
static void close_gap(struct id_set *s, uint32_t gap)
{
    uint32_t mask = s->cap * 2 - 1;
    for (uint32_t at = (gap + 1) & mask; s->slots[at].place != 0; at = (at + 1) & mask) {
        uint32_t home = s->slots[at].hash & mask;
        if (((at - home) & mask) >= ((at - gap) & mask)) {
            s->slots[gap] = s->slots[at];
            gap = at;
        }
    }
    s->slots[gap].place = 0;
}

static bool set_take(struct id_set *s, struct id *out)
{
    if (s->first == s->next) {
        return false;
    }
    *out = s->ring[s->first & (s->cap - 1)];
    const struct id_slot *slot = slot_for(s, *out, (uint32_t)id_hash(*out));
    CHECK(slot->place == (s->first & (s->cap - 1)) + 1);
    close_gap(s, (uint32_t)(slot - s->slots));
    s->first++;
    return true;
}

/* Telling the subscriber */

static void deliver_wake(struct msg *m)
{
    struct engine_feed *f = CONTAINER_OF(m, struct engine_feed, wake_msg);
    f->wakes_heard++;
    f->woken(f->data);
}

static void publish(struct engine_feed *f, uint64_t newest)
{
    atomic_store(&f->waiting, f->set.next - f->set.first + f->untracked);
    atomic_store(&f->newest, newest);
}

static void add_changed(struct engine_feed *f, struct id id, uint64_t index)
{
    if (f->untracked == 0 && f->set.cap >= f->engine->config.feed_ids_max && set_is_full(&f->set)) {
        f->untracked = f->set.next - f->set.first;
        CHECK(f->untracked > 0);
        set_clear(&f->set);
    }
    if (f->untracked > 0) {
        f->untracked++;
    } else {
        set_add(&f->set, id, index);
    }
}

void engine_feed__changed(struct engine *e, struct id id)
{
    uint64_t index = machine_applied_index(e->machine);
    for (struct engine_feed *f = e->feeds; f != NULL; f = f->next) {
        add_changed(f, id, index);
        publish(f, index);
    }
}

void engine_feed__replaced(struct engine *e)
{
    uint64_t index = machine_applied_index(e->machine);
    for (struct engine_feed *f = e->feeds; f != NULL; f = f->next) {
        f->replaced = true;
        publish(f, index);
    }
    engine_feed__tell(e);
}

void engine_feed__tell(struct engine *e)
{
    for (struct engine_feed *f = e->feeds; f != NULL; f = f->next) {
        if (!f->wake_out && (f->replaced || f->untracked > 0 || f->set.first != f->set.next)) {
            f->wake_out = true;
            f->wakes_sent++;
            f->wake_msg.deliver = deliver_wake;
            bool posted = mailbox_post(f->reply_to, &f->wake_msg);
            CHECK(posted);
        }
    }
}

static void add_counts(void *data, const struct machine_queue *q)
{
    uint64_t *sum = data;
    for (unsigned state = 0; state < JOB_STATE_COUNT; state++) {
        *sum += q->count[state];
    }
}

static uint64_t count_jobs(const struct engine *e)
{
    uint64_t sum = 0;
    machine_each_queue(e->machine, add_counts, &sum);
    return sum;
}

/* Taking */

static void deliver_taken(struct msg *m)
{
    struct engine_take *t = CONTAINER_OF(m, struct engine_take, msg);
    t->done(t);
}

static void deliver_take(struct msg *m)
{
    struct engine_take *t = CONTAINER_OF(m, struct engine_take, msg);
    struct engine_feed *f = t->feed;
    struct engine *e = f->engine;
    t->ids = malloc((t->max == 0 ? 1 : t->max) * sizeof *t->ids);
    CHECK(t->ids != NULL);
    t->count = 0;
    while (t->count < t->max && set_take(&f->set, &t->ids[t->count])) {
        t->count++;
    }
    CHECK(t->wakes_heard <= f->wakes_sent);
    CHECK(f->untracked == 0 || t->count == 0);
    t->index = machine_applied_index(e->machine);
    t->behind = f->set.next - f->set.first;
    t->state_hash = machine_state_hash(e->machine);
    t->complete = t->behind == 0 ? t->index : f->set.since[f->set.first & (f->set.cap - 1)] - 1;
    t->replaced = f->replaced;
    t->too_many = f->untracked > 0;
    t->jobs = f->replaced ? count_jobs(e) : 0;
    atomic_store(&f->handed, t->count + f->untracked);
    f->replaced = false;
    f->untracked = 0;
    atomic_store(&f->waiting, t->behind);
    /* With some left it takes again without being told; and when it took without being told, the
     * message may still be on its way. */
    f->wake_out = t->behind > 0 || t->wakes_heard != f->wakes_sent;
    t->msg.deliver = deliver_taken;
    bool posted = mailbox_post(f->reply_to, &t->msg);
    CHECK(posted);
}

void engine_feed_take(struct engine_feed *f, struct engine_take *t)
{
    t->feed = f;
    t->wakes_heard = f->wakes_heard;
    t->msg.deliver = deliver_take;
    bool posted = mailbox_post(&f->engine->box, &t->msg);
    CHECK(posted); /* feeds are closed before the engine */
}

void engine_take_deinit(struct engine_take *t)
{
    free(t->ids);
    t->ids = NULL;
    t->count = 0;
}

/* Opening and closing: the caller waits for the core thread. */

static void begin(void *data)
{
    struct engine_feed *f = data;
    f->next = f->engine->feeds;
    f->engine->feeds = f;
    f->begin_index = machine_applied_index(f->engine->machine);
    f->begin_hash = machine_state_hash(f->engine->machine);
    f->begin_jobs = count_jobs(f->engine);
    publish(f, f->begin_index);
}

static void end(void *data)
{
    struct engine_feed *f = data;
    struct engine_feed **at = &f->engine->feeds;
    while (*at != f) {
        CHECK(*at != NULL);
        at = &(*at)->next;
    }
    *at = f->next;
}

struct engine_feed *engine_feed_open(struct engine *e, struct mailbox *reply_to,
                                     void (*woken)(void *data), void *data)
{
    struct engine_feed *f = calloc(1, sizeof *f);
    CHECK(f != NULL);
    f->engine = e;
    f->reply_to = reply_to;
    f->woken = woken;
    f->data = data;
    engine__visit(e, begin, f);
    return f;
}

void engine_feed_begin(const struct engine_feed *f, uint64_t *out_index, uint64_t *out_hash,
                       uint64_t *out_jobs)
{
    *out_index = f->begin_index;
    *out_hash = f->begin_hash;
    *out_jobs = f->begin_jobs;
}

uint64_t engine_feed_newest(const struct engine_feed *f)
{
    return atomic_load(&f->newest);
}

uint64_t engine_feed_waiting(const struct engine_feed *f)
{
    return atomic_load(&f->waiting) + atomic_load(&f->handed);
}

void engine_feed_copied(struct engine_feed *f)
{
    atomic_store(&f->handed, 0);
}

/* The core thread knows the feed no more; a wake-up may still be in the subscriber's mailbox. The
 * memory goes behind it, by the same way. */
static void deliver_free(struct msg *m)
{
    struct engine_feed *f = CONTAINER_OF(m, struct engine_feed, free_msg);
    set_clear(&f->set);
    free(f);
}

static void woken_no_more(void *data)
{
    (void)data;
}

void engine_feed_close(struct engine_feed *f)
{
    engine__visit(f->engine, end, f); /* it is closed before the engine */
    f->woken = woken_no_more;
    f->free_msg.deliver = deliver_free;
    bool posted = mailbox_post(f->reply_to, &f->free_msg);
    CHECK(posted);
}
