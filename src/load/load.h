/*
 * Load: generates load on a server and measures it.
 *
 * A run is one phase: producers enqueue jobs, workers fetch and acknowledge them, or both. Each
 * producer and each stream of a worker is a client. A client has one request in progress at a time
 * and sends the next one after the response. Clients are spread over a few threads. Each thread has
 * separate connections and counts; only a few counters are shared. So that the generator does not
 * distort the measurement, bodies are copied from prepared texts, and responses are parsed only as
 * far as necessary.
 *
 *     load_start -> (wait for load_fd, load_progress_of now and then, load_stop) -> load_finish
 *
 * Refusals: 429 and 503 mean overload. They are counted, and the request is repeated after a delay
 * that doubles from 1 to 64 ms. Any other 5xx, and a broken connection, is an error: it is counted
 * and the request is repeated. Any other refusal ends the run, because repeating would not help.
 * Latency is measured from the first attempt.
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
    LOAD_BATCH_MAX = LIMIT_ACK_BATCH, /* maximum of one fetch and of one ack */
    LOAD_ENQUEUE_MAX = LIMIT_ENQUEUE_BATCH,
    LOAD_BODY_BYTES = 16 << 20, /* maximum of one request, as in the server */
    LOAD_CLIENTS_MAX = 16384,
    LOAD_PAYLOAD_MIN = 40, /* the payload contains the time of the enqueue */
    LOAD_HEADERS_MAX = 4,
    LOAD_TEXT_BYTES = 256,
};

_Static_assert((int)LIMIT_ACK_BATCH == (int)LIMIT_CLAIM_COUNT, "one limit for both");

/* Protocol of the clients. RPC is gRPC over HTTP/2: either a call per request, or a stream per
 * client. In a frame of the stream, a worker acknowledges the jobs that it held and fetches the
 * next ones. In the binary protocol, a worker acknowledges jobs and the same number is pushed to
 * it. */
enum load_protocol { LOAD_HTTP, LOAD_RPC, LOAD_STREAM, LOAD_BINARY };

enum load_phase { LOAD_ENQUEUE, LOAD_PROCESS, LOAD_COMBINED };

struct load_header {
    const char *name; /* in lower case */
    const char *value;
};

/* The plan of a run. Everything that it points to must outlive the run. */
struct load_plan {
    struct sockaddr_storage address;
    socklen_t address_len;
    const char *authority; /* host:port of the server */
    struct load_header headers[LOAD_HEADERS_MAX];
    size_t header_count;
    enum load_protocol protocol;
    bool http2; /* without TLS, by prior knowledge; always for RPC */
    const char *queue;
    bool worker_queues; /* queue <queue>.w<i> for each worker */
    unsigned producers; /* clients that enqueue */
    unsigned workers;   /* each with `streams` clients */
    unsigned streams;
    unsigned threads; /* 0: chosen automatically */
    uint64_t jobs;    /* total; with duration_ns: the maximum of waiting jobs */
    unsigned enqueue_batch, fetch_batch, ack_batch;
    bool separate_fetch; /* single requests over HTTP; otherwise an ack also fetches the next job */
    size_t payload_bytes;
    uint64_t rate;       /* maximum of jobs enqueued per second; 0: no limit */
    int64_t work_ns;     /* duration of the work on a job */
    int64_t duration_ns; /* LOAD_COMBINED: enqueue for this time; 0: until `jobs` are enqueued */
};

struct load_progress {
    uint64_t enqueued, acked, dropped;
    uint64_t errors;
};

struct load_result {
    uint64_t total;     /* jobs that the run had to do */
    uint64_t completed; /* jobs enqueued, or acknowledged if there are workers */
    uint64_t enqueued;
    uint64_t dropped; /* acks that were not confirmed after three attempts */
    uint64_t overloaded, rate_limited, errors;
    int64_t took_ns;
    bool refused;                 /* the run ended early; reason is the server's message */
    char reason[LOAD_TEXT_BYTES]; /* then, otherwise the last error; empty: none */
    struct load_histogram latency;
    struct load_histogram server; /* from Server-Timing; empty if the server does not send it */
    struct load_windows windows;
};

struct load_run;

/* Name of the queue of a worker, counted from 0: plan->queue, unless worker_queues is set. */
void load_queue_name(const struct load_plan *plan, unsigned worker, char out[LOAD_TEXT_BYTES]);

/* Start a run. `expected`: jobs in the queues for LOAD_PROCESS, otherwise 0. */
ATTR_NODISCARD enum err_code load_start(const struct load_plan *plan, enum load_phase phase,
                                        uint64_t expected, struct load_run **out, struct err *err);

/* Readable when the run has ended. */
int load_fd(const struct load_run *run);

struct load_progress load_progress_of(struct load_run *run);

/* End the run soon, even if requests are in progress. */
void load_stop(struct load_run *run);

/* Wait for the end of the run and free it. The caller deinits result->windows. */
void load_finish(struct load_run *run, struct load_result *result);
