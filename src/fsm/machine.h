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

/* Functions that the machine calls. Members can be NULL. */
struct machine_hooks {
    void *data;
    /* A job is now in line in this queue, or the queue's limits allow more: a claim may now find a
     * job. Called during apply; the name is valid until the entry has been applied. */
    void (*ready)(void *data, struct str queue);
    /* A job was written or removed. Called at the end of each entry, once per job, in order. */
    void (*changed)(void *data, struct id job);
    /* An access record (store_access.h) was written (value) or deleted (empty value). Called at the
     * end of each entry. When a machine is opened, called with an empty key (forget all records),
     * then for each record, and with an empty key again (complete). */
    void (*access)(void *data, struct str key, struct str value);
    /* There may be a job to deliver: one is now in line, or a queue's limits allow more. During
     * apply. */
    void (*push_ready)(void *data);
    /* Abort the delivery of this job. During apply. */
    void (*push_gone)(void *data, struct id job);
    /* The delivery of this named job is lost (apply_push__lost); last: no attempt is left. During
     * apply. */
    void (*push_lost)(void *data, const struct job *j, bool last);
    /* An active job was taken away from its worker, which did not request that: the claim with this
     * lease token has ended. During apply. */
    void (*taken)(void *data, struct id job, uint64_t lease_token);
    /* Length of a slot (scheduler.md 9), for the counters of queues; 0: slots are not counted. */
    int64_t slot_ns;
};

/* Open the state in the directory path, or start with an empty state if there is none. */
ATTR_NODISCARD enum err_code machine_open(const char *path, const struct machine_hooks *hooks,
                                          struct machine **out_machine, struct err *err);
void machine_close(struct machine *m); /* NULL is allowed */

/* Replace the whole state by the one in the directory path, which must be another directory.
 * Readers on other threads (machine_store) finish with the old state. After an error, the machine
 * can only be closed. */
ATTR_NODISCARD enum err_code machine_replace(struct machine *m, const char *path, struct err *err);

/* Apply the entry at index, which must be greater than the applied index. If the entry cannot be
 * decoded or the store fails, the process stops. */
void machine_apply(struct machine *m, uint64_t index, struct str entry);

/* One result per command of the last entry; valid until the next apply. */
const struct result *machine_results(const struct machine *m, uint32_t *out_count);

uint64_t machine_applied_index(const struct machine *m);
uint64_t machine_state_hash(const struct machine *m);

/* A hash of the whole state, independent of how it was reached. Reads everything. */
uint64_t machine_digest(struct machine *m);

/* The time of the last entry; it never decreases. */
struct wall machine_now(const struct machine *m);

/* The earliest time at which a tick has something to do; INT64_MAX if there is none. */
struct wall machine_next_tick(const struct machine *m);

/* Active jobs whose leases end at or before `until`, at most max, in no order. Returns their
 * number. *out_more: there may be more. */
uint32_t machine_ending_leases(const struct machine *m, struct wall until, struct id *out,
                               uint32_t max, bool *out_more);

/* The schedule with the earliest next run. False if no schedule is enabled. The texts are valid
 * until the next apply. */
struct machine_due_schedule {
    struct id id;
    struct wall next_run;
    struct str cron, timezone;
};
bool machine_next_schedule(const struct machine *m, struct machine_due_schedule *out);

/* Due schedules, at most max, always including the earliest, ordered by due time and id. Returns
 * their number. */
uint32_t machine_due_schedules(const struct machine *m, struct wall now,
                               struct machine_due_schedule *out, uint32_t max);

/* The next open bulk operation after `after`, starting again with the first one after the last.
 * False if there is none. The texts are valid until the next apply. */
struct machine_bulk {
    struct id id;
    struct store_bulk rec;
};
bool machine_next_bulk(const struct machine *m, struct id after, struct machine_bulk *out);

/* Would a claim on this queue find a job now? If a throttle or a daily budget prevents it,
 * *out_until is the time when that ends; otherwise it is 0. */
bool machine_claimable(struct machine *m, struct str queue, struct wall now,
                       struct wall *out_until);

/* How many jobs can be claimed from the queue now: the jobs in line, up to what the concurrency
 * limit and the throttle allow. */
uint32_t machine_claimable_count(struct machine *m, struct str queue, struct wall now);

/* How many more jobs the queue's limits allow to be active, whether jobs are waiting or not.
 * opened: ignore a pause. */
uint32_t machine_places(struct machine *m, struct str queue, struct wall now, bool opened);
/* Number of jobs in line in the queue. */
uint32_t machine_in_line(struct machine *m, struct str queue);
/* The queues of jobs that are due, which the next tick may move: one name per job, at most max, in
 * no order. Returns their number. The texts are valid until the next apply. */
uint32_t machine_due_queues(const struct machine *m, struct wall now, struct str *out,
                            uint32_t max);

