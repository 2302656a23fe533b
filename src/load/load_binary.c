/*
 * The binary worker protocol (rpc.md, appendix A): encodes and decodes frames by hand.
 *
 * Clients share a connection, as the jobs of one worker would. A producer's request is one frame. A
 * worker's request is acks for the jobs that it held, and credits for the same number of new ones.
 * The requests of all clients of a connection in one turn of the loop are joined into one frame of
 * acks and one of credits. Jobs are pushed to the connection. They are kept in c->pushed until a
 * waiting client of the connection takes them. A client that sent acks waits for their response
 * first.
 */
#include <stdio.h>
#include <string.h>

#include "base/check.h"
#include "base/pack.h"
#include "base/unpack.h"
#include "load/load_int.h"

enum { HEAD_BYTES = 9, ANSWER = 0x80 };
enum { ENQUEUE = 1, SUBSCRIBE = 2, ACK = 3, PING = 4, AUTH = 5, NOT_LEADER = 9 };
enum { JOBS = 0x82, FAULT = 0xff };
enum { CODE_OK, CODE_REFUSED, CODE_OVERLOADED, CODE_UNAVAILABLE };

/* Defaults of a job, as in the HTTP API. */
enum { PRIORITY = 50, RETRIES = 3, BACKOFF_EXPONENTIAL = 3, HAS_PAYLOAD = 1 };
enum { DELAY_MS = 5000, DELAY_MS_MAX = 600000, MS_PER_S = 1000 };

/* Writing */

static void put_text(struct buf *b, struct str text)
{
    CHECK(text.len <= UINT8_MAX);
    pack_u8(b, (uint8_t)text.len);
    buf_add_str(b, text);
}

static void put_head(struct buf *b, uint8_t type, uint32_t number, size_t len)
{
    pack_u8(b, type);
    pack_u32(b, number);
    pack_u32(b, (uint32_t)len);
}

static void put_frame(struct buf *b, uint8_t type, uint32_t number, struct str payload)
{
    put_head(b, type, number, payload.len);
    buf_add_str(b, payload);
    CHECK(!b->overflow);
}

void load_binary__make_texts(const char *queue, struct str payload, size_t time_in_payload,
                             unsigned worker, int64_t lease_s, struct load_text *text)
{
    char name[LOAD_TEXT_BYTES];
    struct buf b;
    CHECK(payload.len <= UINT16_MAX);
    buf_init(&b, SIZE_MAX / 2);
    put_text(&b, str_from_z(queue));
    put_text(&b, STR_EMPTY); /* the server chooses its id */
    pack_u8(&b, PRIORITY);
    pack_u16(&b, RETRIES);
    pack_u8(&b, BACKOFF_EXPONENTIAL);
    pack_u32(&b, DELAY_MS);
    pack_u32(&b, DELAY_MS_MAX);
    pack_u32(&b, 0); /* unique period */
    pack_u64(&b, 0); /* scheduled at */
    pack_u32(&b, 0); /* expires after */
    pack_u16(&b, 0); /* step of a chain */
    pack_u16(&b, HAS_PAYLOAD);
    pack_u16(&b, (uint16_t)payload.len);
    text->time_at = b.len + time_in_payload;
    buf_add_str(&b, payload);
    text->job_len = b.len;
    text->job = buf_take(&b);
    buf_init(&b, SIZE_MAX / 2);
    pack_u32(&b, (uint32_t)(lease_s * MS_PER_S));
    (void)snprintf(name, sizeof name, "bench-w%u", worker);
    put_text(&b, str_from_z(name));
    pack_u8(&b, 1);
    put_text(&b, str_from_z(queue));
    text->fetch_len = b.len;
    text->fetch = buf_take(&b);
}

