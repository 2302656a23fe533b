#include "fsm/command/command.h"

#include <assert.h>

#include "base/check.h"
#include "base/pack.h"
#include "fsm/command/command_kinds.h"
#include "fsm/command/command_take.h"
#include "store/store_job.h"

enum { NEW_STARTS_CHAIN = 1 };

/* Small parts that several commands share. */

static void pack_id(struct buf *out, struct id id)
{
    buf_add(out, id.b, ID_BYTES);
}

static void pack_tokens(struct buf *out, const struct store_tokens *t)
{
    bool any = store_rows_tokens_any(t);
    pack_bool(out, any);
    if (any) {
        store_rows_encode_tokens(t, out);
    }
}

static struct store_tokens unpack_tokens(struct unpack *u)
{
    struct store_tokens t = {0};
    if (unpack_bool(u)) {
        store_rows_decode_tokens(u, &t);
        if (!store_rows_tokens_any(&t)) {
            u->bad = true;
        }
    }
    return t;
}

static void pack_owner(struct buf *out, const struct store_owner *o)
{
    pack_text(out, o->ns);
    pack_text(out, o->scope);
}

static struct store_owner unpack_owner(struct unpack *u)
{
    struct store_owner o = {.known = true, .ns = unpack_text(u)};
    o.scope = unpack_text(u);
    return o;
}

/* Enqueue. A template is encoded as a job document. */

static void encode_enqueue(const struct command *c, struct buf *out)
{
    const struct command_enqueue *e = &c->enqueue;
    pack_text(out, e->idempotency_key);
    if (command_kinds_version(c) >= 2 && e->idempotency_key.len > 0) {
        pack_u64(out, e->body_hash);
    }
    pack_bool(out, e->has_batch);
    if (e->has_batch) {
        pack_text(out, e->callback_queue);
        pack_text(out, e->callback_payload);
    }
    if (command_kinds_version(c) >= ENQUEUE_WITH_OWNER) {
        CHECK(e->has_batch);
        pack_owner(out, &e->owner);
    }
    pack_varint(out, e->count);
    for (size_t i = 0; i < e->count; i++) {
        pack_u8(out, e->jobs[i].starts_chain ? NEW_STARTS_CHAIN : 0);
        pack_i64(out, e->jobs[i].expire_after_ms);
        size_t len_at = out->len;
        pack_u32(out, 0);
        store_job_encode(&e->jobs[i].job, out);
        if (!out->overflow) {
            uint32_t len = htole32((uint32_t)(out->len - len_at - sizeof len));
            memcpy(out->ptr + len_at, &len, sizeof len);
        }
    }
}

/* Sets all of *out, unless u becomes bad. */
static void decode_new(struct unpack *u, struct command_new *out)
{
    struct err ignored;
    out->starts_chain = unpack_choice(u, NEW_STARTS_CHAIN) != 0;
    out->expire_after_ms = unpack_i64(u);
    out->payload_is_json = out->push_is_target = false;
    struct str doc = unpack_bytes(u, unpack_u32(u));
    u->bad |= store_job_decode_whole(ID_NONE, doc, &out->job, &ignored) != ERR_OK ||
              out->job.waits_for.len % ID_BYTES != 0 || out->expire_after_ms < 0;
}

static void decode_enqueue(struct unpack *u, struct arena *a, struct command *c)
{
    struct command_enqueue *e = &c->enqueue;
    e->idempotency_key = unpack_text(u);
    e->body_hash = c->version >= 2 && e->idempotency_key.len > 0 ? unpack_u64(u) : 0;
    e->has_batch = unpack_bool(u);
    if (e->has_batch) {
        e->callback_queue = unpack_text(u);
        e->callback_payload = unpack_text(u);
    }
    if (c->version >= ENQUEUE_WITH_OWNER) {
        e->owner = unpack_owner(u);
        u->bad |= !e->has_batch;
    }
    e->count = command_take_count(u, 13);
    e->jobs = command_take_room(u, a, e->count, sizeof *e->jobs);
    for (size_t i = 0; i < e->count && !u->bad; i++) {
        decode_new(u, &e->jobs[i]);
    }
}

