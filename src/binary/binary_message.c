#include "binary/binary_message.h"

#include "base/limits.h"
#include "base/pack.h"
#include "base/unpack.h"
#include "json/json_scan.h"

/* Heads */

bool binary_message_head(struct str bytes, struct binary_message_head *out)
{
    if (bytes.len < BINARY_MESSAGE_HEAD) {
        return false;
    }
    struct unpack u = unpack_from(str_from(bytes.ptr, BINARY_MESSAGE_HEAD));
    out->type = unpack_u8(&u);
    out->number = unpack_u32(&u);
    out->len = unpack_u32(&u);
    return true;
}

size_t binary_message_begin(struct buf *out, uint8_t type, uint32_t number)
{
    size_t begin = out->len;
    pack_u8(out, type);
    pack_u32(out, number);
    pack_u32(out, 0);
    return begin;
}

void binary_message_finish(struct buf *out, size_t begin)
{
    if (!out->overflow) {
        size_t len = out->len - begin - BINARY_MESSAGE_HEAD;
        struct buf place;
        char room[sizeof(uint32_t)];
        buf_init_room(&place, sizeof room, room, sizeof room);
        pack_u32(&place, (uint32_t)len);
        memcpy(out->ptr + begin + BINARY_MESSAGE_HEAD - sizeof room, room, sizeof room);
    }
}

void binary_message_text(struct buf *out, struct str text)
{
    text = str_at_most(text, UINT8_MAX);
    pack_u8(out, (uint8_t)text.len);
    buf_add_str(out, text);
}

/* Reading */

static enum err_code broken(struct err *err)
{
    return err_set(err, ERR_PARSE, "the frame's payload does not match its type");
}

/* Read a text. If it is not UTF-8, the payload is malformed. */
static struct str take_text(struct unpack *u)
{
    struct str text = unpack_bytes(u, unpack_u8(u));
    u->bad = u->bad || !str_is_utf8(text);
    return text;
}

static struct str take_json(struct unpack *u, const char *field, struct err *err)
{
    struct str text = take_text(u);
    if (text.len > 0 && err->code == ERR_OK && json_scan_check_value(text, err) != ERR_OK) {
        (void)(err->code == ERR_VALIDATION
                   ? err_wrap(err, "%s", field)
                   : err_set(err, ERR_VALIDATION, "%s: invalid JSON", field));
    }
    return text;
}

static struct str take_object(struct unpack *u, const char *field, struct err *err)
{
    struct str text = take_json(u, field, err);
    struct str trimmed = str_trim(text);
    if (trimmed.len > 0 && trimmed.ptr[0] != '{' && err->code == ERR_OK) {
        (void)err_set(err, ERR_VALIDATION, "%s: expected an object", field);
    }
    return text;
}

/* The result of reading a list; err may hold the error of an element. */
static enum err_code finish(const struct unpack *u, struct err *err)
{
    return err->code != ERR_OK ? err->code : unpack_done(u) ? ERR_OK : broken(err);
}

/* Allocate a list whose elements take at least `least` bytes each in the payload, so that a client
 * cannot make the server allocate more than it sent. Not zeroed. NULL with err. */
#define LIST(who, type, u, count, least, err)                                                      \
    ((count) * (size_t)(least) > unpack_left(u) ? ((void)broken(err), (type *)NULL)                \
                                                : SVC_CALLER_ROOM((who), type, (count), (err)))

/* Enqueue */

enum {
    HAS_PAYLOAD = 0x01,
    HAS_UNIQUE_KEY = 0x02,
    HAS_TAGS = 0x04,
    HAS_BATCH = 0x08,
    HAS_CHAIN = 0x10,
    HAS_CHAIN_CONFIG = 0x20,
    HAS_GROUP = 0x40,
    HAS_PARENT = 0x80,
    HAS_KNOWN = 0xff,
};

static void take_optional(struct unpack *u, unsigned flags, struct svc_enqueue_job *job,
                          struct err *err)
{
    if ((flags & HAS_PAYLOAD) != 0) {
        job->payload = unpack_bytes(u, unpack_u16(u));
        u->bad = u->bad || !str_is_utf8(job->payload);
    }
    if ((flags & HAS_UNIQUE_KEY) != 0) {
        job->unique_key = take_text(u);
    }
    if ((flags & HAS_TAGS) != 0) {
        job->tags = take_object(u, "tags", err);
    }
    if ((flags & HAS_BATCH) != 0) {
        job->batch_id = take_text(u);
    }
    if ((flags & HAS_CHAIN) != 0) {
        job->chain_id = take_text(u);
        job->has_chain_step = true;
    }
    if ((flags & HAS_CHAIN_CONFIG) != 0) {
        job->chain_config = take_object(u, "chain_config", err);
    }
    if ((flags & HAS_GROUP) != 0 && take_text(u).len > 0 && err->code == ERR_OK) {
        (void)err_set(err, ERR_VALIDATION, "group: groups are not supported");
    }
    if ((flags & HAS_PARENT) != 0) {
        job->parent_id = take_text(u);
    }
}

