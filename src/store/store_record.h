/*
 * Store_record: the small records of the machine as bytes: queues, unique locks, batches,
 * schedules, workers, webhooks, bulk operations and approval policies (docs/formats/documents.md).
 *
 * The state machine keeps them in memory and writes a complete record after a change. Decoding
 * returns views of the bytes; false means that they are not a known record.
 */
#pragma once

#include "base/buf.h"
#include "core/job.h"
#include "core/job_fit.h"

struct store_queue {
    bool paused;
    uint32_t max_concurrency; /* 0: no limit */
    uint32_t throttle_rate;   /* 0: no throttle */
    int64_t throttle_window_ms;
    uint64_t throttle_claims; /* claims counted since the throttle was set */
    struct wall created_at;
    uint64_t completed, dead, cancelled; /* jobs kept in these states */
    uint64_t failures;                   /* failed attempts ever */
    /* Of jobs with names that their makers gave them: */
    uint64_t timed_out;        /* of the dead, whose last try was lost with whoever made it */
    uint64_t lost_total;       /* tries that were, ever */
    uint64_t recurring;        /* of those above that are kept */
    struct wall last_ended_at; /* when a run was last over, well or not */
};

struct store_lock {
    struct id job;
    struct wall expires_at;
};

/* Whose something is that has no queue which would tell. */
struct store_owner {
    bool known;       /* false: it is older than owners */
    struct str ns;    /* empty: the default namespace */
    struct str scope; /* queues that its maker may touch (core/queue_scope.h); empty: all */
};

struct store_batch {
    uint64_t total, pending, succeeded, failed;
    struct str callback_queue;
    struct str callback_payload;
    struct store_owner owner; /* of one without a callback queue */
    struct wall created_at;
    struct wall finished_at; /* set when the last member ended and the batch was sealed */
    struct id callback_job;  /* that was made then; none: nobody is told, or it is not known */
    bool sealed;
};

struct store_schedule {
    struct str name;
    struct str queue;
    struct str cron;
    struct str timezone;
    struct str payload;
    struct str unique_key;
    struct str tags;
    struct str push; /* as that of a job */
    uint32_t max_retries;
    uint8_t priority;
    bool enabled;
    struct wall created_at;
    struct wall updated_at;
    struct wall last_run;
    struct wall next_run; /* 0 while disabled */
};

struct store_worker {
    struct str hostname;
    struct str queues;  /* a JSON array of names, as clients see it */
    struct str version; /* of its program; empty: it did not say */
    struct wall started_at;
    struct wall last_heartbeat;
};

struct store_webhook {
    struct str ns;    /* whose events it gets, and whose names of queues it sees; empty: default */
    struct str scope; /* queues whose events it gets (core/queue_scope.h); empty: all */
    struct str url;
    struct str events; /* patterns of types (event_match.h), one per line */
    struct str secret; /* empty: deliveries are not signed */
    uint32_t retry_limit;
    bool enabled;
    struct wall created_at;
    uint64_t position;     /* events up to this number are delivered, given up or not wanted */
    uint32_t last_status;  /* of the last attempt: HTTP status, 0 when there was no answer */
    struct str last_error; /* empty when it went well */
    struct wall last_delivery_at; /* 0: there was no attempt yet */
};

/* Whether an agent's job waits for a person. A member that is empty asks nothing. */
struct store_policy {
    struct str ns;       /* whose jobs it means; empty: those of the default one */
    bool all_namespaces; /* jobs of every namespace; only for a policy of the default one */
    struct str name;
    struct str queue; /* internal name */
    struct str tag_key;
    struct str tag_value;
    bool all; /* every check must hold, else one of them */
    bool enabled;
    struct wall created_at;
};

/* The numbers are on disk. */
enum store_bulk_status {
    STORE_BULK_QUEUED = 1,
    STORE_BULK_RUNNING = 2,
    STORE_BULK_COMPLETED = 3,
    STORE_BULK_FAILED = 4,
    STORE_BULK_CANCELLED = 5
};

