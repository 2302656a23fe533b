/*
 * Model: a second implementation of the rules of jobs, written from the contract (http-api.md 4 to
 * 9, 12, 13) and not from the machine, as simple as possible.
 *
 * All objects are in lists that are searched linearly. There are no indexes and no caches, and no
 * steps that the rules do not require. The model receives the same commands as the machine and
 * computes the expected results, documents and events. Where the contract does not specify the
 * behavior, a sentence that begins with "Free:" describes what the machine does. Changing such
 * behavior breaks no promise.
 *
 * Texts are copied into one arena and are valid until the model is freed.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "core/job.h"
#include "fsm/command/command.h"
#include "fsm/command/result.h"
#include "store/store_event.h"
#include "store/store_record.h"
#include "store/store_rows.h"
#include "store/store_tally.h"

/* Rows of a job, oldest first. */
struct model_error {
    struct store_error row;
    struct model_error *next;
};

struct model_usage {
    struct store_usage row;
    struct model_usage *next;
};

/* Sums of the reports of an hour, by queue, model and provider. */
struct model_tally {
    uint32_t hour;
    struct store_tally_name name;
    struct store_tally sums;
};

struct model_iteration {
    struct store_iteration row;
    uint64_t index; /* of the entry that wrote it */
    struct model_iteration *next;
};

/* How a job was stored when the entry began. */
enum model_stored { MODEL_STORED_NOT, MODEL_STORED_LIVE, MODEL_STORED_DONE };

struct model_job {
    struct job doc; /* expected content of its document */
    enum model_stored stored;
    struct str stored_queue;
    struct model_error *errors;
    struct model_usage *usages;
    struct model_iteration *iterations;
    bool touched;          /* written in this entry */
    bool has_body;         /* its document is stored in two parts */
    bool hears;            /* finished, and still updated when a dependency completes */
    uint64_t claimed_from; /* its order before the last claim */
    struct id promised;    /* when a request was last answered with this job instead of a new one */
};

struct model_queue {
    struct str name;
    bool paused;
    uint32_t max_concurrency;
    uint32_t rate;
    int64_t window_ms;
    struct wall created_at;
    uint64_t failures;
    struct id removal;   /* a clear or delete may still remove jobs with smaller ids */
    struct wall *claims; /* times of claims since the throttle was set */
    size_t claim_count, claim_cap;
};

struct model_lock {
    struct str queue, key;
    struct id job;
    struct wall expires_at;
};

/* A result of a seal, and the previous one. */
struct model_seal {
    struct result *result;
    struct model_seal *before;
};

struct model_batch {
    struct id id;
    struct store_batch record;
    bool touched;             /* written in this entry */
    struct model_seal *seals; /* of this entry */
};

struct model_schedule {
    struct id id;
    struct store_schedule record;
};

struct model_webhook {
    struct str id;
    struct store_webhook record;
};

struct model_policy {
    struct id id;
    struct store_policy record;
};

struct model_bulk {
    struct id id;
    struct store_bulk record;
};

struct model_worker {
    struct str name; /* name of its record */
    struct str ns, id;
    struct store_worker record;
};

/* The answer to an enqueue that may be repeated. */
struct model_reply {
    struct str key;
    uint64_t body_hash;
    struct result result;
    struct wall expires_at;
};

/* How far the machine got with the only command of an entry. The rules do not specify how much fits
 * into an entry, only the order of the changes and that all of them are done at the end. So the
 * model stops where the machine did. */
struct model_reach {
    const struct result *got;
    const struct id *changed; /* jobs that the entry wrote or removed */
    size_t changed_count;
    struct id purge_cursor; /* where a purge would continue */
};

/* A list of pointers, in the order of creation. */
struct model_list {
    void **at;
    size_t count, cap;
};

struct model {
    struct arena *arena;
    struct model_list jobs;      /* struct model_job, by id */
    struct model_list queues;    /* struct model_queue */
    struct model_list locks;     /* struct model_lock */
    struct model_list batches;   /* struct model_batch */
    struct model_list schedules; /* struct model_schedule */
    struct model_list workers;   /* struct model_worker */
    struct model_list webhooks;  /* struct model_webhook */
    struct model_list policies;  /* struct model_policy */
    struct model_list replies;   /* struct model_reply */
    struct model_list bulks;     /* struct model_bulk */
    struct model_list owed; /* struct id: completed jobs whose waiters are not all updated, by id */
    struct model_list tallies;       /* struct model_tally */
    bool counting;                   /* reports are being counted */
    uint64_t first_counted;          /* row of the first counted report */
    const struct model_reach *reach; /* NULL: each command fits into its entry */

    struct wall now; /* of the entry; never decreases */
    uint64_t index;
    uint8_t version; /* of the entry */
    bool events_on;
    uint32_t next_number; /* of an id in this entry */
    uint64_t next_order;
    uint64_t lease_token;
    uint64_t next_row;
    uint64_t next_event;
    struct id purge_cursor;

    struct model_list events;          /* struct store_event, of this entry */
    struct model_list removed;         /* struct model_job, removed in this entry */
    struct model_list touched_batches; /* in the order of their first change in this entry */
    struct model_list purged_batches;  /* removed in this entry */
};

struct model *model_new(void);
void model_free(struct model *m); /* may be NULL */

/* Begin an entry of this version with this timestamp. */
void model_begin(struct model *m, uint64_t index, uint8_t version, struct wall stamp, bool events);

/* Apply the entry's next command. The expected result is returned in out, in memory of the model.
 * Its message is empty. */
void model_apply(struct model *m, const struct command *c, struct result *out);

/* The same, but stop where the machine did. */
void model_apply_some(struct model *m, const struct command *c, const struct model_reach *reach,
                      struct result *out);

/* End the entry. */
void model_end(struct model *m);

/* These return NULL if there is no such object. */
struct model_job *model_find_job(const struct model *m, struct id id);
struct model_queue *model_find_queue(const struct model *m, struct str name);
struct model_batch *model_find_batch(const struct model *m, struct id id);
struct model_schedule *model_find_schedule(const struct model *m, struct id id);
struct model_webhook *model_find_webhook(const struct model *m, struct str id);
struct model_policy *model_find_policy(const struct model *m, struct id id);
struct model_tally *model_find_tally(const struct model *m, uint32_t hour,
                                     const struct store_tally_name *name);

static inline struct model_job *model_job_at(const struct model *m, size_t i)
{
    return m->jobs.at[i];
}

/* Jobs of the queue in the state. */
uint64_t model_count(const struct model *m, struct str queue, enum job_state state);

/* The expected results of the machine's functions of these names. */
struct wall model_next_tick(const struct model *m);
uint32_t model_claimable_count(const struct model *m, struct str queue, struct wall now);
bool model_worker_is_stale(struct model *m, const struct command_claim *claim);
bool model_claimable(const struct model *m, struct str queue, struct wall now,
                     struct wall *out_until);

/* For users of struct model_list. */
void model_list_add(struct model_list *list, void *item);
void model_list_remove(struct model_list *list, const void *item); /* keeps the order */
void model_list_deinit(struct model_list *list);
