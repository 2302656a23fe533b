/*
 * Purge: what is over long enough is removed.
 *
 * Walks the jobs that are over in the order of their ids, that is of their creation, from where the
 * last step stopped. Nothing that was created after the limit can have ended before it, so the walk
 * ends there; a small number of old jobs that ended lately is looked at again each time.
 */
#include "base/check.h"
#include "base/limits.h"
#include "fsm/apply_int.h"

static struct wall ended_at(const struct job *j)
{
    struct wall at = j->state == JOB_COMPLETED   ? j->completed_at
                     : j->state == JOB_CANCELLED ? j->cancelled_at
                                                 : j->failed_at;
    return at.ns != 0 ? at : j->created_at;
}

static struct id id_of(struct str key)
{
    CHECK(key.len == ID_BYTES);
    return id_from_bytes(key.ptr);
}

/* One step over the jobs. True at the end of the walk. */
static bool purge_jobs(struct machine *m, struct wall before, struct result *r)
{
    struct id stop = id_make(before, 0, 0);
    struct id from = m->store.meta.purge_cursor;
    struct kv_iter *it = kv_iter_new(m->store.kv, NULL, STORE_DONE, str_from(from.b, ID_BYTES));
    bool end = true;
    for (unsigned seen = 0; kv_iter_valid(it); kv_iter_next(it), seen++) {
        struct id id = id_of(kv_iter_key(it));
        if (id_cmp(id, stop) >= 0) {
            break;
        }
        if (seen == LIMIT_STEP_DOCS || r->affected == LIMIT_TICK_JOBS) {
            m->store.meta.purge_cursor = id;
            end = false;
            break;
        }
        struct job j;
        enum store_family family;
        if (jobs__get(m, id, &j, &family) && family == STORE_DONE && ended_at(&j).ns < before.ns) {
            locks__release(m, &j);
            jobs__remove(m, &j, family);
            throughput_add(&m->throughput, THROUGHPUT_PURGED);
            r->affected++;
        }
    }
    store_end_walk(it);
    return end;
}

/* Finished batches, from the oldest; what is left over waits for the next time. */
static void purge_batches(struct machine *m, struct wall before)
{
    const char kind = STORE_KIND_BATCH;
    struct kv_iter *it = kv_iter_new(m->store.kv, NULL, STORE_META, str_from(&kind, 1));
    for (unsigned seen = 0; kv_iter_valid(it) && seen < LIMIT_TICK_JOBS; kv_iter_next(it), seen++) {
        struct str key = kv_iter_key(it);
        struct store_batch rec;
        if (key.ptr[0] != kind) {
            break;
        }
        if (!store_record_decode_batch(kv_iter_value(it), &rec)) {
            check_fatal("the record of a batch cannot be read");
        }
        struct str id = str_from_offset(key, 1);
        if (rec.finished_at.ns != 0 && rec.finished_at.ns < before.ns) {
            store_delete(&m->store, STORE_KIND_BATCH, id);
        }
    }
    store_end_walk(it);
}

void apply_purge(struct machine *m, const struct command *c, struct result *r)
{
    struct wall before = wall_add_ms(m->now, -c->purge.retention_ms);
    if (before.ns < 0) {
        return;
    }
    r->more = !purge_jobs(m, before, r);
    if (!r->more) {
        m->store.meta.purge_cursor = ID_NONE;
        purge_batches(m, before);
    }
}
