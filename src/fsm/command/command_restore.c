#include "fsm/command/command_restore.h"

#include "base/pack.h"
#include "store/store_job.h"

/* Encode the content of an item: its stored form. The caller writes the length before it. */
static void encode_content(const struct command_restore_item *it, struct buf *out)
{
    switch (it->kind) {
    case COMMAND_RESTORE_QUEUE:
        store_record_encode_queue(&it->queue, out);
        break;
    case COMMAND_RESTORE_SCHEDULE:
        store_record_encode_schedule(&it->schedule, out);
        break;
    case COMMAND_RESTORE_BATCH:
        store_record_encode_batch(&it->batch, out);
        break;
    case COMMAND_RESTORE_JOB:
        store_job_encode(&it->job, out);
        break;
    case COMMAND_RESTORE_ERROR:
        store_rows_encode_error(&it->error, out);
        break;
    case COMMAND_RESTORE_ITERATION:
        store_rows_encode_iteration(&it->iteration, out);
        break;
    case COMMAND_RESTORE_USAGE:
        store_rows_encode_usage(&it->usage, out);
        break;
    case COMMAND_RESTORE_WEBHOOK:
        store_record_encode_webhook(&it->webhook, out);
        break;
    case COMMAND_RESTORE_POLICY:
        store_record_encode_policy(&it->policy, out);
        break;
    case COMMAND_RESTORE_BUDGET:
        store_access_encode_frame(&it->budget, out);
        break;
    case COMMAND_RESTORE_TALLY:
        store_tally_encode(&it->tally, out);
        break;
    }
}

static bool is_tally_key(struct str key)
{
    enum store_tally_series series;
    uint32_t number;
    struct store_tally_name name;
    return key.len <= STORE_TALLY_KEY_BYTES_MAX &&
           store_tally_decode_key(key, &series, &number, &name);
}

static bool decode_content(struct str bytes, struct command_restore_item *it)
{
    struct err ignored;
    switch (it->kind) {
    case COMMAND_RESTORE_QUEUE:
        return store_record_decode_queue(bytes, &it->queue);
    case COMMAND_RESTORE_SCHEDULE:
        return store_record_decode_schedule(bytes, &it->schedule);
    case COMMAND_RESTORE_BATCH:
        return store_record_decode_batch(bytes, &it->batch);
    case COMMAND_RESTORE_JOB:
        return store_job_decode_whole(it->id, bytes, &it->job, &ignored) == ERR_OK &&
               it->job.waits_for.len % ID_BYTES == 0;
    case COMMAND_RESTORE_ERROR:
        return store_rows_decode_error(bytes, &it->error);
    case COMMAND_RESTORE_ITERATION:
        return store_rows_decode_iteration(bytes, &it->iteration);
    case COMMAND_RESTORE_USAGE:
        return store_rows_decode_usage(bytes, &it->usage);
    case COMMAND_RESTORE_WEBHOOK:
        return store_record_decode_webhook(bytes, &it->webhook);
    case COMMAND_RESTORE_POLICY:
        return store_record_decode_policy(bytes, &it->policy);
    case COMMAND_RESTORE_BUDGET:
        return store_access_decode_frame(bytes, &it->budget) &&
               store_access_is_valid(STORE_ACCESS_BUDGET, it->name, it->budget.body);
    case COMMAND_RESTORE_TALLY:
        return is_tally_key(it->name) && store_tally_decode(bytes, &it->tally);
    }
    return false;
}

void command_restore__encode(const struct command_restore *r, struct buf *out)
{
    pack_varint(out, r->count);
    for (size_t i = 0; i < r->count; i++) {
        const struct command_restore_item *it = &r->items[i];
        pack_u8(out, (uint8_t)((unsigned)it->kind | (it->any_id ? COMMAND_RESTORE_ANY_ID : 0U) |
                               (it->summed ? COMMAND_RESTORE_SUMMED : 0U)));
        buf_add(out, it->id.b, ID_BYTES);
        pack_text(out, it->name);
        pack_u32(out, it->place);
        pack_i64(out, it->unique_until.ns);
        size_t len_at = out->len;
        pack_u32(out, 0);
        encode_content(it, out);
        if (!out->overflow) {
            uint32_t len = (uint32_t)(out->len - len_at - sizeof len);
            for (unsigned b = 0; b < 4; b++) {
                out->ptr[len_at + b] = (char)(uint8_t)(len >> (8 * b));
            }
        }
    }
}

const char *command_restore__large_counter(const struct command_restore_item *it)
{
    const struct {
        enum command_restore_kind kind;
        const char *name;
        uint64_t value;
    } counters[] = {
        {COMMAND_RESTORE_JOB, "restore.lease_token", it->job.lease_token},
        {COMMAND_RESTORE_QUEUE, "failed", it->queue.failures},
        {COMMAND_RESTORE_BATCH, "total", it->batch.total},
        {COMMAND_RESTORE_BATCH, "pending", it->batch.pending},
        {COMMAND_RESTORE_BATCH, "succeeded", it->batch.succeeded},
        {COMMAND_RESTORE_BATCH, "failed", it->batch.failed},
    };
    for (size_t i = 0; i < COUNT_OF(counters); i++) {
        if (counters[i].kind == it->kind && counters[i].value > COMMAND_RESTORE_COUNTER_MAX) {
            return counters[i].name;
        }
    }
    return NULL;
}

static bool has_own_id(enum command_restore_kind kind)
{
    return kind == COMMAND_RESTORE_SCHEDULE || kind == COMMAND_RESTORE_BATCH ||
           kind == COMMAND_RESTORE_JOB || kind == COMMAND_RESTORE_POLICY;
}

enum { ITEM_BYTES_MIN = 1 + ID_BYTES + 1 + 4 + 8 + 4 };

void command_restore__decode(struct unpack *u, struct arena *a, struct command_restore *r)
{
    uint64_t count = unpack_varint(u);
    if (count > unpack_left(u) / ITEM_BYTES_MIN) {
        u->bad = true;
        return;
    }
    r->count = (size_t)count;
    r->items = arena_alloc(a, (r->count + 1) * sizeof *r->items, _Alignof(max_align_t));
    u->bad = u->bad || r->items == NULL;
    for (size_t i = 0; i < r->count && !u->bad; i++) {
        struct command_restore_item *it = &r->items[i];
        memset(it, 0, sizeof *it);
        uint8_t bits = unpack_u8(u);
        uint8_t kind = bits & (uint8_t) ~(COMMAND_RESTORE_ANY_ID | COMMAND_RESTORE_SUMMED);
        it->any_id = (bits & COMMAND_RESTORE_ANY_ID) != 0;
        it->summed = (bits & COMMAND_RESTORE_SUMMED) != 0;
        struct str id = unpack_bytes(u, ID_BYTES);
        it->name = unpack_text(u);
        it->place = unpack_u32(u);
        it->unique_until.ns = unpack_i64(u);
        struct str content = unpack_bytes(u, unpack_u32(u));
        if (u->bad || kind < COMMAND_RESTORE_QUEUE || kind > COMMAND_RESTORE_KIND_LAST) {
            u->bad = true;
            return;
        }
        it->kind = (enum command_restore_kind)kind;
        memcpy(it->id.b, id.ptr, ID_BYTES);
        u->bad = (it->any_id && !has_own_id(it->kind)) ||
                 (it->summed && it->kind != COMMAND_RESTORE_USAGE) || !decode_content(content, it);
    }
}
