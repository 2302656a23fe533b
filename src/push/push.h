/*
 * Push: jobs on their way to the URLs that they are for (scheduler.md 6, 7, 21).
 *
 * One thread with a loop of its own delivers, and only while this node leads.
 *
 *   lines by host --> places --> claim --> outgoing request --> end --> finish
 *   (fsm, waiting)    (courier,  (log)     (libcurl)                    (log)
 *                      breaker)
 *
 * Promises: nothing is called before its claim is committed, and never twice for one claim. A host
 * that hangs, or is down, costs its own jobs time and nobody else any: it gets few of the places,
 * and after several failures in a row a single call each second, until one is answered; its jobs
 * wait in line meanwhile, untried. A job that hangs holds up no other for the same host, as long as
 * the host has places left. What a call came to is recorded in the entry that moves the job. A job
 * that is cancelled, held or deleted has its call broken off. When this node ceases to lead, what
 * is under way is broken off; who leads next finds it by its lease.
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
    const struct outgoing_guard *guard; /* outlives the sender; NULL: every address passes */
    const char *user_agent;
    struct str node_id;
    struct str bearer;       /* for named jobs without credentials of their own; empty: none */
    int64_t lease_ms;        /* how long a claim holds, at least */
    int64_t keep_ms;         /* tries and ended jobs with names that are older go */
    uint32_t calls_max;      /* under way at once */
    uint32_t host_calls_max; /* to one host */
    int64_t drain_ms;        /* how long a stop waits for calls under way */
    int64_t slot_ms;         /* length of a slot, which only the metrics know of */
};

struct push_config push_config_default(void);

struct push_sender *push_open(const struct push_config *config);

/* Waits for calls under way, for drain_ms at most, and breaks off the rest. Before the engine is
 * told that it is the last call. NULL is fine. */
void push_stop(struct push_sender *s);
/* After that, when nobody asks for its numbers any more. NULL is fine. */
void push_free(struct push_sender *s);

/* Since the start, on this node; those from in_flight on are of now. */
/* clang-format off */
#define PUSH_STATS_LIST(X) \
    X(calls)      /* requests made */ \
    X(completed)  /* tries that ended well */ \
    X(failed)     /* tries that did not */ \
    X(aborted)    /* calls that were broken off, because the job was taken away */ \
    X(in_flight)  /* calls under way */ \
    X(slow)       /* of them those that have lasted long */ \
    X(hosts_open) /* hosts that are called once a second, because their calls failed */ \
    X(hosts_hung) /* hosts that let a call's time pass and have not answered since */
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
    PUSH_BREAKER_OPEN,     /* nothing is called until probe_at */
    PUSH_BREAKER_HALF_OPEN /* a call is under way, or may begin: one each second */
};

/* What is known of a host that jobs go to, since it became known on this node. */
struct push_host_seen {
    struct str name; /* "host:port" */
    uint32_t in_flight;
    uint64_t succeeded, failed; /* tries */
    enum push_breaker breaker;
    uint32_t failures;     /* calls in a row without an answer */
    struct wall probe_at;  /* with an open breaker: when a call may be tried; 0 otherwise */
    int64_t latency_us;    /* moving average of the last calls; -1: none has ended */
    struct wall called_at; /* when the last call that ended had begun; 0: none has */
    struct str error;      /* of the last try that failed; empty: none has */
    struct wall error_at;
};

/* Every host that is known, in no order; at most a few thousand. Any thread, until push_free. each
 * is called under a lock that calls wait for: it copies and returns. */
void push_hosts(struct push_sender *s, void (*each)(void *data, const struct push_host_seen *h),
                void *data);
