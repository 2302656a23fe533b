/*
 * Requests with one response: enqueue, ack, fail, heartbeat, bulk. A call is one frame and its
 * commands. The response is sent when all of them are done.
 */
#include <stdlib.h>

#include "base/check.h"
#include "base/limits.h"
#include "base/pack.h"
#include "binary/binary_int.h"
#include "svc/svc_jobs.h"

enum { CALL_BYTES_MAX = 64 << 20 };

/* The last byte of a response. The message is in an error frame with the same number. */
enum { CODE_OK, CODE_REFUSED, CODE_OVERLOADED, CODE_UNAVAILABLE };

struct call;

/* A run that is ended by a command. */
struct ended {
    struct id id;
    uint64_t lease_token; /* 0: none */
};

struct part {
    struct engine_op op;
    struct call *call;
    const struct ended *ended; /* runs ended by the command, unless it is refused */
    size_t ended_count;
};

struct call {
    struct binary_conn *conn;
    struct arena *arena;
    struct svc_caller who;
    struct binary_message_head head;
    struct str payload;
    struct part *parts;
    size_t part_count, begun, left;
    uint64_t affected;
    struct err err; /* the first error */
    void (*on_result)(struct call *call, const struct result *r);
    struct svc_beats beats;
};

/* Answering */

static uint8_t code_of(enum err_code code)
{
    int http = code == ERR_OK ? 200 : err_http_status(code);
    return http < 400    ? CODE_OK
           : http == 429 ? CODE_OVERLOADED
           : http >= 500 ? CODE_UNAVAILABLE
                         : CODE_REFUSED;
}

static void forget(struct call *call, struct str job_id)
{
    struct id id;
    if (id_parse(job_id, ID_JOB, &id)) {
        binary_held__forget(call->conn, id);
    }
}

/* Push the jobs of a heartbeat that the client no longer has. */
static void push_cancelled(struct call *call)
{
    struct buf *out = &call->conn->out;
    size_t begin = binary_message_begin(out, BINARY_CANCELLED, 0);
    size_t count = 0;
    for (size_t i = 0; i < call->beats.count; i++) {
        count += call->beats.list[i].status != SVC_BEAT_OK ? 1 : 0;
    }
    pack_u16(out, (uint16_t)count);
    for (size_t i = 0; i < call->beats.count; i++) {
        if (call->beats.list[i].status != SVC_BEAT_OK) {
            binary_message_text(out, call->beats.list[i].job_id);
            forget(call, call->beats.list[i].job_id);
        }
    }
    binary_message_finish(out, begin);
    if (count == 0) {
        out->len = begin;
    }
}

static void answer(struct call *call)
{
    struct binary_conn *c = call->conn;
    if (c->closing) {
        return;
    }
    if (call->begun > 0) {
        binary_conn__outcome(c, call->head.number, call->err.code);
    }
    if (call->err.code != ERR_OK) {
        binary_conn__error(c, call->head.number, str_from_z(call->err.msg));
    }
    size_t begin = binary_message_begin(&c->out, (uint8_t)(call->head.type | BINARY_ANSWER),
                                        call->head.number);
    pack_u16(&c->out, (uint16_t)(call->affected < UINT16_MAX ? call->affected : UINT16_MAX));
    if (call->head.type != BINARY_BULK) {
        pack_u8(&c->out, code_of(call->err.code));
    }
    binary_message_finish(&c->out, begin);
    if (call->head.type == BINARY_HEARTBEAT && call->err.code == ERR_OK) {
        push_cancelled(call);
    }
    binary_conn__flush(c);
}

static void end(struct call *call)
{
    struct binary_conn *c = call->conn;
    answer(call);
    for (size_t i = 0; i < call->begun; i++) {
        engine_op_deinit(&call->parts[i].op);
    }
    arena_pool_give(&c->binary->call_arenas, call->arena); /* the call is in this arena */
    c->calls--;
    binary_conn__settle(c);
}

static void fail(struct call *call, const struct err *err)
{
    if (call->err.code == ERR_OK) {
        call->err = *err;
    }
}

/* Commands */

/* After a refused ack or fail the client keeps the job, and is notified when its lease ends. The
 * result of several acks is only a count: acks with another token than that of the job were
 * refused. */
static void forget_ended(const struct part *part)
{
    for (size_t i = 0; i < part->ended_count; i++) {
        binary_held__forget_run(part->call->conn, part->ended[i].id, part->ended[i].lease_token);
    }
}

