/*
 * What the files of rpc share: a call, and how it ends.
 *
 * A call is one request in progress. It lives in the request's arena and ends with exactly one of
 * rpc_answer__reply, rpc_answer__fail… and rpc_answer__end; it must not be used afterwards. If the
 * client disconnects while a command is in progress, the call ends when the command has finished,
 * and no response is sent.
 */
#pragma once

#include <stdatomic.h>

#include "base/arena_pool.h"
#include "front/front_op.h"
#include "fsm/command/result.h"
#include "proto/proto.h"
#include "rpc/rpc.h"
#include "rpc/rpc_message.h"
#include "rpc/rpc_protocol.h"
#include "rpc/rpc_status.h"
#include "svc/svc_caller.h"

enum rpc_kind {
    RPC_UNARY,
    RPC_SERVER_STREAM,
    RPC_BIDI,
};

struct rpc_call;

struct rpc_method {
    struct str name;
    enum rpc_kind kind;
    const struct proto_message *request, *response;
    /* With the decoded request, the only one, in c->in. NULL where there are always many. */
    void (*handle)(struct rpc_call *c);
    bool anyone;                      /* needs no credential */
    void (*open)(struct rpc_call *c); /* RPC_BIDI: when the body begins */
};

/* The methods of each service; one without a name ends them. */
extern const struct rpc_method rpc_unary__methods[], rpc_health__methods[], rpc_reflect__methods[];

struct rpc_service {
    struct str path; /* with a slash at both ends */
    const struct rpc_method *methods;
};

extern const struct rpc_service rpc_service__all[]; /* one without a path ends them */

struct rpc_slot;

/* What belongs to one network thread: its frames under way, and those that wait for a slot. */
struct rpc_loop {
    uint32_t frames;
    struct rpc_slot *first, *last;
    struct arena_pool arenas; /* of frames */
    bool granting;            /* the line is moving */
    struct rpc_gzip *gzip;    /* NULL until it is needed */
};

enum { RPC_LOOPS_MAX = 64 }; /* network threads; a setting cannot ask for more */

struct rpc {
    struct rpc_config config;
    struct rpc_loop loops[RPC_LOOPS_MAX];
    atomic_uint_fast64_t streams_open, streams_total, frames_total, frames_under_way;
    atomic_uint_fast64_t overloads, idle_fetches;
};

struct rpc_call {
    struct rpc *rpc;
    struct http_request *req;
    struct rpc_peer peer;
    const struct rpc_method *method; /* NULL while it is not known */
    const struct rpc_format *format; /* the same */
    int64_t timeout_ms;              /* the client's; INT64_MAX without one */
    bool gzip_in, gzip_out;          /* its messages may be, and ours are compressed */
    struct svc_caller who;
    void *in;                      /* the decoded request */
    struct str job_id;             /* of the job that the call is about; empty: of none or many */
    void *data;                    /* the method's own */
    struct rpc_deadline *deadline; /* of a pushed answer; NULL for none */

    bool closes;       /* the connection, with the answer */
    enum err_code why; /* it failed */

    /* commands, one at a time in op */
    struct front_client client;
    void (*on_result)(struct rpc_call *c, const struct result *r);

    /* an answer in pieces: what of it has not been taken by the connection */
    bool begun;
    struct buf out;
    size_t sent;
    void (*on_sent)(struct rpc_call *c);
    enum rpc_status end_status; /* how a streamed answer ends, once that was taken */
    struct str end_message;

    /* the last member: large, and not even zero before it is used */
    struct front_op op;
};

/* rpc.c */
extern const struct http_handlers rpc__handlers; /* of a request whose call is its data */

/* Check, encode and submit; on_result is called with an answer that is not a refusal. An error of
 * the command, its refusal or one of the engine ends the call. */
void rpc__submit(struct rpc_call *c, const struct command *command, int64_t wait_ms,
                 void (*on_result)(struct rpc_call *c, const struct result *r));
