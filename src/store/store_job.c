#include "store/store_job.h"

#include <assert.h>

#include "base/check.h"
#include "base/pack.h"

enum { DOC_VERSION = 1 };

/* Bits of the flags byte. */
enum { FLAG_AGENT = 1, FLAG_BATCH_COUNTED = 2, FLAG_CHAIN_STEP = 4, FLAG_KNOWN = 7 };

enum member_kind { MEMBER_TEXT, MEMBER_TIME, MEMBER_I64, MEMBER_U32, MEMBER_I32, MEMBER_ID };

/* The optional members, in the order of their bits. Rows are only ever added at the end. */
/* clang-format off */
#define MEMBER_LIST(X) \
    X(TIME, started_at)             \
    X(TIME, completed_at)           \
    X(TIME, failed_at)              \
    X(TIME, cancelled_at)           \
    X(TEXT, waits_for)              \
    X(I64,  agent.timeout_ms)       \
    X(I64,  unique_period_s)        \
    X(TEXT, unique_key)             \
    X(ID,   batch_id)               \
    X(TEXT, worker_id)              \
    X(TEXT, hostname)               \
    X(TEXT, tags)                   \
    X(TEXT, progress)               \
    X(TEXT, checkpoint)             \
    X(TEXT, result)                 \
    X(TEXT, parent_id)              \
    X(TEXT, chain_id)               \
    X(I32,  chain_step)             \
    X(TEXT, chain_config)           \
    X(TEXT, hold_reason)            \
    X(ID,   schedule_id)            \
    X(I64,  agent.max_iterations)   \
    X(I64,  agent.max_cost_nusd)    \
    X(TEXT, agent.timeout)          \
    X(I64,  agent.iteration)        \
    X(I64,  agent.total_cost_nusd)  \
    X(U32,  error_count)            \
    X(U32,  iteration_count)        \
    X(U32,  usage_count)
/* clang-format on */

static const struct member {
    enum member_kind kind;
    size_t offset;
} members[] = {
#define MEMBER_ROW(kind, name) {MEMBER_##kind, offsetof(struct job, name)},
    MEMBER_LIST(MEMBER_ROW)
#undef MEMBER_ROW
};

/* Members 0 to 5 are those that a start needs; the others are not even looked at then. */
enum { MEMBER_COUNT = COUNT_OF(members), MEMBER_HEAD_COUNT = 6 };
static_assert(MEMBER_COUNT <= 32, "a member's bit must fit the mask");

/* Whether a member of each kind says anything. */
#define IS_SET_TEXT(v) ((v).len != 0)
#define IS_SET_TIME(v) ((v).ns != 0)
#define IS_SET_I64(v)  ((v) != 0)
#define IS_SET_U32(v)  ((v) != 0)
#define IS_SET_I32(v)  ((v) != 0)
#define IS_SET_ID(v)   (!id_is_none(v))

/* The members that are set, by their bits. Written out by the list, because every change of every
 * job comes through here. */
static uint32_t mask_of(const struct job *j)
{
    uint32_t mask = 0;
    unsigned bit = 0;
#define MEMBER_BIT(kind, name) mask |= (uint32_t)IS_SET_##kind(j->name) << bit++;
    MEMBER_LIST(MEMBER_BIT)
#undef MEMBER_BIT
    return mask;
}

static void member_encode(const struct member *m, const struct job *j, struct buf *out)
{
    const void *at = (const char *)j + m->offset;
    switch (m->kind) {
    case MEMBER_TEXT:
        pack_text(out, *(const struct str *)at);
        break;
    case MEMBER_TIME:
    case MEMBER_I64:
        pack_i64(out, *(const int64_t *)at);
        break;
    case MEMBER_U32:
        pack_u32(out, *(const uint32_t *)at);
        break;
    case MEMBER_I32:
        pack_u32(out, (uint32_t) * (const int32_t *)at);
        break;
    case MEMBER_ID:
        buf_add(out, at, ID_BYTES);
        break;
    default:
        UNREACHABLE("a member has one of the kinds");
    }
}

static void member_decode(const struct member *m, struct unpack *u, struct job *j)
{
    void *at = (char *)j + m->offset;
    switch (m->kind) {
    case MEMBER_TEXT:
        *(struct str *)at = unpack_text(u);
        break;
    case MEMBER_TIME:
    case MEMBER_I64:
        *(int64_t *)at = unpack_i64(u);
        break;
    case MEMBER_U32:
        *(uint32_t *)at = unpack_u32(u);
        break;
    case MEMBER_I32:
        *(int32_t *)at = (int32_t)unpack_u32(u);
        break;
    case MEMBER_ID: {
        struct str bytes = unpack_bytes(u, ID_BYTES);
        if (bytes.len == ID_BYTES) {
            memcpy(at, bytes.ptr, ID_BYTES);
        }
        break;
    }
    default:
        UNREACHABLE("a member has one of the kinds");
    }
}

