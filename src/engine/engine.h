/*
 * Engine: the state machine and its log, for the rest of the process.
 *
 * One core thread owns Raft, the machine and all timers. To change something, build a command and
 * submit it from any thread; the result arrives as a message. Commands that arrive together share
 * one log entry and one flush. Any thread can read documents directly from the store; such a read
 * sees everything that was answered before it. The engine itself handles due times (promotion,
 * leases, schedules, retention).
 *
 *   submit --> [pending] --> one entry --> log + flush --> machine --> done, on the caller's loop
 *   claim that finds no job --> [parked] --> a job becomes claimable --> [pending]
 *
 * Guarantees: done is called exactly once. ERR_OK in err means that the command is durable and
 * applied; result then has the machine's answer, which can be a refusal. Any error in err other
 * than ERR_UNKNOWN_OUTCOME means that the command had no effect. A command that is too large for
 * one entry runs in steps; if it is interrupted between them, it ends with ERR_UNKNOWN_OUTCOME too.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/heap.h"
#include "cluster/node.h"
#include "engine/engine_cluster.h"
#include "engine/engine_feed.h"
#include "engine/engine_space.h"
#include "engine/engine_times.h"
#include "fsm/command/command.h"
#include "fsm/command/command_check.h"
#include "fsm/machine.h"
#include "loop/mailbox.h"

struct engine;

struct engine_config {
    const char *data_dir;    /* contains state/ and raft/; created if missing */
    struct node_config node; /* the engine sets dir, free_bytes_min, id and peers */
    struct engine_cluster_config cluster;
    uint64_t free_bytes_min; /* free disk space needed for new jobs; see engine_space.h */
    struct command_limits limits;
    uint32_t pending_ops_max; /* operations in progress, without parked claims */
    uint32_t feed_ids_max;    /* per feed; rounded up to a power of two */
    bool lifecycle_events;    /* keep the event log */
    int64_t retention_ms;     /* how long to keep finished jobs; 0: forever */
    int64_t retention_interval_ms;
    int64_t max_clock_jump_ms;  /* larger forward jumps are not accepted at once; 0: no limit */
    struct machine_hooks hooks; /* only access, its data (on the core thread) and slot_ns */
    int64_t leader_wait_ms;     /* how long engine_open waits for a leader */
    int64_t stop_wait_ms;       /* how long a stop waits for pending entries, at most */
};

struct engine_config engine_config_default(void);

/* Open, replay the log, and wait until this node accepts commands or knows the leader. */
ATTR_NODISCARD enum err_code engine_open(const struct engine_config *config,
                                         struct engine **out_engine, struct err *err);

/* Announce a shutdown: clients will be gone in in_ms. Operations without an outcome stop_wait_ms
 * after that (full disk, no majority) end with ERR_UNKNOWN_OUTCOME, so that their owners can close.
 * Any thread, once, before engine_close. */
void engine_last_call(struct engine *e, uint32_t in_ms);

/* Stop: operations already on their way to the log finish, parked claims end without a job, all
 * others are refused with ERR_STOPPING; then the store is closed. Do not submit or read during or
 * after this call. NULL is allowed. */
void engine_close(struct engine *e);

/* An outbox is flushed before the end of the turn once it has commands from half of the clients.
 * This threshold has a lower and an upper limit. */
enum { ENGINE_OUTBOX_OPS_MIN = 32, ENGINE_OUTBOX_OPS_MAX = 128 };

/* Collects the commands of one loop for the core thread, so that a busy loop does not wake it for
 * each command. They are handed over at the end of the loop's turn, or when half of the clients
 * have sent one: half is committed while half is read. For one thread. Initialize with zeros and
 * the engine. */
struct engine_outbox {
    struct engine *engine;
    size_t clients; /* set by the owner at any time: number of clients */
    struct msg *first, *last;
    uint32_t count;
    uint64_t bytes;
};

/* Call at the end of each turn, before the loop waits or does something slow. */
void engine_outbox_flush(struct engine_outbox *outbox);

