/*
 * The binary worker protocol (rpc.md, appendix A): frames to bytes and back, by hand.
 *
 * A connection has one client. A producer's request is one frame. A worker's has the acks of what
 * it held and, when it has room for more jobs than it was promised, credits for them; its answer is
 * that of the acks or, when there were none, the next jobs. Jobs are pushed whenever there are
 * some: what comes before the client asks stays in c->in.
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

/* Defaults of a job, as the API has them. */
enum { PRIORITY = 50, RETRIES = 3, BACKOFF_EXPONENTIAL = 3, HAS_PAYLOAD = 1 };
enum { DELAY_MS = 5000, DELAY_MS_MAX = 600000, MS_PER_S = 1000 };

/* Writing */

static void put_text(struct buf *b, struct str text)
{
    CHECK(text.len <= UINT8_MAX);
    pack_u8(b, (uint8_t)text.len);
    buf_add_str(b, text);
}

static void put_frame(struct buf *b, uint8_t type, uint32_t number, struct str payload)
{
    pack_u8(b, type);
    pack_u32(b, number);
    pack_u32(b, (uint32_t)payload.len);
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
    if (client->in_ack == 0) {
        return;
    }
    pack_u16(b, (uint16_t)client->in_ack);
    for (size_t i = 0; i < client->in_ack; i++) {
        const struct load_job *job = &client->held[client->next + i];
        put_text(b, str_from(job->id, job->id_len));
        put_text(b, STR_EMPTY); /* its queue */
        pack_u8(b, 0);          /* done */
        pack_u8(b, 0);          /* nothing besides */
    }
    CHECK(!b->overflow);
}

/* The wire */

static const char *token_of(const struct load_plan *plan)
{
    for (size_t i = 0; i < plan->header_count; i++) {
        if (strcmp(plan->headers[i].name, "x-api-key") == 0) {
            return plan->headers[i].value;
        }
    }
    return NULL;
}

static void wire_open(struct load_conn *c)
{
    struct load_client *client = c->clients[0];
    const char *token = token_of(c->thread->run->plan);
    buf_clear(&c->in);
    client->promised = 0;
    client->ack_number = 0;
    if (token != NULL) {
        struct buf b;
        buf_init(&b, UINT8_MAX + 1);
        put_text(&b, str_from_z(token));
        put_frame(&c->out, AUTH, ++client->number, buf_str(&b));
        buf_deinit(&b);
    }
}

static void wire_close(struct load_conn *c)
{
    buf_clear(&c->in);
}

/* Credits for what it can hold and was not promised yet. */
static void put_credits(struct load_conn *c, struct load_client *client)
{
    const struct load_run *run = c->thread->run;
    const struct load_text *text = &run->texts[client->worker];
    size_t credits = run->plan->fetch_batch - client->promised;
    struct buf b;
    if (credits == 0) {
        return;
    }
    buf_init(&b, (size_t)LOAD_TEXT_BYTES * 4);
    pack_u16(&b, (uint16_t)credits);
    buf_add(&b, text->fetch, text->fetch_len);
    put_frame(&c->out, SUBSCRIBE, ++client->number, buf_str(&b));
    buf_deinit(&b);
    client->promised += credits;
}

static void wire_request(struct load_conn *c, struct load_client *client)
{
    if (client->is_producer) {
        put_frame(&c->out, ENQUEUE, ++client->number, buf_str(&client->body));
        return;
    }
    client->ack_number = 0;
    client->pushed = 0;
    if (client->body.len > 0) {
        client->ack_number = ++client->number;
        client->acked = 0;
        put_frame(&c->out, ACK, client->ack_number, buf_str(&client->body));
    } else if (c->in.len > 0) {
        /* What it waits for may be there: the answer has it looked at. */
        put_frame(&c->out, PING, ++client->number, STR_EMPTY);
    }
    put_credits(c, client);
}

static int status_of(uint8_t code)
{
    return code == CODE_OK            ? 200
           : code == CODE_OVERLOADED  ? 429
           : code == CODE_UNAVAILABLE ? 503
                                      : 400;
}

/* A frame that refuses something in words. An answer with a code follows, unless it was credits
 * that were refused, or the whole frame. */
static void take_fault(struct load_client *client, uint32_t number, struct str text)
{
    bool later = memmem(text.ptr, text.len, "overload", 8) != NULL ||
                 memmem(text.ptr, text.len, "unavailable", 11) != NULL;
    if (!client->is_producer && number != client->ack_number) {
        client->promised = 0;
    }
    buf_clear(&client->answer);
    buf_add_str(&client->answer, text);
    client->status = later ? 503 : 400;
}