void load_binary__put_enqueues(struct load_client *client, const struct load_text *text,
                               struct str time)
{
    struct buf *b = &client->body;
    buf_clear(b);
    pack_u16(b, (uint16_t)client->jobs);
    for (uint64_t i = 0; i < client->jobs; i++) {
        size_t at = b->len + text->time_at;
        buf_add(b, text->job, text->job_len);
        CHECK(!b->overflow);
        memcpy(b->ptr + at, time.ptr, time.len);
    }
}

void load_binary__put_acks(struct load_client *client)
{
    struct buf *b = &client->body;
    buf_clear(b);
    for (size_t i = 0; i < client->in_ack; i++) {
        const struct load_job *job = &client->held[client->next + i];
        put_text(b, str_from(job->id, job->id_len));
        put_text(b, STR_EMPTY); /* queue */
        pack_u8(b, 0);          /* success */
        pack_u8(b, 0);          /* no further data */
    }
    CHECK(!b->overflow);
}

/* Frames of a connection */

static const char *token_of(const struct load_plan *plan)
{
    for (size_t i = 0; i < plan->header_count; i++) {
        if (strcmp(plan->headers[i].name, "x-api-key") == 0) {
            return plan->headers[i].value;
        }
    }
    return NULL;
}

static void forget_all(struct load_conn *c)
{
    buf_clear(&c->in);
    buf_clear(&c->pushed);
    buf_clear(&c->acks);
    c->pushed_at = c->pushed_count = c->ack_count = c->credits = 0;
    c->looks = false;
}

static void wire_open(struct load_conn *c)
{
    const char *token = token_of(c->thread->run->plan);
    forget_all(c);
    c->number = 0;
    for (size_t i = 0; i < c->client_count; i++) {
        c->clients[i]->promised = 0;
        c->clients[i]->number = 0;
    }
    if (token != NULL) {
        struct buf b;
        buf_init(&b, UINT8_MAX + 1);
        put_text(&b, str_from_z(token));
        put_frame(&c->out, AUTH, ++c->number, buf_str(&b));
        buf_deinit(&b);
    }
}

static void wire_close(struct load_conn *c)
{
    forget_all(c);
}

static void put_acks(struct load_conn *c)
{
    if (c->ack_count > 0) {
        put_head(&c->out, ACK, c->number, sizeof(uint16_t) + c->acks.len);
        pack_u16(&c->out, (uint16_t)c->ack_count);
        buf_add_str(&c->out, buf_str(&c->acks));
        CHECK(!c->out.overflow);
        buf_clear(&c->acks);
        c->ack_count = 0;
    }
}

static void add_acks(struct load_conn *c, struct load_client *client)
{
    if (c->ack_count + client->in_ack > LOAD_BATCH_MAX) {
        put_acks(c);
    }
    c->number += c->ack_count == 0 ? 1 : 0;
    c->ack_count += client->in_ack;
    buf_add_str(&c->acks, buf_str(&client->body));
    client->number = c->number;
    client->acked = 0;
}

static void wire_request(struct load_conn *c, struct load_client *client)
{
    if (client->is_producer) {
        client->number = ++c->number;
        put_frame(&c->out, ENQUEUE, client->number, buf_str(&client->body));
        return;
    }
    client->number = 0;
    if (client->body.len > 0) {
        add_acks(c, client);
    } else if (c->pushed_count > 0) {
        c->looks = true; /* pushed jobs are already waiting */
    }
    /* Credits for the jobs that it can hold, minus those already promised. */
    c->credits += c->thread->run->plan->fetch_batch - client->promised;
    client->promised = c->thread->run->plan->fetch_batch;
}

/* Write the frames collected in this turn of the loop. */
static void wire_finish(struct load_conn *c)
{
    put_acks(c);
    if (c->looks) { /* the response to the ping wakes the clients */
        c->looks = false;
        put_frame(&c->out, PING, ++c->number, STR_EMPTY);
    }
    while (c->credits > 0) {
        const struct load_text *text = &c->thread->run->texts[c->clients[0]->worker];
        uint16_t credits = (uint16_t)(c->credits < UINT16_MAX ? c->credits : UINT16_MAX);
        struct buf b;
        buf_init(&b, (size_t)LOAD_TEXT_BYTES * 4);
        pack_u16(&b, credits);
        buf_add(&b, text->fetch, text->fetch_len);
        put_frame(&c->out, SUBSCRIBE, ++c->number, buf_str(&b));
        buf_deinit(&b);
        c->credits -= credits;
    }
}