/* One command in progress. The caller embeds it and keeps it alive until done. */
struct engine_op {
    /* set by the caller */
    /* Called on the loop of reply_to. Without reply_to, it is called on the core thread or, if the
     * op is refused immediately, inside engine_submit or engine_outbox_flush. */
    void (*done)(struct engine_op *op);
    struct mailbox *reply_to;
    struct engine_outbox *outbox; /* of the submitting thread; NULL: hand over at once */
    void *data;
    bool admitted;   /* the sender limits the number of such ops: never ERR_OVERLOADED */
    int64_t park_ms; /* how long a claim waits for a job; else 0. Set before engine_op_prepare */
    struct arena *arena; /* for a claim that parks; lives as long as op; NULL: own arena */
    struct id operation; /* its name, to recognize repetitions; none: no name */
    uint64_t since;      /* with a name: no entry up to this index contains it */
    /* result; err, further down, is part of it */
    uint32_t retry_after_ms; /* with ERR_OVERLOADED */
    struct buf result;       /* with ERR_OK: for result_decode */
    uint64_t index;          /* with ERR_OK: index of its entry */
    bool waited;             /* a claim: it was parked */
    /* private */
    struct msg msg;
    struct engine *engine;
    struct engine_op *next;
    struct buf command;
    int64_t waiting_since_ns; /* since when it waits for an entry; monotonic clock */
    enum command_type type;
    enum engine_space_use use;
    uint32_t feeds_jobs; /* expected number of jobs that it adds… */
    uint64_t feeds;      /* …to the queue whose name has this hash */
    /* used by the core thread */
    bool parked;
    bool arrived;          /* counted as pending */
    bool found_nothing;    /* a claim: its entry found no job */
    bool goes_on;          /* must be proposed again: postponed, or steps are left */
    bool begun, postponed; /* a step was applied; the last entry had no room */
    uint32_t steps_left;   /* 0: no limit */
    uint32_t step;         /* number of the next step */
    bool cancelled;
    bool cancel_sent, cancel_back, is_done; /* used by the caller's thread */
    /* rarely used members, after those that every command uses on both threads */
    struct msg cancel_msg;
    struct arena *claim_arena;     /* its own, for the decoded command */
    struct engine_waiter *waiters; /* one per queue while parked */
    struct heap_node end;          /* while parked: by deadline */
    int64_t deadline_ns;           /* end of the parking; monotonic clock */
    uint64_t ticket;               /* its place among the parked claims */
    struct engine_waitlist *woken_by;
    /* The members below are not initialized until they are used. */
    struct err err;
    struct command_claim claim; /* of a claim that can park */
    /* Initial space of command and result, enough for most: neither thread has to allocate. */
    char command_room[384];
    char result_room[128];
};

void engine_op_init(struct engine_op *op);
void engine_op_deinit(struct engine_op *op);

/* Check the command and encode it into op. An op can be reused after its done. An error describes
 * the client's mistake. */
ATTR_NODISCARD enum err_code engine_op_prepare(struct engine *e, struct engine_op *op,
                                               const struct command *c, struct err *err);

/* Would a command be accepted now? Call this before expensive preparations. If not, the refusal is
 * counted, and err and out_retry_ms are set as for an op. outbox: the one that would be used, or
 * NULL. */
ATTR_NODISCARD bool engine_admits(struct engine *e, const struct engine_outbox *outbox,
                                  uint32_t *out_retry_ms, struct err *err);

/* Any thread. op belongs to the engine until done. */
void engine_submit(struct engine *e, struct engine_op *op);

/* Cancel an op: the result is no longer needed. A parked claim ends at once without a job. An op
 * that is already in the pipeline ends normally, but a claim does not park again. done is called in
 * any case. From the thread of op->reply_to, before done. */
void engine_cancel(struct engine *e, struct engine_op *op);

/* Return claimed jobs to their places in line, because the worker disconnected; otherwise their
 * leases end. False if there are none. Call in done of a claim, or of an ack with next. */
bool engine_give_back(struct engine *e, const struct engine_op *op);

