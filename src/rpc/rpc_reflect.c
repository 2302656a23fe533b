/*
 * Server reflection (grpc.reflection.v1 and v1alpha, which have the same messages): clients without
 * the schema, such as grpcurl, can request it. Questions are answered one at a time.
 */
#include <string.h>

#include "base/check.h"
#include "rpc/rpc_descriptor.h"
#include "rpc/rpc_envelope.h"
#include "rpc/rpc_gzip.h"
#include "rpc/rpc_push_int.h"

enum {
    QUESTION_BYTES_MAX = 64 * 1024,
    DESCRIPTOR_BYTES_MAX = 256 * 1024,
};

/* ServerReflectionRequest. One of the members after host is set. If all are empty, the client asks
 * for the list of services. */
struct extension {
    struct str containing_type;
    int32_t extension_number;
};

struct question {
    struct str host, file_by_filename, file_containing_symbol, all_extension_numbers_of_type,
        list_services;
    struct extension *file_containing_extension;
};

struct files {
    struct str *file_descriptor_proto; /* bytes in the schema */
    size_t count;
};

/* Messages of proto3 have no extensions, so the list of their numbers is left out. */
struct numbers {
    struct str base_type_name;
};

struct service {
    struct str name;
};

struct services {
    struct service *service;
    size_t count;
};

struct refusal {
    int32_t error_code;
    struct str error_message;
};

/* ServerReflectionResponse. */
struct reply {
    struct str valid_host;
    struct question *original_request;
    struct files *file_descriptor_response;
    struct numbers *all_extension_numbers_response;
    struct services *list_services_response;
    struct refusal *error_response;
};

/* clang-format off */
static const struct proto_field extension_rows[] = {
    PROTO_ROW(struct extension, 1, STR, containing_type),
    PROTO_ROW(struct extension, 2, I32, extension_number),
};
static const struct proto_message extension_type = PROTO_MESSAGE_OF(struct extension, "grpc.reflection.v1.ExtensionRequest", extension_rows);
static const struct proto_field question_rows[] = {
    PROTO_ROW(struct question, 1, STR, host),
    PROTO_ROW(struct question, 3, STR, file_by_filename),
    PROTO_ROW(struct question, 4, STR, file_containing_symbol),
    PROTO_ONE_OF(struct question, 5, file_containing_extension, struct extension, &extension_type),
    PROTO_ROW(struct question, 6, STR, all_extension_numbers_of_type),
    PROTO_ROW(struct question, 7, STR, list_services),
};
static const struct proto_message question_type = PROTO_MESSAGE_OF(struct question, "grpc.reflection.v1.ServerReflectionRequest", question_rows);
static const struct proto_field files_rows[] = {
    PROTO_STRS(struct files, 1, file_descriptor_proto, count),
};
static const struct proto_message files_type = PROTO_MESSAGE_OF(struct files, "grpc.reflection.v1.FileDescriptorResponse", files_rows);
static const struct proto_field numbers_rows[] = {
    PROTO_ROW(struct numbers, 1, STR, base_type_name),
};
static const struct proto_message numbers_type = PROTO_MESSAGE_OF(struct numbers, "grpc.reflection.v1.ExtensionNumberResponse", numbers_rows);
static const struct proto_field service_rows[] = {
    PROTO_ROW(struct service, 1, STR, name),
};
static const struct proto_message service_type = PROTO_MESSAGE_OF(struct service, "grpc.reflection.v1.ServiceResponse", service_rows);
static const struct proto_field services_rows[] = {
    PROTO_LIST_OF(struct services, 1, service, count, struct service, &service_type),
};
static const struct proto_message services_type = PROTO_MESSAGE_OF(struct services, "grpc.reflection.v1.ListServiceResponse", services_rows);
static const struct proto_field refusal_rows[] = {
    PROTO_ROW(struct refusal, 1, I32, error_code),
    PROTO_ROW(struct refusal, 2, STR, error_message),
};
static const struct proto_message refusal_type = PROTO_MESSAGE_OF(struct refusal, "grpc.reflection.v1.ErrorResponse", refusal_rows);
static const struct proto_field reply_rows[] = {
    PROTO_ROW(struct reply, 1, STR, valid_host),
    PROTO_ONE_OF(struct reply, 2, original_request, struct question, &question_type),
    PROTO_ONE_OF(struct reply, 4, file_descriptor_response, struct files, &files_type),
    PROTO_ONE_OF(struct reply, 5, all_extension_numbers_response, struct numbers, &numbers_type),
    PROTO_ONE_OF(struct reply, 6, list_services_response, struct services, &services_type),
    PROTO_ONE_OF(struct reply, 7, error_response, struct refusal, &refusal_type),
};
static const struct proto_message reply_type = PROTO_MESSAGE_OF(struct reply, "grpc.reflection.v1.ServerReflectionResponse", reply_rows);
/* clang-format on */

