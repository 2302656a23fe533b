#include <stdlib.h>

#include "base/check.h"
#include "engine/engine_int.h"
#include "engine/engine_taken_int.h"

struct engine_taken {
    struct engine *engine;
    struct mailbox *reply_to;
    void (*told)(void *data, struct id job, uint64_t lease_token);
    void *data;
    struct buf runs; /* core thread only: runs ended by the current entry */
    struct msg free_msg;
};

struct run {
    struct id job;
    uint64_t lease_token;
};

/* The runs ended by one entry. Each job was active, which limits their number. */
struct word {
    struct msg msg;
    struct engine_taken *taken;
    size_t count;
    struct run runs[];
};

void engine_taken__add(struct engine *e, struct id id, uint64_t lease_token)
{
    struct run run = {.job = id, .lease_token = lease_token};
    if (e->taken != NULL) {
        buf_add(&e->taken->runs, &run, sizeof run);
    }
}

static void deliver(struct msg *m)
{
    struct word *w = CONTAINER_OF(m, struct word, msg);
    for (size_t i = 0; i < w->count; i++) {
        w->taken->told(w->taken->data, w->runs[i].job, w->runs[i].lease_token);
    }
    free(w);
}

void engine_taken__tell(struct engine *e)
{
    struct engine_taken *t = e->taken;
    if (t == NULL || t->runs.len == 0) {
        return;
    }
    struct word *w = malloc(sizeof *w + t->runs.len);
    CHECK(w != NULL && !t->runs.overflow);
    w->msg.deliver = deliver;
    w->taken = t;
    w->count = t->runs.len / sizeof w->runs[0];
    memcpy(w->runs, t->runs.ptr, t->runs.len);
    buf_clear(&t->runs);
    bool posted = mailbox_post(t->reply_to, &w->msg);
    CHECK(posted);
}

/* Opening and closing: the caller waits for the core thread. */

static void begin(void *data)
{
    struct engine_taken *t = data;
    CHECK(t->engine->taken == NULL);
    t->engine->taken = t;
}

static void end(void *data)
{
    struct engine_taken *t = data;
    t->engine->taken = NULL;
}

struct engine_taken *
engine_taken_open(struct engine *e, struct mailbox *reply_to,
                  void (*told)(void *data, struct id job, uint64_t lease_token), void *data)
{
    struct engine_taken *t = calloc(1, sizeof *t);
    CHECK(t != NULL);
    t->engine = e;
    t->reply_to = reply_to;
    t->told = told;
    t->data = data;
    buf_init(&t->runs, SIZE_MAX / 2); /* the size of an entry limits it */
    engine__visit(e, begin, t);
    return t;
}

static void deliver_free(struct msg *m)
{
    struct engine_taken *t = CONTAINER_OF(m, struct engine_taken, free_msg);
    buf_deinit(&t->runs);
    free(t);
}

static void told_no_more(void *data, struct id job, uint64_t lease_token)
{
    (void)data, (void)job, (void)lease_token;
}

void engine_taken_close(struct engine_taken *t)
{
    engine__visit(t->engine, end, t);
    t->told = told_no_more;
    t->free_msg.deliver = deliver_free; /* behind any message that is still in the mailbox */
    bool posted = mailbox_post(t->reply_to, &t->free_msg);
    CHECK(posted);
}
