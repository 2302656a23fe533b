#include "store/store_job.h"

#include <assert.h>

#include "base/check.h"
#include "base/pack.h"

/* Version 2 has 32 more mask bits after the fixed head. It is used only for jobs that need one of
 * them, so that a complete document has one encoding. Version 3 always has them; it is a head whose
 * body is stored separately. */
enum { DOC_VERSION = 1, DOC_VERSION_WIDE = 2, DOC_VERSION_HEAD = 3 };

enum { BODY_VERSION = 1 };

/* Bits of the flags byte. */
enum { FLAG_AGENT = 1, FLAG_BATCH_COUNTED = 2, FLAG_CHAIN_STEP = 4, FLAG_KNOWN = 31 };

/* Two bits of the flags byte: how the last claim ended. */
enum { ENDED_SHIFT = 3, ENDED_MASK = 3 };

enum member_kind { MEMBER_TEXT, MEMBER_TIME, MEMBER_I64, MEMBER_U32, MEMBER_I32, MEMBER_ID };

/* The optional members, in the order of their bits. New rows are only added at the end. */
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
    X(TIME, ready_at)               \
    X(U32,  usage_summed)           \
    X(I64,  usage_nusd)             \
    X(ID,   joined)                 \
    X(ID,   waits_since)
/* clang-format on */

/* Encoded size of each kind; 0 for texts, whose size varies. */
enum {
    BYTES_TEXT = 0,
    BYTES_TIME = sizeof(int64_t),
    BYTES_I64 = sizeof(int64_t),
    BYTES_U32 = sizeof(uint32_t),
    BYTES_I32 = sizeof(int32_t),
    BYTES_ID = ID_BYTES
};

static const struct member {
    enum member_kind kind;
    uint16_t offset;
    uint16_t bytes;
} members[] = {
#define MEMBER_ROW(kind, name) {MEMBER_##kind, offsetof(struct job, name), BYTES_##kind},
    MEMBER_LIST(MEMBER_ROW)
#undef MEMBER_ROW
};

/* Members 0 to 5 count as part of the head: store_job_decode_head skips the others of a document of
 * version 1. Version 1 has only the members before the first wide one. */
enum { MEMBER_COUNT = COUNT_OF(members), MEMBER_HEAD_COUNT = 6, MEMBER_FIRST_WIDE = 30 };
static_assert(MEMBER_COUNT <= 64, "a member's bit must fit the mask");

/* The members of a body, besides the payload: tags and chain_config, texts of any length that do
 * not change. */
#define BODY_MASK (UINT64_C(1) << 11 | UINT64_C(1) << 18)

/* Is a member of each kind set? */
#define IS_SET_TEXT(v) ((v).len != 0)
#define IS_SET_TIME(v) ((v).ns != 0)
#define IS_SET_I64(v)  ((v) != 0)
#define IS_SET_U32(v)  ((v) != 0)
#define IS_SET_I32(v)  ((v) != 0)
#define IS_SET_ID(v)   (!id_is_none(v))

/* Return the mask of the members that are set. A macro expands this for each member, because every
 * change of a job calls it. */
static uint64_t mask_of(const struct job *j)
{
    uint64_t mask = 0;
    unsigned bit = 0;
#define MEMBER_BIT(kind, name) mask |= (uint64_t)IS_SET_##kind(j->name) << bit++;
    MEMBER_LIST(MEMBER_BIT)
#undef MEMBER_BIT
    return mask;
}

/* Return the encoded size of a text's length. */
static size_t length_bytes(size_t len)
{
    size_t n = 1;
    for (; len >= 0x80; len >>= 7) {
        n++;
    }
    return n;
}

static size_t member_bytes(const struct member *m, const struct job *j)
{
    const void *at = (const char *)j + m->offset;
    if (m->bytes > 0) {
        return m->bytes;
    }
    size_t len = ((const struct str *)at)->len;
    return length_bytes(len) + len;
}

static char *put_text(char *to, struct str text)
{
    size_t len = text.len;
    for (; len >= 0x80; len >>= 7) {
        *to++ = (char)(uint8_t)(len | 0x80);
    }
    *to++ = (char)len;
    memcpy(to, text.ptr, text.len); /* never empty: only members that are set are encoded */
    return to + text.len;
}

/* Encode a member as pack.h does, without checking for space. Returns the end of the encoded
 * member. */
static char *member_put(const struct member *m, const struct job *j, char *to)
{
    const void *at = (const char *)j + m->offset;
    switch (m->kind) {
    case MEMBER_TEXT:
        return put_text(to, *(const struct str *)at);
    case MEMBER_TIME:
    case MEMBER_I64: /* numbers have the same bytes in memory and on disk */
        memcpy(to, at, sizeof(int64_t));
        return to + sizeof(int64_t);
    case MEMBER_U32:
    case MEMBER_I32:
        memcpy(to, at, sizeof(uint32_t));
        return to + sizeof(uint32_t);
    case MEMBER_ID:
        memcpy(to, at, ID_BYTES);
        return to + ID_BYTES;
    default:
        UNREACHABLE("a member has one of the kinds");
    }
}

