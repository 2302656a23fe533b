#include "front/front_op.h"

#include <stdatomic.h>

#include "base/check.h"
#include "base/digits.h"
#include "engine/engine_ask.h"
#include "front/front_peer.h"
#include "http/http_loop.h"

enum err_code front_client_recheck(const struct front_client *c, struct err *err)
{
    return c->recheck == NULL ? ERR_OK : c->recheck(c->recheck_data, err);
}

/* Names */

/* A name consists of six random bytes of the process, a counter of six bytes, two bytes for the
 * command within the request, and two for its step, which the engine sets. */
void front_client_name(struct front_client *c)
{
    static atomic_uint_fast64_t random_number, counter;
    if (!id_is_none(c->operation) || !engine_ask_has_peers(c->engine)) {
        return;
    }
    uint_fast64_t prefix = atomic_load(&random_number);
    if (prefix == 0) {
        uint64_t fresh = 0;
        CHECK(uv_random(NULL, NULL, &fresh, sizeof fresh, 0, NULL) == 0);
        fresh |= 1; /* if two threads get here at once, the number of the first one is used */
        prefix = atomic_compare_exchange_strong(&random_number, &prefix, fresh) ? fresh : prefix;
    }
    uint64_t count = atomic_fetch_add(&counter, 1) + 1;
    for (unsigned i = 0; i < 6; i++) {
        c->operation.b[i] = (uint8_t)(prefix >> (8 * i));
        c->operation.b[6 + i] = (uint8_t)(count >> (40 - 8 * i));
    }
    c->since = engine_ask_applied(c->engine);
}

/* The commands of a request have the same names each time the request is repeated. */
static struct id next_name(struct front_client *c)
{
    struct id id = c->operation;
    uint32_t number = c->command_count++;
    if (id_is_none(id) || number > UINT16_MAX) {
        return ID_NONE;
    }
    id.b[12] = (uint8_t)(number >> 8);
    id.b[13] = (uint8_t)number;
    return id;
}

static bool is_leaders_end(enum err_code code)
{
    return code == ERR_LEADER_UNAVAILABLE || code == ERR_UNKNOWN_OUTCOME ||
           code == ERR_FORWARD_LOOP;
}

bool front_client_may_ask_again(const struct front_client *c, enum err_code code)
{
    return !c->forwarded && !c->gone && is_leaders_end(code) && engine_ask_has_peers(c->engine) &&
           (!c->touched || !id_is_none(c->operation));
}

struct http_header front_timing(int64_t took_ns, char room[FRONT_TIMING_ROOM])
{
    static const char name[] = "proc;dur=";
    int64_t took_us = took_ns / NS_PER_US;
    char *at = room + sizeof name - 1;
    memcpy(room, name, sizeof name - 1);
    at = digits_put(at, (uint64_t)(took_us / 1000));
    *at++ = '.';
    at = digits_put_padded(at, (uint64_t)took_us, 3);
    return (struct http_header){STR("Server-Timing"), str_from(room, (size_t)(at - room))};
}

size_t front_client_headers(const struct front_client *c, enum err_code code,
                            struct http_header rows[FRONT_CLIENT_HEADERS],
                            char room[FRONT_CLIENT_ROOM])
{
    size_t count = 0;
    if (c->forwarded && c->index > 0) {
        char *end = digits_put(room, c->index);
        rows[count++] =
            (struct http_header){FRONT_PEER_HEADER_INDEX, str_from(room, (size_t)(end - room))};
    }
    if (c->forwarded && (is_leaders_end(code) || code == ERR_STOPPING)) {
        rows[count++] = (struct http_header){FRONT_PEER_HEADER_OUTCOME,
                                             c->touched ? STR("unknown") : STR("none")};
    }
    return count;
}

/* Commands */

/* Update what is known of the request. */
static void note(struct front_client *c, const struct engine_op *op)
{
    bool done = op->err.code == ERR_OK;
    c->touched = c->touched || done || op->err.code == ERR_UNKNOWN_OUTCOME;
    c->index = done && op->index > c->index ? op->index : c->index;
}