static void pack_claim(struct buf *out, const struct command_claim *cl)
{
    pack_text(out, cl->worker_id);
    pack_text(out, cl->hostname);
    pack_i64(out, cl->lease_ms);
    pack_u32(out, cl->count);
    pack_varint(out, cl->queue_count);
    for (size_t i = 0; i < cl->queue_count; i++) {
        pack_text(out, cl->queues[i]);
    }
}

static void encode_claim(const struct command *c, struct buf *out)
{
    pack_claim(out, &c->claim);
    if (command_kinds_version(c) >= 2) {
        pack_text(out, c->claim.ns);
    }
    if (command_kinds_version(c) >= CLAIM_WITH_VERSION) {
        pack_text(out, c->claim.version);
    }
}

static void unpack_claim(struct unpack *u, struct arena *a, struct command_claim *cl)
{
    cl->worker_id = unpack_text(u);
    cl->hostname = unpack_text(u);
    cl->lease_ms = unpack_i64(u);
    cl->count = unpack_u32(u);
    cl->queue_count = command_take_count(u, 1);
    cl->queues = command_take_array(u, a, cl->queue_count, sizeof *cl->queues);
    for (size_t i = 0; i < cl->queue_count && !u->bad; i++) {
        cl->queues[i] = unpack_text(u);
    }
}

static void decode_claim(struct unpack *u, struct arena *a, struct command *c)
{
    unpack_claim(u, a, &c->claim);
    c->claim.ns = c->version >= 2 ? unpack_text(u) : STR_EMPTY;
    c->claim.version = c->version >= CLAIM_WITH_VERSION ? unpack_text(u) : STR_EMPTY;
    u->bad |= c->version == CLAIM_WITH_VERSION && c->claim.version.len == 0;
    c->claim.no_hold = c->version >= CLAIM_NO_HOLD;
}

/* Read the flags and what follows them. A next is encoded as a claim of version 2, even if claims
 * have newer versions. */
static void unpack_flags(struct unpack *u, struct arena *a, struct command_ack *ack)
{
    unsigned flags = unpack_choice(u, ACK_FLAGS);
    if (flags == 0) {
        u->bad = true;
    }
    ack->any_cost = (flags & ACK_FLAG_ANY_COST) != 0;
    if ((flags & ACK_FLAG_NEXT) == 0) {
        return;
    }
    struct command_claim *next = command_take_array(u, a, 1, sizeof *next);
    if (next != NULL) {
        unpack_claim(u, a, next);
        next->ns = unpack_text(u);
        ack->next = next;
    }
}

static void encode_ack(const struct command *c, struct buf *out)
{
    CHECK(c->ack.lenient || c->ack.count == 1 || (c->ack.count == 0 && c->ack.next != NULL));
    pack_bool(out, c->ack.lenient);
    pack_varint(out, c->ack.count);
    for (size_t i = 0; i < c->ack.count; i++) {
        const struct command_ack_item *it = &c->ack.items[i];
        pack_id(out, it->id);
        pack_varint(out, it->lease_token);
        pack_u8(out, (uint8_t)it->agent_status);
        pack_u8(out, (uint8_t)it->step_status);
        pack_bool(out, it->has_result);
        if (it->has_result) {
            pack_text(out, it->result);
        }
        pack_text(out, it->checkpoint);
        pack_text(out, it->hold_reason);
        pack_text(out, it->exit_reason);
        pack_tokens(out, &it->usage);
    }
    if (command_kinds_version(c) >= ACK_WITH_FLAGS) {
        CHECK(command_kinds_ack_flags(&c->ack) != 0);
        pack_u8(out, (uint8_t)command_kinds_ack_flags(&c->ack));
    }
    if (command_kinds_version(c) >= ACK_WITH_FLAGS && c->ack.next != NULL) {
        pack_claim(out, c->ack.next);
        pack_text(out, c->ack.next->ns);
    }
}

