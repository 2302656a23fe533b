/*
 * Comparison of queues, batches, schedules, workers, webhooks, approval policies and locks.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/check.h"
#include "sim/model_sim/compare_int.h"

/* clang-format off */
#define FIELD(kind, member) {#member, COMPARE_##kind, offsetof(struct machine_queue, member)}
static const struct compare_field queue_fields[] = {
    FIELD(STR, name), FIELD(BOOL, paused), FIELD(U32, max_concurrency), FIELD(U32, throttle_rate),
    FIELD(I64, throttle_window_ms), FIELD(WALL, created_at), FIELD(U64, failures),
    FIELD(ID, oldest_pending), FIELD(U64, count[JOB_SCHEDULED]), FIELD(U64, count[JOB_PENDING]),
    FIELD(U64, count[JOB_ACTIVE]), FIELD(U64, count[JOB_RETRYING]), FIELD(U64, count[JOB_HELD]),
    FIELD(U64, count[JOB_COMPLETED]), FIELD(U64, count[JOB_DEAD]), FIELD(U64, count[JOB_CANCELLED]),
};
#undef FIELD

#define FIELD(kind, member) {#member, COMPARE_##kind, offsetof(struct store_batch, member)}
static const struct compare_field batch_fields[] = {
    FIELD(U64, total), FIELD(U64, pending), FIELD(U64, succeeded), FIELD(U64, failed),
    FIELD(STR, callback_queue), FIELD(STR, callback_payload), FIELD(WALL, created_at),
    FIELD(WALL, finished_at), FIELD(BOOL, sealed), FIELD(BOOL, owner.known), FIELD(STR, owner.ns),
    FIELD(STR, owner.scope), FIELD(ID, callback_job),
};
#undef FIELD

#define FIELD(kind, member) {#member, COMPARE_##kind, offsetof(struct store_schedule, member)}
static const struct compare_field schedule_fields[] = {
    FIELD(STR, name), FIELD(STR, queue), FIELD(STR, cron), FIELD(STR, timezone),
    FIELD(STR, payload), FIELD(STR, unique_key), FIELD(STR, tags), FIELD(U32, max_retries),
    FIELD(U8, priority), FIELD(BOOL, enabled), FIELD(WALL, created_at), FIELD(WALL, updated_at),
    FIELD(WALL, last_run), FIELD(WALL, next_run),
};
#undef FIELD

#define FIELD(kind, member) {#member, COMPARE_##kind, offsetof(struct store_worker, member)}
static const struct compare_field worker_fields[] = {
    FIELD(STR, hostname), FIELD(STR, queues), FIELD(STR, version), FIELD(WALL, started_at), FIELD(WALL, last_heartbeat),
};
#undef FIELD

#define FIELD(kind, member) {#member, COMPARE_##kind, offsetof(struct store_webhook, member)}
static const struct compare_field webhook_fields[] = {
    FIELD(STR, ns), FIELD(STR, url), FIELD(STR, events), FIELD(STR, secret),
    FIELD(U32, retry_limit), FIELD(BOOL, enabled), FIELD(WALL, created_at), FIELD(U64, position),
    FIELD(U32, last_status), FIELD(STR, last_error), FIELD(WALL, last_delivery_at),
};
#undef FIELD

#define FIELD(kind, member) {#member, COMPARE_##kind, offsetof(struct store_policy, member)}
static const struct compare_field policy_fields[] = {
    FIELD(STR, ns), FIELD(STR, name), FIELD(STR, queue), FIELD(STR, tag_key), FIELD(STR, tag_value),
    FIELD(BOOL, all), FIELD(BOOL, enabled), FIELD(WALL, created_at),
};
#undef FIELD
/* clang-format on */

/* A walk over the machine's records of one kind. */
struct records_walk {
    struct compare *c;
    size_t count;
};

static struct id id_of(struct str key)
{
    struct id id = ID_NONE;
    memcpy(id.b, key.ptr, key.len < ID_BYTES ? key.len : ID_BYTES);
    return id;
}

static void compare_number(struct compare *c, const char *what, size_t want, size_t got)
{
    if (want != got) {
        compare_miss(c, "%s: model %zu, machine %zu", what, want, got);
    }
}

/* The numbers of a queue, counted from its jobs. */
static struct machine_queue counted(const struct model *m, const struct model_queue *q)
{
    struct machine_queue out = {
        .name = q->name,
        .paused = q->paused,
        .max_concurrency = q->max_concurrency,
        .throttle_rate = q->rate,
        .throttle_window_ms = q->window_ms,
        .created_at = q->created_at,
        .failures = q->failures,
    };
    for (size_t i = 0; i < m->jobs.count; i++) {
        const struct job *j = &model_job_at(m, i)->doc;
        if (!str_eq(j->queue, q->name)) {
            continue;
        }
        out.count[j->state]++;
        if (j->state == JOB_PENDING &&
            (id_is_none(out.oldest_pending) || id_cmp(j->id, out.oldest_pending) < 0)) {
            out.oldest_pending = j->id;
        }
    }
    return out;
}

