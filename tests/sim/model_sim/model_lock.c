/*
 * Unique keys of the model (http-api.md 6.6): at most one lock per queue and key. A job holds it
 * until the job completes, is cancelled or removed, or until the lock expires.
 */
#include "sim/model_sim/model_int.h"

struct model_lock *model_lock_find(struct model *m, struct str queue, struct str key)
{
    for (size_t i = 0; i < m->locks.count; i++) {
        struct model_lock *l = m->locks.at[i];
        if (str_eq(l->queue, queue) && str_eq(l->key, key) && l->expires_at.ns > m->now.ns) {
            return l;
        }
    }
    return NULL;
}

/* Remove the lock of the key, which has expired, if there is one. */
static void forget(struct model *m, struct str queue, struct str key)
{
    for (size_t i = 0; i < m->locks.count; i++) {
        struct model_lock *old = m->locks.at[i];
        if (str_eq(old->queue, queue) && str_eq(old->key, key)) {
            model_list_remove(&m->locks, old);
            return;
        }
    }
}

/* The key is free, except for a lock that may have expired. */
void model_lock_set(struct model *m, const struct model_job *j)
{
    int64_t period_s = j->doc.unique_period_s > 0 ? j->doc.unique_period_s : JOB_UNIQUE_PERIOD_S;
    int64_t period_ms;
    if (__builtin_mul_overflow(period_s, INT64_C(1000), &period_ms)) {
        period_ms = INT64_MAX;
    }
    forget(m, j->doc.queue, j->doc.unique_key);
    struct model_lock *l = model_alloc(m, sizeof *l);
    *l = (struct model_lock){
        .queue = j->doc.queue,
        .key = j->doc.unique_key,
        .job = j->doc.id,
        .expires_at = wall_add_ms(m->now, period_ms),
    };
    model_list_add(&m->locks, l);
}

/* The lock that j holds, expired or not, or NULL. */
static struct model_lock *lock_of(struct model *m, const struct model_job *j)
{
    for (size_t i = 0; i < m->locks.count; i++) {
        struct model_lock *l = m->locks.at[i];
        if (id_eq(l->job, j->doc.id)) {
            return l;
        }
    }
    return NULL;
}

void model_lock_release(struct model *m, const struct model_job *j)
{
    struct model_lock *l = lock_of(m, j);
    if (l != NULL) {
        model_list_remove(&m->locks, l);
    }
}

/* Free: if another job holds the key in the new queue, that job keeps it. */
void model_lock_move(struct model *m, const struct model_job *j, struct str to)
{
    struct model_lock *l = lock_of(m, j);
    if (l == NULL || str_eq(l->queue, to)) {
        return;
    }
    if (model_lock_find(m, to, l->key) != NULL) {
        model_list_remove(&m->locks, l);
    } else {
        forget(m, to, l->key);
        l->queue = model_keep(m, to);
    }
}
