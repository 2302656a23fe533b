/*
 * Feeds: sets of ids whose documents changed, for subscribers that keep a copy.
 */
#include <stdatomic.h>
#include <stdlib.h>

#include "base/check.h"
#include "base/id_set.h"
#include "engine/engine_int.h"

struct engine_feed {
    struct engine_feed *next;
    struct engine *engine;
    struct mailbox *reply_to;
    void (*woken)(void *data);
    void *data;
    struct id_set set;  /* each with the index of the entry that first changed it */
    bool replaced;      /* the whole state was replaced since the last take */
    uint64_t untracked; /* changes since the set overflowed; 0: it did not */
    uint64_t begin_index, begin_hash, begin_jobs;
    struct msg wake_msg;
    bool wake_out;        /* the subscriber was woken, or is taking already */
    uint64_t wakes_sent;  /* a wake-up is in transit while these two differ */
    uint64_t wakes_heard; /* written by the subscriber's thread */
    /* read by any thread */
    atomic_uint_fast64_t newest;
    atomic_uint_fast64_t waiting;
    atomic_uint_fast64_t handed; /* taken, but not yet in the copy */
    struct msg free_msg;
};

/* Waking the subscriber */

static void deliver_wake(struct msg *m)
{
    struct engine_feed *f = CONTAINER_OF(m, struct engine_feed, wake_msg);
    f->wakes_heard++;
    f->woken(f->data);
}

static void publish(struct engine_feed *f, uint64_t newest)
{
    atomic_store(&f->waiting, id_set_count(&f->set) + f->untracked);
    atomic_store(&f->newest, newest);
}

static void add_changed(struct engine_feed *f, struct id id, uint64_t index)
{
    if (f->untracked == 0 && f->set.cap >= f->engine->config.feed_ids_max &&
        id_set_is_full(&f->set)) {
        f->untracked = id_set_count(&f->set);
        CHECK(f->untracked > 0);
        id_set_clear(&f->set);
    }
    if (f->untracked > 0) {
        f->untracked++;
    } else {
        (void)id_set_add(&f->set, id, index); /* the id may be in the set already */
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
        if (!f->wake_out && (f->replaced || f->untracked > 0 || id_set_count(&f->set) > 0)) {
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
    while (t->count < t->max && id_set_take(&f->set, &t->ids[t->count])) {
        t->count++;
    }
    CHECK(t->wakes_heard <= f->wakes_sent);
    CHECK(f->untracked == 0 || t->count == 0);
    t->index = machine_applied_index(e->machine);
    t->behind = id_set_count(&f->set);
    t->state_hash = machine_state_hash(e->machine);
    t->complete = t->behind == 0 ? t->index : id_set_oldest(&f->set) - 1;
    t->replaced = f->replaced;
    t->too_many = f->untracked > 0;
    t->jobs = f->replaced ? count_jobs(e) : 0;
    atomic_store(&f->handed, t->count + f->untracked);
    f->replaced = false;
    f->untracked = 0;
    atomic_store(&f->waiting, t->behind);
    /* If ids are left, the subscriber takes again without a wake-up. If it took without one, an
     * earlier wake-up may still be in transit. */
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

/* The core thread no longer uses the feed, but a wake-up may still be in the subscriber's mailbox.
 * So a message behind it frees the memory. */
static void deliver_free(struct msg *m)
{
    struct engine_feed *f = CONTAINER_OF(m, struct engine_feed, free_msg);
    id_set_clear(&f->set);
    free(f);
}

static void woken_no_more(void *data)
{
    (void)data;
}

void engine_feed_close(struct engine_feed *f)
{
    engine__visit(f->engine, end, f); /* feeds are closed before the engine */
    f->woken = woken_no_more;
    f->free_msg.deliver = deliver_free;
    bool posted = mailbox_post(f->reply_to, &f->free_msg);
    CHECK(posted);
}