static void take_job(struct unpack *u, struct svc_enqueue_job *job, struct err *err)
{
    *job = (struct svc_enqueue_job){SVC_ENQUEUE_DEFAULTS, .queue = take_text(u)};
    (void)take_text(u); /* the id is ignored: the server chooses it */
    struct err bad;
    if (svc_enqueue_urgency(unpack_u8(u), &job->priority, &bad) != ERR_OK && err->code == ERR_OK) {
        *err = bad;
    }
    job->max_retries = unpack_u16(u);
    job->retry_backoff = unpack_u8(u);
    job->retry_base_ms = unpack_u32(u);
    job->retry_max_ms = unpack_u32(u);
    job->unique_period = unpack_u32(u);
    uint64_t at = unpack_u64(u);
    job->scheduled_at.ns = at <= INT64_MAX ? (int64_t)at : INT64_MAX;
    job->expire_after_ms = unpack_u32(u);
    job->chain_step = unpack_u16(u);
    unsigned flags = unpack_u16(u);
    if (err->code == ERR_OK && job->retry_backoff > JOB_BACKOFF_EXPONENTIAL) {
        (void)err_set(err, ERR_VALIDATION, "backoff: expected 0 to 3, got %d", job->retry_backoff);
    } else if ((flags & ~(unsigned)HAS_KNOWN) != 0) {
        u->bad = true; /* the length of unknown fields is unknown */
    }
    take_optional(u, flags, job, err);
}

enum err_code binary_message_enqueue(const struct svc_caller *who, struct str payload,
                                     struct binary_message_enqueue *out, struct err *err)
{
    enum { JOB_BYTES_MIN = 36 };
    struct unpack u = unpack_from(payload);
    out->count = unpack_u16(&u);
    out->jobs = LIST(who, struct svc_enqueue_job, &u, out->count, JOB_BYTES_MIN, err);
    if (out->jobs == NULL) {
        return err->code;
    }
    err->code = ERR_OK;
    for (size_t i = 0; i < out->count && !u.bad; i++) {
        take_job(&u, &out->jobs[i], err);
    }
    return finish(&u, err);
}

/* Workers */

enum err_code binary_message_subscribe(const struct svc_caller *who, struct str payload,
                                       struct binary_message_subscribe *out, struct err *err)
{
    struct unpack u = unpack_from(payload);
    out->credits = unpack_u16(&u);
    out->lease_ms = unpack_u32(&u);
    out->worker_id = take_text(&u);
    out->queue_count = unpack_u8(&u);
    out->queues = LIST(who, struct str, &u, out->queue_count, 1, err);
    if (out->queues == NULL) {
        return err->code;
    }
    err->code = ERR_OK;
    for (size_t i = 0; i < out->queue_count; i++) {
        out->queues[i] = take_text(&u);
    }
    if (unpack_done(&u) && out->queue_count == 0) {
        return err_set(err, ERR_VALIDATION, "queues: at least one queue is required");
    }
    return finish(&u, err);
}

enum err_code binary_message_acks(const struct svc_caller *who, struct str payload,
                                  struct binary_message_acks *out, struct err *err)
{
    enum { DONE, HOLD, HAS_RESULT = 0x01, HAS_CHECKPOINT = 0x02, HAS_REASON = 0x04 };
    enum { HAS_TOKEN = 0x08, KNOWN = 0x0f, ACK_BYTES_MIN = 4 };
    struct unpack u = unpack_from(payload);
    out->count = unpack_u16(&u);
    out->acks = LIST(who, struct svc_work_ack, &u, out->count, ACK_BYTES_MIN, err);
    if (out->acks == NULL) {
        return err->code;
    }
    err->code = ERR_OK;
    for (size_t i = 0; i < out->count && !u.bad; i++) {
        struct svc_work_ack *ack = &out->acks[i];
        *ack = (struct svc_work_ack){.job_id = take_text(&u), .result = STR("{}")};
        (void)take_text(&u); /* the queue is ignored: the job has it */
        unsigned status = unpack_u8(&u);
        unsigned flags = unpack_u8(&u);
        if ((flags & HAS_RESULT) != 0) {
            ack->result = take_json(&u, "result", err);
        }
        if ((flags & HAS_CHECKPOINT) != 0) {
            ack->checkpoint = take_json(&u, "checkpoint", err);
        }
        if ((flags & HAS_REASON) != 0) {
            ack->hold_reason = take_text(&u);
        }
        if ((flags & HAS_TOKEN) != 0) {
            ack->lease_token = unpack_i64(&u);
        }
        if (status == HOLD) {
            ack->ack_status = STR("hold");
        }
        u.bad = u.bad || status > HOLD || (flags & ~(unsigned)KNOWN) != 0;
    }
    return finish(&u, err);
}

