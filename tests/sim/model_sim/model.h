/*
 * Model: the rules of jobs once more, written from the contract (http-api.md 4 to 9, 12, 13) and
 * not from the machine, as plainly as it can be said.
 *
 * Everything is in lists that are searched from one end to the other; nothing is indexed, cached or
 * done in steps that the rules do not ask for. It is fed the same commands as the machine and says
 * what each must answer, what every document must say afterwards, and which events must have
 * happened. Where the contract is silent, the sentence that begins with "Free:" says what the
 * machine was found to do; a change there is a change of habit and no broken promise.
 *
 * Text is copied into one arena and stays there until the model goes.
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

/* What hangs on a job, oldest first. */
struct model_error {
    struct store_error row;
    struct model_error *next;
};

struct model_usage {
    struct store_usage row;
    struct model_usage *next;
};

/* What was reported in an hour, by queue, model and provider. */
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

/* Where a job stood when the entry began. */
enum model_stored { MODEL_STORED_NOT, MODEL_STORED_LIVE, MODEL_STORED_DONE };

struct model_job {
    struct job doc; /* what its document must say */
    enum model_stored stored;
    struct str stored_queue;
    struct model_error *errors;
    struct model_usage *usages;
    struct model_iteration *iterations;
    bool touched;          /* written in this entry */
    bool has_body;         /* its document is stored in two parts */
    bool hears;            /* it is over, and is told when what it waited for completes */
    uint64_t claimed_from; /* its place before the last claim */
    struct id promised;    /* when somebody was last told of it instead of a job of his own */
};

struct model_queue {
    struct str name;
    bool paused;
    uint32_t max_concurrency;
    uint32_t rate;
    int64_t window_ms;
    struct wall created_at;
    uint64_t failures;
    struct id removal;   /* what came before may be on the way of a clear or delete */
    struct wall *claims; /* when jobs were claimed since the throttle was set */
    size_t claim_count, claim_cap;
};

struct model_lock {
    struct str queue, key;
    struct id job;
    struct wall expires_at;
};

/* An answer to a seal, and the one before it. */
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
    struct str name; /* as it is stored */
    struct str ns, id;
    struct store_worker record;
};

/* The answer to an enqueue that may be asked again. */
struct model_reply {
    struct str key;
    uint64_t body_hash;
    struct result result;
    struct wall expires_at;
};

/* How far the machine went with a command that is the only one of its entry. The rules do not say
 * how much fits into an entry, only in which order things are done and that all of them are in the
 * end; so the model goes as far as the machine did. */
struct model_reach {
    const struct result *got;
    const struct id *changed; /* jobs that it wrote or removed */
    size_t changed_count;
    struct id purge_cursor; /* where it would go on */
};

/* A list of pointers, in the order in which things came to be. */
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
    struct model_list owed; /* struct id: jobs whose end not all who waited have heard of, by id */
    struct model_list tallies;       /* struct model_tally */
    bool counting;                   /* reports are counted */
    uint64_t first_counted;          /* row of the first that was */
    const struct model_reach *reach; /* NULL: all that is asked for fits */

    struct wall now; /* of the entry; never runs backwards */
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
    struct model_list removed;         /* struct model_job, gone in this entry */
    struct model_list touched_batches; /* in the order of their first change in this entry */
    struct model_list purged_batches;  /* gone in this entry */
};

struct model *model_new(void);
void model_free(struct model *m); /* NULL is fine */

/* An entry of this version begins, stamped with this time. */
void model_begin(struct model *m, uint64_t index, uint8_t version, struct wall stamp, bool events);

/* Apply the entry's next command. What it must answer is put into out, in memory of the model; the
 * message is left empty. */
void model_apply(struct model *m, const struct command *c, struct result *out);

/* The same, as far as the machine went. */
void model_apply_some(struct model *m, const struct command *c, const struct model_reach *reach,
                      struct result *out);

/* The entry is over. */
void model_end(struct model *m);

/* NULL when there is none. */
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

/* What the machine must say about itself, by its functions of these names. */
struct wall model_next_tick(const struct model *m);
uint32_t model_claimable_count(const struct model *m, struct str queue, struct wall now);
bool model_worker_is_stale(struct model *m, const struct command_claim *claim);
bool model_claimable(const struct model *m, struct str queue, struct wall now,
                     struct wall *out_until);

/* For whoever builds lists of the model's kind. */
void model_list_add(struct model_list *list, void *item);
void model_list_remove(struct model_list *list, const void *item); /* keeps the order */
void model_list_deinit(struct model_list *list);
