/*
 * What the files of the sender share. Everything belongs to its thread, except the counters.
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

/* What others may be told of a host (push_hosts), under the sender's lock. */
struct push_host_shown {
    uint32_t in_flight, failures;
    uint64_t succeeded, failed;
    struct wall probe_at; /* 0: the breaker is closed */
    struct wall called_at, error_at;
    int64_t latency_us;
    size_t error_bytes;
    char error[PUSH_ERROR_BYTES];
};

/* A host that jobs go to. Calls that fail one after the other open its breaker: then a call begins
 * each second, whether or not those before it have ended, until one is answered. */
struct push_host {
    struct map_node node; /* by "host:port" */
    struct push_sender *sender;
    struct courier_line line;
    struct push_call *reserved; /* places for jobs that are being claimed */
    uint32_t calls;             /* under way or reserved */
    uint32_t failures;          /* in a row */
    uint64_t answers;           /* so many calls were answered */
    uint64_t open_until_ms;     /* with an open breaker: when the next call may be tried */
    struct push_host_shown shown;
    char name[];
};

/* One job on its way. */
struct push_call {
    struct map_node node;   /* by the job's id, from the claim on */
    struct push_call *next; /* of the host's reserved ones */
    struct push_sender *sender;
    struct push_host *host;
    struct courier_call place;
    struct arena *arena; /* for what follows */
    struct job job;
    struct push_target target;
    struct wall started_at;
    uint64_t answers; /* of the host when it began */
    size_t bytes;     /* of the document */
    bool under_way;   /* it has been sent */
    struct outgoing_header *headers;
    struct outgoing_request request;
};

/* Ends that go to the log together. */
struct push_batch {
    struct push_batch *next; /* of those that wait */
    struct push_sender *sender;
    struct arena *arena;
    struct command_push_end *items;
    size_t count;
    struct engine_op op;
};

/* What one look at the lines has found. */
struct push_found {
    struct str queue, host;
    uint8_t priority;
    uint32_t waiting;
    uint32_t count; /* that the queue lets through now */
    uint32_t taken; /* of those, how many have a place */
    struct push_host *to;
};

/* When the next lines are due, and what they are about (push_log.c). */
struct push_log {
    uint64_t standing_ms, runs_ms;
    uint64_t executed, failed; /* as they were told last */
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
    uv_mutex_t hosts_lock; /* whoever changes hosts, or shown of one, and who looks from outside */
    struct map hosts;
    struct map calls;
    char worker[LIMIT_WORKER_ID_BYTES + 1]; /* "push:" and the node */
    bool leads;

    /* push_claim.c: one look, then one claim, at a time */
    struct engine_call look;
    bool look_busy, claim_busy;
    bool wanted;         /* something has changed since the look began */
    bool more;           /* jobs wait that got no place after the last look */
    size_t asked;        /* jobs that the claim under way is for */
    uint32_t first_line; /* where the next look begins, so that all get their turn */
    int64_t throttled;   /* by the last look: ns until a throttle opens; 0: none is shut */
    uint64_t due_ms;     /* when to look although nothing happened */
    struct arena *found_arena;
    struct push_found *found;
    size_t found_count;
    struct engine_op claim_op;
    size_t bytes; /* of documents under way */

    /* push_finish.c */
    struct push_batch *filling;
    struct push_batch *waiting; /* to be tried again */
    unsigned batches_busy;
    size_t ends; /* not yet in the log */
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
void push__step(struct push_sender *s); /* do what can be done, and set the timer */

/* push_host.c */
struct push_host *push_host__need(struct push_sender *s, struct str name);
/* A place for one more call, or NULL. */
struct push_call *push_host__reserve(struct push_host *h, uint64_t now_ms);
/* The call is over, or its place was not needed: it is freed. */
void push_host__release(struct push_call *c, enum courier_end how);
void push_host__began(struct push_call *c); /* it is sent */
/* How a call ended; did the host answer? For the breaker, and for whoever asks. */
void push_host__heard(struct push_call *c, bool answered, const struct command_push_end *end);
bool push_host__may_call(const struct push_host *h, uint64_t now_ms);
void push_host__sweep(struct push_sender *s); /* those of which nothing is to be remembered */
void push_host__open(struct push_sender *s);
void push_host__close(struct push_sender *s);

/* push_claim.c */
void push_claim__step(struct push_sender *s);
void push_claim__open(struct push_sender *s);
void push_claim__close(struct push_sender *s);

/* push_call.c */
void push_call__start(struct push_call *c);          /* job and arena are set */
bool push_call__is_guest(const struct push_call *c); /* of a namespace other than the default one */
void push_call__abort(struct push_call *c);          /* broken off; it is freed */
void push_call__abort_all(struct push_sender *s, bool tell);

/* push_log.c */
void push_log__open(struct push_sender *s);
void push_log__step(struct push_sender *s);
void push_log__ended(const struct push_call *c, const struct command_push_end *e);
uint64_t push_log__due_ms(const struct push_sender *s);

/* push_request.c: the request of a call, from its job and target */
void push_request__make(struct push_call *c);

/* push_finish.c */
void push_finish__add(struct push_sender *s, const struct command_push_end *end);
void push_finish__step(struct push_sender *s);
bool push_finish__is_idle(const struct push_sender *s);
void push_finish__open(struct push_sender *s);
void push_finish__close(struct push_sender *s);