enum err_code binary_message_fails(const struct svc_caller *who, struct str payload,
                                   struct binary_message_fails *out, struct err *err)
{
    enum { HAS_TOKEN = 0x01, FAIL_BYTES_MIN = 5 };
    struct unpack u = unpack_from(payload);
    out->count = unpack_u16(&u);
    out->fails = LIST(who, struct svc_work_fail, &u, out->count, FAIL_BYTES_MIN, err);
    if (out->fails == NULL) {
        return err->code;
    }
    err->code = ERR_OK;
    for (size_t i = 0; i < out->count && !u.bad; i++) {
        struct svc_work_fail *fail = &out->fails[i];
        *fail = (struct svc_work_fail){.job_id = take_text(&u)};
        (void)take_text(&u);
        fail->error = take_text(&u);
        fail->backtrace = take_text(&u);
        unsigned flags = unpack_u8(&u);
        if ((flags & HAS_TOKEN) != 0) {
            fail->lease_token = unpack_i64(&u);
        }
        u.bad = u.bad || (flags & ~(unsigned)HAS_TOKEN) != 0;
    }
    return finish(&u, err);
}

enum err_code binary_message_beats(const struct svc_caller *who, struct str payload,
                                   struct svc_beats *out, struct err *err)
{
    enum { HAS_PROGRESS = 0x01, HAS_CHECKPOINT = 0x02, KNOWN = 0x03, BEAT_BYTES_MIN = 3 };
    struct unpack u = unpack_from(payload);
    (void)take_text(&u); /* the worker is ignored: the jobs have it */
    size_t count = unpack_u16(&u);
    if (count * BEAT_BYTES_MIN > unpack_left(&u)) {
        return broken(err);
    }
    if (svc_beat_room(who, count, out, err) != ERR_OK) {
        return err->code;
    }
    err->code = ERR_OK;
    for (size_t i = 0; i < count && !u.bad; i++) {
        struct svc_beat *beat = &out->list[out->count++];
        beat->job_id = take_text(&u);
        (void)take_text(&u);
        unsigned flags = unpack_u8(&u);
        if ((flags & HAS_PROGRESS) != 0) {
            beat->progress = take_json(&u, "progress", err);
        }
        if ((flags & HAS_CHECKPOINT) != 0) {
            beat->checkpoint = take_json(&u, "checkpoint", err);
        }
        u.bad = u.bad || (flags & ~(unsigned)KNOWN) != 0;
    }
    return finish(&u, err);
}

enum err_code binary_message_bulk(const struct svc_caller *who, struct str payload,
                                  struct binary_message_ids *out, struct err *err)
{
    enum { ACTION_CANCEL = 3 };
    struct unpack u = unpack_from(payload);
    unsigned action = unpack_u8(&u);
    (void)take_text(&u);
    out->count = unpack_u16(&u);
    out->ids = LIST(who, struct str, &u, out->count, 1, err);
    if (out->ids == NULL) {
        return err->code;
    }
    err->code = ERR_OK;
    for (size_t i = 0; i < out->count; i++) {
        out->ids[i] = take_text(&u);
    }
    (void)unpack_u8(&u);  /* flags */
    (void)unpack_u64(&u); /* the client's time is ignored */
    if (action != ACTION_CANCEL) {
        return err_set(err, ERR_VALIDATION, "action: expected 3 (cancel), got %u", action);
    }
    return finish(&u, err);
}

enum err_code binary_message_auth(struct str payload, struct str *out_token, struct err *err)
{
    struct unpack u = unpack_from(payload);
    err->code = ERR_OK;
    *out_token = take_text(&u);
    return finish(&u, err);
}

void binary_message_job(struct buf *out, const struct svc_work_fetched *job)
{
    char id[ID_TEXT_MAX];
    binary_message_text(out, str_from(id, id_format(job->id, ID_JOB, id)));
    binary_message_text(out, job->queue);
    pack_u16(out, (uint16_t)(job->attempt < UINT16_MAX ? job->attempt : UINT16_MAX));
    pack_u16(out, (uint16_t)(job->max_retries < UINT16_MAX ? job->max_retries : UINT16_MAX));
    /* JSON that does not fit is left out: truncated JSON would be invalid. */
    binary_message_text(out, job->checkpoint.len <= UINT8_MAX ? job->checkpoint : STR_EMPTY);
    binary_message_text(out, job->tags.len <= UINT8_MAX ? job->tags : STR_EMPTY);
    pack_u32(out, (uint32_t)job->payload.len);
    buf_add_str(out, job->payload);
    pack_u64(out, job->lease_token);
}