void store_job_encode(const struct job *j, struct buf *out)
{
    uint32_t mask = mask_of(j);
    uint8_t flags =
        (uint8_t)((j->is_agent ? FLAG_AGENT : 0) | (j->batch_counted ? FLAG_BATCH_COUNTED : 0) |
                  (j->has_chain_step ? FLAG_CHAIN_STEP : 0));
    pack_u8(out, DOC_VERSION);
    pack_u8(out, (uint8_t)j->state);
    pack_u8(out, j->priority);
    pack_u8(out, (uint8_t)j->backoff);
    pack_u8(out, flags);
    pack_u32(out, mask);
    pack_u32(out, j->attempt);
    pack_u32(out, j->max_retries);
    pack_i64(out, j->retry_base_ms);
    pack_i64(out, j->retry_max_ms);
    pack_u64(out, j->order);
    pack_u64(out, j->lease_token);
    pack_u64(out, j->version);
    pack_i64(out, j->created_at.ns);
    pack_i64(out, j->scheduled_at.ns);
    pack_i64(out, j->expire_at.ns);
    pack_i64(out, j->lease_expires_at.ns);
    pack_text(out, j->queue);
    for (uint32_t left = mask; left != 0; left &= left - 1) {
        member_encode(&members[__builtin_ctz(left)], j, out);
    }
    pack_text(out, j->payload);
}

static enum err_code decode(struct id id, struct str doc, struct job *j, bool head, struct err *err)
{
    struct unpack u = unpack_from(doc);
    uint8_t version = unpack_u8(&u);
    if (version != DOC_VERSION) {
        return err_set(err, ERR_CORRUPT, "a job document has the unknown version %u", version);
    }
    *j = (struct job){.id = id};
    uint8_t state = unpack_u8(&u);
    j->priority = unpack_u8(&u);
    uint8_t backoff = unpack_u8(&u);
    uint8_t flags = unpack_u8(&u);
    uint32_t mask = unpack_u32(&u);
    if (state >= JOB_STATE_COUNT || backoff > JOB_BACKOFF_EXPONENTIAL ||
        (flags & ~FLAG_KNOWN) != 0 || mask >> MEMBER_COUNT != 0) {
        return err_set(err, ERR_CORRUPT, "a job document has values that nobody wrote");
    }
    j->state = (enum job_state)state;
    j->backoff = (enum job_backoff)backoff;
    j->is_agent = (flags & FLAG_AGENT) != 0;
    j->batch_counted = (flags & FLAG_BATCH_COUNTED) != 0;
    j->has_chain_step = (flags & FLAG_CHAIN_STEP) != 0;
    j->attempt = unpack_u32(&u);
    j->max_retries = unpack_u32(&u);
    j->retry_base_ms = unpack_i64(&u);
    j->retry_max_ms = unpack_i64(&u);
    j->order = unpack_u64(&u);
    j->lease_token = unpack_u64(&u);
    j->version = unpack_u64(&u);
    j->created_at.ns = unpack_i64(&u);
    j->scheduled_at.ns = unpack_i64(&u);
    j->expire_at.ns = unpack_i64(&u);
    j->lease_expires_at.ns = unpack_i64(&u);
    j->queue = unpack_text(&u);
    uint32_t wanted = head ? mask & ((1U << MEMBER_HEAD_COUNT) - 1) : mask;
    for (uint32_t left = wanted; left != 0; left &= left - 1) {
        member_decode(&members[__builtin_ctz(left)], &u, j);
    }
    /* One that is there but says nothing was never written: a document has one encoding. */
    if (mask_of(j) != wanted) {
        u.bad = true;
    }
    if (!head) {
        j->payload = unpack_text(&u);
    }
    if (head ? u.bad : !unpack_done(&u)) {
        return err_set(err, ERR_CORRUPT, "a job document is cut short or too long");
    }
    return ERR_OK;
}

enum err_code store_job_decode(struct id id, struct str doc, struct job *j, struct err *err)
{
    return decode(id, doc, j, false, err);
}

enum err_code store_job_decode_head(struct id id, struct str doc, struct job *j, struct err *err)
{
    return decode(id, doc, j, true, err);
}