/* The end of an ack: what follows sends it no more. */
static void take_acked(struct load_client *client, struct str payload)
{
    struct unpack u = unpack_from(payload);
    uint16_t affected = unpack_u16(&u);
    client->status = status_of(unpack_u8(&u));
    client->ack_number = 0;
    if (client->status == 200) {
        client->acked = affected;
        buf_clear(&client->body);
    }
}

static bool take_frame(struct load_client *client, uint8_t type, uint32_t number,
                       struct str payload)
{
    struct unpack u = unpack_from(payload);
    switch (type) {
    case ENQUEUE | ANSWER:
        if (number == client->number) { /* else to one that was given up */
            (void)unpack_u16(&u);
            client->status = status_of(unpack_u8(&u));
        }
        return payload.len == 3;
    case ACK | ANSWER:
        if (number == client->ack_number) {
            take_acked(client, payload);
        }
        return payload.len == 3;
    case JOBS: {
        uint16_t count = unpack_u16(&u);
        buf_add_str(&client->answer, payload);
        client->pushed += count;
        client->promised -= count < client->promised ? count : client->promised;
        return !u.bad;
    }
    case AUTH | ANSWER:
        if (unpack_u8(&u) != 0) {
            client->status = 401;
            buf_clear(&client->answer);
            buf_add_str(&client->answer, STR("the server refused the credential"));
        }
        return true;
    case NOT_LEADER:
        client->promised = 0;
        client->status = 503;
        return true;
    case FAULT:
        take_fault(client, number, payload);
        return true;
    default:
        return true; /* pings, cancellations */
    }
}

/* Is what the client waits for there? */
static bool is_answered(struct load_client *client)
{
    if (client->status == 0 && !client->is_producer && client->ack_number == 0 &&
        client->pushed > 0) {
        client->status = 200;
    }
    return client->status != 0;
}

static bool wire_input(struct load_conn *c, struct str bytes)
{
    struct load_client *client = c->clients[0];
    size_t at = 0;
    bool good = true;
    buf_add_str(&c->in, bytes);
    while (good && client->state == CLIENT_SENT && c->in.len - at >= HEAD_BYTES) {
        struct unpack u = unpack_from(str_from(c->in.ptr + at, HEAD_BYTES));
        uint8_t type = unpack_u8(&u);
        uint32_t number = unpack_u32(&u);
        size_t len = unpack_u32(&u);
        good = len <= LOAD_ANSWER_BYTES;
        if (!good || c->in.len - at - HEAD_BYTES < len) {
            break;
        }
        good = take_frame(client, type, number, str_from(c->in.ptr + at + HEAD_BYTES, len));
        at += HEAD_BYTES + len;
    }
    if (at > 0) {
        memmove(c->in.ptr, c->in.ptr + at, c->in.len - at);
        c->in.len -= at;
    }
    if (good && client->state == CLIENT_SENT && is_answered(client)) {
        client->next_answered = NULL;
        c->answered = client;
    }
    return good && !c->in.overflow;
}

const struct load_wire load_binary_wire = {
    .open = wire_open, .close = wire_close, .request = wire_request, .input = wire_input};

/* Reading */

static struct str take_text(struct unpack *u)
{
    return unpack_bytes(u, unpack_u8(u));
}

bool load_binary__take_jobs(struct load_client *client)
{
    struct unpack u = unpack_from(buf_str(&client->answer));
    while (!u.bad && unpack_left(&u) > 0) {
        uint16_t count = unpack_u16(&u);
        for (; count > 0 && !u.bad; count--) {
            struct str id = take_text(&u);
            (void)take_text(&u); /* queue */
            (void)unpack_u32(&u);
            (void)take_text(&u); /* checkpoint */
            (void)take_text(&u); /* tags */
            struct str payload = unpack_bytes(&u, unpack_u32(&u));
            (void)unpack_u64(&u); /* token */
            if (u.bad || id.len == 0 || id.len > LOAD_ID_BYTES ||
                client->held_count == client->thread->run->plan->fetch_batch) {
                return false;
            }
            struct load_job *job = &client->held[client->held_count++];
            *job = (struct load_job){.id_len = id.len, .enqueued_ns = client->began_ns};
            memcpy(job->id, id.ptr, id.len);
            if (payload.len > 0) {
                job->enqueued_ns = load_client__enqueued_at(payload.ptr, payload.ptr + payload.len,
                                                            client->began_ns);
            }
        }
    }
    return !u.bad;
}
