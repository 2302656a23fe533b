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
 *   claim that finds nothing --> [parked] --> a job comes into line --> [pending]
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
    const char *data_dir;    /* created when missing: state/ and raft/ live in it */
    struct node_config node; /* dir, free_bytes_min, id and peers are filled in */
    struct engine_cluster_config cluster;
    uint64_t free_bytes_min; /* on the disk, for new jobs to be accepted; see engine_space.h */
    struct command_limits limits;
    uint32_t pending_ops_max; /* submitted and not answered, parked ones aside */
    uint32_t feed_ids_max;    /* in the set of a feed; rounded up to a power of two */
    bool lifecycle_events;    /* the event log is on */
    int64_t retention_ms;     /* how long finished jobs are kept; 0: for ever */
    int64_t retention_interval_ms;
    int64_t max_clock_jump_ms;  /* a leap ahead by more is not believed at first; 0: is */
    struct machine_hooks hooks; /* only access, its data (on the core thread) and slot_ns */
    int64_t leader_wait_ms;     /* how long engine_open waits for a leader */
    int64_t stop_wait_ms;       /* how long a stop waits for entries under way, at most */
};

struct engine_config engine_config_default(void);

/* Open, replay, and wait until this node may take commands, or knows who does. */
ATTR_NODISCARD enum err_code engine_open(const struct engine_config *config,
                                         struct engine **out_engine, struct err *err);

/* From any thread, once, before engine_close: clients will be gone in in_ms. Operations that have
 * no outcome stop_wait_ms later, because a full disk or a missing majority holds them up, end with
 * ERR_UNKNOWN_OUTCOME, so that whoever must have them back in order to close has them. */
void engine_last_call(struct engine *e, uint32_t in_ms);

/* Stop: what is on its way to the log is finished, parked claims end with nothing, the rest is
 * refused with ERR_STOPPING; then the store is closed. Nobody may submit or read any more. NULL is
 * fine. */
void engine_close(struct engine *e);

/* How many commands of an outbox go over before the turn ends: half the clients, within these. */
enum { ENGINE_OUTBOX_OPS_MIN = 32, ENGINE_OUTBOX_OPS_MAX = 128 };

/* A loop's way to the core thread. Commands that are submitted through an outbox go over together
 * when the loop's turn ends, so that a busy loop does not wake the core for each of them, only to
 * be pushed aside by it; earlier when there are as many as half of its clients, so that the one
 * half is committed while the other is read. Used by one thread; zero but for the engine. */
struct engine_outbox {
    struct engine *engine;
    size_t clients; /* set by the owner at any time: how many send commands */
    struct msg *first, *last;
    uint32_t count;
    uint64_t bytes;
};

/* At the end of each turn, before the loop waits or does what takes time. */
void engine_outbox_flush(struct engine_outbox *outbox);

/* One command on its way. The caller embeds it and keeps it alive until done. */
struct engine_op {
    /* set by the caller */
    void (*done)(struct engine_op *op); /* on the loop of reply_to; without one, on the core thread
                                           or, when it is refused at once, inside engine_submit
                                           or engine_outbox_flush */
    struct mailbox *reply_to;
    struct engine_outbox *outbox; /* of the thread that submits; NULL: at once */
    void *data;
    bool admitted;   /* it is one of few, by its sender's own bound: never ERR_OVERLOADED */
    int64_t park_ms; /* how long a claim waits for a job; 0 for others. Before engine_op_prepare */
    struct arena *arena; /* for a claim that parks: lives as long as op; NULL: it makes its own */
    struct id operation; /* its name, by which it is known when asked again; none: it has none */
    uint64_t since;      /* with a name: it is in no entry up to this one */
    /* result; err, which is one too, is further down */
    uint32_t retry_after_ms; /* with ERR_OVERLOADED */
    struct buf result;       /* with ERR_OK: for result_decode */
    uint64_t index;          /* with ERR_OK: the entry that carried it */
    bool waited;             /* a claim: it was parked for a while */
    /* private */
    struct msg msg;
    struct engine *engine;
    struct engine_op *next;
    struct buf command;
    int64_t waiting_since_ns; /* for an entry, on the monotonic clock */
    enum command_type type;
    enum engine_space_use use;
    uint32_t feeds_jobs; /* so many jobs come into line by it, as far as is known… */
    uint64_t feeds;      /* …of the queue whose name has this hash */
    /* of the core thread */
    bool parked;
    bool arrived;          /* counts as pending */
    bool found_nothing;    /* a claim: by the entry that carried it */
    bool goes_on;          /* in steps, and there is a next one */
    bool begun, postponed; /* a step of it was applied; the last entry had no room for it */
    uint32_t steps_left;   /* 0: as many as there are */
    uint32_t step;         /* which one is next */
    bool cancelled;
    bool cancel_sent, cancel_back, is_done; /* of the caller's thread */
    /* what only some need; behind what every command touches on both threads */
    struct msg cancel_msg;
    struct arena *claim_arena;     /* of its own, for its decoded command */
    struct engine_waiter *waiters; /* one per queue while parked */
    struct heap_node end;          /* while parked: when that ends */
    int64_t deadline_ns;           /* of the parking, on the monotonic clock */
    uint64_t ticket;               /* its place among those that wait */
    struct engine_waitlist *woken_by;
    /* The last members are not even zero before they are used. */
    struct err err;
    struct command_claim claim; /* of one that may park */
    /* Where command and result begin. Most need no more, so that neither thread allocates. */
    char command_room[384];
    char result_room[128];
};