static void count_queue(void *data, const struct machine_queue *q)
{
    struct records_walk *walk = data;
    walk->count++;
    if (model_find_queue(walk->c->model, q->name) == NULL) {
        compare_miss(walk->c, "queue " STR_FMT ": the model has none", STR_ARG(q->name));
    }
}

void compare_records_queues(struct compare *c)
{
    const struct model *m = c->model;
    for (size_t i = 0; i < m->queues.count; i++) {
        struct machine_queue want = counted(m, m->queues.at[i]);
        struct machine_queue got;
        char name[COMPARE_NAME_MAX];
        (void)snprintf(name, sizeof name, "queue " STR_FMT, STR_ARG(want.name));
        if (machine_queue_find(c->machine, want.name, &got)) {
            compare_fields(c, name, queue_fields, COUNT_OF(queue_fields), &want, &got);
        } else {
            compare_miss(c, "%s: the machine has none", name);
        }
    }
    struct records_walk walk = {.c = c};
    machine_each_queue(c->machine, count_queue, &walk);
    compare_number(c, "queues", m->queues.count, walk.count);
}

static void compare_batch(void *data, struct str rest, struct str value)
{
    struct records_walk *walk = data;
    const struct model_batch *want = model_find_batch(walk->c->model, id_of(rest));
    struct store_batch got;
    char name[COMPARE_NAME_MAX];
    (void)compare_name(name, "batch", id_of(rest));
    walk->count++;
    if (want == NULL || !store_record_decode_batch(value, &got)) {
        compare_miss(walk->c, "%s: the model has none, or it is unreadable", name);
        return;
    }
    compare_fields(walk->c, name, batch_fields, COUNT_OF(batch_fields), &want->record, &got);
}

void compare_records_batches(struct compare *c)
{
    struct records_walk walk = {.c = c};
    store_each(machine_store(c->machine), STORE_KIND_BATCH, compare_batch, &walk);
    compare_number(c, "batches", c->model->batches.count, walk.count);
}

static void compare_schedule(void *data, struct str rest, struct str value)
{
    struct records_walk *walk = data;
    const struct model_schedule *want = model_find_schedule(walk->c->model, id_of(rest));
    struct store_schedule got;
    char name[COMPARE_NAME_MAX];
    (void)compare_name(name, "schedule", id_of(rest));
    walk->count++;
    if (want == NULL || !store_record_decode_schedule(value, &got)) {
        compare_miss(walk->c, "%s: the model has none, or it is unreadable", name);
        return;
    }
    compare_fields(walk->c, name, schedule_fields, COUNT_OF(schedule_fields), &want->record, &got);
}

/* Compare the next due schedule. If two are due at the same time, either is correct. */
static void compare_next_schedule(struct compare *c)
{
    const struct model_list *all = &c->model->schedules;
    int64_t want = INT64_MAX;
    for (size_t i = 0; i < all->count; i++) {
        const struct model_schedule *s = all->at[i];
        if (s->record.enabled && s->record.next_run.ns < want) {
            want = s->record.next_run.ns;
        }
    }
    struct machine_due_schedule due;
    int64_t got = machine_next_schedule(c->machine, &due) ? due.next_run.ns : INT64_MAX;
    if (want != got) {
        compare_miss(c, "next schedule: model %" PRId64 ", machine %" PRId64, want, got);
        return;
    }
    const struct model_schedule *s =
        got == INT64_MAX ? NULL : model_find_schedule(c->model, due.id);
    if (got != INT64_MAX &&
        (s == NULL || s->record.next_run.ns != got || !str_eq(s->record.cron, due.cron) ||
         !str_eq(s->record.timezone, due.timezone))) {
        compare_miss(c, "next schedule: it is another one, or says something else");
    }
}

void compare_records_schedules(struct compare *c)
{
    struct records_walk walk = {.c = c};
    store_each(machine_store(c->machine), STORE_KIND_SCHEDULE, compare_schedule, &walk);
    compare_number(c, "schedules", c->model->schedules.count, walk.count);
    compare_next_schedule(c);
}

static void compare_worker(void *data, struct str rest, struct str value)
{
    struct records_walk *walk = data;
    const struct model_list *workers = &walk->c->model->workers;
    walk->count++;
    for (size_t i = 0; i < workers->count; i++) {
        const struct model_worker *want = workers->at[i];
        struct store_worker got;
        if (!str_eq(want->name, rest)) {
            continue;
        }
        char name[COMPARE_NAME_MAX];
        (void)snprintf(name, sizeof name, "worker " STR_FMT, STR_ARG(rest));
        if (!store_record_decode_worker(value, &got)) {
            compare_miss(walk->c, "%s: it is unreadable", name);
            return;
        }
        compare_fields(walk->c, name, worker_fields, COUNT_OF(worker_fields), &want->record, &got);
        return;
    }
    compare_miss(walk->c, "worker " STR_FMT ": the model has none", STR_ARG(rest));
}

