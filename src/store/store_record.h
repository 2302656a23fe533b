/*
 * Store_record: encode and decode the small records of the machine: queues, unique locks, batches,
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
    uint64_t failures;                   /* failed attempts since it was created */
    /* For named jobs: */
    uint64_t timed_out;        /* dead jobs whose last attempt was lost with its node */
    uint64_t lost_total;       /* lost attempts since the queue was created */
    uint64_t recurring;        /* recurring jobs that are stored */
    struct wall last_ended_at; /* when a run last ended, with any outcome */
    struct id removal;         /* a clear or delete of jobs with smaller ids may be in progress */
};

struct store_lock {
    struct id job;
    struct wall expires_at;
};

/* The owner of an object that does not belong to a queue. */
struct store_owner {
    bool known;       /* false: created by a version without owners */
    struct str ns;    /* empty: the default namespace */
    struct str scope; /* queue scope of its creator (core/queue_scope.h); empty: all queues */
};

struct store_batch {
    uint64_t total, pending, succeeded, failed;
    struct str callback_queue;
    struct str callback_payload;
    struct store_owner owner; /* only without a callback queue */
    struct wall created_at;
    struct wall finished_at; /* when the batch was sealed and its last job had ended */
    struct id callback_job;  /* created then; none: no callback, or unknown */
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
    struct str push; /* push target, as in a job */
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
    struct str version; /* of its program; empty: not reported */
    struct wall started_at;
    struct wall last_heartbeat;
};

struct store_webhook {
    struct str ns;    /* its namespace; empty: default */
    struct str scope; /* only events of these queues (core/queue_scope.h); empty: all */
    struct str url;
    struct str events; /* patterns of types (event_match.h), one per line */
    struct str secret; /* empty: deliveries are not signed */
    uint32_t retry_limit;
    bool enabled;
    struct wall created_at;
    uint64_t position; /* events up to this number are done: delivered, given up or filtered out */
    uint32_t last_status;         /* HTTP status of the last attempt; 0: no response */
    struct str last_error;        /* of the last attempt; empty: success */
    struct wall last_delivery_at; /* 0: no attempt yet */
};

/* An approval policy: which agent jobs are held. Empty members are not checked. */
struct store_policy {
    struct str ns;       /* applies to jobs of this namespace; empty: default */
    bool all_namespaces; /* applies to all namespaces; only for a policy of the default namespace */
    struct str name;
    struct str queue; /* internal name */
    struct str tag_key;
    struct str tag_value;
    bool all; /* all checks must match; otherwise one is enough */
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

/* A bulk operation in the background. It selects jobs by a filter or by lists of ids, which are
 * stored after the record (docs/formats/documents.md). */
struct store_bulk {
    enum store_bulk_status status;
    uint8_t action; /* enum command_job_action, or an action on a queue (below) */
    bool reset_attempts;
    uint8_t priority;
    uint32_t lists; /* number of id lists; 0: by filter */
    uint32_t steps; /* completed steps */
    uint32_t parts; /* of these, steps that did not complete their list */
    uint64_t total; /* jobs; by filter: an estimate until the end */
    uint64_t processed;
    uint64_t affected;
    uint64_t errors;  /* ids without a job that the caller may change */
    struct id cursor; /* by filter: jobs up to this id are done; queue: jobs before it */
    struct id until;  /* queue: only jobs with smaller ids */
    bool in_done;     /* queue: the cursor is in the family of finished jobs */
    struct wall created_at;
    struct wall updated_at;
    struct wall finished_at;
    struct str ns;
    struct str scope; /* queue scope of its creator; empty: all queues */
    struct str queue; /* to move to, to clear or to delete */
    struct str reason;
    struct str filter;  /* a JSON object, as the caller wrote it */
    struct job_fit fit; /* by filter: other jobs are skipped; in earlier versions: any */
    struct str error;
};

/* Actions on queues. The numbers are on disk. */
enum { STORE_BULK_CLEAR_QUEUE = 64, STORE_BULK_DELETE_QUEUE = 65 };

static inline bool store_bulk_is_queue(const struct store_bulk *b)
{
    return b->action == STORE_BULK_CLEAR_QUEUE || b->action == STORE_BULK_DELETE_QUEUE;
}

static inline bool store_bulk_is_over(const struct store_bulk *b)
{
    return b->status > STORE_BULK_RUNNING;
}

/* The list of the next step: each step completed one list, except the parts. */
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

/* The key of a unique lock, after its kind: the queue's internal name, NUL, the unique key. Names
 * have no control characters, so NUL always ends the name. Overwrites out; returns a view of it. */
enum { STORE_LOCK_KEY_BYTES_MAX = 1024 };
struct str store_record_lock_key(struct str queue, struct str unique_key, struct buf *out);

/* The key of a part of a bulk operation, after its kind: 0 is the record, the others are lists. */
enum { STORE_BULK_KEY_BYTES = ID_BYTES + 4 };
void store_record_bulk_key(struct id id, uint32_t part, char out[STORE_BULK_KEY_BYTES]);