static void decode_ack(struct unpack *u, struct arena *a, struct command *c)
{
    c->ack.lenient = unpack_bool(u);
    c->ack.count = command_take_count(u, ID_BYTES + 8);
    c->ack.items = command_take_array(u, a, c->ack.count, sizeof *c->ack.items);
    for (size_t i = 0; i < c->ack.count && !u->bad; i++) {
        struct command_ack_item *it = &c->ack.items[i];
        it->id = id_unpack(u);
        it->lease_token = unpack_varint(u);
        it->agent_status = (enum command_agent_status)unpack_choice(u, COMMAND_AGENT_HOLD_ANY);
        it->step_status = (enum command_step_status)unpack_choice(u, COMMAND_STEP_EXIT);
        it->has_result = unpack_bool(u);
        it->result = it->has_result ? unpack_text(u) : STR_EMPTY;
        it->checkpoint = unpack_text(u);
        it->hold_reason = unpack_text(u);
        it->exit_reason = unpack_text(u);
        it->usage = unpack_tokens(u);
    }
    if (c->version >= ACK_WITH_FLAGS) {
        unpack_flags(u, a, &c->ack);
    }
    if (!c->ack.lenient && c->ack.count != 1 && (c->ack.count != 0 || c->ack.next == NULL)) {
        u->bad = true;
    }
}

static void encode_fail(const struct command *c, struct buf *out)
{
    pack_id(out, c->fail.id);
    pack_varint(out, c->fail.lease_token);
    pack_text(out, c->fail.error);
    pack_text(out, c->fail.backtrace);
}

static void decode_fail(struct unpack *u, struct arena *a, struct command *c)
{
    (void)a;
    c->fail.id = id_unpack(u);
    c->fail.lease_token = unpack_varint(u);
    c->fail.error = unpack_text(u);
    c->fail.backtrace = unpack_text(u);
}

static void encode_heartbeat(const struct command *c, struct buf *out)
{
    pack_varint(out, c->heartbeat.count);
    for (size_t i = 0; i < c->heartbeat.count; i++) {
        const struct command_heartbeat_item *it = &c->heartbeat.items[i];
        pack_id(out, it->id);
        pack_varint(out, it->lease_token);
        pack_text(out, it->progress);
        pack_text(out, it->checkpoint);
        pack_tokens(out, &it->usage);
    }
    if (command_kinds_version(c) >= 2) {
        pack_text(out, c->heartbeat.ns);
    }
}

static void decode_heartbeat(struct unpack *u, struct arena *a, struct command *c)
{
    c->heartbeat.count = command_take_count(u, ID_BYTES + 4);
    c->heartbeat.items = command_take_array(u, a, c->heartbeat.count, sizeof *c->heartbeat.items);
    for (size_t i = 0; i < c->heartbeat.count && !u->bad; i++) {
        struct command_heartbeat_item *it = &c->heartbeat.items[i];
        it->id = id_unpack(u);
        it->lease_token = unpack_varint(u);
        it->progress = unpack_text(u);
        it->checkpoint = unpack_text(u);
        it->usage = unpack_tokens(u);
    }
    c->heartbeat.ns = c->version >= 2 ? unpack_text(u) : STR_EMPTY;
}

static void pack_ids(struct buf *out, const struct id *ids, size_t count)
{
    pack_varint(out, count);
    for (size_t i = 0; i < count; i++) {
        pack_id(out, ids[i]);
    }
}

static struct id *unpack_ids(struct unpack *u, struct arena *a, size_t *out_count)
{
    *out_count = command_take_count(u, ID_BYTES);
    struct id *ids = command_take_array(u, a, *out_count, sizeof *ids);
    for (size_t i = 0; i < *out_count && !u->bad; i++) {
        ids[i] = id_unpack(u);
    }
    return ids;
}

