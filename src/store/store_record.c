#include "store/store_record.h"

#include "base/check.h"
#include "base/pack.h"

/* The version at the beginning of a record, unless stated otherwise below. */
enum { RECORD_VERSION = 1 };

/* In version 1, a policy of the default namespace applied to the jobs of all namespaces. In version
 * 2, it applies only to those of the default namespace. The layout is the same. Policies of other
 * namespaces stay at version 1. */
enum { POLICY_OWN_VERSION = 2 };

/* Records with additional members at the end; all others are written as version 1. The members are
 * for batches with an owner or with a callback job, queues with named jobs or a removal, schedules
 * whose jobs the server delivers, workers that report their version, and webhooks that a key with a
 * scope created. */
enum {
    BATCH_OWNED_VERSION = 2,
    BATCH_TOLD_VERSION = 3,
    QUEUE_NAMED_VERSION = 2,
    QUEUE_REMOVAL_VERSION = 3,
    SCHEDULE_PUSH_VERSION = 2,
    WORKER_NAMED_VERSION = 2,
    WEBHOOK_SCOPE_VERSION = 2
};

/* Begin to decode a record of version 1 or `later`. *out_later: it is of version `later`. */
static struct unpack begin_either(struct str value, uint8_t later, bool *out_later)
{
    struct unpack u = unpack_from(value);
    uint8_t version = unpack_u8(&u);
    *out_later = version == later;
    u.bad |= version != RECORD_VERSION && version != later;
    return u;
}

static struct unpack begin(struct str value)
{
    struct unpack u = unpack_from(value);
    if (unpack_u8(&u) != RECORD_VERSION) {
        u.bad = true;
    }
    return u;
}

void store_record_encode_queue(const struct store_queue *q, struct buf *out)
{
    bool removal = !id_is_none(q->removal);
    bool named =
        removal || (q->timed_out | q->lost_total | q->recurring) != 0 || q->last_ended_at.ns != 0;
    pack_u8(out, removal ? QUEUE_REMOVAL_VERSION : named ? QUEUE_NAMED_VERSION : RECORD_VERSION);
    pack_u8(out, q->paused ? 1 : 0);
    pack_u32(out, q->max_concurrency);
    pack_u32(out, q->throttle_rate);
    pack_i64(out, q->throttle_window_ms);
    pack_u64(out, q->throttle_claims);
    pack_i64(out, q->created_at.ns);
    pack_u64(out, q->completed);
    pack_u64(out, q->dead);
    pack_u64(out, q->cancelled);
    pack_u64(out, q->failures);
    if (named) {
        pack_u64(out, q->timed_out);
        pack_i64(out, q->last_ended_at.ns);
        pack_u64(out, q->lost_total);
        pack_u64(out, q->recurring);
    }
    if (removal) {
        buf_add(out, q->removal.b, ID_BYTES);
    }
}

bool store_record_decode_queue(struct str value, struct store_queue *out)
{
    struct unpack u = unpack_from(value);
    uint8_t version = unpack_u8(&u);
    bool named = version >= QUEUE_NAMED_VERSION;
    bool removal = version == QUEUE_REMOVAL_VERSION;
    u.bad |= version < RECORD_VERSION || version > QUEUE_REMOVAL_VERSION;
    out->paused = unpack_bool(&u);
    out->max_concurrency = unpack_u32(&u);
    out->throttle_rate = unpack_u32(&u);
    out->throttle_window_ms = unpack_i64(&u);
    out->throttle_claims = unpack_u64(&u);
    out->created_at.ns = unpack_i64(&u);
    out->completed = unpack_u64(&u);
    out->dead = unpack_u64(&u);
    out->cancelled = unpack_u64(&u);
    out->failures = unpack_u64(&u);
    out->timed_out = named ? unpack_u64(&u) : 0;
    out->last_ended_at.ns = named ? unpack_i64(&u) : 0;
    out->lost_total = named ? unpack_u64(&u) : 0;
    out->recurring = named ? unpack_u64(&u) : 0;
    out->removal = removal ? id_unpack(&u) : ID_NONE;
    return unpack_done(&u) && removal == !id_is_none(out->removal);
}

void store_record_encode_lock(const struct store_lock *l, struct buf *out)
{
    pack_u8(out, RECORD_VERSION);
    buf_add(out, l->job.b, ID_BYTES);
    pack_i64(out, l->expires_at.ns);
}