void engine_op_init(struct engine_op *op);
void engine_op_deinit(struct engine_op *op);

/* Check the command and encode it into op, which may be used again after its done. The error is
 * what the client did wrong. */
ATTR_NODISCARD enum err_code engine_op_prepare(struct engine *e, struct engine_op *op,
                                               const struct command *c, struct err *err);

/* Would a command be taken now? Who has much to do before it can submit one asks first. When not,
 * the refusal is counted, and err and out_retry_ms are what the op would get. The outbox is the one
 * that it would take, of this thread, or NULL. */
ATTR_NODISCARD bool engine_admits(struct engine *e, const struct engine_outbox *outbox,
                                  uint32_t *out_retry_ms, struct err *err);

/* From any thread; op is the engine's until done. */
void engine_submit(struct engine *e, struct engine_op *op);

/* From the thread of op->reply_to, before done: the answer is not wanted any more. A parked claim
 * ends at once, with nothing claimed; what is in the pipeline already ends as it does, and a claim
 * there does not park again. done comes in every case. */
void engine_cancel(struct engine *e, struct engine_op *op);

/* In done of a claim, or of an ack with a next, whose worker has gone: the jobs that it got go back
 * to where they stood, or else their leases end. False when it got none. */
bool engine_give_back(struct engine *e, const struct engine_op *op);

/* Run something on the core thread, with the machine between two entries. */
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

/* False when the engine is stopping; done does not come then. */
ATTR_NODISCARD bool engine_run(struct engine *e, struct engine_call *call);

/* Append the job's document to out; false when there is none. Any thread. Sees every command that
 * was answered before the call. */
ATTR_NODISCARD bool engine_read_job(struct engine *e, struct id id, struct buf *out);

/* The store, for rows and events (store_rows.h, store_event.h). Any thread, for reading. */
struct store *engine_store(struct engine *e);

struct engine_status {
    struct node_status node;
    struct engine_space_status space;
    bool snapshot_damaged; /* a file of the newest snapshot is not as it was written */
    uint64_t pending_ops;
    uint64_t parked_ops;
    uint64_t applied_ops;            /* by this node since it started */
    uint64_t entries;                /* that carried them */
    uint64_t overload_total;         /* refused because the pipeline was full */
    uint64_t ticks, tick_errors;     /* made here; they and fired schedules that failed */
    uint64_t purge_errors;           /* steps of a purge */
    int64_t clock_ahead_ms;          /* of a clock that is not believed (engine_now.h) */
    int64_t clock_behind_ms;         /* of one that the state is ahead of */
    struct engine_times queue_times; /* of an op: from its submission until an entry takes it */
    struct engine_times apply_times; /* of an entry: until it is committed and applied */
    uint64_t next_event;             /* the number that the next event will get */
    uint64_t oldest_event;           /* of the oldest one kept; next_event when there is none */
    uint64_t live_jobs;
    uint64_t index_bytes;
    uint64_t state_hash;
};

/* From any thread but the core's; waits for the core thread to answer. */
void engine_status(struct engine *e, struct engine_status *out);
/* The same on the core thread, inside engine_call.run. */
void engine_status_here(struct engine *e, struct engine_status *out);
/* What the engine was opened with; it does not change. Any thread. */
const struct engine_config *engine_settings(const struct engine *e);

bool engine_leads(const struct engine *e);
/* The time that entries have (engine_now.h). Any thread. */
struct wall engine_time(const struct engine *e);
/* An operator believes the clock; how far it was ahead. Inside engine_call.run. */
int64_t engine_accept_clock(struct engine *e);
/* Have told called on the core thread, now and whenever it changes: is space low, so that nothing
 * should grow that need not? NULL ends it: told does not come after that returned. From any other
 * thread; one at a time. */
void engine_on_space(struct engine *e, void (*told)(void *data, bool low), void *data);

/* Word of new events, for whoever reads the event log (store_event.h).
 * However many entries were applied meanwhile, a subscriber hears once: what it is told is where
 * the log ends now, and it reads from where it stopped. */
struct engine_notifier;

/* told is called on reply_to's loop when webhooks were changed, when a bulk operation was put, when
 * another node leads or none does and, while it listens, when there are new events. At first it
 * does not. From any thread. */
struct engine_notifier *engine_notifier_open(struct engine *e, struct mailbox *reply_to,
                                             void (*told)(void *data), void *data);
/* From the thread of reply_to: whether to be told of new events. A thread that has nobody to give
 * them to is not woken for every entry. What is there already is the caller's to look at. */
void engine_notifier_listen(struct engine_notifier *n, bool on);
/* The number that the next event will get; never smaller than at an earlier call. Everything below
 * it can be read, as far as the log still has it. Any thread. */
uint64_t engine_notifier_next(const struct engine_notifier *n);
/* As machine_webhook_changes. Any thread. */
uint64_t engine_notifier_webhook_changes(const struct engine_notifier *n);
/* From the thread of reply_to. Waits for the core thread; told does not come after it returned. */
void engine_notifier_close(struct engine_notifier *n);