static int status_of(uint8_t code)
{
    return code == CODE_OK            ? 200
           : code == CODE_OVERLOADED  ? 429
           : code == CODE_UNAVAILABLE ? 503
                                      : 400;
}

static void answer(struct load_client *client, int status, struct str text)
{
    buf_clear(&client->answer);
    buf_add_str(&client->answer, text);
    client->status = status;
}

/* Handle a refused frame: requests, or credits, which the server has then discarded. After refused
 * requests a response with a code follows. */
static void refuse(struct load_conn *c, uint32_t number, int status, struct str text)
{
    size_t asked = 0;
    for (size_t i = 0; i < c->client_count; i++) {
        if (number != 0 && c->clients[i]->number == number) {
            answer(c->clients[i], status, text);
            asked++;
        }
    }
    for (size_t i = 0; i < c->client_count && asked == 0; i++) {
        struct load_client *client = c->clients[i];
        client->promised = 0;
        if (client->state == CLIENT_SENT && client->number == 0) {
            answer(client, status, text);
        }
    }
}

static int status_of_fault(struct str text)
{
    bool later = memmem(text.ptr, text.len, "overload", 8) != NULL ||
                 memmem(text.ptr, text.len, "unavailable", 11) != NULL;
    return later ? 503 : 400;
}

static void enqueued(struct load_conn *c, uint32_t number, int status)
{
    for (size_t i = 0; i < c->client_count; i++) {
        if (c->clients[i]->number == number) { /* otherwise the client has given up the request */
            c->clients[i]->status = status;
        }
    }
}

/* Handle the response to a frame of acks. If some were not confirmed, it does not name them. */
static void acked(struct load_conn *c, uint32_t number, size_t affected, int status)
{
    for (size_t i = 0; i < c->client_count; i++) {
        struct load_client *client = c->clients[i];
        if (client->number != number) {
            continue;
        }
        client->number = 0;
        client->status = status;
        if (status == 200) {
            client->acked = affected < client->in_ack ? affected : client->in_ack;
            affected -= client->acked;
            buf_clear(&client->body); /* do not send the acks again */
        }
    }
}

static bool take_frame(struct load_conn *c, uint8_t type, uint32_t number, struct str payload)
{
    struct unpack u = unpack_from(payload);
    switch (type) {
    case ENQUEUE | ANSWER:
        (void)unpack_u16(&u);
        enqueued(c, number, status_of(unpack_u8(&u)));
        return payload.len == 3;
    case ACK | ANSWER: {
        uint16_t affected = unpack_u16(&u);
        acked(c, number, affected, status_of(unpack_u8(&u)));
        return payload.len == 3;
    }
    case JOBS:
        c->pushed_count += unpack_u16(&u);
        buf_add_str(&c->pushed, unpack_bytes(&u, unpack_left(&u)));
        return !u.bad;
    case AUTH | ANSWER:
        if (unpack_u8(&u) != 0) {
            for (size_t i = 0; i < c->client_count; i++) {
                answer(c->clients[i], 401, STR("the server refused the credential"));
            }
        }
        return true;
    case NOT_LEADER:
        refuse(c, number, 503, STR_EMPTY);
        return true;
    case FAULT:
        refuse(c, number, status_of_fault(payload), payload);
        return true;
    default:
        return true; /* pings, cancellations */
    }
}

static struct str take_text(struct unpack *u)
{
    return unpack_bytes(u, unpack_u8(u));
}

struct pushed_job {
    struct str id, payload;
};

