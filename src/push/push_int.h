/*
 * Push_int: shared by the files of the sender. Everything belongs to its thread, except the
 * counters, the meter and what hosts_lock guards.
 */
#pragma once

#include <stdatomic.h>

#include <uv.h>

#include "base/arena.h"
#include "base/limits.h"
#include "base/map.h"
#include "courier/courier.h"
#include "engine/engine_cluster.h"
#include "engine/engine_push.h"
#include "fsm/command/push_target.h"
#include "outgoing/outgoing.h"
#include "push/push.h"
#include "push/push_meter.h"

struct push_counters {
#define PUSH_COUNTERS_MEMBER(name) atomic_uint_fast64_t name;
    PUSH_STATS_LIST(PUSH_COUNTERS_MEMBER)
#undef PUSH_COUNTERS_MEMBER
};
#define PUSH_COUNT(s, name, n) ((void)atomic_fetch_add(&(s)->counters.name, (uint64_t)(n)))

enum { PUSH_HEADERS_MAX = LIMIT_PUSH_HEADERS + 8, PUSH_ERROR_BYTES = 160 };

/* Published state of a host (push_hosts), guarded by hosts_lock. */
struct push_host_shown {
    uint32_t in_flight, failures;
    uint64_t succeeded, failed;
    struct wall probe_at; /* 0: the breaker is closed */
    struct wall called_at, error_at;
    int64_t latency_us;
    size_t error_bytes;
    char error[PUSH_ERROR_BYTES];
};

/* A host that receives jobs. Consecutive failures open its circuit breaker. Then one call starts
 * per second, even while earlier ones are still running, until one is answered. */
struct push_host {
    struct map_node node; /* by "host:port" */
    struct push_sender *sender;
    struct courier_line line;
    struct push_call *reserved; /* slots for jobs that are being claimed */
    uint32_t calls;             /* in progress or reserved */
    uint32_t failures;          /* consecutive */
    uint64_t answers;           /* number of answered calls */
    uint64_t open_until_ms;     /* with an open breaker: earliest time of the next call */
    struct push_host_shown shown;
    char name[];
};

/* The delivery of one job. */
struct push_call {
    struct map_node node;   /* by job id, once the job is claimed */
    struct push_call *next; /* in the host's reserved list */
    struct push_sender *sender;
    struct push_host *host;
    struct courier_call place;
    struct arena *arena; /* owns the memory of the members below */
    struct job job;
    struct push_target target;
    struct wall started_at;
    uint64_t answers; /* host->answers when the call started */
    size_t bytes;     /* size of the job's document */
    bool under_way;   /* the request was started */
    struct outgoing_header *headers;
    struct outgoing_request request;
};

/* Outcomes that are written to the log with one command. */
struct push_batch {
    struct push_batch *next; /* in the sender's waiting list */
    struct push_sender *sender;
    struct arena *arena;
    struct command_push_end *items;
    size_t count;
    struct engine_op op;
};

/* A line found by a scan. */
struct push_found {
    struct str queue, host;
    uint8_t priority;
    uint32_t waiting;
    uint32_t count; /* jobs that the queue's limits allow now */
    uint32_t taken; /* of those, jobs that have a slot */
    struct push_host *to;
};

/* Periodic log lines: when the next ones are due, and their data (push_log.c). */
struct push_log {
    uint64_t standing_ms, runs_ms;
    uint64_t executed, failed; /* totals at the last line */
    struct engine_call look;
    bool busy;
    struct engine_status status;
    struct engine_cluster_status cluster;
};

struct push_sender {
    struct push_config config;
    uv_thread_t thread;
    uv_sem_t opened;
    uv_loop_t loop;
    struct mailbox box;
    struct engine_notifier *notifier;
    struct engine_push *push;
    struct outgoing *outgoing;
    struct courier *courier;
    uv_timer_t timer;
    uv_mutex_t hosts_lock; /* guards hosts and each host's shown; this thread reads without it */
    struct map hosts;
    struct map calls;
    char worker[LIMIT_WORKER_ID_BYTES + 1]; /* "push:" and the node id */
    bool leads;

    /* push_claim.c: one scan, then one claim, at a time */
    struct engine_call look;
    bool look_busy, claim_busy;
    bool wanted;         /* something has changed since the last scan began */
    bool more;           /* the last scan left jobs waiting */
    size_t asked;        /* number of jobs in the current claim */
    uint32_t first_line; /* start of the next scan, so that every line gets its turn */
    int64_t throttled;   /* from the last scan: ns until a throttle opens; 0: none delays a line */
    uint64_t due_ms;     /* time of the next scan if nothing else triggers it */
    struct arena *found_arena;
    struct push_found *found;
    size_t found_count;
    struct engine_op claim_op;
    size_t bytes; /* total size of the documents of running calls */

    /* push_finish.c */
    struct push_batch *filling;
    struct push_batch *waiting; /* to be submitted, possibly again */
    unsigned batches_busy;
    size_t ends; /* outcomes not yet in the log */
    uint64_t retry_ms;
    struct engine_op purge_op;
    bool purge_busy;
    uint64_t purge_due_ms;
    struct id purge_cursor;

    struct push_log log;

    bool stopping, closing;
    uint64_t drain_until_ms;
    struct msg stop_msg;
    struct push_counters counters;
    struct push_meter meter;
};

/* push.c */
void push__step(struct push_sender *s); /* do all work that is possible now, and set the timer */

/* push_host.c */
struct push_host *push_host__need(struct push_sender *s, struct str name);
/* Reserve a slot for one more call. NULL if there is none. */
struct push_call *push_host__reserve(struct push_host *h, uint64_t now_ms);
/* Free a call that has ended, or whose slot was not needed. */
void push_host__release(struct push_call *c, enum courier_end how);
void push_host__began(struct push_call *c); /* its request is about to be sent */
/* Record how a call ended, for the breaker and for push_hosts. answered: the host responded. */
void push_host__heard(struct push_call *c, bool answered, const struct command_push_end *end);
bool push_host__may_call(const struct push_host *h, uint64_t now_ms);
void push_host__sweep(struct push_sender *s); /* forget idle hosts if there are too many */
void push_host__open(struct push_sender *s);
void push_host__close(struct push_sender *s);

/* push_claim.c */
void push_claim__step(struct push_sender *s);
void push_claim__open(struct push_sender *s);
void push_claim__close(struct push_sender *s);

/* push_call.c */
void push_call__start(struct push_call *c); /* job and arena must be set */
void push_call__abort(struct push_call *c); /* cancel the request, and free the call */
void push_call__abort_all(struct push_sender *s, bool tell);

/* push_log.c */
/* known is called when what the last step asked for is there; it tells push_log__known. */
void push_log__open(struct push_sender *s, void (*known)(struct engine_call *call));
void push_log__known(struct push_sender *s);
void push_log__step(struct push_sender *s);
void push_log__ended(const struct push_call *c, const struct command_push_end *e);
/* A call that was lost with its node, or whose lease ended; last: no attempt is left. */
void push_log__lost(struct str name, uint32_t attempt, bool last);
uint64_t push_log__due_ms(const struct push_sender *s);

/* push_request.c: build the request of a call from its job and target */
void push_request__make(struct push_call *c);

/* push_finish.c */
void push_finish__add(struct push_sender *s, const struct command_push_end *end);
void push_finish__step(struct push_sender *s);
bool push_finish__is_idle(const struct push_sender *s);
void push_finish__open(struct push_sender *s);
void push_finish__close(struct push_sender *s);
