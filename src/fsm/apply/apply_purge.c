/*
 * Purge: remove jobs and batches that ended long enough ago.
 *
 * Reads the ended jobs and the batches in the order of their ids, which is the order of their
 * creation, from where the last step stopped. Nothing that was created after the limit can have
 * ended before it, so the search stops there. A few old ones that ended recently, or have not
 * ended, are read each time.
 */
#include "base/check.h"
#include "base/limits.h"
#include "fsm/apply/apply_int.h"
#include "store/store_job.h"

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

/* Decide by the document from before this entry. A job that the entry has changed since ended in
 * this entry, so it is kept in any case. */
static bool may_go(struct id id, struct str doc, struct wall before, bool named)
{
    struct job j;
    struct err err;
    if (store_job_decode_head(id, doc, &j, &err) != ERR_OK) {
        check_fatal("a stored job cannot be read: %s", err.msg);
    }
    return ended_at(&j).ns < before.ns && (j.name.len > 0) == named;
}

struct id apply_purge__jobs(struct machine *m, struct id from, struct wall before, struct id until,
                            bool named, struct result *r)
{
    struct kv_iter *it = kv_iter_new(m->store.kv, NULL, STORE_DONE, str_from(from.b, ID_BYTES));
    struct id end = until;
    for (unsigned seen = 0; kv_iter_valid(it); kv_iter_next(it), seen++) {
        struct id id = id_of(kv_iter_key(it));
        if (id_cmp(id, until) >= 0) {
            break;
        }
        if (seen == LIMIT_STEP_DOCS || r->affected == LIMIT_TICK_JOBS || entry__is_full(m)) {
            end = id;
            break;
        }
        struct job j;
        enum store_family family;
        struct str doc = kv_iter_value(it);
        m->extra_bytes += doc.len;
        if (!may_go(id, doc, before, named)) {
            continue; /* most jobs are kept and need not be cached */
        }
        store_docs_take_done(m->store.docs, id, doc);
        if (job_read__get(m, id, &j, &family) && family == STORE_DONE &&
            ended_at(&j).ns < before.ns) {
            locks__release(m, &j);
            jobs__remove(m, &j, family);
            throughput_add(&m->throughput, THROUGHPUT_PURGED);
            r->affected++;
        }
    }
    store_end_walk(it);
    return end;
}

/* Remove finished batches in the same way. */
static struct id purge_batches(struct machine *m, struct wall before, struct id until)
{
    char from[1 + ID_BYTES] = {STORE_KIND_BATCH};
    memcpy(from + 1, m->store.meta.purge_cursor.b, ID_BYTES);
    struct kv_iter *it = kv_iter_new(m->store.kv, NULL, STORE_META, str_from(from, sizeof from));
    struct id end = until;
    for (unsigned seen = 0; kv_iter_valid(it); kv_iter_next(it), seen++) {
        struct str key = kv_iter_key(it);
        struct store_batch rec;
        if (key.ptr[0] != STORE_KIND_BATCH || id_cmp(id_of(str_from_offset(key, 1)), until) >= 0) {
            break;
        }
        if (seen == LIMIT_STEP_DOCS) {
            end = id_of(str_from_offset(key, 1));
            break;
        }
        if (!store_record_decode_batch(kv_iter_value(it), &rec)) {
            check_fatal("the record of a batch cannot be read");
        }
        if (rec.finished_at.ns != 0 && rec.finished_at.ns < before.ns) {
            store_delete(&m->store, STORE_KIND_BATCH, str_from_offset(key, 1));
        }
    }
    store_end_walk(it);
    return end;
}

/* Batches are purged only as far as jobs were. If they stop earlier, the jobs after that are read
 * again, of which few are left. */
void apply_purge(struct machine *m, const struct command *c, struct result *r)
{
    struct wall before = wall_add_ms(m->now, -c->purge.retention_ms);
    if (before.ns < 0) {
        return;
    }
    struct id until = id_make(before, 0, 0);
    struct id end = purge_batches(
        m, before, apply_purge__jobs(m, m->store.meta.purge_cursor, before, until, false, r));
    r->more = id_cmp(end, until) < 0;
    m->store.meta.purge_cursor = r->more ? end : ID_NONE;
}