bool store_record_decode_lock(struct str value, struct store_lock *out)
{
    struct unpack u = begin(value);
    struct str job = unpack_bytes(&u, ID_BYTES);
    out->expires_at.ns = unpack_i64(&u);
    if (!unpack_done(&u)) {
        return false;
    }
    memcpy(out->job.b, job.ptr, ID_BYTES);
    return true;
}

void store_record_encode_batch(const struct store_batch *b, struct buf *out)
{
    bool told = !id_is_none(b->callback_job);
    pack_u8(out, told ? BATCH_TOLD_VERSION : b->owner.known ? BATCH_OWNED_VERSION : RECORD_VERSION);
    pack_u8(out, b->sealed ? 1 : 0);
    pack_u64(out, b->total);
    pack_u64(out, b->pending);
    pack_u64(out, b->succeeded);
    pack_u64(out, b->failed);
    pack_i64(out, b->created_at.ns);
    pack_i64(out, b->finished_at.ns);
    pack_text(out, b->callback_queue);
    pack_text(out, b->callback_payload);
    if (told) {
        pack_u8(out, b->owner.known ? 1 : 0);
    }
    if (b->owner.known) {
        pack_text(out, b->owner.ns);
        pack_text(out, b->owner.scope);
    }
    if (told) {
        buf_add(out, b->callback_job.b, ID_BYTES);
    }
}

bool store_record_decode_batch(struct str value, struct store_batch *out)
{
    struct unpack u = unpack_from(value);
    uint8_t version = unpack_u8(&u);
    bool told = version == BATCH_TOLD_VERSION;
    out->sealed = unpack_bool(&u);
    out->total = unpack_u64(&u);
    out->pending = unpack_u64(&u);
    out->succeeded = unpack_u64(&u);
    out->failed = unpack_u64(&u);
    out->created_at.ns = unpack_i64(&u);
    out->finished_at.ns = unpack_i64(&u);
    out->callback_queue = unpack_text(&u);
    out->callback_payload = unpack_text(&u);
    out->owner.known = told ? unpack_bool(&u) : version == BATCH_OWNED_VERSION;
    out->owner.ns = out->owner.known ? unpack_text(&u) : STR_EMPTY;
    out->owner.scope = out->owner.known ? unpack_text(&u) : STR_EMPTY;
    out->callback_job = told ? id_unpack(&u) : ID_NONE;
    return unpack_done(&u) && version >= RECORD_VERSION && version <= BATCH_TOLD_VERSION &&
           told == !id_is_none(out->callback_job);
}

void store_record_encode_schedule(const struct store_schedule *s, struct buf *out)
{
    pack_u8(out, s->push.len > 0 ? SCHEDULE_PUSH_VERSION : RECORD_VERSION);
    pack_u8(out, s->enabled ? 1 : 0);
    pack_u8(out, s->priority);
    pack_u32(out, s->max_retries);
    pack_i64(out, s->created_at.ns);
    pack_i64(out, s->updated_at.ns);
    pack_i64(out, s->last_run.ns);
    pack_i64(out, s->next_run.ns);
    pack_text(out, s->name);
    pack_text(out, s->queue);
    pack_text(out, s->cron);
    pack_text(out, s->timezone);
    pack_text(out, s->payload);
    pack_text(out, s->unique_key);
    pack_text(out, s->tags);
    if (s->push.len > 0) {
        pack_text(out, s->push);
    }
}

bool store_record_decode_schedule(struct str value, struct store_schedule *out)
{
    bool push;
    struct unpack u = begin_either(value, SCHEDULE_PUSH_VERSION, &push);
    out->enabled = unpack_bool(&u);
    out->priority = unpack_u8(&u);
    out->max_retries = unpack_u32(&u);
    out->created_at.ns = unpack_i64(&u);
    out->updated_at.ns = unpack_i64(&u);
    out->last_run.ns = unpack_i64(&u);
    out->next_run.ns = unpack_i64(&u);
    out->name = unpack_text(&u);
    out->queue = unpack_text(&u);
    out->cron = unpack_text(&u);
    out->timezone = unpack_text(&u);
    out->payload = unpack_text(&u);
    out->unique_key = unpack_text(&u);
    out->tags = unpack_text(&u);
    out->push = push ? unpack_text(&u) : STR_EMPTY;
    return unpack_done(&u) && push == (out->push.len > 0);
}