static void part_done(struct engine_op *op)
{
    struct part *part = op->data;
    struct call *call = part->call;
    ATTR_UNINITIALIZED struct result r;
    struct err err;
    arena_owe(call->arena);
    if (op->err.code != ERR_OK) {
        fail(call, &op->err);
    } else if (!result_decode(buf_str(&op->result), call->arena, &r)) {
        (void)err_set(&err, ERR_INTERNAL, "the engine's answer cannot be read");
        fail(call, &err);
    } else if (r.code != ERR_OK) {
        (void)err_set(&err, r.code, STR_FMT, STR_ARG(r.message));
        fail(call, &err);
    } else {
        uint64_t before = call->affected;
        call->on_result(call, &r);
        if (call->affected > before) {
            forget_ended(part);
        }
    }
    if (--call->left == 0) {
        end(call);
    }
}

static bool make_parts(struct call *call, size_t count)
{
    struct err err;
    call->parts = SVC_CALLER_ARRAY(&call->who, struct part, count, &err);
    if (call->parts == NULL) {
        fail(call, &err);
    }
    call->part_count = count;
    return call->parts != NULL;
}

/* Prepare the next part. All parts are submitted together. The ended runs must be in the arena. */
static void prepare_end(struct call *call, const struct command *command, const struct ended *ended,
                        size_t ended_count)
{
    struct binary *b = call->conn->binary;
    struct part *part = &call->parts[call->begun++];
    struct err err;
    engine_op_init(&part->op);
    buf_set_budget(&part->op.result, b->config.budget);
    part->op.result.owed = true;
    part->call = call;
    part->ended = ended;
    part->ended_count = ended_count;
    part->op.done = part_done;
    part->op.data = part;
    part->op.arena = call->arena;
    part->op.reply_to = &b->mailbox;
    part->op.outbox = &b->outbox;
    if (engine_op_prepare(b->config.engine, &part->op, command, &err) == ERR_OK) {
        call->left++;
    } else {
        fail(call, &err);
        call->begun--;
        engine_op_deinit(&part->op);
    }
}

static void prepare(struct call *call, const struct command *command)
{
    prepare_end(call, command, NULL, 0);
}

static void submit(struct call *call)
{
    size_t count = call->begun;
    if (call->left == 0) {
        end(call);
        return;
    }
    for (size_t i = 0; i < count;
         i++) { /* done is called from the loop, never from inside this call */
        engine_submit(call->conn->binary->config.engine, &call->parts[i].op);
    }
}

/* The types of requests */

static void enqueued(struct call *call, const struct result *r)
{
    call->affected += r->count;
}

static void take_enqueue(struct call *call)
{
    struct binary_message_enqueue in;
    ATTR_UNINITIALIZED struct command command;
    struct err err;
    call->on_result = enqueued;
    if (binary_message_enqueue(&call->who, call->payload, &in, &err) != ERR_OK ||
        (in.count > 0 && svc_enqueue_list(&call->who, in.count, &command, &err) != ERR_OK)) {
        fail(call, &err);
        return;
    }
    for (size_t i = 0; i < in.count; i++) {
        if (svc_enqueue_put(&call->who, &command, i, &in.jobs[i], &err) != ERR_OK) {
            fail(call, &err);
            return;
        }
    }
    if (in.count > 0 && make_parts(call, 1)) {
        prepare(call, &command);
    }
}

static void changed(struct call *call, const struct result *r)
{
    call->affected += r->affected;
}

static void take_acks(struct call *call)
{
    struct binary_message_acks in;
    ATTR_UNINITIALIZED struct command command;
    struct err err;
    call->on_result = changed;
    if (binary_message_acks(&call->who, call->payload, &in, &err) != ERR_OK ||
        (in.count > 0 &&
         svc_work_ack_many(&call->who, in.acks, in.count, &command, &err) != ERR_OK)) {
        fail(call, &err);
        return;
    }
    if (in.count == 0 || command.ack.count == 0 || !make_parts(call, 1)) {
        return;
    }
    size_t count = command.ack.count;
    struct ended *ended = SVC_CALLER_ARRAY(&call->who, struct ended, count, &err);
    if (ended == NULL) {
        fail(call, &err);
        return;
    }
    for (size_t i = 0; i < count; i++) {
        const struct command_ack_item *it = &command.ack.items[i];
        ended[i] = (struct ended){.id = it->id, .lease_token = it->lease_token};
    }
    prepare_end(call, &command, ended, count);
}

static void failed(struct call *call, const struct result *r)
{
    (void)r;
    call->affected++;
}

