/*
 * Machine: the state machine. Log entries go in, the state of all jobs changes, results come out.
 *
 * It is deterministic. The effect of an entry depends only on the entry and the state: no clock, no
 * random numbers, no node configuration, no hash table order. Two machines that have applied the
 * same log have written the same bytes and have the same state hash.
 *
 * Documents are on disk (store/). What is needed for quick decisions is in memory: lines of waiting
 * jobs, due times, locks, counters. Memory is rebuilt from disk when a machine is opened.
 *
 * Belongs to one thread, unless a function says otherwise.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/str.h"
#include "core/job.h"
#include "fsm/command/result.h"
#include "fsm/state/throughput.h"
#include "store/store.h"
#include "store/store_record.h"

struct machine;

/* What the machine tells while it applies. NULL members are not called. */
struct machine_hooks {
    void *data;
    /* A job came to stand in line in this queue, or the queue's limits gave way: a claim may now
     * find something. Called during apply; the name lives until the entry is applied. */
    void (*ready)(void *data, struct str queue);
    /* A job was written or removed. Called at the end of each entry, once per job, in order. */
    void (*changed)(void *data, struct id job);
    /* A record of who may do what (store_access.h) was put, with its value, or deleted, with none.
     * Called at the end of each entry, and when a machine is opened: with an empty key, which
     * means that all were forgotten, then for each, and with an empty key again. */
    void (*access)(void *data, struct str key, struct str value);
    /* A job that the server itself delivers came into line, or its queue gave way. During apply. */
    void (*push_ready)(void *data);
    /* One that was being delivered is not to be any more. During apply. */
    void (*push_gone)(void *data, struct id job);
    /* An active job is no longer its worker's, who has not asked for that: the run that has this
     * lease token is over. During apply. */
    void (*taken)(void *data, struct id job, uint64_t lease_token);
    /* The length of a slot (scheduler.md 9), for the numbers of queues; 0: none are counted. */
    int64_t slot_ns;
};

/* Open the state in the folder path, or begin with nothing. */
ATTR_NODISCARD enum err_code machine_open(const char *path, const struct machine_hooks *hooks,
                                          struct machine **out_machine, struct err *err);
void machine_close(struct machine *m); /* NULL is fine */

/* Go on with the state in the folder path, another one than now, as a whole. Who reads through
 * machine_store in another thread goes on with the old one until it is done. After an error the
 * machine can only be closed. */
ATTR_NODISCARD enum err_code machine_replace(struct machine *m, const char *path, struct err *err);

/* Apply the entry at index, which is above the applied one. An entry that cannot be understood, or
 * a store that refuses, stops the process. */
void machine_apply(struct machine *m, uint64_t index, struct str entry);

/* One result per command of the last entry; valid until the next apply. */
const struct result *machine_results(const struct machine *m, uint32_t *out_count);

uint64_t machine_applied_index(const struct machine *m);
uint64_t machine_state_hash(const struct machine *m);

/* A hash of the whole state, however it came to be; walks everything. */
uint64_t machine_digest(struct machine *m);

/* The time of the last entry; it never goes back. */
struct wall machine_now(const struct machine *m);

/* The moment from which a tick would do something; INT64_MAX when there is none. */
struct wall machine_next_tick(const struct machine *m);

/* Active jobs whose leases end up to then, at most max of them, in no order; how many. *out_more:
 * there may be others. */
uint32_t machine_ending_leases(const struct machine *m, struct wall until, struct id *out,
                               uint32_t max, bool *out_more);

/* The earliest due schedule: its id, its due time and its expressions. False when none is enabled.
 * The texts live until the next apply. */
struct machine_due_schedule {
    struct id id;
    struct wall next_run;
    struct str cron, timezone;
};
bool machine_next_schedule(const struct machine *m, struct machine_due_schedule *out);

/* Schedules that are due, up to max of them, the earliest among them, in the order of their times
 * and ids. */
uint32_t machine_due_schedules(const struct machine *m, struct wall now,
                               struct machine_due_schedule *out, uint32_t max);

/* The bulk operation that is not over and comes after this one, in turn: behind the last the first
 * is next. False when there is none. The texts live until the next apply. */
struct machine_bulk {
    struct id id;
    struct store_bulk rec;
};
bool machine_next_bulk(const struct machine *m, struct id after, struct machine_bulk *out);

/* Would a claim on this queue at this moment find a job? When a throttle or a daily budget stands
 * in the way, *out_until is set to when it gives way; it is 0 otherwise. */
bool machine_claimable(struct machine *m, struct str queue, struct wall now,
                       struct wall *out_until);

/* How many jobs could be claimed from the queue at this moment: those in line, bounded by the free
 * places under its limit and in the throttle's window. */
uint32_t machine_claimable_count(struct machine *m, struct str queue, struct wall now);

/* How many more jobs of the queue its limits let be active, whether there are any or not. Opened:
 * as if it were not paused. */
