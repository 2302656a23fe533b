#include "engine/engine_push.h"

#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "engine/engine_int.h"

struct engine_push {
    struct engine *engine;
    struct mailbox *reply_to;
    struct engine_push_told told;
    atomic_bool ready_out; /* ready_msg is in transit; cleared before ready is called */
    struct msg ready_msg;
    struct msg free_msg;
};

/* A delivery that has ended. */
struct gone {
    struct msg msg;
    struct engine_push *push;
    struct id job;
};

/* A delivery that is counted as lost. */
struct lost {
    struct msg msg;
    struct engine_push *push;
    uint32_t attempt;
    bool last;
    size_t name_bytes;
    char name[];
};

static void deliver_ready(struct msg *m)
{
    struct engine_push *p = CONTAINER_OF(m, struct engine_push, ready_msg);
    atomic_store(&p->ready_out, false);
    if (p->told.ready != NULL) {
        p->told.ready(p->told.data);
    }
}

void engine_push__ready(struct engine *e)
{
    struct engine_push *p = e->push;
    if (p != NULL && !atomic_exchange(&p->ready_out, true)) {
        p->ready_msg.deliver = deliver_ready;
        bool posted = mailbox_post(p->reply_to, &p->ready_msg);
        CHECK(posted);
    }
}

static void deliver_gone(struct msg *m)
{
    struct gone *g = CONTAINER_OF(m, struct gone, msg);
    if (g->push->told.gone != NULL) {
        g->push->told.gone(g->push->told.data, g->job);
    }
    free(g);
}

void engine_push__gone(struct engine *e, struct id id)
{
    struct engine_push *p = e->push;
    if (p == NULL) {
        return;
    }
    struct gone *g = calloc(1, sizeof *g);
    CHECK(g != NULL);
    g->msg.deliver = deliver_gone;
    g->push = p;
    g->job = id;
    bool posted = mailbox_post(p->reply_to, &g->msg);
    CHECK(posted);
}

static void deliver_lost(struct msg *m)
{
    struct lost *l = CONTAINER_OF(m, struct lost, msg);
    const struct engine_push_told *told = &l->push->told;
    if (told->lost != NULL) {
        told->lost(told->data, str_from(l->name, l->name_bytes), l->attempt, l->last);
    }
    free(l);
}

void engine_push__lost(struct engine *e, const struct job *j, bool last)
{
    struct engine_push *p = e->push;
    if (p == NULL) {
        return;
    }
    struct lost *l = calloc(1, sizeof *l + j->name.len);
    CHECK(l != NULL);
    l->msg.deliver = deliver_lost;
    l->push = p;
    l->attempt = j->attempt;
    l->last = last;
    l->name_bytes = j->name.len;
    memcpy(l->name, j->name.ptr, j->name.len);
    bool posted = mailbox_post(p->reply_to, &l->msg);
    CHECK(posted);
}

/* Opening and closing: the caller waits for the core thread. */

static void begin(void *data)
{
    struct engine_push *p = data;
    CHECK(p->engine->push == NULL);
    p->engine->push = p;
}

static void end(void *data)
{
    struct engine_push *p = data;
    p->engine->push = NULL;
}

struct engine_push *engine_push_open(struct engine *e, struct mailbox *reply_to,
                                     const struct engine_push_told *told)
{
    struct engine_push *p = calloc(1, sizeof *p);
    CHECK(p != NULL);
    p->engine = e;
    p->reply_to = reply_to;
    p->told = *told;
    engine__visit(e, begin, p);
    return p;
}

static void deliver_free(struct msg *m)
{
    free(CONTAINER_OF(m, struct engine_push, free_msg));
}

void engine_push_close(struct engine_push *p)
{
    engine__visit(p->engine, end, p);
    p->told = (struct engine_push_told){0};
    p->free_msg.deliver = deliver_free; /* behind any message that is still in the mailbox */
    bool posted = mailbox_post(p->reply_to, &p->free_msg);
    CHECK(posted);
}