void store_record_encode_worker(const struct store_worker *w, struct buf *out)
{
    pack_u8(out, w->version.len > 0 ? WORKER_NAMED_VERSION : RECORD_VERSION);
    pack_i64(out, w->started_at.ns);
    pack_i64(out, w->last_heartbeat.ns);
    pack_text(out, w->hostname);
    pack_text(out, w->queues);
    if (w->version.len > 0) {
        pack_text(out, w->version);
    }
}

bool store_record_decode_worker(struct str value, struct store_worker *out)
{
    bool named;
    struct unpack u = begin_either(value, WORKER_NAMED_VERSION, &named);
    out->started_at.ns = unpack_i64(&u);
    out->last_heartbeat.ns = unpack_i64(&u);
    out->hostname = unpack_text(&u);
    out->queues = unpack_text(&u);
    out->version = named ? unpack_text(&u) : STR_EMPTY;
    return unpack_done(&u) && named == (out->version.len > 0);
}

void store_record_encode_webhook(const struct store_webhook *h, struct buf *out)
{
    pack_u8(out, h->scope.len > 0 ? WEBHOOK_SCOPE_VERSION : RECORD_VERSION);
    pack_u8(out, h->enabled ? 1 : 0);
    pack_u32(out, h->retry_limit);
    pack_i64(out, h->created_at.ns);
    pack_u64(out, h->position);
    pack_u32(out, h->last_status);
    pack_i64(out, h->last_delivery_at.ns);
    pack_text(out, h->ns);
    pack_text(out, h->url);
    pack_text(out, h->events);
    pack_text(out, h->secret);
    pack_text(out, h->last_error);
    if (h->scope.len > 0) {
        pack_text(out, h->scope);
    }
}

bool store_record_decode_webhook(struct str value, struct store_webhook *out)
{
    bool scope;
    struct unpack u = begin_either(value, WEBHOOK_SCOPE_VERSION, &scope);
    out->enabled = unpack_bool(&u);
    out->retry_limit = unpack_u32(&u);
    out->created_at.ns = unpack_i64(&u);
    out->position = unpack_u64(&u);
    out->last_status = unpack_u32(&u);
    out->last_delivery_at.ns = unpack_i64(&u);
    out->ns = unpack_text(&u);
    out->url = unpack_text(&u);
    out->events = unpack_text(&u);
    out->secret = unpack_text(&u);
    out->last_error = unpack_text(&u);
    out->scope = scope ? unpack_text(&u) : STR_EMPTY;
    return unpack_done(&u) && scope == (out->scope.len > 0);
}

void store_record_encode_policy(const struct store_policy *p, struct buf *out)
{
    pack_u8(out, p->ns.len == 0 && !p->all_namespaces ? POLICY_OWN_VERSION : RECORD_VERSION);
    pack_u8(out, p->enabled ? 1 : 0);
    pack_u8(out, p->all ? 1 : 0);
    pack_i64(out, p->created_at.ns);
    pack_text(out, p->ns);
    pack_text(out, p->name);
    pack_text(out, p->queue);
    pack_text(out, p->tag_key);
    pack_text(out, p->tag_value);
}

bool store_record_decode_policy(struct str value, struct store_policy *out)
{
    struct unpack u = unpack_from(value);
    uint8_t version = unpack_u8(&u);
    out->enabled = unpack_bool(&u);
    out->all = unpack_bool(&u);
    out->created_at.ns = unpack_i64(&u);
    out->ns = unpack_text(&u);
    out->name = unpack_text(&u);
    out->queue = unpack_text(&u);
    out->tag_key = unpack_text(&u);
    out->tag_value = unpack_text(&u);
    out->all_namespaces = version == RECORD_VERSION && out->ns.len == 0;
    return unpack_done(&u) &&
           (version == RECORD_VERSION || (version == POLICY_OWN_VERSION && out->ns.len == 0));
}

/* Bulk operations with steps that did not complete their list, operations on a queue, those of a
 * key with a scope, and those whose filter has conditions (core/job_fit.h). */
enum {
    BULK_PARTS_VERSION = 2,
    BULK_QUEUE_VERSION = 3,
    BULK_SCOPE_VERSION = 4,
    BULK_FIT_VERSION = 5, /* with or without a scope */
};

static uint8_t bulk_version(const struct store_bulk *b)
{
    return store_bulk_is_queue(b)     ? BULK_QUEUE_VERSION
           : !job_fit_is_any(&b->fit) ? BULK_FIT_VERSION
           : b->scope.len > 0         ? BULK_SCOPE_VERSION
           : b->parts > 0             ? BULK_PARTS_VERSION
                                      : RECORD_VERSION;
}