void compare_records_workers(struct compare *c)
{
    struct records_walk walk = {.c = c};
    store_each(machine_store(c->machine), STORE_KIND_WORKER, compare_worker, &walk);
    compare_number(c, "workers", c->model->workers.count, walk.count);
}

static void compare_webhook(void *data, struct str rest, struct str value)
{
    struct records_walk *walk = data;
    const struct model_webhook *want = model_find_webhook(walk->c->model, rest);
    struct store_webhook got;
    char name[COMPARE_NAME_MAX];
    (void)snprintf(name, sizeof name, "webhook " STR_FMT, STR_ARG(rest));
    walk->count++;
    if (want == NULL || !store_record_decode_webhook(value, &got)) {
        compare_miss(walk->c, "%s: the model has none, or it is unreadable", name);
        return;
    }
    compare_fields(walk->c, name, webhook_fields, COUNT_OF(webhook_fields), &want->record, &got);
}

void compare_records_webhooks(struct compare *c)
{
    struct records_walk walk = {.c = c};
    store_each(machine_store(c->machine), STORE_KIND_WEBHOOK, compare_webhook, &walk);
    compare_number(c, "webhooks", c->model->webhooks.count, walk.count);
}

static void compare_policy(void *data, struct str rest, struct str value)
{
    struct records_walk *walk = data;
    const struct model_policy *want = model_find_policy(walk->c->model, id_of(rest));
    struct store_policy got;
    char name[COMPARE_NAME_MAX];
    walk->count++;
    if (want == NULL || !store_record_decode_policy(value, &got)) {
        compare_miss(walk->c, "%s: the model has none, or it is unreadable",
                     compare_name(name, "policy", id_of(rest)));
        return;
    }
    compare_fields(walk->c, compare_name(name, "policy", want->id), policy_fields,
                   COUNT_OF(policy_fields), &want->record, &got);
}

void compare_records_policies(struct compare *c)
{
    struct records_walk walk = {.c = c};
    store_each(machine_store(c->machine), STORE_KIND_POLICY, compare_policy, &walk);
    compare_number(c, "approval policies", c->model->policies.count, walk.count);
}

static void compare_tally(void *data, struct str rest, struct str value)
{
    struct records_walk *walk = data;
    enum store_tally_series series;
    uint32_t hour;
    struct store_tally_name name;
    struct store_tally got;
    if (!store_tally_decode_key(rest, &series, &hour, &name) || series != STORE_TALLY_HOURS) {
        return; /* sums per five minutes or by tag are tested in tallies_test.c */
    }
    const struct model_tally *want = model_find_tally(walk->c->model, hour, &name);
    walk->count++;
    if (want == NULL || !store_tally_decode(value, &got) ||
        memcmp(&got, &want->sums, sizeof got) != 0) {
        compare_miss(walk->c, "the usage of queue " STR_FMT " in hour %" PRIu32 " differs",
                     STR_ARG(name.queue), hour);
    }
}

void compare_records_tallies(struct compare *c)
{
    struct records_walk walk = {.c = c};
    store_each(machine_store(c->machine), STORE_KIND_TALLY, compare_tally, &walk);
    compare_number(c, "sums of usage", c->model->tallies.count, walk.count);
}

static void compare_lock(void *data, struct str rest, struct str value)
{
    struct records_walk *walk = data;
    struct store_lock got;
    (void)rest;
    walk->count++;
    if (!store_record_decode_lock(value, &got)) {
        compare_miss(walk->c, "a lock is unreadable");
        return;
    }
    const struct model_list *locks = &walk->c->model->locks;
    for (size_t i = 0; i < locks->count; i++) {
        const struct model_lock *want = locks->at[i];
        if (id_eq(want->job, got.job) && want->expires_at.ns == got.expires_at.ns) {
            return;
        }
    }
    char name[COMPARE_NAME_MAX];
    compare_miss(walk->c, "a lock of %s: the model has none", compare_name(name, "job", got.job));
}

/* Compare only the number of locks. A wrong key is detected when another job requests it. */
void compare_records_locks(struct compare *c)
{
    struct records_walk walk = {.c = c};
    store_each(machine_store(c->machine), STORE_KIND_LOCK, compare_lock, &walk);
    compare_number(c, "locks", c->model->locks.count, walk.count);
}

static void count_record(void *data, struct str rest, struct str value)
{
    struct records_walk *walk = data;
    (void)rest;
    (void)value;
    walk->count++;
}

/* Compare only the number of replies. A wrong reply is detected when a request is repeated. */
void compare_records_replies(struct compare *c)
{
    struct records_walk walk = {.c = c};
    store_each(machine_store(c->machine), STORE_KIND_REPLY, count_record, &walk);
    compare_number(c, "kept replies", c->model->replies.count, walk.count);
}
