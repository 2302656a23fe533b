#include "store/store_job.h"

#include <assert.h>

#include "base/check.h"
#include "base/pack.h"

/* Version 2 has 32 more bits for members behind the head. It is written for those jobs alone that
 * need one of them, so that a document still has one encoding. */
enum { DOC_VERSION = 1, DOC_VERSION_WIDE = 2 };

/* Bits of the flags byte. */
enum { FLAG_AGENT = 1, FLAG_BATCH_COUNTED = 2, FLAG_CHAIN_STEP = 4, FLAG_KNOWN = 31 };

/* How the last claim was ended: two bits of that byte. */
enum { ENDED_SHIFT = 3, ENDED_MASK = 3 };

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
    X(U32,  usage_count)            \
    X(TIME, fail_ended_at)          \
    X(TEXT, push)                   \
    X(TIME, due_at)                 \
    X(TIME, first_try_at)           \
    X(U32,  try_count)              \
    X(U32,  try_first)              \
    X(U32,  outcome)                \
    X(TEXT, cancel_reason)          \
    X(TEXT, name)                   \
    X(I64,  definition)             \
    X(U32,  counted_bytes)          \
    X(TEXT, cron)                   \
    X(TIME, cron_until)             \
    X(TIME, ready_at)
/* clang-format on */

static const struct member {
    enum member_kind kind;
    size_t offset;
} members[] = {
#define MEMBER_ROW(kind, name) {MEMBER_##kind, offsetof(struct job, name)},
    MEMBER_LIST(MEMBER_ROW)
#undef MEMBER_ROW
};

/* Members 0 to 5 belong to the head; who asks for that does not look at the others, unless the
 * document is wide. Version 1 ends before the first wide one. */
enum { MEMBER_COUNT = COUNT_OF(members), MEMBER_HEAD_COUNT = 6, MEMBER_FIRST_WIDE = 30 };
static_assert(MEMBER_COUNT <= 64, "a member's bit must fit the mask");

/* Whether a member of each kind says anything. */
#define IS_SET_TEXT(v) ((v).len != 0)
#define IS_SET_TIME(v) ((v).ns != 0)
#define IS_SET_I64(v)  ((v) != 0)
#define IS_SET_U32(v)  ((v) != 0)
#define IS_SET_I32(v)  ((v) != 0)
#define IS_SET_ID(v)   (!id_is_none(v))

/* The members that are set, by their bits. Written out by the list, because every change of every
 * job comes through here. */
static uint64_t mask_of(const struct job *j)
{
    uint64_t mask = 0;
    unsigned bit = 0;
#define MEMBER_BIT(kind, name) mask |= (uint64_t)IS_SET_##kind(j->name) << bit++;
    MEMBER_LIST(MEMBER_BIT)
#undef MEMBER_BIT
    return mask;
}

static bool member_is_set(const struct member *m, const struct job *j)
{
    const void *at = (const char *)j + m->offset;
    switch (m->kind) {
    case MEMBER_TEXT:
        return IS_SET_TEXT(*(const struct str *)at);
    case MEMBER_TIME:
    case MEMBER_I64:
        return IS_SET_I64(*(const int64_t *)at);
    case MEMBER_U32:
    case MEMBER_I32:
        return IS_SET_U32(*(const uint32_t *)at);
    case MEMBER_ID:
        return IS_SET_ID(*(const struct id *)at);
    default:
        UNREACHABLE("a member has one of the kinds");
    }
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

/* What every document begins with, as it lies on disk: little-endian, without gaps. One copy in and
 * out, because every change of every job comes through here. */
struct ATTR_PACKED head {
    uint8_t version, state, priority, backoff, flags;
    uint32_t mask, attempt, max_retries;
    int64_t retry_base_ms, retry_max_ms;
    uint64_t order, lease_token, doc_version;
    int64_t created_at, scheduled_at, expire_at, lease_expires_at;
};
static_assert(sizeof(struct head) == 89, "the head of a document is on disk");
static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "the head is copied as it lies in memory");