void store_record_encode_bulk(const struct store_bulk *b, struct buf *out)
{
    uint8_t version = bulk_version(b);
    pack_u8(out, version);
    pack_u8(out, (uint8_t)b->status);
    pack_u8(out, b->action);
    pack_u8(out, b->reset_attempts ? 1 : 0);
    pack_u8(out, b->priority);
    pack_u32(out, b->lists);
    pack_u32(out, b->steps);
    pack_u64(out, b->total);
    pack_u64(out, b->processed);
    pack_u64(out, b->affected);
    pack_u64(out, b->errors);
    buf_add(out, b->cursor.b, ID_BYTES);
    pack_i64(out, b->created_at.ns);
    pack_i64(out, b->updated_at.ns);
    pack_i64(out, b->finished_at.ns);
    pack_text(out, b->ns);
    pack_text(out, b->queue);
    pack_text(out, b->reason);
    pack_text(out, b->filter);
    pack_text(out, b->error);
    if (version == BULK_QUEUE_VERSION) {
        buf_add(out, b->until.b, ID_BYTES);
        pack_u8(out, b->in_done ? 1 : 0);
    } else if (version != RECORD_VERSION) {
        pack_u32(out, b->parts);
    }
    if (version >= BULK_SCOPE_VERSION) {
        pack_text(out, b->scope);
    }
    if (version == BULK_FIT_VERSION) {
        job_fit_pack(&b->fit, out);
    }
}

bool store_record_decode_bulk(struct str value, struct store_bulk *out)
{
    struct unpack u = unpack_from(value);
    uint8_t version = unpack_u8(&u);
    uint8_t status = unpack_u8(&u);
    out->status = (enum store_bulk_status)status;
    out->action = unpack_u8(&u);
    out->reset_attempts = unpack_bool(&u);
    out->priority = unpack_u8(&u);
    out->lists = unpack_u32(&u);
    out->steps = unpack_u32(&u);
    out->total = unpack_u64(&u);
    out->processed = unpack_u64(&u);
    out->affected = unpack_u64(&u);
    out->errors = unpack_u64(&u);
    struct str cursor = unpack_bytes(&u, ID_BYTES);
    out->created_at.ns = unpack_i64(&u);
    out->updated_at.ns = unpack_i64(&u);
    out->finished_at.ns = unpack_i64(&u);
    out->ns = unpack_text(&u);
    out->queue = unpack_text(&u);
    out->reason = unpack_text(&u);
    out->filter = unpack_text(&u);
    out->error = unpack_text(&u);
    bool queue = version == BULK_QUEUE_VERSION;
    bool scope = version >= BULK_SCOPE_VERSION;
    out->parts = scope || version == BULK_PARTS_VERSION ? unpack_u32(&u) : 0;
    out->scope = scope ? unpack_text(&u) : STR_EMPTY;
    out->fit = version == BULK_FIT_VERSION ? job_fit_unpack(&u) : (struct job_fit){0};
    out->until = queue ? id_unpack(&u) : ID_NONE;
    out->in_done = queue && unpack_bool(&u);
    if (!unpack_done(&u) || status < STORE_BULK_QUEUED || status > STORE_BULK_CANCELLED ||
        queue != store_bulk_is_queue(out) || version < RECORD_VERSION ||
        version > BULK_FIT_VERSION || out->parts > out->steps ||
        (version == BULK_PARTS_VERSION && out->parts == 0) ||
        (version == BULK_SCOPE_VERSION && out->scope.len == 0)) {
        return false;
    }
    memcpy(out->cursor.b, cursor.ptr, ID_BYTES);
    return true;
}

struct str store_record_lock_key(struct str queue, struct str unique_key, struct buf *out)
{
    buf_clear(out);
    buf_add_str(out, queue);
    buf_add_char(out, '\0');
    buf_add_str(out, unique_key);
    CHECK(!out->overflow);
    return buf_str(out);
}

void store_record_bulk_key(struct id id, uint32_t part, char out[STORE_BULK_KEY_BYTES])
{
    memcpy(out, id.b, ID_BYTES);
    for (unsigned i = 0; i < 4; i++) {
        out[ID_BYTES + i] = (char)(uint8_t)(part >> (24 - 8 * i));
    }
}