struct talk {
    struct rpc_push push;
    struct rpc_envelope_reader reader;
    struct buf ahead; /* received, not consumed */
    bool ended;       /* the client sends no more */
    bool stepping;
};

/* Answering */

/* The services with descriptors. */
static struct service described[] = {
    {.name = {.ptr = "corvo.v1.WorkerService", .len = 22}},
    {.name = {.ptr = "grpc.health.v1.Health", .len = 21}},
};
static struct services all_services = {.service = described, .count = COUNT_OF(described)};

static void send_reply(struct talk *t, const struct reply *out)
{
    bool sent = rpc_push__send(&t->push, out);
    CHECK(sent);
}

static void send_error(struct talk *t, struct reply out, enum rpc_status status, struct str message)
{
    struct refusal refusal = {.error_code = (int32_t)status, .error_message = message};
    out.error_response = &refusal;
    send_reply(t, &out);
}

static void send_file(struct talk *t, struct reply out, struct str name)
{
    struct buf bytes;
    buf_init(&bytes, DESCRIPTOR_BYTES_MAX);
    if (rpc_descriptor_file(name, &bytes)) {
        struct str one = buf_str(&bytes);
        struct files files = {.file_descriptor_proto = &one, .count = 1};
        out.file_descriptor_response = &files;
        send_reply(t, &out);
    } else {
        send_error(t, out, RPC_NOT_FOUND, STR("unknown file or symbol"));
    }
    buf_deinit(&bytes);
}

static void answer(struct talk *t, struct question *q)
{
    struct reply out = {.valid_host = q->host, .original_request = q};
    struct str type = q->all_extension_numbers_of_type;
    struct numbers numbers = {.base_type_name = type};
    if (q->file_by_filename.len > 0) {
        send_file(t, out, q->file_by_filename);
    } else if (q->file_containing_symbol.len > 0) {
        send_file(t, out, rpc_descriptor_file_of(q->file_containing_symbol));
    } else if (type.len > 0 && rpc_descriptor_file_of(type).len > 0) {
        out.all_extension_numbers_response = &numbers;
        send_reply(t, &out);
    } else if (type.len > 0 || q->file_containing_extension != NULL) {
        send_error(t, out, RPC_NOT_FOUND, STR("unknown type or extension"));
    } else {
        out.list_services_response = &all_services;
        send_reply(t, &out);
    }
}

/* Reading */

static void left(struct rpc_push *p)
{
    struct talk *t = CONTAINER_OF(p, struct talk, push);
    rpc_envelope_reader_deinit(&t->reader);
    buf_deinit(&t->ahead);
}

static void end(struct talk *t, enum rpc_status status, struct str message)
{
    left(&t->push);
    rpc_push__end(&t->push, status, message);
}

static enum err_code read_question(struct talk *t, struct str bytes, bool compressed,
                                   struct arena *arena, struct question *out, struct err *err)
{
    struct rpc_call *c = t->push.call;
    if (compressed && bytes.len > 0 &&
        rpc_gzip_inflate(rpc_call__gzip(c), bytes, QUESTION_BYTES_MAX, arena, &bytes, err) !=
            ERR_OK) {
        return err->code;
    }
    return rpc_call__decode(c, bytes, arena, out, err);
}

/* The bytes must be in the arena. */
static void take_question(struct talk *t, struct str bytes, bool compressed, struct arena *arena)
{
    struct question question;
    struct err err;
    if (read_question(t, bytes, compressed, arena, &question, &err) == ERR_OK) {
        answer(t, &question);
    } else {
        end(t, RPC_INVALID_ARGUMENT, STR("the request cannot be decoded"));
    }
}

static void consume(struct talk *t, size_t n)
{
    memmove(t->ahead.ptr, t->ahead.ptr + n, t->ahead.len - n);
    t->ahead.len -= n;
    http_request_consume(t->push.call->req, n);
}

/* Answer the next question if it is complete and the last answer was sent. True if there may be
 * another one. */
