/*
 * Load_int: shared by the files of load/.
 *
 * A client (load_client.c) chooses requests and handles responses. A wire (load_http1.c,
 * load_http2.c, load_binary.c) encodes requests and decodes responses, without sockets. The loop
 * (load_loop.c) moves bytes between wires and sockets, and wakes clients. A client and its
 * connection always belong to one thread.
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
    LOAD_ID_BYTES = 64,           /* maximum length of a job id */
    LOAD_ANSWER_BYTES = 64 << 20, /* too little for 512 jobs of maximum size: the run then fails */
    LOAD_CONN_CLIENTS = 64, /* clients on one connection of HTTP/2 or of the binary protocol */
    LOAD_MISSES_MAX = 3,
    LOAD_TIME_DIGITS = 16, /* nanoseconds in hexadecimal, in the payload */
};

/* Prepared texts for the requests of one queue. */
struct load_text {
    char *job; /* encoded job, with zeros in place of the time */
    size_t job_len;
    size_t time_at; /* offset of the time in job */
    char *fetch;    /* body of a fetch, or the part of a frame that fetches */
    size_t fetch_len;
    char *ack; /* body of an ack that also fetches the next job; NULL: acks do not fetch */
    size_t ack_len;
};

/* A run, shared by all threads. */
struct load_run {
    const struct load_plan *plan;
    enum load_phase phase;
    int64_t start_ns;
    struct load_text *texts; /* one per worker */

    _Atomic uint64_t taken; /* jobs that producers have reserved */
    _Atomic uint64_t enqueued, acked, dropped;
    _Atomic uint64_t errors;
    _Atomic unsigned producers_left;
    _Atomic bool stop;

    int stop_fd; /* readable when stop is set */
    int over_fd; /* readable when all threads have ended */
    _Atomic unsigned threads_left;
    unsigned thread_count;
    struct load_thread *threads;
};

enum load_client_state {
    CLIENT_READY,   /* load_client__step chooses its next request */
    CLIENT_SENT,    /* waits for its response */
    CLIENT_WAITING, /* waits until wake_ns, then is ready */
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
    unsigned worker; /* number of the worker; of a producer: number of the client */
    bool is_producer;
    enum load_client_state state;
    int64_t wake_ns;
    int64_t began_ns;  /* first attempt of a producer's request or of a worker's fetch */
    unsigned pause_ms; /* after the last refusal */
    bool again;        /* send the same request again */
    uint64_t jobs;     /* producer: jobs in the request, or in the next one… */
    int64_t due_ns;    /* …which is not sent before this time */

    /* worker: fetched jobs; those before `next` are settled */
    struct load_job *held;
    size_t held_count, next, in_ack;
    size_t confirmed; /* acks confirmed so far, in all attempts */
    unsigned misses;

    /* the request and its response, for the wire */
    char path[32 + LOAD_ID_BYTES];
    struct buf body;
    size_t body_sent;  /* HTTP/2 sends the body in pieces */
    int status;        /* 0: the connection broke */
    int64_t server_ns; /* -1: unknown */
    struct buf answer;
    int32_t stream_id; /* LOAD_STREAM: stream of the client; 0: none */
    int64_t sent_ns;   /* time of the current frame, or of an ack that also fetches */
    /* LOAD_BINARY */
    uint32_t number; /* frame whose response it waits for; 0: it waits only for jobs */
    size_t promised; /* credits that were sent and not used for a job yet */
    size_t acked;    /* confirmed by the last ack */
    struct load_client *next_answered;
};

/* A connection: of one client with HTTP/1.1, of many with HTTP/2 and the binary protocol. */
struct load_conn {
    int fd; /* -1: none */
    bool connected, wants_out;
    struct load_thread *thread;
    struct load_client **clients;
    size_t client_count;
    struct buf in;  /* HTTP/1.1, binary: received bytes that are not processed yet */
    struct buf out; /* bytes for the socket */
    size_t out_sent;
    void *session; /* HTTP/2 */
    /* LOAD_BINARY */
    uint32_t number;                /* of the newest frame, or of the acks being collected */
    struct buf pushed;              /* jobs that no client has taken yet… */
    size_t pushed_at, pushed_count; /* …those before pushed_at have been taken */
    struct buf acks;                /* for the next frame of acks */
    size_t ack_count, credits;      /* to be sent at the end of the turn */
    bool looks;                     /* a client waits for jobs that are already in pushed */
    struct load_client *answered;   /* clients whose response is complete */
};

