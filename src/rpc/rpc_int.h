/*
 * Shared by the files of rpc: a call, and the functions that end it.
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
    /* Called with the only request message, decoded, in c->in. NULL: always a stream. */
    void (*handle)(struct rpc_call *c);
    bool anyone;                      /* no credential required */
    void (*open)(struct rpc_call *c); /* RPC_BIDI: called when the body begins */
};

/* The methods of each service, ended by one without a name. */
extern const struct rpc_method rpc_unary__methods[], rpc_health__methods[], rpc_reflect__methods[];

struct rpc_service {
    struct str path; /* with a slash at both ends */
    const struct rpc_method *methods;
};

extern const struct rpc_service rpc_service__all[]; /* ended by one without a path */

struct rpc_slot;

/* State of one network thread: its frames in progress, and the frames that wait for a slot. */
struct rpc_loop {
    uint32_t frames;
    struct rpc_slot *first, *last;
    struct arena_pool arenas; /* for frames */
    bool granting;            /* slots are being granted */
    struct rpc_gzip *gzip;    /* NULL until it is needed */
};

enum { RPC_LOOPS_MAX = 64 }; /* the most network threads that the configuration allows */

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
    const struct rpc_method *method; /* NULL until known */
    const struct rpc_format *format; /* NULL until known */
    int64_t timeout_ms;              /* from the client; INT64_MAX: none */
    bool gzip_in, gzip_out;          /* gzip: allowed in requests; used in responses */
    struct svc_caller who;
    void *in;                      /* the decoded request */
    struct buf inflated;           /* its bytes, if it was compressed */
    struct str job_id;             /* the job of the call, for errors; empty: none or several */
    void *data;                    /* owned by the method */
    struct rpc_deadline *deadline; /* of a pushed response; NULL: none */

    bool closes;       /* close the connection after the response */
    enum err_code why; /* the reason of a failure */

    /* commands, one at a time, in op */
    struct front_client client;
    void (*on_result)(struct rpc_call *c, const struct result *r);

    /* a streamed response: the bytes that the connection has not accepted yet */
    bool begun;
    struct buf out;
    size_t sent;
    void (*on_sent)(struct rpc_call *c);
    enum rpc_status end_status; /* of a streamed response, sent after those bytes */
    struct str end_message;

    /* the last member: it is large, and not zeroed before use */
    struct front_op op;
};

/* rpc.c */
extern const struct http_handlers rpc__handlers; /* of a request whose data is its call */

/* Create the call of a request; its format and method are not known yet. */
struct rpc_call *rpc__new_call(struct rpc *r, struct http_request *req,
                               const struct rpc_peer *peer);

/* Check, encode and submit a command. on_result is called with a successful result. If the command
 * is invalid or refused, or the engine fails, the call ends with that error. */
void rpc__submit(struct rpc_call *c, const struct command *command, int64_t wait_ms,
                 void (*on_result)(struct rpc_call *c, const struct result *r));

/* rpc_call.c */
/* The time until the client's deadline, at least 0; INT64_MAX without one. */
int64_t rpc_call__left_ms(const struct rpc_call *c);
/* How long a fetch may wait: its empty answer should be with the client before the deadline. */
int64_t rpc_call__wait_within(const struct rpc_call *c, int64_t wait_ms);
/* The state of the call's thread, and its compressor. */
struct rpc_loop *rpc_call__loop(const struct rpc_call *c);
struct rpc_gzip *rpc_call__gzip(const struct rpc_call *c);
/* Decode a request message. The bytes must live as long as the arena. */
ATTR_NODISCARD enum err_code rpc_call__decode(const struct rpc_call *c, struct str bytes,
                                              struct arena *arena, void *out, struct err *err);

/* rpc_answer.c: each of these ends the call */

void rpc_answer__reply(struct rpc_call *c, const void *message);
void rpc_answer__fail(struct rpc_call *c, enum rpc_status status, struct str message,
                      uint32_t retry_ms);
/* hint_ms: see rpc_status_retry_ms */
void rpc_answer__fail_err(struct rpc_call *c, const struct err *err, uint32_t hint_ms);
/* An HTTP response without an RPC protocol; name "": no extra header. */
void rpc_answer__plain(struct rpc_call *c, int status, struct str name, struct str value,
                       struct str body);
void rpc_answer__drop(struct rpc_call *c);

/* rpc_answer.c: a streamed response. Headers are sent at once. Messages are sent one at a time;
 * sent is called when the connection has accepted the message. rpc_answer__end ends the call. */
void rpc_answer__begin(struct rpc_call *c);
void rpc_answer__send(struct rpc_call *c, const void *message, void (*sent)(struct rpc_call *c));
void rpc_answer__end(struct rpc_call *c, enum rpc_status status, struct str message);
void rpc_answer__writable(struct http_request *req); /* for the request's watch */
/* While the end of the response waits for room in the connection, received data is ignored. */
extern const struct http_handlers rpc_answer__ending;

/* The text of an error. An overload is named, with the time after which to retry. */
void rpc_answer__words(const struct err *err, uint32_t hint_ms, struct buf *out);

/* rpc_deadline.c: nothing happens without a deadline, and without a timer */
void rpc_deadline__start(struct rpc_call *c, void (*passed)(struct rpc_call *c));
void rpc_deadline__forget(struct rpc_call *c);

/* rpc_subscribe.c */
void rpc_subscribe__handle(struct rpc_call *c);

/* rpc_stream.c */
void rpc_stream__open(struct rpc_call *c);

/* rpc_exchange.c: one frame as a unary call */
void rpc_exchange__handle(struct rpc_call *c);

/* rpc_work.c: converts messages to the structs of svc, and back */

struct svc_enqueue_job;
struct svc_usage;
struct svc_work_ack;
struct svc_work_fetch;

/* Fields are named as in the schema, in errors. */
extern const struct command_names rpc_work__names;       /* of unary calls */
extern const struct command_names rpc_work__frame_names; /* of lifecycle frames */

ATTR_NODISCARD enum err_code rpc_work__job(const struct svc_caller *who,
                                           const struct rpc_enqueue *in,
                                           struct svc_enqueue_job *out, struct err *err);
ATTR_NODISCARD enum err_code rpc_work__ack(const struct svc_caller *who, const struct rpc_ack *in,
                                           struct svc_work_ack *out, struct err *err);
/* The acks of a batch or a frame as a command (10.5, 11.3). Budgets do not keep these jobs from
 * being completed. If the command has no acks, do not submit it. */
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