static bool step(struct talk *t)
{
    struct rpc_call *c = t->push.call;
    size_t taken;
    unsigned flags = 0;
    struct str message;
    struct err err;
    if (t->push.over || c->on_sent != NULL) {
        return false;
    }
    enum rpc_envelope_result result =
        rpc_envelope_take(&t->reader, buf_str(&t->ahead), &taken, &flags, &message);
    bool compressed = (flags & RPC_ENVELOPE_COMPRESSED) != 0;
    if (result == RPC_ENVELOPE_BAD_FLAGS || (compressed && !c->gzip_in)) {
        end(t, RPC_INTERNAL, STR("the envelope has flags that are not known"));
        return false;
    }
    if (result == RPC_ENVELOPE_TOO_LARGE) {
        (void)rpc_envelope_too_large(QUESTION_BYTES_MAX, &err);
        end(t, RPC_RESOURCE_EXHAUSTED, arena_str(c->req->arena, str_from_z(err.msg)));
        return false;
    }
    if (result != RPC_ENVELOPE_MESSAGE) {
        consume(t, taken);
        return false;
    }
    struct arena *arena = arena_new((size_t)4 * QUESTION_BYTES_MAX);
    message = arena_str(arena, message);
    consume(t, taken);
    if ((flags & RPC_ENVELOPE_END) == 0) {
        take_question(t, message, compressed, arena);
    } else {
        t->ended = true;
        consume(t, t->ahead.len); /* ignore what follows */
    }
    arena_free(arena);
    return true;
}

static void go_on(struct talk *t)
{
    if (t->stepping) {
        return; /* called from inside the loop below, which continues */
    }
    t->stepping = true;
    while (!t->push.over && t->ahead.len > 0 && step(t)) {
    }
    t->stepping = false;
    if (!t->push.over && t->ended && t->ahead.len == 0 && t->push.call->on_sent == NULL) {
        bool partial = rpc_envelope_is_partial(&t->reader);
        end(t, partial ? RPC_INVALID_ARGUMENT : RPC_OK,
            partial ? STR("incomplete envelope") : STR_EMPTY);
    }
}

static void room(struct rpc_push *p)
{
    go_on(CONTAINER_OF(p, struct talk, push));
}

static void body(struct rpc_push *p, struct str bytes)
{
    struct talk *t = CONTAINER_OF(p, struct talk, push);
    if (t->ended) {
        http_request_consume(p->call->req, bytes.len);
        return;
    }
    buf_add_str(&t->ahead, bytes);
    if (t->ahead.overflow) {
        end(t, RPC_RESOURCE_EXHAUSTED, STR("the server has reached its memory limit for requests"));
        return;
    }
    go_on(t);
}

static void body_end(struct rpc_push *p)
{
    struct talk *t = CONTAINER_OF(p, struct talk, push);
    t->ended = true;
    go_on(t);
}

static void open_talk(struct rpc_call *c)
{
    struct err err;
    struct talk *t = SVC_CALLER_ARRAY(&c->who, struct talk, 1, &err);
    if (t == NULL) {
        rpc_answer__fail_err(c, &err, 0);
        return;
    }
    if (c->format->codec != RPC_PROTO) { /* descriptors are bytes */
        rpc_answer__fail(c, RPC_UNIMPLEMENTED, STR("reflection requires the proto codec"), 0);
        return;
    }
    *t = (struct talk){
        .push = {.call = c, .room = room, .left = left, .body = body, .body_end = body_end}};
    unsigned connect = c->format->protocol == RPC_CONNECT ? RPC_ENVELOPE_END : 0;
    rpc_envelope_reader_init(&t->reader, QUESTION_BYTES_MAX, RPC_ENVELOPE_COMPRESSED | connect);
    buf_init(&t->ahead, SIZE_MAX); /* limited by the HTTP/2 window */
    buf_set_budget(&t->ahead, c->rpc->config.budget);
    rpc_push__begin(&t->push);
}

/* clang-format off */
#define TEXT(literal) {.ptr = (literal), .len = sizeof(literal) - 1}
const struct rpc_method rpc_reflect__methods[] = {
    {TEXT("ServerReflectionInfo"), RPC_BIDI, &question_type, &reply_type, NULL, true, open_talk},
    {TEXT(""), RPC_UNARY, NULL, NULL, NULL, false, NULL},
};
/* clang-format on */
