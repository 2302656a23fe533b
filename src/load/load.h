/*
 * Load: makes a server busy, and measures.
 *
 * A run is one phase: producers put jobs into a queue, workers take and acknowledge them, or both.
 * Each producer and each stream of a worker is a client: one request under way at a time, the next
 * one when its answer is there. Clients are spread over a few threads; each has its own connections
 * and its own counts, and nothing is shared but a handful of counters. The generator shall not be
 * what is measured: bodies are copied from texts that are made once, and answers are looked at only
 * as far as it takes.
 *
 *     load_start -> (wait for load_fd, load_progress_of now and then, load_stop) -> load_finish
 *
 * What a refusal means: 429 and 503 are overload, counted and tried again after a pause that
 * doubles from 1 to 64 ms. Any other 5xx and a connection that breaks is an error, counted and
 * tried again. Any other refusal ends the run: it would not get better. A latency is measured from
 * the first try.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

#include "base/attr.h"
#include "base/err.h"
#include "base/limits.h"
#include "base/str.h"
#include "load/load_histogram.h"
#include "load/load_windows.h"

enum {
    LOAD_BATCH_MAX = LIMIT_ACK_BATCH, /* of one fetch and of one ack */
    LOAD_ENQUEUE_MAX = LIMIT_ENQUEUE_BATCH,
    LOAD_BODY_BYTES = 16 << 20, /* of one request, as the server takes */
    LOAD_CLIENTS_MAX = 16384,
    LOAD_PAYLOAD_MIN = 40, /* the time of the enqueue is in it */
    LOAD_HEADERS_MAX = 4,
    LOAD_TEXT_BYTES = 256,
};

_Static_assert((int)LIMIT_ACK_BATCH == (int)LIMIT_CLAIM_COUNT, "one limit for both");

/* How clients talk. RPC is gRPC over HTTP/2: a call for each request, or a stream for each client
 * in whose frames a worker acknowledges what it had and fetches the next. In the binary protocol a
 * worker acknowledges what it had, and is pushed as many. */
enum load_protocol { LOAD_HTTP, LOAD_RPC, LOAD_STREAM, LOAD_BINARY };

enum load_phase { LOAD_ENQUEUE, LOAD_PROCESS, LOAD_COMBINED };

struct load_header {
    const char *name; /* in lower case */
    const char *value;
};

/* What to do. Everything that it points to outlives the run. */
struct load_plan {
    struct sockaddr_storage address;
    socklen_t address_len;
    const char *authority; /* host:port, as the server is called */
    struct load_header headers[LOAD_HEADERS_MAX];
    size_t header_count;
    enum load_protocol protocol;
    bool http2; /* without TLS, by prior knowledge; always for RPC */
    const char *queue;
    bool worker_queues; /* <queue>.w<i> for each worker */
    unsigned producers; /* clients that enqueue */
    unsigned workers;   /* each with `streams` clients */
    unsigned streams;
    unsigned threads; /* 0: chosen */
    uint64_t jobs;    /* in all; with duration_ns: as many may wait at most */
    unsigned enqueue_batch, fetch_batch, ack_batch;
    bool separate_fetch; /* single requests over HTTP: otherwise an ack fetches the next job */
    size_t payload_bytes;
    uint64_t rate;       /* jobs that are enqueued in a second, at most; 0: no limit */
    int64_t work_ns;     /* a job takes so long */
    int64_t duration_ns; /* of LOAD_COMBINED: enqueue until then; 0: until there were `jobs` */
};

struct load_progress {
    uint64_t enqueued, acked, dropped;
    uint64_t errors;
};

struct load_result {
    uint64_t total;     /* what was to be done */
    uint64_t completed; /* jobs enqueued, or acknowledged where there are workers */
    uint64_t enqueued;
    uint64_t dropped; /* acks that were not confirmed after three tries */
    uint64_t overloaded, rate_limited, errors;
    int64_t took_ns;
    bool refused;                 /* the run ended early: the server said why */
    char reason[LOAD_TEXT_BYTES]; /* then, and the last error otherwise; "" when there was none */
    struct load_histogram latency;
    struct load_histogram server; /* from Server-Timing; empty when it is not sent */
    struct load_windows windows;
};

struct load_run;

/* The queue of a worker, counted from 0; the plan's own without worker_queues. */
void load_queue_name(const struct load_plan *plan, unsigned worker, char out[LOAD_TEXT_BYTES]);

/* Begin. `expected` jobs are in the queues for LOAD_PROCESS; otherwise 0. */
ATTR_NODISCARD enum err_code load_start(const struct load_plan *plan, enum load_phase phase,
                                        uint64_t expected, struct load_run **out, struct err *err);

/* Readable when the run is over. */
int load_fd(const struct load_run *run);

struct load_progress load_progress_of(struct load_run *run);

/* End it soon, whatever is under way. */
void load_stop(struct load_run *run);

/* Wait for its end and free it. The caller deinits result->windows. */
void load_finish(struct load_run *run, struct load_result *result);