static void encode_jobs(const struct command *c, struct buf *out)
{
    const struct command_jobs *j = &c->jobs;
    CHECK(j->lenient || j->count == 1);
    pack_u8(out, (uint8_t)j->action);
    pack_bool(out, j->lenient);
    pack_bool(out, j->reset_attempts);
    pack_u8(out, j->priority);
    pack_text(out, j->queue);
    pack_text(out, j->reason);
    pack_ids(out, j->ids, j->count);
    if (command_kinds_version(c) >= JOBS_WITH_FIT) {
        CHECK(j->lenient);
        job_fit_pack(&j->fit, out);
    }
}

static void decode_jobs(struct unpack *u, struct arena *a, struct command *c)
{
    struct command_jobs *j = &c->jobs;
    j->action = (enum command_job_action)unpack_choice(u, COMMAND_JOB_ACTION_LAST);
    j->lenient = unpack_bool(u);
    j->reset_attempts = unpack_bool(u);
    j->priority = unpack_u8(u);
    j->queue = unpack_text(u);
    j->reason = unpack_text(u);
    j->ids = unpack_ids(u, a, &j->count);
    if (c->version >= JOBS_WITH_FIT) {
        j->fit = job_fit_unpack(u);
        u->bad |= !j->lenient;
    }
    if (j->action < COMMAND_JOB_RETRY || (!j->lenient && j->count != 1)) {
        u->bad = true;
    }
}

static void encode_once(const struct command *c, const struct command_once *once, struct buf *out)
{
    if (command_kinds_version(c) >= ONCE_WITH_KEY) {
        pack_text(out, once->key);
        pack_u64(out, once->hash);
    }
}

static void decode_once(struct unpack *u, const struct command *c, struct command_once *out)
{
    if (c->version >= ONCE_WITH_KEY) {
        out->key = unpack_text(u);
        out->hash = unpack_u64(u);
    }
}

static void encode_replay(const struct command *c, struct buf *out)
{
    pack_id(out, c->replay.id);
    pack_i64(out, c->replay.from);
    encode_once(c, &c->replay.once, out);
}

static void decode_replay(struct unpack *u, struct arena *a, struct command *c)
{
    (void)a;
    c->replay.id = id_unpack(u);
    c->replay.from = unpack_i64(u);
    decode_once(u, c, &c->replay.once);
}

static void encode_queue(const struct command *c, struct buf *out)
{
    command_queue__encode(&c->queue, out);
}

static void decode_queue(struct unpack *u, struct arena *a, struct command *c)
{
    (void)a;
    command_queue__decode(u, &c->queue);
}

static void encode_nothing(const struct command *c, struct buf *out)
{
    (void)c;
    (void)out;
}

static void decode_nothing(struct unpack *u, struct arena *a, struct command *c)
{
    (void)u;
    (void)a;
    (void)c;
}

static void encode_purge(const struct command *c, struct buf *out)
{
    pack_i64(out, c->purge.retention_ms);
}

static void decode_purge(struct unpack *u, struct arena *a, struct command *c)
{
    (void)a;
    c->purge.retention_ms = unpack_i64(u);
}

static void encode_batch_open(const struct command *c, struct buf *out)
{
    pack_text(out, c->batch_open.callback_queue);
    pack_text(out, c->batch_open.callback_payload);
    encode_once(c, &c->batch_open.once, out);
    if (command_kinds_version(c) >= BATCH_OPEN_WITH_OWNER) {
        pack_owner(out, &c->batch_open.owner);
    }
}

static void decode_batch_open(struct unpack *u, struct arena *a, struct command *c)
{
    (void)a;
    c->batch_open.callback_queue = unpack_text(u);
    c->batch_open.callback_payload = unpack_text(u);
    decode_once(u, c, &c->batch_open.once);
    if (c->version >= BATCH_OPEN_WITH_OWNER) {
        c->batch_open.owner = unpack_owner(u);
    }
}

static void encode_batch_seal(const struct command *c, struct buf *out)
{
    pack_id(out, c->batch_seal.id);
}

static void decode_batch_seal(struct unpack *u, struct arena *a, struct command *c)
{
    (void)a;
    c->batch_seal.id = id_unpack(u);
}