/* Decode a member. A member that is present but not set is an error, because a document has one
 * encoding. */
static void member_decode(const struct member *m, struct unpack *u, struct job *j)
{
    void *at = (char *)j + m->offset;
    switch (m->kind) {
    case MEMBER_TEXT: {
        struct str text = unpack_text(u);
        *(struct str *)at = text;
        u->bad |= !IS_SET_TEXT(text);
        break;
    }
    case MEMBER_TIME:
    case MEMBER_I64: {
        int64_t number = unpack_i64(u);
        *(int64_t *)at = number;
        u->bad |= !IS_SET_I64(number);
        break;
    }
    case MEMBER_U32:
    case MEMBER_I32: { /* the same bits */
        uint32_t number = unpack_u32(u);
        memcpy(at, &number, sizeof number);
        u->bad |= !IS_SET_U32(number);
        break;
    }
    case MEMBER_ID: {
        struct id id = id_unpack(u);
        *(struct id *)at = id;
        u->bad |= !IS_SET_ID(id);
        break;
    }
    default:
        UNREACHABLE("a member has one of the kinds");
    }
}

/* The beginning of every document, as on disk: little-endian, without gaps. It is copied as a
 * whole, because every change of a job reads and writes it. */
struct ATTR_PACKED head {
    uint8_t version, state, priority, backoff, flags;
    uint32_t mask, attempt, max_retries;
    int64_t retry_base_ms, retry_max_ms;
    uint64_t order, lease_token, doc_version;
    int64_t created_at, scheduled_at, expire_at, lease_expires_at;
};
static_assert(sizeof(struct head) == 89, "the head of a document is on disk");
static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "the head is copied as it lies in memory");