static void encode_head(const struct job *j, uint64_t mask, struct buf *out)
{
    bool wide = mask >> MEMBER_FIRST_WIDE != 0;
    const struct head head = {
        .version = wide ? DOC_VERSION_WIDE : DOC_VERSION,
        .state = (uint8_t)j->state,
        .priority = j->priority,
        .backoff = (uint8_t)j->backoff,
        .flags =
            (uint8_t)((j->is_agent ? FLAG_AGENT : 0) | (j->batch_counted ? FLAG_BATCH_COUNTED : 0) |
                      (j->has_chain_step ? FLAG_CHAIN_STEP : 0) |
                      (unsigned)j->ended << ENDED_SHIFT),
        .mask = (uint32_t)mask,
        .attempt = j->attempt,
        .max_retries = j->max_retries,
        .retry_base_ms = j->retry_base_ms,
        .retry_max_ms = j->retry_max_ms,
        .order = j->order,
        .lease_token = j->lease_token,
        .doc_version = j->version,
        .created_at = j->created_at.ns,
        .scheduled_at = j->scheduled_at.ns,
        .expire_at = j->expire_at.ns,
        .lease_expires_at = j->lease_expires_at.ns,
    };
    buf_add(out, &head, sizeof head);
    if (wide) {
        pack_u32(out, (uint32_t)(mask >> 32));
    }
}

void store_job_encode(const struct job *j, struct buf *out)
{
    uint64_t mask = mask_of(j);
    encode_head(j, mask, out);
    pack_text(out, j->queue);
    for (uint64_t left = mask; left != 0; left &= left - 1) {
        member_encode(&members[__builtin_ctzll(left)], j, out);
    }
    pack_text(out, j->payload);
}

/* The members that the head says are there. One encoding: a wide document has a wide member. */
static bool take_mask(struct unpack *u, const struct head *head, uint64_t *out)
{
    bool wide = head->version == DOC_VERSION_WIDE;
    *out = head->mask | (wide ? (uint64_t)unpack_u32(u) << 32 : 0);
    return *out >> MEMBER_COUNT == 0 && wide == (*out >> MEMBER_FIRST_WIDE != 0);
}

static enum err_code decode_head(struct unpack *u, struct job *j, uint64_t *out_mask,
                                 struct err *err)
{
    struct head head;
    if (unpack_left(u) > 0 && *u->at != DOC_VERSION && *u->at != DOC_VERSION_WIDE) {
        return err_set(err, ERR_CORRUPT, "a job document has the unknown version %u", *u->at);
    }
    unpack_take(u, &head, sizeof head); /* zeros when it is cut short: found at the end */
    if (head.state >= JOB_STATE_COUNT || head.backoff > JOB_BACKOFF_EXPONENTIAL ||
        (head.flags & ~FLAG_KNOWN) != 0 || !take_mask(u, &head, out_mask)) {
        return err_set(err, ERR_CORRUPT, "a job document has invalid values");
    }
    j->state = (enum job_state)head.state;
    j->priority = head.priority;
    j->backoff = (enum job_backoff)head.backoff;
    j->is_agent = (head.flags & FLAG_AGENT) != 0;
    j->batch_counted = (head.flags & FLAG_BATCH_COUNTED) != 0;
    j->has_chain_step = (head.flags & FLAG_CHAIN_STEP) != 0;
    j->ended = (enum job_ended)(head.flags >> ENDED_SHIFT & ENDED_MASK);
    j->attempt = head.attempt;
    j->max_retries = head.max_retries;
    j->retry_base_ms = head.retry_base_ms;
    j->retry_max_ms = head.retry_max_ms;
    j->order = head.order;
    j->lease_token = head.lease_token;
    j->version = head.doc_version;
    j->created_at.ns = head.created_at;
    j->scheduled_at.ns = head.scheduled_at;
    j->expire_at.ns = head.expire_at;
    j->lease_expires_at.ns = head.lease_expires_at;
    return ERR_OK;
}

static enum err_code decode(struct id id, struct str doc, struct job *j, bool head, struct err *err)
{
    struct unpack u = unpack_from(doc);
    uint64_t mask = 0;
    *j = (struct job){.id = id};
    if (decode_head(&u, j, &mask, err) != ERR_OK) {
        return err->code;
    }
    j->queue = unpack_text(&u);
    bool wide = mask >> MEMBER_FIRST_WIDE != 0;
    uint64_t wanted = head && !wide ? mask & ((1U << MEMBER_HEAD_COUNT) - 1) : mask;
    for (uint64_t left = wanted; left != 0; left &= left - 1) {
        const struct member *m = &members[__builtin_ctzll(left)];
        member_decode(m, &u, j);
        /* One that is there but says nothing was never written: a document has one encoding. */
        u.bad |= !member_is_set(m, j);
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
