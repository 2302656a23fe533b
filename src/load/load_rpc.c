/*
 * The messages of the RPC service (proto/corvo/v1/worker.proto), encoded and decoded by hand: as
 * with JSON, texts are copied, and responses are decoded only as far as needed.
 */
#include <stdio.h>
#include <string.h>

#include "base/check.h"
#include "load/load_int.h"

enum { HEAD_BYTES = 5 }; /* flags and length */

/* Field numbers, the same for a job in a batch and in a frame. */
enum { ENQUEUE_QUEUE = 1, ENQUEUE_PAYLOAD = 2 };
enum { FETCHED_ID = 2, FETCHED_PAYLOAD = 4, JOB_ID = 1, JOB_PAYLOAD = 3 };
enum { BATCH_JOBS = 1, ACK_ID = 1, ACK_ITEMS = 1, ACKED = 1 };
enum { FRAME_ACKS = 7, FRAME_ENQUEUES = 8, ANSWER_JOBS = 2, ANSWER_ACKED = 3, ANSWER_ERROR = 4 };

/* Field numbers of a fetch request, and of a fetch inside a frame. */
static const struct fetch_fields {
    unsigned queues, worker, host, lease, count;
} fetch_fields[] = {
    [LOAD_RPC] = {1, 2, 3, 4, 5},
    [LOAD_STREAM] = {2, 3, 4, 5, 6},
};

enum { VARINT = 0, BYTES = 2 };

/* Writing */

static void put_varint(struct buf *b, uint64_t v)
{
    for (; v >= 0x80; v >>= 7) {
        buf_add_char(b, (char)(v | 0x80));
    }
    buf_add_char(b, (char)v);
}

static void put_number(struct buf *b, unsigned field, uint64_t v)
{
    put_varint(b, field << 3 | VARINT);
    put_varint(b, v);
}

static void put_bytes(struct buf *b, unsigned field, struct str bytes)
{
    put_varint(b, field << 3 | BYTES);
    put_varint(b, bytes.len);
    buf_add_str(b, bytes);
}

static void begin(struct buf *b)
{
    static const char head[HEAD_BYTES] = {0};
    buf_clear(b);
    buf_add(b, head, sizeof head);
}

static void finish(struct buf *b)
{
    CHECK(!b->overflow);
    size_t len = b->len - HEAD_BYTES;
    for (int i = 0; i < 4; i++) {
        b->ptr[1 + i] = (char)(len >> (24 - 8 * i));
    }
}

void load_rpc__make_job(const char *queue, struct str payload, size_t time_in_payload,
                        struct load_text *text)
{
    struct buf b;
    buf_init(&b, SIZE_MAX / 2);
    put_bytes(&b, ENQUEUE_QUEUE, str_from_z(queue));
    put_bytes(&b, ENQUEUE_PAYLOAD, payload);
    text->job_len = b.len;
    text->time_at = b.len - payload.len + time_in_payload;
    text->job = buf_take(&b);
}

void load_rpc__make_fetch(const struct load_plan *plan, const char *queue, unsigned worker,
                          int64_t lease_s, struct load_text *text)
{
    const struct fetch_fields *f = &fetch_fields[plan->protocol];
    char name[LOAD_TEXT_BYTES];
    struct buf b;
    buf_init(&b, SIZE_MAX / 2);
    put_bytes(&b, f->queues, str_from_z(queue));
    (void)snprintf(name, sizeof name, "bench-w%u", worker);
    put_bytes(&b, f->worker, str_from_z(name));
    put_bytes(&b, f->host, STR("bench"));
    put_number(&b, f->lease, (uint64_t)lease_s);
    if (plan->protocol == LOAD_STREAM || plan->fetch_batch > 1) {
        put_number(&b, f->count, plan->fetch_batch);
    }
    text->fetch_len = b.len;
    text->fetch = buf_take(&b);
}

static void put_job(struct buf *b, const struct load_text *text, struct str time)
{
    size_t at = b->len + text->time_at;
    buf_add(b, text->job, text->job_len);
    CHECK(!b->overflow);
    memcpy(b->ptr + at, time.ptr, time.len);
}

void load_rpc__put_enqueues(struct load_client *client, const struct load_text *text,
                            struct str time)
{
    begin(&client->body);
    if (client->thread->run->plan->protocol == LOAD_RPC) {
        put_job(&client->body, text, time);
    } else {
        for (uint64_t i = 0; i < client->jobs; i++) {
            put_varint(&client->body, FRAME_ENQUEUES << 3 | BYTES);
            put_varint(&client->body, text->job_len);
            put_job(&client->body, text, time);
        }
    }
    finish(&client->body);
}

void load_rpc__put_fetch(struct load_client *client, const struct load_text *text)
{
    begin(&client->body);
    buf_add(&client->body, text->fetch, text->fetch_len);
    finish(&client->body);
}

/* Write acks: messages with one id each. */
static void put_items(struct load_client *client, unsigned field)
{
    struct buf *b = &client->body;
    for (size_t i = 0; i < client->in_ack; i++) {
        const struct load_job *job = &client->held[client->next + i];
        put_varint(b, field << 3 | BYTES);
        put_varint(b, job->id_len + 2);
        put_bytes(b, ACK_ID, str_from(job->id, job->id_len));
    }
}