/* The time until the client's deadline, at least 0; INT64_MAX without one. */
int64_t rpc__left_ms(const struct rpc_call *c);
/* How long a fetch may wait: its empty answer should be with the client before the deadline. */
int64_t rpc__wait_within(const struct rpc_call *c, int64_t wait_ms);
/* What belongs to the call's thread, and what compresses there. */
struct rpc_loop *rpc__loop(const struct rpc_call *c);
struct rpc_gzip *rpc__gzip(const struct rpc_call *c);
/* Decode one message of the method's request, which is in the arena or lives as long. */
ATTR_NODISCARD enum err_code rpc__decode(const struct rpc_call *c, struct str bytes,
                                         struct arena *arena, void *out, struct err *err);

/* rpc_answer.c: the ends */

void rpc_answer__reply(struct rpc_call *c, const void *message);
void rpc_answer__fail(struct rpc_call *c, enum rpc_status status, struct str message,
                      uint32_t retry_ms);
void rpc_answer__fail_err(struct rpc_call *c, const struct err *err, uint32_t retry_ms);
/* Without a protocol: an HTTP status and a header, "" for none. */
void rpc_answer__plain(struct rpc_call *c, int status, struct str name, struct str value,
                       struct str body);
void rpc_answer__drop(struct rpc_call *c);

/* rpc_answer.c: a streamed answer. The headers leave at once; messages are written one at a time,
 * and sent is called when the connection has taken them; then the end. */
void rpc_answer__begin(struct rpc_call *c);
void rpc_answer__send(struct rpc_call *c, const void *message, void (*sent)(struct rpc_call *c));
void rpc_answer__end(struct rpc_call *c, enum rpc_status status, struct str message);
void rpc_answer__writable(struct http_request *req); /* for the request's watch */

/* The words of an error for a client: overload is named, with when to come back. */
void rpc_answer__words(const struct err *err, uint32_t retry_ms, struct buf *out);

/* rpc_push.c */
void rpc_push__forget_deadline(struct rpc_call *c);

/* rpc_subscribe.c */
void rpc_subscribe__handle(struct rpc_call *c);

/* rpc_stream.c */
void rpc_stream__open(struct rpc_call *c);

/* rpc_exchange.c: one frame as a unary call */
void rpc_exchange__handle(struct rpc_call *c);

/* rpc_work.c: messages as the structs of svc, and back */

struct svc_enqueue_job;
struct svc_usage;
struct svc_work_ack;
struct svc_work_fetch;

ATTR_NODISCARD enum err_code rpc_work__job(const struct svc_caller *who,
                                           const struct rpc_enqueue *in,
                                           struct svc_enqueue_job *out, struct err *err);
ATTR_NODISCARD enum err_code rpc_work__ack(const struct svc_caller *who, const struct rpc_ack *in,
                                           struct svc_work_ack *out, struct err *err);
/* Acks of a batch or a frame as a command (10.5, 11.3): what a job cost does not keep it from being
 * completed. It may be empty, then nothing is to be submitted. */
ATTR_NODISCARD enum err_code rpc_work__acks(const struct svc_caller *who,
                                            const struct svc_work_ack *acks, size_t count,
                                            struct command *out, struct err *err);
struct svc_work_fetch rpc_work__fetch(const struct rpc_fetch *in);
/* The claimed jobs, in the caller's arena. */
ATTR_NODISCARD enum err_code rpc_work__jobs(const struct svc_caller *who, const struct result *r,
                                            struct rpc_job **out, struct err *err);
/* The text of a job's id, in the caller's arena. */
ATTR_NODISCARD enum err_code rpc_work__id(const struct svc_caller *who, struct id id,
                                          struct str *out, struct err *err);
ATTR_NODISCARD enum err_code rpc_work__usage(const struct svc_caller *who,
                                             const struct rpc_usage *in, struct svc_usage **out,
                                             struct err *err);