/* Jobs that were claimed for a client that disconnected would be stuck until their leases end. A
 * client that sends no more has most likely disconnected too: it gets no job, and asks again if it
 * is still there. After a long wait, the socket is checked: its end may not have been read yet. */
static bool has_left(const struct front_client *c, const struct engine_op *op)
{
    return c->gone || c->shut || (op->waited && http_request_has_ended(c->req));
}

/* The credential may have become invalid while a claim waited. Its holder must not get the jobs. */
static bool is_refused(const struct front_client *c, struct engine_op *op, struct err *err)
{
    return op->waited && op->err.code == ERR_OK && front_client_recheck(c, err) != ERR_OK;
}

/* A fetch that found no job was applied, perhaps often, and changed nothing. */
static bool found_nothing(const struct front_op *o, const struct result *r)
{
    return r != NULL && o->op.park_ms > 0 && r->code == ERR_OK && r->count == 0;
}

/* End the operation's span. r: NULL if it was refused before it reached the log. */
static void end_span(const struct front_op *o, const struct result *r)
{
    if (o->client->span == NULL || found_nothing(o, r)) {
        return;
    }
    struct str error = r == NULL             ? str_from_z(o->op.err.msg)
                       : r->code == ERR_OK   ? STR_EMPTY
                       : r->message.len == 0 ? str_from_z(err_wire(r->code))
                                             : r->message;
    trace_end_apply(&o->span, o->op.type, error);
}

static void end(struct front_op *o, const struct result *r)
{
    end_span(o, r);
    o->done(o, r);
}

static void op_done(struct engine_op *op)
{
    struct front_op *o = op->data;
    ATTR_UNINITIALIZED struct result r;
    ATTR_UNINITIALIZED struct err err;
    o->busy = false;
    note(o->client, op);
    arena_owe(op->arena); /* the operation is done: its response may exceed the memory limit */
    bool refused = !o->client->gone && is_refused(o->client, op, &err);
    bool left = refused || has_left(o->client, op);
    bool returned = left && engine_give_back(o->client->engine, op);
    if (refused) {
        op->err = err;
    }
    if (op->err.code != ERR_OK) {
        end(o, NULL);
    } else if (!result_decode(buf_str(&op->result), op->arena, &r)) {
        (void)err_set(&op->err, ERR_INTERNAL, "the engine's answer cannot be read");
        end(o, NULL);
    } else {
        r.count = returned ? 0 : r.count;
        end(o, &r);
    }
}

enum err_code front_op_send(struct front_op *o, struct arena *arena, const struct command *command,
                            int64_t park_ms, front_op_fn done, struct err *err)
{
    struct front_client *client = o->client;
    struct http_loop *loop = client->req->loop;
    CHECK(!o->busy);
    if (!o->used) {
        engine_op_init(&o->op);
        buf_set_budget(&o->op.result, client->budget);
        o->op.result.owed = true;
        o->used = true;
    }
    o->done = done;
    o->op.done = op_done;
    o->op.data = o;
    o->op.arena = arena;
    o->op.reply_to = http_loop_mailbox(loop);
    o->op.outbox = client->outbox;
    front_client_name(client);
    o->op.operation = next_name(client);
    o->op.since = client->since;
    o->op.park_ms = http_loop_stopping(loop) || client->shut ? 0 : park_ms;
    if (engine_op_prepare(client->engine, &o->op, command, err) != ERR_OK) {
        return err->code;
    }
    o->busy = true;
    if (client->span != NULL) {
        trace_begin_inside(client->span, &o->span);
    }
    engine_submit(client->engine, &o->op);
    return ERR_OK;
}

bool front_op_cancel(struct front_op *o)
{
    if (o->busy) {
        engine_cancel(o->client->engine, &o->op);
    }
    return o->busy;
}

void front_op_hurry(struct front_op *o)
{
    if (o->busy && o->op.park_ms > 0) {
        engine_cancel(o->client->engine, &o->op);
    }
}

void front_op_deinit(struct front_op *o)
{
    CHECK(!o->busy);
    if (o->used) {
        engine_op_deinit(&o->op);
        o->used = false;
    }
}