void load_rpc__put_acks(struct load_client *client)
{
    begin(&client->body);
    if (client->thread->run->plan->ack_batch == 1) {
        const struct load_job *job = &client->held[client->next];
        put_bytes(&client->body, ACK_ID, str_from(job->id, job->id_len));
    } else {
        put_items(client, ACK_ITEMS);
    }
    finish(&client->body);
}

void load_rpc__put_frame(struct load_client *client, const struct load_text *text)
{
    begin(&client->body);
    buf_add(&client->body, text->fetch, text->fetch_len);
    put_items(client, FRAME_ACKS);
    finish(&client->body);
}

/* Reading */

bool load_rpc__is_whole(struct str answer)
{
    if (answer.len < HEAD_BYTES) {
        return false;
    }
    size_t len = 0;
    for (int i = 1; i < HEAD_BYTES; i++) {
        len = len << 8 | (unsigned char)answer.ptr[i];
    }
    return answer.len >= HEAD_BYTES + len;
}

int load_rpc__status(int64_t grpc_status)
{
    enum { OK = 0, RESOURCE_EXHAUSTED = 8, UNAVAILABLE = 14, NOT_FOUND = 5 };
    switch (grpc_status) {
    case OK:
        return 200;
    case RESOURCE_EXHAUSTED:
        return 429;
    case UNAVAILABLE:
        return 503;
    case NOT_FOUND:
        return 404;
    default:
        return 400;
    }
}

struct field {
    uint64_t number;
    uint64_t value;   /* VARINT */
    struct str bytes; /* BYTES */
};

static bool take_varint(struct str *rest, uint64_t *out)
{
    *out = 0;
    for (unsigned shift = 0; rest->len > 0 && shift < 64; shift += 7) {
        unsigned char c = (unsigned char)rest->ptr[0];
        *rest = str_from_offset(*rest, 1);
        *out |= (uint64_t)(c & 0x7f) << shift;
        if (c < 0x80) {
            return true;
        }
    }
    return false;
}

/* Read the next field. False at the end, and for a type that is neither VARINT nor BYTES. */
static bool next_field(struct str *rest, struct field *out)
{
    uint64_t tag;
    *out = (struct field){0};
    if (!take_varint(rest, &tag) || !take_varint(rest, &out->value)) {
        return false;
    }
    out->number = tag >> 3;
    if ((tag & 7) == BYTES) {
        if (out->value > rest->len) {
            return false;
        }
        out->bytes = str_from(rest->ptr, out->value);
        *rest = str_from_offset(*rest, out->value);
    }
    return (tag & 7) == BYTES || (tag & 7) == VARINT;
}

static struct str message_of(const struct load_client *client)
{
    struct str all = buf_str(&client->answer);
    return all.len < HEAD_BYTES ? STR_EMPTY : str_from_offset(all, HEAD_BYTES);
}

static bool take_job(struct load_client *client, struct str message, unsigned id, unsigned payload)
{
    struct load_job *job = &client->held[client->held_count];
    struct field f;
    *job = (struct load_job){.enqueued_ns = client->began_ns};
    while (next_field(&message, &f)) {
        if (f.number == id && f.bytes.len <= LOAD_ID_BYTES) {
            memcpy(job->id, f.bytes.ptr, f.bytes.len);
            job->id_len = f.bytes.len;
        } else if (f.number == payload && f.bytes.len > 0) {
            job->enqueued_ns =
                load_json__enqueued_at(f.bytes.ptr, f.bytes.ptr + f.bytes.len, client->began_ns);
        }
    }
    client->held_count += job->id_len > 0 ? 1 : 0;
    return job->id_len > 0;
}

bool load_rpc__take_jobs(struct load_client *client)
{
    const struct load_plan *plan = client->thread->run->plan;
    struct str rest = message_of(client);
    struct field f;
    if (plan->protocol == LOAD_RPC && plan->fetch_batch == 1) {
        return rest.len == 0 || take_job(client, rest, FETCHED_ID, FETCHED_PAYLOAD);
    }
    unsigned jobs = plan->protocol == LOAD_RPC ? BATCH_JOBS : ANSWER_JOBS;
    while (next_field(&rest, &f)) {
        if (f.number == jobs && (client->held_count == plan->fetch_batch ||
                                 !take_job(client, f.bytes, JOB_ID, JOB_PAYLOAD))) {
            return false;
        }
    }
    return true;
}

size_t load_rpc__acked(const struct load_client *client)
{
    unsigned number = client->thread->run->plan->protocol == LOAD_RPC ? ACKED : ANSWER_ACKED;
    struct str rest = message_of(client);
    struct field f;
    while (next_field(&rest, &f)) {
        if (f.number == number && f.bytes.len == 0) {
            return f.value;
        }
    }
    return 0;
}

struct str load_rpc__frame_error(const struct load_client *client)
{
    struct str rest = message_of(client);
    struct field f;
    while (next_field(&rest, &f)) {
        if (f.number == ANSWER_ERROR) {
            return f.bytes;
        }
    }
    return STR_EMPTY;
}