static void encode_fixed(const struct job *j, uint8_t version, uint64_t mask, struct buf *out)
{
    const struct head head = {
        .version = version,
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
    if (version != DOC_VERSION) {
        pack_u32(out, (uint32_t)(mask >> 32));
    }
}

/* Reserve the space once, because jobs that the server delivers have many members. */
static void encode_members(const struct job *j, uint64_t mask, struct buf *out)
{
    size_t bytes = 0;
    for (uint64_t left = mask; left != 0; left &= left - 1) {
        bytes += member_bytes(&members[__builtin_ctzll(left)], j);
    }
    char *room = bytes == 0 ? NULL : buf_reserve(out, bytes);
    if (room == NULL) {
        return;
    }
    char *to = room;
    for (uint64_t left = mask; left != 0; left &= left - 1) {
        to = member_put(&members[__builtin_ctzll(left)], j, to);
    }
    CHECK(to == room + bytes);
    out->len += bytes;
}

void store_job_encode(const struct job *j, struct buf *out)
{
    uint64_t mask = mask_of(j);
    bool wide = mask >> MEMBER_FIRST_WIDE != 0;
    encode_fixed(j, wide ? DOC_VERSION_WIDE : DOC_VERSION, mask, out);
    pack_text(out, j->queue);
    encode_members(j, mask, out);
    pack_text(out, j->payload);
}

bool store_job_is_large(const struct job *j)
{
    return j->payload.len + j->tags.len + j->chain_config.len >= STORE_JOB_BODY_BYTES;
}

size_t store_job_body_room(const struct job *j)
{
    enum { NUMBERS = sizeof(uint8_t) + sizeof(uint64_t), LENGTH = 10 /* maximum of a varint */ };
    return NUMBERS + j->payload.len + j->tags.len + j->chain_config.len + 3 * (size_t)LENGTH;
}

void store_job_encode_body(const struct job *j, uint64_t version, struct buf *out)
{
    pack_u8(out, BODY_VERSION);
    pack_u64(out, version);
    encode_members(j, mask_of(j) & BODY_MASK, out);
    pack_text(out, j->payload);
}

void store_job_encode_head(const struct job *j, const struct store_job_body *body, struct buf *out)
{
    uint64_t mask = mask_of(j);
    encode_fixed(j, DOC_VERSION_HEAD, mask, out);
    pack_u64(out, body->version);
    pack_u32(out, body->bytes);
    pack_u32(out, body->payload_bytes);
    pack_text(out, j->queue);
    encode_members(j, mask & ~BODY_MASK, out);
}

static void take_body(struct unpack *u, struct store_job_body *out)
{
    out->version = unpack_u64(u);
    out->bytes = unpack_u32(u);
    out->payload_bytes = unpack_u32(u);
}

bool store_job_find_body(struct str doc, struct store_job_body *out)
{
    struct unpack u = unpack_from(doc);
    if (doc.len == 0 || *u.at != DOC_VERSION_HEAD) {
        return false;
    }
    (void)unpack_bytes(&u, sizeof(struct head) + sizeof(uint32_t));
    take_body(&u, out);
    return !u.bad;
}

bool store_job_is_body(struct str bytes, const struct store_job_body *body)
{
    struct unpack u = unpack_from(bytes);
    return unpack_u8(&u) == BODY_VERSION && unpack_u64(&u) == body->version && !u.bad &&
           bytes.len == body->bytes;
}

/* Read the mask of the members that are present. False if it is invalid. There is one encoding: a
 * wide document must have a wide member. */
static bool take_mask(struct unpack *u, const struct head *head, uint64_t *out)
{
    bool wide = head->version == DOC_VERSION_WIDE;
    bool is_head = head->version == DOC_VERSION_HEAD;
    *out = head->mask | (wide || is_head ? (uint64_t)unpack_u32(u) << 32 : 0);
    return *out >> MEMBER_COUNT == 0 && (is_head || wide == (*out >> MEMBER_FIRST_WIDE != 0));
}

static enum err_code decode_fixed(struct unpack *u, struct job *j, uint64_t *out_mask,
                                  struct err *err)
{
    struct head head;
    if (unpack_left(u) > 0 && (*u->at < DOC_VERSION || *u->at > DOC_VERSION_HEAD)) {
        return err_set(err, ERR_CORRUPT, "a job document has the unknown version %u", *u->at);
    }
    unpack_take(u, &head, sizeof head); /* zeros if truncated: detected at the end */
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

static void decode_members(struct unpack *u, uint64_t mask, struct job *j)
{
    for (uint64_t left = mask; left != 0; left &= left - 1) {
        member_decode(&members[__builtin_ctzll(left)], u, j);
    }
}

static void decode_body(struct unpack *u, uint64_t mask, const struct store_job_body *body,
                        struct job *j)
{
    u->bad |= unpack_left(u) != body->bytes;
    u->bad |= unpack_u8(u) != BODY_VERSION;
    u->bad |= unpack_u64(u) != body->version;
    decode_members(u, mask & BODY_MASK, j);
    j->payload = unpack_text(u);
    u->bad |= j->payload.len != body->payload_bytes;
}

enum part {
    PART_WHOLE,
    PART_HEAD, /* anything after the head is ignored */
    PART_ONLY, /* a head, or a complete document, with nothing after it */
};

/* Decode the given part of a document. */
static enum err_code decode(struct unpack *u, struct job *j, enum part part, struct err *err)
{
    uint64_t mask = 0;
    struct store_job_body body;
    uint8_t version = 0;
    if (unpack_left(u) > 0) {
        version = *u->at;
    }
    if (decode_fixed(u, j, &mask, err) != ERR_OK) {
        return err->code;
    }
    if (version == DOC_VERSION_HEAD) {
        take_body(u, &body);
        j->queue = unpack_text(u);
        decode_members(u, mask & ~BODY_MASK, j);
        if (part == PART_WHOLE) {
            decode_body(u, mask, &body, j);
        }
    } else {
        bool all = part != PART_HEAD || version == DOC_VERSION_WIDE;
        j->queue = unpack_text(u);
        decode_members(u, all ? mask : mask & ((1U << MEMBER_HEAD_COUNT) - 1), j);
        if (part != PART_HEAD) {
            j->payload = unpack_text(u);
        }
    }
    if (part == PART_HEAD ? u->bad : !unpack_done(u)) {
        return err_set(err, ERR_CORRUPT, "a job document is truncated or too long");
    }
    return ERR_OK;
}

enum err_code store_job_decode(struct id id, struct str doc, struct job *j, struct err *err)
{
    struct unpack u = unpack_from(doc);
    *j = (struct job){.id = id};
    return decode(&u, j, PART_WHOLE, err);
}

enum err_code store_job_decode_whole(struct id id, struct str doc, struct job *j, struct err *err)
{
    struct store_job_body body;
    return store_job_find_body(doc, &body)
               ? err_set(err, ERR_CORRUPT, "a document that is not whole, where one has to be")
               : store_job_decode(id, doc, j, err);
}

enum err_code store_job_decode_head(struct id id, struct str doc, struct job *j, struct err *err)
{
    struct unpack u = unpack_from(doc);
    *j = (struct job){.id = id};
    return decode(&u, j, PART_HEAD, err);
}

enum err_code store_job_decode_stored(struct id id, struct str stored, struct job *j,
                                      size_t *out_payload_bytes, struct err *err)
{
    struct unpack u = unpack_from(stored);
    struct store_job_body body;
    *j = (struct job){.id = id};
    enum err_code code = decode(&u, j, PART_ONLY, err);
    *out_payload_bytes = store_job_find_body(stored, &body) ? body.payload_bytes : j->payload.len;
    return code;
}

enum err_code store_job_decode_parts(struct id id, struct str head, struct str body, struct job *j,
                                     struct err *err)
{
    struct store_job_body known;
    size_t payload_bytes;
    if (store_job_decode_stored(id, head, j, &payload_bytes, err) != ERR_OK) {
        return err->code;
    }
    if (store_job_find_body(head, &known)) {
        struct unpack u = unpack_from(head);
        struct unpack b = unpack_from(body);
        struct head fixed;
        uint64_t mask = 0;
        unpack_take(&u, &fixed, sizeof fixed);
        (void)take_mask(&u, &fixed, &mask);
        decode_body(&b, mask, &known, j);
        if (!unpack_done(&b)) {
            return err_set(err, ERR_CORRUPT, "the body of a job is not the one of its head");
        }
    }
    return ERR_OK;
}
