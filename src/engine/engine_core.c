/*
 * The core thread as the other files and the other threads see it: its time, its store, functions
 * that run on it, and the version of the entries that it writes.
 */
#include "base/check.h"
#include "engine/engine_int.h"
#include "os/os_clock.h"
#include "store/store_docs.h"

struct wall engine__now(struct engine *e)
{
    struct mono boot = os_clock_boot();
    struct wall now = engine_now_next(&e->now, os_clock_wall(), boot, machine_now(e->machine));
    atomic_store_explicit(&e->time_off_ns, now.ns - boot.ns, memory_order_relaxed);
    return now;
}

struct wall engine_time(const struct engine *e)
{
    return (struct wall){.ns = os_clock_boot().ns +
                               atomic_load_explicit(&e->time_off_ns, memory_order_relaxed)};
}

static void deliver_call_done(struct msg *m)
{
    struct engine_call *call = CONTAINER_OF(m, struct engine_call, msg);
    call->done(call);
}

static void deliver_call(struct msg *m)
{
    struct engine_call *call = CONTAINER_OF(m, struct engine_call, msg);
    call->run(call, call->engine->machine);
    call->msg.deliver = deliver_call_done;
    if (call->reply_to == NULL) {
        call->done(call);
    } else {
        bool posted = mailbox_post(call->reply_to, &call->msg);
        CHECK(posted);
    }
}

bool engine_run(struct engine *e, struct engine_call *call)
{
    call->engine = e;
    call->msg.deliver = deliver_call;
    return mailbox_post(&e->box, &call->msg);
}

bool engine_read_job(struct engine *e, struct id id, struct buf *out)
{
    return store_docs_read(machine_store(e->machine), id, out);
}

struct store *engine_store(struct engine *e)
{
    return machine_store(e->machine);
}

/* A function that runs on the core thread while the caller waits. */
struct visit {
    struct msg msg;
    void (*run)(void *data);
    void *data;
    uv_sem_t over;
};

static void deliver_visit(struct msg *m)
{
    struct visit *v = CONTAINER_OF(m, struct visit, msg);
    v->run(v->data);
    uv_sem_post(&v->over); /* v is invalid after this */
}

void engine__visit(struct engine *e, void (*run)(void *data), void *data)
{
    struct visit v = {.msg.deliver = deliver_visit, .run = run, .data = data};
    CHECK(uv_sem_init(&v.over, 0) == 0);
    bool posted = mailbox_post(&e->box, &v.msg);
    CHECK(posted);
    uv_sem_wait(&v.over);
    uv_sem_destroy(&v.over);
}

const struct engine_config *engine_settings(const struct engine *e)
{
    return &e->config;
}

bool engine_leads(const struct engine *e)
{
    return atomic_load(&e->leads_now);
}

bool engine_stands(const struct engine *e)
{
    return atomic_load(&e->stands_now);
}

uint8_t engine_cluster_reads(const struct engine *e)
{
    return (uint8_t)atomic_load(&e->cluster.read_by_all);
}

uint8_t engine_cluster__entry_version(const struct engine *e)
{
    if (e->cluster.entry_version != 0) {
        return e->cluster.entry_version;
    }
    bool alone = e->node != NULL && node_members_peers(e->node) == NULL;
    return alone ? COMMAND_ENTRY_NEWEST : ENGINE_READS_SILENT;
}