static void encode_bulk_put(const struct command *c, struct buf *out)
{
    const struct command_bulk_put *b = &c->bulk_put;
    pack_u8(out, (uint8_t)b->action);
    pack_bool(out, b->reset_attempts);
    pack_u8(out, b->priority);
    pack_text(out, b->queue);
    pack_text(out, b->reason);
    pack_text(out, b->ns);
    pack_text(out, b->filter);
    pack_u64(out, b->total);
    pack_u64(out, b->errors);
    pack_ids(out, b->ids, b->count);
    if (command_kinds_version(c) >= BULK_WITH_SCOPE) {
        pack_text(out, b->scope);
    }
    if (command_kinds_version(c) >= BULK_WITH_FIT) {
        job_fit_pack(&b->fit, out);
    }
}

static void decode_bulk_put(struct unpack *u, struct arena *a, struct command *c)
{
    struct command_bulk_put *b = &c->bulk_put;
    b->action = (enum command_job_action)unpack_choice(u, COMMAND_JOB_ACTION_LAST);
    b->reset_attempts = unpack_bool(u);
    b->priority = unpack_u8(u);
    b->queue = unpack_text(u);
    b->reason = unpack_text(u);
    b->ns = unpack_text(u);
    b->filter = unpack_text(u);
    b->total = unpack_u64(u);
    b->errors = unpack_u64(u);
    b->ids = unpack_ids(u, a, &b->count);
    b->scope = c->version >= BULK_WITH_SCOPE ? unpack_text(u) : STR_EMPTY;
    if (c->version >= BULK_WITH_FIT) {
        b->fit = job_fit_unpack(u);
    }
    if (b->action < COMMAND_JOB_RETRY) {
        u->bad = true;
    }
}

static void encode_bulk_step(const struct command *c, struct buf *out)
{
    const struct command_bulk_step *b = &c->bulk_step;
    pack_id(out, b->id);
    pack_u32(out, b->step);
    pack_bool(out, b->last);
    pack_id(out, b->cursor);
    pack_ids(out, b->ids, b->count);
}

static void decode_bulk_step(struct unpack *u, struct arena *a, struct command *c)
{
    struct command_bulk_step *b = &c->bulk_step;
    b->id = id_unpack(u);
    b->step = unpack_u32(u);
    b->last = unpack_bool(u);
    b->cursor = id_unpack(u);
    b->ids = unpack_ids(u, a, &b->count);
}

static void encode_bulk_end(const struct command *c, struct buf *out)
{
    pack_id(out, c->bulk_end.id);
    pack_bool(out, c->bulk_end.cancelled);
    pack_text(out, c->bulk_end.error);
}

static void decode_bulk_end(struct unpack *u, struct arena *a, struct command *c)
{
    (void)a;
    c->bulk_end.id = id_unpack(u);
    c->bulk_end.cancelled = unpack_bool(u);
    c->bulk_end.error = unpack_text(u);
}

static void encode_bulk_queue(const struct command *c, struct buf *out)
{
    command_queue__encode_bulk(&c->bulk_queue, out);
}

static void decode_bulk_queue(struct unpack *u, struct arena *a, struct command *c)
{
    (void)a;
    command_queue__decode_bulk(u, &c->bulk_queue);
}

static void encode_restore(const struct command *c, struct buf *out)
{
    command_restore__encode(&c->restore, out);
}

static void decode_restore(struct unpack *u, struct arena *a, struct command *c)
{
    command_restore__decode(u, a, &c->restore);
}