/* Run a function on the core thread, between two entries. */
struct engine_call {
    /* set by the caller */
    void (*run)(struct engine_call *call, struct machine *m); /* core thread: short, no waiting */
    void (*done)(struct engine_call *call);                   /* as for an op */
    struct mailbox *reply_to;
    void *data;
    /* private */
    struct msg msg;
    struct engine *engine;
};

/* False if the engine is stopping; done is not called then. */
ATTR_NODISCARD bool engine_run(struct engine *e, struct engine_call *call);

/* Append the job's document to out; false if the job does not exist. Sees every command that was
 * answered before the call. Any thread. */
ATTR_NODISCARD bool engine_read_job(struct engine *e, struct id id, struct buf *out);

/* The store, to read rows and events (store_rows.h, store_event.h). Any thread. */
struct store *engine_store(struct engine *e);

struct engine_status {
    struct node_status node;
    struct engine_space_status space;
    bool snapshot_damaged; /* a file of the newest snapshot is damaged */
    uint64_t pending_ops;
    uint64_t parked_ops;
    uint64_t applied_ops;            /* by this node since it started */
    uint64_t entries;                /* log entries with these operations */
    uint64_t overload_total;         /* refused because the pipeline was full */
    uint64_t ticks, tick_errors;     /* ticks by this node; failed ticks and schedules */
    uint64_t purge_errors;           /* failed steps of a purge */
    int64_t clock_ahead_ms;          /* of a clock that is not accepted (engine_now.h) */
    int64_t clock_behind_ms;         /* of a clock that is behind the state */
    struct engine_times queue_times; /* of an op: from submission until it is in an entry */
    struct engine_times apply_times; /* of an entry: until it is committed and applied */
    uint64_t next_event;             /* number of the next event */
    uint64_t oldest_event;           /* number of the oldest event kept; next_event if none */
    uint64_t live_jobs;
    uint64_t index_bytes;
    uint64_t state_hash;
};

/* Waits for the core thread. Any thread except the core thread. */
void engine_status(struct engine *e, struct engine_status *out);
/* The same on the core thread, inside engine_call.run. */
void engine_status_here(struct engine *e, struct engine_status *out);
/* The configuration of the engine. It does not change. Any thread. */
const struct engine_config *engine_settings(const struct engine *e);

bool engine_leads(const struct engine *e);
/* The server time, as written into log entries (engine_now.h). Any thread. */
struct wall engine_time(const struct engine *e);
/* Accept the system clock. Returns how many ms it was ahead. Inside engine_call.run. */
int64_t engine_accept_clock(struct engine *e);
/* Subscribe to the space level: while space is low, files should not grow. told is called on the
 * core thread, now and after every change. NULL unsubscribes; told is not called after that
 * returns. One subscriber at a time. Any thread except the core thread. */
void engine_on_space(struct engine *e, void (*told)(void *data, bool low), void *data);

/* Notifications about new events, for readers of the event log (store_event.h). There is one
 * notification for any number of applied entries. The reader continues where it stopped, up to
 * engine_notifier_next. */
struct engine_notifier;

/* told is called on the loop of reply_to when webhooks change, a bulk operation starts or the
 * leader changes; for new events only while the notifier listens, at first not. Any thread. */
struct engine_notifier *engine_notifier_open(struct engine *e, struct mailbox *reply_to,
                                             void (*told)(void *data), void *data);
/* Turn notifications about new events on or off: a thread without readers need not be woken.
 * Existing events are not reported; the caller reads them. From the thread of reply_to. */
void engine_notifier_listen(struct engine_notifier *n, bool on);
/* The number of the next event. It never decreases. All events below it can be read, unless they
 * were already removed. Any thread. */
uint64_t engine_notifier_next(const struct engine_notifier *n);
/* As machine_webhook_changes. Any thread. */
uint64_t engine_notifier_webhook_changes(const struct engine_notifier *n);
/* Waits for the core thread, then told is not called any more. From the thread of reply_to. */
void engine_notifier_close(struct engine_notifier *n);
