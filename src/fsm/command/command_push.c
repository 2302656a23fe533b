#include "fsm/command/command_push.h"

#include "base/check.h"
#include "base/limits.h"
#include "base/pack.h"
#include "fsm/command/command.h"
#include "fsm/command/push_target.h"
#include "json/json_scan.h"
#include "store/store_job.h"

enum { LINE_BYTES_MIN = 4, END_BYTES_MIN = ID_BYTES + 50 };

/* Read a count of items of at least min bytes each, and allocate zeroed memory for them. NULL, and
 * u is bad, if the remaining bytes cannot hold that many or the arena is full. */
static void *take(struct unpack *u, struct arena *a, size_t min, size_t size, size_t *out_count)
{
    uint64_t n = unpack_varint(u);
    void *room = n > unpack_left(u) / min
                     ? NULL
                     : arena_alloc(a, ((size_t)n + 1) * size, _Alignof(max_align_t));
    u->bad |= room == NULL;
    *out_count = room == NULL ? 0 : (size_t)n;
    if (room != NULL) {
        memset(room, 0, ((size_t)n + 1) * size);
    }
    return room;
}

void command_push__encode_claim(const struct command *c, struct buf *out)
{
    const struct command_push_claim *p = &c->push_claim;
    pack_text(out, p->node);
    pack_i64(out, p->lease_ms);
    pack_varint(out, p->count);
    for (size_t i = 0; i < p->count; i++) {
        pack_text(out, p->lines[i].queue);
        pack_text(out, p->lines[i].host);
        pack_u8(out, p->lines[i].priority);
        pack_varint(out, p->lines[i].count);
    }
}

void command_push__decode_claim(struct unpack *u, struct arena *a, struct command *c)
{
    struct command_push_claim *p = &c->push_claim;
    p->node = unpack_text(u);
    p->lease_ms = unpack_i64(u);
    p->lines = take(u, a, LINE_BYTES_MIN, sizeof *p->lines, &p->count);
    for (size_t i = 0; i < p->count && !u->bad; i++) {
        p->lines[i].queue = unpack_text(u);
        p->lines[i].host = unpack_text(u);
        p->lines[i].priority = unpack_u8(u);
        p->lines[i].count = (uint32_t)unpack_varint(u);
    }
}

void command_push__encode_finish(const struct command *c, struct buf *out)
{
    pack_i64(out, c->push_finish.keep_ms);
    pack_varint(out, c->push_finish.count);
    for (size_t i = 0; i < c->push_finish.count; i++) {
        const struct command_push_end *it = &c->push_finish.items[i];
        buf_add(out, it->id.b, ID_BYTES);
        pack_varint(out, it->lease_token);
        pack_u8(out, (uint8_t)it->outcome);
        pack_u8(out, (uint8_t)it->error_type);
        pack_u32(out, it->http_status);
        pack_u32(out, it->answer_ms);
        pack_i64(out, it->started_at.ns);
        pack_i64(out, it->ended_at.ns);
        pack_i64(out, it->retry_after_ms);
        pack_i64(out, it->next.ns);
        pack_text(out, it->error);
        pack_text(out, it->result);
    }
}

void command_push__decode_finish(struct unpack *u, struct arena *a, struct command *c)
{
    struct command_push_finish *f = &c->push_finish;
    f->keep_ms = unpack_i64(u);
    f->items = take(u, a, END_BYTES_MIN - 5, sizeof *f->items, &f->count);
    for (size_t i = 0; i < f->count && !u->bad; i++) {
        struct command_push_end *it = &f->items[i];
        it->id = id_unpack(u);
        it->lease_token = unpack_varint(u);
        uint8_t outcome = unpack_u8(u);
        uint8_t error_type = unpack_u8(u);
        it->outcome = (enum job_outcome)outcome;
        it->error_type = (enum store_try_error)error_type;
        it->http_status = unpack_u32(u);
        it->answer_ms = unpack_u32(u);
        it->started_at.ns = unpack_i64(u);
        it->ended_at.ns = unpack_i64(u);
        it->retry_after_ms = unpack_i64(u);
        it->next.ns = unpack_i64(u);
        it->error = unpack_text(u);
        it->result = unpack_text(u);
        u->bad |= outcome >= JOB_OUTCOME_COUNT || error_type >= STORE_TRY_ERROR_COUNT;
    }
}

void command_push__encode_put(const struct command *c, struct buf *out)
{
    const struct command_named_put *p = &c->named_put;
    pack_u64(out, p->bytes_max);
    pack_u64(out, p->count_max);
    store_job_encode(&p->job->job, out);
}

_Static_assert(offsetof(struct command_new, job) == 0, "nothing stands before the job");