static const struct {
    void (*encode)(const struct command *c, struct buf *out);
    void (*decode)(struct unpack *u, struct arena *a, struct command *c);
} codecs[] = {
    [COMMAND_ENQUEUE] = {encode_enqueue, decode_enqueue},
    [COMMAND_CLAIM] = {encode_claim, decode_claim},
    [COMMAND_ACK] = {encode_ack, decode_ack},
    [COMMAND_FAIL] = {encode_fail, decode_fail},
    [COMMAND_HEARTBEAT] = {encode_heartbeat, decode_heartbeat},
    [COMMAND_JOBS] = {encode_jobs, decode_jobs},
    [COMMAND_REPLAY] = {encode_replay, decode_replay},
    [COMMAND_QUEUE] = {encode_queue, decode_queue},
    [COMMAND_TICK] = {encode_nothing, decode_nothing},
    [COMMAND_PURGE] = {encode_purge, decode_purge},
    [COMMAND_BATCH_OPEN] = {encode_batch_open, decode_batch_open},
    [COMMAND_BATCH_SEAL] = {encode_batch_seal, decode_batch_seal},
    [COMMAND_SCHEDULE_PUT] = {command_schedule__encode_put, command_schedule__decode_put},
    [COMMAND_SCHEDULE_DELETE] = {command_schedule__encode_delete, command_schedule__decode_delete},
    [COMMAND_SCHEDULE_FIRE] = {command_schedule__encode_fire, command_schedule__decode_fire},
    [COMMAND_WEBHOOK_PUT] = {command_webhook__encode_put, command_webhook__decode_put},
    [COMMAND_WEBHOOK_DELETE] = {command_webhook__encode_delete, command_webhook__decode_delete},
    [COMMAND_WEBHOOK_MARK] = {command_webhook__encode_mark, command_webhook__decode_mark},
    [COMMAND_BULK_PUT] = {encode_bulk_put, decode_bulk_put},
    [COMMAND_BULK_STEP] = {encode_bulk_step, decode_bulk_step},
    [COMMAND_BULK_END] = {encode_bulk_end, decode_bulk_end},
    [COMMAND_BULK_QUEUE] = {encode_bulk_queue, decode_bulk_queue},
    [COMMAND_RESTORE] = {encode_restore, decode_restore},
    [COMMAND_POLICY_PUT] = {command_policy__encode_put, command_policy__decode_put},
    [COMMAND_POLICY_DELETE] = {command_policy__encode_delete, command_policy__decode_delete},
    [COMMAND_RETURN] = {command_return__encode, command_return__decode},
    [COMMAND_ACCESS] = {command_access__encode, command_access__decode},
    [COMMAND_AUDIT] = {command_access__encode_audit, command_access__decode_audit},
    [COMMAND_PUSH_CLAIM] = {command_push__encode_claim, command_push__decode_claim},
    [COMMAND_PUSH_FINISH] = {command_push__encode_finish, command_push__decode_finish},
    [COMMAND_NAMED_PUT] = {command_push__encode_put, command_push__decode_put},
    [COMMAND_NAMED_PURGE] = {command_push__encode_purge, command_push__decode_purge},
    [COMMAND_NODE_PUT] = {command_node__encode_put, command_node__decode_put},
    [COMMAND_NODE_STATE] = {command_node__encode_state, command_node__decode_state},
};
static_assert(COUNT_OF(codecs) == COMMAND_TYPE_LAST + 1, "every command has a codec");

void command_encode(const struct command *c, struct buf *out)
{
    CHECK(command_exists(c->type));
    pack_u8(out, (uint8_t)c->type);
    pack_u8(out, command_kinds_version(c));
    codecs[c->type].encode(c, out);
}

enum err_code command_decode(struct str bytes, struct arena *a, struct command *out,
                             struct err *err)
{
    struct unpack u = unpack_from(bytes);
    uint8_t type = unpack_u8(&u);
    uint8_t version = unpack_u8(&u);
    if (u.bad || !command_exists(type)) {
        return err_set(err, ERR_CORRUPT, "command number %u is not known to this version", type);
    }
    if (version == 0 || version > command_newest((enum command_type)type)) {
        return err_set(err, ERR_CORRUPT, "version %u of command %s is not known to this version",
                       version, command_word((enum command_type)type));
    }
    *out = (struct command){.type = (enum command_type)type, .version = version};
    codecs[type].decode(&u, a, out);
    if (!unpack_done(&u)) {
        return err_set(err, ERR_CORRUPT, "a command %s of %zu bytes is damaged",
                       command_word((enum command_type)type), bytes.len);
    }
    return ERR_OK;
}