static void take_fails(struct call *call)
{
    struct binary_message_fails in;
    struct err err;
    call->on_result = failed;
    if (binary_message_fails(&call->who, call->payload, &in, &err) == ERR_OK &&
        in.count > LIMIT_ACK_BATCH) {
        (void)err_set(&err, ERR_VALIDATION, "a frame can have at most %d jobs", LIMIT_ACK_BATCH);
    }
    if (err.code != ERR_OK) {
        fail(call, &err);
        return;
    }
    struct ended *ended = SVC_CALLER_ARRAY(&call->who, struct ended, in.count, &err);
    if (ended == NULL) {
        fail(call, &err);
        return;
    }
    if (!make_parts(call, in.count)) {
        return;
    }
    for (size_t i = 0; i < in.count; i++) {
        ATTR_UNINITIALIZED struct command command;
        if (svc_work_fail(&call->who, &in.fails[i], &command, &err) == ERR_OK) {
            ended[i] =
                (struct ended){.id = command.fail.id, .lease_token = command.fail.lease_token};
            prepare_end(call, &command, &ended[i], 1);
        } else {
            fail(call, &err);
        }
    }
}

static void beaten(struct call *call, const struct result *r)
{
    struct err err;
    if (svc_beat_answer(&call->beats, r, &err) != ERR_OK) {
        fail(call, &err);
        return;
    }
    for (size_t i = 0; i < call->beats.count; i++) {
        call->affected += call->beats.list[i].status == SVC_BEAT_OK ? 1 : 0;
    }
}

static void take_heartbeat(struct call *call)
{
    ATTR_UNINITIALIZED struct command command;
    struct err err;
    call->on_result = beaten;
    if (binary_message_beats(&call->who, call->payload, &call->beats, &err) != ERR_OK ||
        svc_beat_command(&call->who, &call->beats, &command, &err) != ERR_OK) {
        fail(call, &err);
    } else if (command.heartbeat.count > 0 && make_parts(call, 1)) {
        prepare(call, &command);
    }
}

static void take_bulk(struct call *call)
{
    struct binary_message_ids in;
    struct err err;
    call->on_result = changed;
    if (binary_message_bulk(&call->who, call->payload, &in, &err) == ERR_OK &&
        in.count > LIMIT_ACK_BATCH) {
        (void)err_set(&err, ERR_VALIDATION, "a frame can have at most %d jobs", LIMIT_ACK_BATCH);
    }
    if (err.code != ERR_OK) {
        fail(call, &err);
        return;
    }
    struct id *rooms = SVC_CALLER_ARRAY(&call->who, struct id, in.count, &err);
    if (rooms == NULL || !make_parts(call, in.count)) {
        fail(call, &err);
        return;
    }
    for (size_t i = 0; i < in.count; i++) {
        ATTR_UNINITIALIZED struct command command;
        struct svc_jobs_action act = {.action = COMMAND_JOB_CANCEL, .job_id = in.ids[i]};
        if (svc_jobs_act(&call->who, &act, &rooms[i], &command, &err) == ERR_OK) {
            prepare(call, &command);
        } else {
            fail(call, &err);
        }
    }
}

void binary_call__take(struct binary_conn *c, const struct binary_message_head *head,
                       struct str payload)
{
    static const struct {
        uint8_t type;
        void (*take)(struct call *call);
    } kinds[] = {{BINARY_ENQUEUE, take_enqueue},
                 {BINARY_ACK, take_acks},
                 {BINARY_FAIL, take_fails},
                 {BINARY_HEARTBEAT, take_heartbeat},
                 {BINARY_BULK, take_bulk}};
    for (size_t i = 0; i < COUNT_OF(kinds); i++) {
        if (kinds[i].type != head->type) {
            continue;
        }
        struct arena *arena =
            arena_pool_take(&c->binary->call_arenas, CALL_BYTES_MAX, c->binary->config.budget);
        struct call *call = arena_need(arena, sizeof *call, _Alignof(max_align_t));
        *call = (struct call){.conn = c, .arena = arena, .head = *head};
        call->err.code = ERR_OK;
        call->who = binary_auth__caller(c, arena);
        call->payload = arena_str(arena, payload); /* views of it are in what follows */
        c->calls++;
        if (call->payload.len == payload.len) {
            kinds[i].take(call);
        } else {
            (void)err_set_default(&call->err, arena_error(arena));
        }
        submit(call);
        return;
    }
    binary_conn__error(c, head->number, STR("unknown frame type"));
}