void command_push__decode_put(struct unpack *u, struct arena *a, struct command *c)
{
    struct command_named_put *p = &c->named_put;
    ATTR_UNINITIALIZED struct err ignored;
    p->bytes_max = unpack_u64(u);
    p->count_max = unpack_u64(u);
    struct str doc = unpack_bytes(u, unpack_left(u));
    p->job = ARENA_NEW(a, struct command_new);
    if (p->job == NULL) {
        u->bad = true;
        return;
    }
    /* Decoding sets the whole job. A named job uses none of the members after it. */
    memset((char *)p->job + sizeof p->job->job, 0, sizeof *p->job - sizeof p->job->job);
    u->bad |= store_job_decode_whole(ID_NONE, doc, &p->job->job, &ignored) != ERR_OK ||
              (c->version >= COMMAND_PUSH_GIVES_NAME && p->job->job.name.len > 0);
}

void command_push__encode_purge(const struct command *c, struct buf *out)
{
    pack_i64(out, c->named_purge.retention_ms);
    buf_add(out, c->named_purge.cursor.b, ID_BYTES);
}

void command_push__decode_purge(struct unpack *u, struct arena *a, struct command *c)
{
    (void)a;
    c->named_purge.retention_ms = unpack_i64(u);
    c->named_purge.cursor = id_unpack(u);
}

/* Checks */

static enum err_code read_target(struct str json, struct err *err)
{
    struct push_target t;
    struct arena *a = arena_new(2 * (size_t)LIMIT_PUSH_BYTES);
    enum err_code code = push_target_read(json, a, &t, err);
    arena_free(a);
    return code;
}

enum err_code command_push__check_target(struct str json, bool is_target, struct err *err)
{
    if (json.len == 0) {
        return ERR_OK;
    }
    if (json.len > LIMIT_PUSH_BYTES) {
        return err_set(err, ERR_FIELD_TOO_LARGE, "push too large: %zu bytes (max %d)", json.len,
                       LIMIT_PUSH_BYTES);
    }
    if (is_target) {
        DCHECK(read_target(json, err) == ERR_OK);
        return ERR_OK;
    }
    return read_target(json, err);
}

enum err_code command_push__check_claim(const struct command *c,
                                        const struct command_limits *limits, struct err *err)
{
    (void)limits;
    if (c->push_claim.count > LIMIT_PUSH_LINES || c->push_claim.lease_ms < 1 ||
        c->push_claim.node.len > LIMIT_WORKER_ID_BYTES) {
        return err_set(err, ERR_VALIDATION, "the claim of deliveries is not valid");
    }
    uint64_t jobs = 0;
    for (size_t i = 0; i < c->push_claim.count; i++) {
        jobs += c->push_claim.lines[i].count;
    }
    return jobs > LIMIT_CLAIM_COUNT
               ? err_set(err, ERR_VALIDATION, "a claim has more than %d deliveries",
                         LIMIT_CLAIM_COUNT)
               : ERR_OK;
}

enum err_code command_push__check_finish(const struct command *c,
                                         const struct command_limits *limits, struct err *err)
{
    (void)limits;
    for (size_t i = 0; i < c->push_finish.count; i++) {
        const struct command_push_end *it = &c->push_finish.items[i];
        if (!str_is_utf8(it->error) || it->error.len > LIMIT_ERROR_BYTES ||
            it->result.len > LIMIT_RESULT_BYTES ||
            (it->result.len > 0 && json_scan_check(it->result, err) != ERR_OK)) {
            return err_set(err, ERR_VALIDATION, "the result of a delivery is not valid");
        }
    }
    return ERR_OK;
}

enum err_code command_push__check_put(const struct command *c, const struct command_limits *limits,
                                      struct err *err)
{
    const struct command_new *new = c->named_put.job;
    const struct job *j = &new->job;
    (void)limits;
    if (j->name.len > LIMIT_JOB_NAME_BYTES || !str_is_utf8(j->name)) {
        return err_set(err, ERR_VALIDATION, "id: expected at most %d bytes of UTF-8",
                       LIMIT_JOB_NAME_BYTES);
    }
    if (j->queue.len == 0 || j->queue.len > LIMIT_INTERNAL_NAME_BYTES ||
        memchr(j->queue.ptr, '\0', j->queue.len) != NULL || j->push.len == 0 ||
        j->cron.len > LIMIT_CRON_BYTES || j->counted_bytes == 0) {
        return err_set(err, ERR_VALIDATION, "the named job is not valid");
    }
    DCHECK(!new->payload_is_json || json_scan_check(j->payload, err) == ERR_OK);
    if (j->payload.len > LIMIT_OP_BYTES ||
        (!new->payload_is_json &&json_scan_check(j->payload, err) != ERR_OK)) {
        return err_set(err, ERR_VALIDATION, "payload: expected JSON");
    }
    return command_push__check_target(j->push, new->push_is_target, err);
}