struct load_wire {
    void (*open)(struct load_conn *c);
    void (*close)(struct load_conn *c);

    /* Append the client's request to c->out, or collect it for finish. */
    void (*request)(struct load_conn *c, struct load_client *client);
    /* Append what was collected to c->out, before it is sent. NULL: nothing is collected. */
    void (*finish)(struct load_conn *c);

    /* Process received bytes. Clients whose response is complete are added to c->answered. False if
     * the bytes are invalid. */
    bool (*input)(struct load_conn *c, struct str bytes);
};

extern const struct load_wire load_http1_wire;
extern const struct load_wire load_http2_wire;
extern const struct load_wire load_binary_wire;

/* Parse Server-Timing to nanoseconds; -1 if it is invalid. */
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
    bool refused; /* the server refused, with reason; otherwise reason is the last error */
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

/* Continue a client that is ready: it sends a request, waits, or is done. */
void load_client__step(struct load_client *client, int64_t now_ns);

/* Handle the client's response, or the loss of its connection. The client is then ready or
 * waits. */
void load_client__answered(struct load_client *client, int64_t now_ns);

/* Make a ready client wait, because no connection can be opened. */
void load_client__unreachable(struct load_client *client, int64_t now_ns, const char *reason);

/* load_json.c */
/* Return the text after the next `"key":` and spaces; NULL if there is none. */
const char *load_json__behind_key(const char *at, const char *end, struct str key);
/* Return the time in a payload of this program; `otherwise` if there is none. */
int64_t load_json__enqueued_at(const char *at, const char *end, int64_t otherwise);

/* load_rpc.c: the messages of the RPC service, each after a prefix of five bytes */
void load_rpc__make_job(const char *queue, struct str payload, size_t time_in_payload,
                        struct load_text *text);
void load_rpc__make_fetch(const struct load_plan *plan, const char *queue, unsigned worker,
                          int64_t lease_s, struct load_text *text);
void load_rpc__put_enqueues(struct load_client *client, const struct load_text *text,
                            struct str time);
void load_rpc__put_fetch(struct load_client *client, const struct load_text *text);
/* Acknowledge in_ack jobs, from `next` on. */
void load_rpc__put_acks(struct load_client *client);
/* Write a frame with a fetch and acks. */
void load_rpc__put_frame(struct load_client *client, const struct load_text *text);
/* Is the message complete? */
bool load_rpc__is_whole(struct str answer);
/* Convert a gRPC status to an HTTP status. */
int load_rpc__status(int64_t grpc_status);
/* Read the jobs of a response to a fetch or a frame into held. False if it cannot be decoded. */
ATTR_NODISCARD bool load_rpc__take_jobs(struct load_client *client);
/* Return the number of acks that a response confirms; also for a frame. */
size_t load_rpc__acked(const struct load_client *client);
/* Return the error of a frame; empty if there is none. */
struct str load_rpc__frame_error(const struct load_client *client);

/* load_binary.c: content of the frames of the binary protocol */
void load_binary__make_texts(const char *queue, struct str payload, size_t time_in_payload,
                             unsigned worker, int64_t lease_s, struct load_text *text);
void load_binary__put_enqueues(struct load_client *client, const struct load_text *text,
                               struct str time);
void load_binary__put_acks(struct load_client *client);
/* Read the pushed jobs into held. False if they cannot be decoded. */
ATTR_NODISCARD bool load_binary__take_jobs(struct load_client *client);

/* load_loop.c */
void load_loop__thread(struct load_thread *t); /* until stop, or until all its clients are done */

/* load_run.c */
void load_run__refuse(struct load_thread *t, struct str reason);  /* end the run */
void load_run__remark(struct load_thread *t, const char *reason); /* count an error and continue */
void load_run__check_over(struct load_run *run);
void load_run__raise(int fd); /* make stop_fd or over_fd readable */