/* Would a budget refuse a claim on this queue, or hold a job? Then the queue has nothing to
 * claim. */
bool machine_over_budget(struct machine *m, struct str queue, struct wall now);

/* Would a budget for its tags hold the first job in line? Then a claim with no_hold finds nothing.
 * *out_until as above. */
bool machine_next_is_held(struct machine *m, struct str queue, struct wall now,
                          struct wall *out_until);

/* The jobs of a queue and priority that wait for delivery to one host. */
struct machine_push_line {
    struct str queue, host;
    uint8_t priority;
    uint32_t number; /* valid while the line is not empty */
    uint32_t waiting;
    uint32_t places; /* number of claims that the queue's limits allow now */
};
/* Call fn for each line that is not empty, starting at number `first`, until fn returns false. */
void machine_each_push_line(struct machine *m, struct wall now, uint32_t first,
                            bool (*fn)(void *data, const struct machine_push_line *l), void *data);
/* When the first throttle that delays one of these lines allows the next claim; 0: no throttle
 * delays any. */
struct wall machine_push_throttled_until(struct machine *m, struct wall now);

/* Would this claim write the worker's row even if it finds no job? */
bool machine_worker_is_stale(struct machine *m, const struct command_claim *c, struct wall now);

/* The store, for readers on any thread (store_docs_read, store_rows_each_…, store_event_read). */
struct store *machine_store(struct machine *m);

/* Settings and counters of a queue. */
struct machine_queue {
    struct str name;
    bool paused;
    uint32_t max_concurrency;
    uint32_t throttle_rate;
    int64_t throttle_window_ms;
    struct wall created_at;
    uint64_t count[JOB_STATE_COUNT];
    uint64_t failures;
    struct id oldest_pending; /* ID_NONE if no job is pending */
    /* of named jobs, see struct store_queue: */
    uint64_t named_count, named_bytes; /* unfinished */
    uint64_t timed_out;                /* dead because the last attempt was lost */
    uint64_t timed_out_waiting;        /* waiting for a retry after a lost attempt */
    uint64_t pending_again;            /* pending after a failed attempt */
    uint64_t recurring;                /* in any state */
    uint64_t slots;                    /* time slots in which jobs wait for their due time */
    uint64_t lost_total;               /* lost attempts since the queue was created */
    struct wall last_ended_at;
};

/* Call fn for each queue, in no order. */
void machine_each_queue(struct machine *m, void (*fn)(void *data, const struct machine_queue *q),
                        void *data);
bool machine_queue_find(struct machine *m, struct str name, struct machine_queue *out);
/* Call fn for the queue with this name in each namespace that has one, in no order. */
void machine_each_queue_called(struct machine *m, struct str name,
                               void (*fn)(void *data, const struct machine_queue *q), void *data);

/* The usage of a namespace (empty name: default). */
struct machine_space {
    uint64_t jobs, payload_bytes; /* of unfinished jobs */
    uint64_t queues;
};
void machine_space(const struct machine *m, struct str ns, struct machine_space *out);

/* A worker that was seen recently. The texts are valid until the next apply. */
struct machine_worker {
    struct str ns; /* its namespace; empty: default */
    struct str id; /* unique in its namespace */
    struct str hostname;
    struct str queues;  /* a JSON array of names */
    struct str version; /* of its program; empty: not reported */
    struct wall started_at;
    struct wall last_heartbeat;
};

/* Call fn for each worker, in no order. */
void machine_each_worker(struct machine *m, void (*fn)(void *data, const struct machine_worker *w),
                         void *data);

/* Counters since the machine was opened. They change with the next apply. */
const struct throughput *machine_throughput(const struct machine *m);
/* The entries up to this index are from before the process started: the totals of the throughput
 * leave them out. 0 in a machine that was just opened; a replaced state does not change it. */
void machine_repeats_until(struct machine *m, uint64_t index);

/* Number of changes of webhooks since the machine was opened, without deliveries. If it has
 * changed, copies of the webhooks must be read again. */
uint64_t machine_webhook_changes(const struct machine *m);

/* Number of bulk operations started since the machine was opened. */
uint64_t machine_bulk_puts(const struct machine *m);

/* Current use of the limits that all namespaces share. */
struct machine_kept {
    uint64_t reply_bytes;  /* LIMIT_REPLY_BYTES */
    uint64_t open_batches; /* LIMIT_BATCHES_OPEN */
    uint64_t batch_bytes;  /* LIMIT_BATCH_BYTES */
};
struct machine_kept machine_kept(const struct machine *m);

/* Memory of the indexes of live jobs, in bytes. */
uint64_t machine_index_bytes(const struct machine *m);
uint64_t machine_live_count(const struct machine *m);

/* Write a durable copy of the state into the new directory dir. Any thread, also while entries are
 * applied. */
ATTR_NODISCARD enum err_code machine_checkpoint(struct machine *m, const char *dir,
                                                struct err *err);