static struct pushed_job take_job(struct unpack *u)
{
    struct pushed_job job = {.id = take_text(u)};
    (void)take_text(u); /* queue */
    (void)unpack_u32(u);
    (void)take_text(u); /* checkpoint */
    (void)take_text(u); /* tags */
    job.payload = unpack_bytes(u, unpack_u32(u));
    (void)unpack_u64(u); /* token */
    return job;
}

/* Pass pushed jobs to the client, as many as it can hold. False if a job cannot be decoded. */
static bool take_pushed(struct load_conn *c, struct load_client *client)
{
    size_t most = c->thread->run->plan->fetch_batch;
    size_t count = c->pushed_count < most ? c->pushed_count : most;
    struct str rest = str_from_offset(buf_str(&c->pushed), c->pushed_at);
    struct unpack u = unpack_from(rest);
    for (size_t i = 0; i < count && !u.bad; i++) {
        (void)take_job(&u);
    }
    size_t len = rest.len - unpack_left(&u);
    buf_add(&client->answer, rest.ptr, len);
    client->promised -= count < client->promised ? count : client->promised;
    c->pushed_at += len;
    c->pushed_count -= count;
    if (c->pushed_count == 0) {
        buf_clear(&c->pushed);
        c->pushed_at = 0;
    }
    return !u.bad;
}

/* Find the clients whose response is complete. */
static bool find_answered(struct load_conn *c)
{
    bool good = true;
    for (size_t i = c->client_count; i-- > 0 && good;) {
        struct load_client *client = c->clients[i];
        if (client->state != CLIENT_SENT) {
            continue;
        }
        bool may_take = client->number == 0 && (client->status == 0 || client->status == 200);
        if (may_take && c->pushed_count > 0) {
            good = take_pushed(c, client);
            client->status = 200;
        }
        if (client->status != 0) {
            client->next_answered = c->answered;
            c->answered = client;
        }
    }
    return good;
}

static bool wire_input(struct load_conn *c, struct str bytes)
{
    size_t at = 0;
    bool good = true;
    buf_add_str(&c->in, bytes);
    while (good && c->in.len - at >= HEAD_BYTES) {
        struct unpack u = unpack_from(str_from(c->in.ptr + at, HEAD_BYTES));
        uint8_t type = unpack_u8(&u);
        uint32_t number = unpack_u32(&u);
        size_t len = unpack_u32(&u);
        good = len <= LOAD_ANSWER_BYTES;
        if (!good || c->in.len - at - HEAD_BYTES < len) {
            break;
        }
        good = take_frame(c, type, number, str_from(c->in.ptr + at + HEAD_BYTES, len));
        at += HEAD_BYTES + len;
    }
    if (at > 0) {
        memmove(c->in.ptr, c->in.ptr + at, c->in.len - at);
        c->in.len -= at;
    }
    return good && find_answered(c) && !c->in.overflow && !c->pushed.overflow;
}

const struct load_wire load_binary_wire = {.open = wire_open,
                                           .close = wire_close,
                                           .request = wire_request,
                                           .finish = wire_finish,
                                           .input = wire_input};

/* Reading */

bool load_binary__take_jobs(struct load_client *client)
{
    struct unpack u = unpack_from(buf_str(&client->answer));
    while (!u.bad && unpack_left(&u) > 0) {
        struct pushed_job in = take_job(&u);
        if (u.bad || in.id.len == 0 || in.id.len > LOAD_ID_BYTES ||
            client->held_count == client->thread->run->plan->fetch_batch) {
            return false;
        }
        struct load_job *job = &client->held[client->held_count++];
        *job = (struct load_job){.id_len = in.id.len, .enqueued_ns = client->began_ns};
        memcpy(job->id, in.id.ptr, in.id.len);
        if (in.payload.len > 0) {
            job->enqueued_ns = load_json__enqueued_at(
                in.payload.ptr, in.payload.ptr + in.payload.len, client->began_ns);
        }
    }
    return !u.bad;
}
