/*
 * What the files of load/ share.
 *
 * A client (load_client.c) decides what to ask and what to make of the answer. A wire
 * (load_http1.c, load_http2.c, load_binary.c) makes bytes of requests and answers of bytes; it
 * knows no socket. The loop (load_loop.c) moves bytes between wires and sockets, and wakes clients.
 * A client belongs to one thread for ever, as does its connection.
 */
#pragma once

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/str.h"
#include "load/load.h"

enum {
    LOAD_ID_BYTES = 64,           /* longest id of a job */
    LOAD_ANSWER_BYTES = 64 << 20, /* 512 jobs of the largest size are more; then the run fails */
    LOAD_CONN_CLIENTS = 64,       /* on one connection of HTTP/2 or of the binary protocol */
    LOAD_MISSES_MAX = 3,
};

/* What requests for one queue are copied from. */
struct load_text {
    char *job; /* a job's JSON, with zeros where the time goes */
    size_t job_len;
    size_t time_at; /* where that is */
    char *fetch;    /* the body of a fetch, or what a frame says of it */
    size_t fetch_len;
    char *ack; /* the body of an ack that fetches the next job; NULL: acks do not */
    size_t ack_len;
};

/* What all threads see of a run. */
struct load_run {
    const struct load_plan *plan;
    enum load_phase phase;
    int64_t start_ns;
    struct load_text *texts; /* one for each worker */

    _Atomic uint64_t taken; /* jobs that a producer has taken on itself */
    _Atomic uint64_t enqueued, acked, dropped;
    _Atomic uint64_t errors;
    _Atomic unsigned producers_left;
    _Atomic bool stop;

    int stop_fd; /* readable when stop is set */
    int over_fd; /* readable when all threads are at their end */
    _Atomic unsigned threads_left;
    unsigned thread_count;
    struct load_thread *threads;
};

enum load_client_state {
    CLIENT_READY,   /* load_client__step decides */
    CLIENT_SENT,    /* waits for its answer */
    CLIENT_WAITING, /* until wake_ns, then ready */
    CLIENT_DONE,
};

struct load_job {
    char id[LOAD_ID_BYTES];
    size_t id_len;
    int64_t enqueued_ns;
};

struct load_client {
    struct load_thread *thread;
    struct load_conn *conn;
    unsigned worker; /* its number; of producers, the number of the client */
    bool is_producer;
    enum load_client_state state;
    int64_t wake_ns;
    int64_t began_ns;  /* of a producer's request, of a worker's fetch: its first try */
    unsigned pause_ms; /* of the last refusal */
    bool again;        /* the request stands and is to be sent as it is */
    uint64_t jobs;     /* producer: in the request, or in the next one… */
    int64_t due_ns;    /* …which is not sent before */

    /* worker: jobs that were fetched; those before `next` are settled */
    struct load_job *held;
    size_t held_count, next, in_ack;
    size_t confirmed; /* of the ack under way, in all its tries */
    unsigned misses;

    /* the request and its answer, for the wire */
    char path[32 + LOAD_ID_BYTES];
    struct buf body;
    size_t body_sent;  /* HTTP/2 takes it in pieces */
    int status;        /* 0: the connection broke */
    int64_t server_ns; /* -1: not said */
    struct buf answer;
    int32_t stream_id; /* LOAD_STREAM: the client's own; 0: none */
    int64_t sent_ns;   /* of the frame under way, or of the ack that fetches as well */
    /* LOAD_BINARY */
    uint32_t number; /* of the frame whose answer it waits for; 0: it waits for jobs only */
    size_t promised; /* credits that it gave and has not got a job for */
    size_t acked;    /* by the last ack */
    struct load_client *next_answered;
};

/* One connection: one client of HTTP/1.1, many of HTTP/2 and of the binary protocol. */
struct load_conn {
    int fd; /* -1: none */
    bool connected, wants_out;
    struct load_thread *thread;
    struct load_client **clients;
    size_t client_count;
    struct buf in;  /* HTTP/1.1, binary: what came and is not taken */
    struct buf out; /* bytes for the socket */
    size_t out_sent;
    void *session; /* HTTP/2 */
    /* LOAD_BINARY */
    uint32_t number;                /* of the newest frame, or of the acks that are gathered */
    struct buf pushed;              /* jobs that no client has taken yet… */
    size_t pushed_at, pushed_count; /* …of which those before pushed_at are gone */
    struct buf acks;                /* for the next frame of acks, which is the newest */
    size_t ack_count, credits;      /* to be sent at the end of the turn */
    bool looks;                     /* a client waits for what has been pushed already */
    struct load_client *answered;   /* clients whose answer is whole */
};

