/*
 * Push: delivers jobs to their URLs (scheduler.md 6, 7, 21).
 *
 * One thread with its own loop delivers, only while this node leads.
 *
 *   lines by host --> slots ----> claim --> outgoing request --> outcome --> finish
 *   (fsm, waiting)    (courier,   (log)     (libcurl)                        (log)
 *                      breaker)
 *
 * Guarantees: no call is made before its claim is committed, and at most one call is made per
 * claim. A host that hangs or is down delays only its own jobs. It gets few slots, and after
 * several consecutive failures a single call per second until one is answered. Meanwhile its jobs
 * stay pending, and use up no attempts. A job that hangs does not delay other jobs for the same
 * host as long as the host has free slots. The outcome of a call is recorded in the same log entry
 * that changes the job's state. If a job is cancelled, held or deleted, its call is aborted. When
 * this node loses leadership, it aborts all running calls; the next leader recovers their jobs when
 * the leases expire.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/clock.h"
#include "engine/engine.h"
#include "outgoing/outgoing_guard.h"

struct push_sender;

struct push_config {
    struct engine *engine;
    const struct outgoing_guard *guard; /* must outlive the sender; NULL: no restriction */
    const char *user_agent;
    struct str node_id;
    struct str bearer;  /* token for named jobs without credentials of their own; empty: none */
    int64_t lease_ms;   /* minimum lease of a claimed job */
    int64_t keep_ms;    /* how long attempts and finished named jobs are kept */
    uint32_t calls_max; /* concurrent calls */
    uint32_t host_calls_max; /* concurrent calls to one host */
    int64_t drain_ms;        /* how long a stop waits for running calls */
    int64_t slot_ms;         /* length of a time slot; used only by the metrics */
};

struct push_config push_config_default(void);

struct push_sender *push_open(const struct push_config *config);

/* Wait up to drain_ms for running calls, then abort the rest. Call before engine_last_call. NULL is
 * allowed. */
void push_stop(struct push_sender *s);
/* Call after push_stop, when no thread uses push_stats, push_hosts or push_meter any more. NULL is
 * allowed. */
void push_free(struct push_sender *s);

/* Totals since the start, on this node; from in_flight on, current values. */
/* clang-format off */
#define PUSH_STATS_LIST(X) \
    X(calls)      /* requests made */ \
    X(completed)  /* attempts that succeeded */ \
    X(failed)     /* attempts that failed */ \
    X(aborted)    /* calls aborted before their end */ \
    X(in_flight)  /* calls in progress */ \
    X(slow)       /* calls in the slow lane: see courier.h */ \
    X(hosts_open) /* hosts with an open circuit breaker */ \
    X(hosts_hung) /* hosts that timed out and have not answered since */
/* clang-format on */

struct push_stats {
#define PUSH_STATS_MEMBER(name) uint64_t name;
    PUSH_STATS_LIST(PUSH_STATS_MEMBER)
#undef PUSH_STATS_MEMBER
};

/* Any thread. */
void push_stats(const struct push_sender *s, struct push_stats *out);

enum push_breaker {
    PUSH_BREAKER_CLOSED,
    PUSH_BREAKER_OPEN,     /* no call until probe_at */
    PUSH_BREAKER_HALF_OPEN /* a call is in progress or may start: one per second */
};

/* State of a host that receives jobs. Totals count since the host became known on this node. */
struct push_host_seen {
    struct str name; /* "host:port" */
    uint32_t in_flight;
    uint64_t succeeded, failed; /* attempts */
    enum push_breaker breaker;
    uint32_t failures;     /* consecutive calls without a response */
    struct wall probe_at;  /* PUSH_BREAKER_OPEN: earliest time of the next call; otherwise 0 */
    int64_t latency_us;    /* moving average; -1: no call has ended */
    struct wall called_at; /* start of the call that ended last; 0: none */
    struct str error;      /* of the last failed attempt; empty: none */
    struct wall error_at;
};

/* Call each for every known host, in no particular order; there are at most a few thousand. Any
 * thread, until push_free. each runs under a lock that deliveries need: it should only copy. */
void push_hosts(struct push_sender *s, void (*each)(void *data, const struct push_host_seen *h),
                void *data);