uint32_t machine_places(struct machine *m, struct str queue, struct wall now, bool opened);
/* Jobs that stand in line there. */
uint32_t machine_in_line(struct machine *m, struct str queue);
/* The queues of jobs that the next tick moves, one for each, at most max and in no order; how many.
 * The texts live until the next apply. */
uint32_t machine_due_queues(const struct machine *m, struct wall now, struct str *out,
                            uint32_t max);

/* Would a claim on this queue be refused, or hold a job, because of a budget? While it is, the
 * queue has nothing to claim. */
bool machine_over_budget(struct machine *m, struct str queue, struct wall now);

/* Is the first job in line one that a budget for its tags holds? Then a claim that may hold none
 * (no_hold) finds nothing. *out_until as above. */
bool machine_next_is_held(struct machine *m, struct str queue, struct wall now,
                          struct wall *out_until);

/* Jobs of a queue and priority that wait to be delivered to one host. */
struct machine_push_line {
    struct str queue, host;
    uint8_t priority;
    uint32_t number; /* while it is not empty */
    uint32_t waiting;
    uint32_t places; /* claims that the queue's limits let through now */
};
/* Call fn for each that is not empty, from that number on, until it says no. */
void machine_each_push_line(struct machine *m, struct wall now, uint32_t first,
                            bool (*fn)(void *data, const struct machine_push_line *l), void *data);
/* When the first of the throttles that hold some of them up gives way; 0: none does. */
struct wall machine_push_throttled_until(struct machine *m, struct wall now);

/* Would this claim write its worker's row, whether it finds a job or not? */
bool machine_worker_is_stale(struct machine *m, const struct command_claim *c, struct wall now);

/* The store, for readers (store_docs_read, store_rows_each_…, store_event_read), from any thread.
 */
struct store *machine_store(struct machine *m);

/* Numbers of a queue. */
struct machine_queue {
    struct str name;
    bool paused;
    uint32_t max_concurrency;
    uint32_t throttle_rate;
    int64_t throttle_window_ms;
    struct wall created_at;
    uint64_t count[JOB_STATE_COUNT];
    uint64_t failures;
    struct id oldest_pending; /* none when there is none */
    /* of jobs with names, see struct store_queue */
    uint64_t named_count, named_bytes; /* those that are not over */
    uint64_t timed_out;                /* dead, and their last try was lost… */
    uint64_t timed_out_waiting;        /* …or it was, and they wait for the next */
    uint64_t pending_again;            /* pending, and have failed before */
    uint64_t recurring;                /* in whatever state */
    uint64_t slots;                    /* in which some wait to be due */
    uint64_t lost_total;               /* tries that were lost, ever */
    struct wall last_ended_at;
};

/* Call fn for each queue, in no order. */
void machine_each_queue(struct machine *m, void (*fn)(void *data, const struct machine_queue *q),
                        void *data);
bool machine_queue_find(struct machine *m, struct str name, struct machine_queue *out);

/* What a namespace holds (empty: the default one). */
struct machine_space {
    uint64_t jobs, payload_bytes; /* of those that have not ended */
    uint64_t queues;
};
void machine_space(const struct machine *m, struct str ns, struct machine_space *out);

/* A worker that was seen lately. The texts live until the next apply. */
struct machine_worker {
    struct str ns; /* whose it is; empty: the default one's */
    struct str id; /* unique in its namespace */
    struct str hostname;
    struct str queues;  /* a JSON array of names */
    struct str version; /* of its program; empty: it did not say */
    struct wall started_at;
    struct wall last_heartbeat;
};

/* Call fn for each worker, in no order. */
void machine_each_worker(struct machine *m, void (*fn)(void *data, const struct machine_worker *w),
                         void *data);

/* What happened since the machine was opened; changes with the next apply. */
const struct throughput *machine_throughput(const struct machine *m);

/* How often webhooks were put or deleted since the machine was opened: whoever keeps a copy of them
 * reads it again when this has changed. Deliveries do not count. */
uint64_t machine_webhook_changes(const struct machine *m);

/* How often a bulk operation was put since the machine was opened. */
uint64_t machine_bulk_puts(const struct machine *m);

/* What is kept of things that have a limit for all namespaces together. */
struct machine_kept {
    uint64_t reply_bytes;  /* LIMIT_REPLY_BYTES */
    uint64_t open_batches; /* LIMIT_BATCHES_OPEN */
    uint64_t batch_bytes;  /* LIMIT_BATCH_BYTES */
};
struct machine_kept machine_kept(const struct machine *m);

/* Memory that grows with the number of live jobs. */
uint64_t machine_index_bytes(const struct machine *m);
uint64_t machine_live_count(const struct machine *m);

/* From any thread, while entries are applied: a durable copy of the state in the new folder dir. */
ATTR_NODISCARD enum err_code machine_checkpoint(struct machine *m, const char *dir,
                                                struct err *err);