struct load_wire {
    void (*open)(struct load_conn *c);
    void (*close)(struct load_conn *c);

    /* Put the client's request into c->out, or gather it for finish. */
    void (*request)(struct load_conn *c, struct load_client *client);
    /* Put what was gathered into c->out, before it is sent; NULL: nothing is. */
    void (*finish)(struct load_conn *c);

    /* Bytes came. Clients whose answer is whole go to c->answered. False: this is no HTTP. */
    bool (*input)(struct load_conn *c, struct str bytes);
};

extern const struct load_wire load_http1_wire;
extern const struct load_wire load_http2_wire;
extern const struct load_wire load_binary_wire;

/* The value of Server-Timing in nanoseconds; -1 when it is not understood. */
int64_t load_http1_timing(struct str timing);

struct load_thread {
    struct load_run *run;
    pthread_t id;
    const struct load_wire *wire;
    int poll_fd;
    struct load_client *clients;
    size_t client_count;
    size_t clients_left; /* not done */
    size_t waiting;
    struct load_conn *conns;
    size_t conn_count;

    uint64_t overloaded, rate_limited;
    bool refused; /* and reason says why; otherwise it is the last error */
    char reason[LOAD_TEXT_BYTES];
    struct load_histogram latency, server;
    struct load_windows windows;
};

/* load_client.c */
void load_client__texts_init(struct load_run *run);
void load_client__texts_deinit(struct load_run *run);
void load_client__init(struct load_client *client, struct load_thread *t, bool is_producer,
                       unsigned worker);
void load_client__deinit(struct load_client *client);

/* A client that is ready: sends, waits or is done. */
void load_client__step(struct load_client *client, int64_t now_ns);

/* Its answer is there, or its connection broke; it is ready or waits afterwards. */
void load_client__answered(struct load_client *client, int64_t now_ns);

/* A client that is ready has no connection and gets none now: it waits. */
void load_client__unreachable(struct load_client *client, int64_t now_ns, const char *reason);

/* The time in a payload that is ours; otherwise as given. */
int64_t load_client__enqueued_at(const char *at, const char *end, int64_t otherwise);

/* load_rpc.c: the messages of the RPC service, each behind its five bytes */
void load_rpc__make_job(const char *queue, struct str payload, size_t time_in_payload,
                        struct load_text *text);
void load_rpc__make_fetch(const struct load_plan *plan, const char *queue, unsigned worker,
                          int64_t lease_s, struct load_text *text);
void load_rpc__put_enqueues(struct load_client *client, const struct load_text *text,
                            struct str time);
void load_rpc__put_fetch(struct load_client *client, const struct load_text *text);
/* Of the jobs from `next` on, in_ack of them. */
void load_rpc__put_acks(struct load_client *client);
/* A frame with both. */
void load_rpc__put_frame(struct load_client *client, const struct load_text *text);
/* Is a whole message there? */
bool load_rpc__is_whole(struct str answer);
/* What a status of gRPC is in HTTP. */
int load_rpc__status(int64_t grpc_status);
/* The jobs of the answer to a fetch or a frame, into held. False when it cannot be read. */
ATTR_NODISCARD bool load_rpc__take_jobs(struct load_client *client);
/* How many acks an answer confirms; those of a frame too. */
size_t load_rpc__acked(const struct load_client *client);
/* The error of a frame; empty when there is none. */
struct str load_rpc__frame_error(const struct load_client *client);

/* load_binary.c: what frames of the binary protocol have in them */
void load_binary__make_texts(const char *queue, struct str payload, size_t time_in_payload,
                             unsigned worker, int64_t lease_s, struct load_text *text);
void load_binary__put_enqueues(struct load_client *client, const struct load_text *text,
                               struct str time);
void load_binary__put_acks(struct load_client *client);
/* The jobs that were pushed, into held. False when they cannot be read. */
ATTR_NODISCARD bool load_binary__take_jobs(struct load_client *client);

/* load_loop.c */
void load_loop__thread(struct load_thread *t); /* until all its clients are done, or stop */

/* load.c */
void load__refuse(struct load_thread *t, struct str reason);  /* ends the run */
void load__remark(struct load_thread *t, const char *reason); /* of an error that is gone over */
void load__check_over(struct load_run *run);