/* A bulk operation that goes on in the background. What it is about is a filter, or lists of ids,
 * which stand behind the record (docs/formats/documents.md). */
struct store_bulk {
    enum store_bulk_status status;
    uint8_t action; /* enum command_job_action, or what is done to a queue */
    bool reset_attempts;
    uint8_t priority;
    uint32_t lists; /* of ids; 0: by filter */
    uint32_t steps; /* done so far */
    uint32_t parts; /* of them, those that left the rest of their list to the next */
    uint64_t total; /* jobs; of a filter an estimate until the end */
    uint64_t processed;
    uint64_t affected;
    uint64_t errors;  /* ids that are no job's, or not one that the caller may touch */
    struct id cursor; /* by filter: jobs up to this one are done; a queue: those before it */
    struct id until;  /* a queue: jobs with smaller ids are meant */
    bool in_done;     /* a queue: the cursor is among the jobs that are over */
    struct wall created_at;
    struct wall updated_at;
    struct wall finished_at;
    struct str ns;
    struct str scope; /* queues that whoever put it may touch; empty: all */
    struct str queue; /* to move to, to clear or to delete */
    struct str reason;
    struct str filter;  /* a JSON object, as the caller wrote it */
    struct job_fit fit; /* by filter: others are passed over; of an earlier version: any */
    struct str error;
};

/* Actions beside those on jobs. The numbers are on disk. */
enum { STORE_BULK_CLEAR_QUEUE = 64, STORE_BULK_DELETE_QUEUE = 65 };

static inline bool store_bulk_is_queue(const struct store_bulk *b)
{
    return b->action == STORE_BULK_CLEAR_QUEUE || b->action == STORE_BULK_DELETE_QUEUE;
}

static inline bool store_bulk_is_over(const struct store_bulk *b)
{
    return b->status > STORE_BULK_RUNNING;
}

/* The list of the next step; each but the parts was one of them. */
static inline uint32_t store_bulk_next_list(const struct store_bulk *b)
{
    return b->steps - b->parts + 1;
}

void store_record_encode_queue(const struct store_queue *q, struct buf *out);
void store_record_encode_lock(const struct store_lock *l, struct buf *out);
void store_record_encode_batch(const struct store_batch *b, struct buf *out);
void store_record_encode_schedule(const struct store_schedule *s, struct buf *out);
void store_record_encode_worker(const struct store_worker *w, struct buf *out);
void store_record_encode_webhook(const struct store_webhook *h, struct buf *out);
void store_record_encode_policy(const struct store_policy *p, struct buf *out);
void store_record_encode_bulk(const struct store_bulk *b, struct buf *out);

ATTR_NODISCARD bool store_record_decode_queue(struct str value, struct store_queue *out);
ATTR_NODISCARD bool store_record_decode_lock(struct str value, struct store_lock *out);
ATTR_NODISCARD bool store_record_decode_batch(struct str value, struct store_batch *out);
ATTR_NODISCARD bool store_record_decode_schedule(struct str value, struct store_schedule *out);
ATTR_NODISCARD bool store_record_decode_worker(struct str value, struct store_worker *out);
ATTR_NODISCARD bool store_record_decode_webhook(struct str value, struct store_webhook *out);
ATTR_NODISCARD bool store_record_decode_policy(struct str value, struct store_policy *out);
ATTR_NODISCARD bool store_record_decode_bulk(struct str value, struct store_bulk *out);

/* The key of the lock on a unique key of a queue, behind its kind: the queue's internal name, NUL
 * and the key. Names have no control characters, so NUL ends the name for certain. A view of out,
 * which is filled anew. */
enum { STORE_LOCK_KEY_BYTES_MAX = 1024 };
struct str store_record_lock_key(struct str queue, struct str unique_key, struct buf *out);

/* The key of a part of a bulk operation, behind its kind: 0 is the record, the others are lists. */
enum { STORE_BULK_KEY_BYTES = ID_BYTES + 4 };
void store_record_bulk_key(struct id id, uint32_t part, char out[STORE_BULK_KEY_BYTES]);
