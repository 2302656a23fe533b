/*
 * Enqueue (http-api.md 6.6, 6.7, 6.9, 7.1, 7.2): all jobs of a command or none, and once per
 * idempotency key.
 */
#include <string.h>

#include "sim/model_sim/model_int.h"

/* Do all dependencies of this job exist? */
static bool dependencies_known(const struct model *m, const struct job *j)
{
    for (size_t at = 0; at < j->waits_for.len; at += ID_BYTES) {
        struct id id;
        memcpy(id.b, j->waits_for.ptr + at, ID_BYTES);
        if (model_find_job(m, id) == NULL) {
            return false;
        }
    }
    return true;
}

struct str model_enqueue_unmet(struct model *m, struct str waits_for)
{
    char *left = model_alloc(m, waits_for.len);
    size_t len = 0;
    for (size_t at = 0; at < waits_for.len; at += ID_BYTES) {
        struct id id;
        memcpy(id.b, waits_for.ptr + at, ID_BYTES);
        const struct model_job *on = model_find_job(m, id);
        if (on == NULL || on->doc.state != JOB_COMPLETED) {
            memcpy(left + len, id.b, ID_BYTES);
            len += ID_BYTES;
        }
    }
    return str_from(left, len);
}

static enum err_code check_member(const struct model *m, const struct job *j)
{
    if (!dependencies_known(m, j)) {
        return ERR_VALIDATION;
    }
    if (!id_is_none(j->batch_id)) {
        const struct model_batch *b = model_find_batch(m, j->batch_id);
        if (b == NULL || b->record.sealed) {
            return ERR_VALIDATION;
        }
    }
    return ERR_OK;
}

static struct result_item enqueue_one(struct model *m, const struct command_new *n,
                                      struct model_batch *batch)
{
    const struct model_lock *lock =
        n->job.unique_key.len > 0 ? model_lock_find(m, n->job.queue, n->job.unique_key) : NULL;
    if (lock != NULL) {
        model_job_promise(m, lock->job);
        return (struct result_item){.id = lock->job, .status = RESULT_DUPLICATE};
    }
    struct job like = n->job;
    like.waits_for = model_enqueue_unmet(m, n->job.waits_for);
    if (n->expire_after_ms > 0) {
        like.expire_at = wall_add_ms(m->now, n->expire_after_ms);
    }
    if (batch == NULL) {
        batch = model_find_batch(m, like.batch_id);
    }
    if (batch != NULL) {
        like.batch_id = batch->id;
        batch->record.total++;
        batch->record.pending++;
        model_batch_touch(m, batch);
    }
    if (n->starts_chain) {
        like.chain_id = model_id_text(m, model_next_id(m), ID_CHAIN);
        like.chain_step = 0;
        like.has_chain_step = true;
    }
    const struct model_job *j = model_job_create(m, &like);
    return (struct result_item){
        .id = j->doc.id,
        .status = j->doc.state == JOB_SCHEDULED ? RESULT_SCHEDULED : RESULT_PENDING,
    };
}

static struct model_reply *find_reply(const struct model *m, struct str key)
{
    for (size_t i = 0; i < m->replies.count; i++) {
        struct model_reply *r = m->replies.at[i];
        if (str_eq(r->key, key)) {
            return r;
        }
    }
    return NULL;
}

/* Keep the answer for a day. */
static void keep_reply(struct model *m, struct str key, uint64_t body_hash,
                       const struct result *result)
{
    struct model_reply *r = find_reply(m, key);
    if (r == NULL) {
        r = model_alloc(m, sizeof *r);
        r->key = model_keep(m, key);
        model_list_add(&m->replies, r);
    }
    r->result = *result;
    r->body_hash = body_hash;
    r->expires_at = wall_add_ms(m->now, INT64_C(86400000));
}

void model_enqueue(struct model *m, const struct command_enqueue *c, struct result *out)
{
    const struct model_reply *reply = find_reply(m, c->idempotency_key);
    if (reply != NULL && reply->expires_at.ns > m->now.ns) {
        if (reply->body_hash != 0 && c->body_hash != 0 && reply->body_hash != c->body_hash) {
            model_refuse(out, ERR_KEY_REUSED);
        } else {
            *out = reply->result;
        }
        return;
    }
    for (size_t i = 0; i < c->count; i++) {
        enum err_code code = check_member(m, &c->jobs[i].job);
        if (code != ERR_OK) {
            model_refuse(out, code);
            return;
        }
    }
    struct model_batch *batch = NULL;
    if (c->has_batch) {
        batch = model_batch_create(m, c->callback_queue, c->callback_payload, &c->owner, true);
        out->id = batch->id;
    }
    out->items = model_alloc(m, c->count * sizeof *out->items);
    out->count = (uint32_t)c->count;
    for (size_t i = 0; i < c->count; i++) {
        out->items[i] = enqueue_one(m, &c->jobs[i], batch);
    }
    if (c->idempotency_key.len > 0) {
        keep_reply(m, c->idempotency_key, c->body_hash, out);
    }
}
