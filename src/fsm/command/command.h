/*
 * Command: the requests to the state machine, as structs and as bytes (docs/formats/commands.md).
 *
 * Every write of the server is a command. The caller builds a struct command and encodes it. The
 * leader puts many commands into one log entry and adds the time. Every node decodes and applies
 * them. Numbers and layouts never change: a new meaning gets a new number or version, and the old
 * one keeps its decoder and its file in tests/golden/.
 *
 * Texts are views; arrays of a decoded command are in the arena that it was decoded with.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "core/job.h"
#include "fsm/command/command_access.h"  /* IWYU pragma: export */
#include "fsm/command/command_entry.h"   /* IWYU pragma: export */
#include "fsm/command/command_jobs.h"    /* IWYU pragma: export */
#include "fsm/command/command_node.h"    /* IWYU pragma: export */
#include "fsm/command/command_policy.h"  /* IWYU pragma: export */
#include "fsm/command/command_push.h"    /* IWYU pragma: export */
#include "fsm/command/command_queue.h"   /* IWYU pragma: export */
#include "fsm/command/command_records.h" /* IWYU pragma: export */
#include "fsm/command/command_restore.h" /* IWYU pragma: export */
#include "fsm/command/command_return.h"  /* IWYU pragma: export */
#include "store/store_record.h"
#include "store/store_rows.h"

enum command_type {
    COMMAND_ENQUEUE = 1,
    COMMAND_CLAIM = 2,
    COMMAND_ACK = 3,
    COMMAND_FAIL = 4,
    COMMAND_HEARTBEAT = 5,
    COMMAND_JOBS = 6, /* retry, cancel, move …: one job or a chunk of a bulk operation */
    COMMAND_REPLAY = 7,
    COMMAND_QUEUE = 8, /* pause, limits, clear, delete */
    COMMAND_TICK = 9,  /* the leader's time: promote, reclaim, expire, clean up */
    COMMAND_PURGE = 10,
    COMMAND_BATCH_OPEN = 11,
    COMMAND_BATCH_SEAL = 12,
    COMMAND_SCHEDULE_PUT = 13,
    COMMAND_SCHEDULE_DELETE = 14,
    COMMAND_SCHEDULE_FIRE = 15,
    COMMAND_WEBHOOK_PUT = 16,
    COMMAND_WEBHOOK_DELETE = 17,
    COMMAND_WEBHOOK_MARK = 18, /* positions of deliveries */
    COMMAND_BULK_PUT = 20,     /* start a bulk operation in the background */
    COMMAND_BULK_STEP = 21,    /* one chunk of it, and its progress */
    COMMAND_BULK_END = 22,     /* it was cancelled, or it failed */
    COMMAND_RESTORE = 24,      /* a piece of a backup */
    COMMAND_POLICY_PUT = 25,
    COMMAND_POLICY_DELETE = 26,
    COMMAND_BULK_QUEUE = 27, /* clear or delete a queue in the background */
    COMMAND_RETURN = 28,     /* give back jobs claimed for a worker that disconnected */
    COMMAND_NODE_PUT = 29,   /* add or change a member of the cluster */
    COMMAND_NODE_STATE = 30, /* a member is leaving, or was removed */
    COMMAND_ACCESS = 32,     /* write or delete keys, roles, namespaces … */
    COMMAND_AUDIT = 33,      /* append to the audit log */
    COMMAND_PUSH_CLAIM = 40, /* claim jobs that the server delivers */
    COMMAND_PUSH_FINISH = 41,
    COMMAND_NAMED_PUT = 42, /* create a job with a name */
    COMMAND_NAMED_PURGE = 43,
    COMMAND_TYPE_LAST = COMMAND_NAMED_PURGE
};

/* A job to be created. `job` is a template: queue, payload, priority, retry options, unique key and
 * period, tags, checkpoint, agent limits, parent, chain members, batch_id, push; scheduled_at if
 * it has to wait; waits_for lists the jobs it depends on. The machine sets everything else. */
struct command_new {
    struct job job;
    int64_t expire_after_ms; /* 0: never */
    bool starts_chain;       /* it gets a chain id and becomes step 0 */
    /* Set by a caller that has already checked these; not encoded. */
    bool payload_is_json;
    bool push_is_target; /* push_target_read accepts it */
};

struct command_names;

struct command_enqueue {
    struct command_new *jobs;
    size_t count;
    bool is_list;                      /* error messages name the job; not encoded */
    const struct command_names *names; /* for error messages; NULL: HTTP; not encoded */
    bool has_batch;
    struct str callback_queue;
    struct str callback_payload;
    struct store_owner owner;   /* of the batch */
    struct str idempotency_key; /* a repetition within a day gets the first response; empty: none */
    uint64_t body_hash; /* of the request body: a repetition must have the same; 0: unknown */
};

struct command_claim {
    struct str *queues;
    size_t queue_count;
    struct str worker_id;
    struct str hostname;
    struct str ns;      /* the worker's namespace; empty: default */
    struct str version; /* of the worker's program; empty: unchanged */
    int64_t lease_ms;
    uint32_t count;
    bool no_hold; /* budgets hold no job, because the same fetch has already held one */
};

/* The numbers are on the wire. */
enum command_agent_status {
    COMMAND_AGENT_NONE,
    COMMAND_AGENT_DONE,
    COMMAND_AGENT_CONTINUE,
    COMMAND_AGENT_HOLD,
    COMMAND_AGENT_HOLD_ANY /* hold the job, even if it is not an agent job */
};
enum command_step_status { COMMAND_STEP_NONE, COMMAND_STEP_CONTINUE, COMMAND_STEP_EXIT };

struct command_ack_item {
    struct id id;
    uint64_t lease_token; /* 0: none given */
    bool has_result;      /* an explicit null counts */
    struct str result;
    struct str checkpoint;
    struct store_tokens usage;
    enum command_agent_status agent_status;
    enum command_step_status step_status;
    struct str hold_reason;
    struct str exit_reason;
    uint32_t place; /* in the request's list, for error messages; not encoded */
};

struct command_ack {
    bool lenient;  /* skip items that cannot be acknowledged; if false, there is one item */
    bool any_cost; /* ignore the per-job limits of budgets */
    struct command_ack_item *items;
    size_t count;                      /* 0 only in the last step of an ack with next */
    const struct command_claim *next;  /* claimed after the ack, unless it is refused; or NULL */
    const struct command_names *names; /* for error messages; NULL: HTTP; not encoded */
};

struct command_fail {
    struct id id;
    uint64_t lease_token;
    struct str error;
    struct str backtrace;
};

struct command_heartbeat_item {
    struct id id;
    uint64_t lease_token;
    struct str progress;
    struct str checkpoint;
    struct store_tokens usage;
};

struct command_heartbeat {
    struct command_heartbeat_item *items;
    size_t count;
    struct str ns; /* the worker's namespace; empty: default */
};

struct command_replay {
    struct id id;
    int64_t from; /* iteration */
    struct command_once once;
};

struct command_purge {
    int64_t retention_ms;
};

struct command_batch_open {
    struct str callback_queue;
    struct str callback_payload;
    struct store_owner owner;
    struct command_once once;
};

struct command_batch_seal {
    struct id id;
};

struct command {
    enum command_type type;
    uint8_t version; /* as decoded; 0 in a new command: the lowest version that can express it */
    union {
        struct command_enqueue enqueue;
        struct command_claim claim;
        struct command_ack ack;
        struct command_fail fail;
        struct command_heartbeat heartbeat;
        struct command_jobs jobs;
        struct command_replay replay;
        struct command_queue queue;
        struct command_purge purge;
        struct command_batch_open batch_open;
        struct command_batch_seal batch_seal;
        struct command_schedule_put schedule_put;
        struct command_schedule_delete schedule_delete;
        struct command_schedule_fire schedule_fire;
        struct command_webhook_put webhook_put;
        struct command_webhook_delete webhook_delete;
        struct command_webhook_mark webhook_mark;
        struct command_bulk_put bulk_put;
        struct command_bulk_step bulk_step;
        struct command_bulk_end bulk_end;
        struct command_bulk_queue bulk_queue;
        struct command_restore restore;
        struct command_policy_put policy_put;
        struct command_policy_delete policy_delete;
        struct command_return give_back;
        struct command_access access;
        struct command_audit audit;
        struct command_push_claim push_claim;
        struct command_push_finish push_finish;
        struct command_named_put named_put;
        struct command_named_purge named_purge;
        struct command_node_put node_put;
        struct command_node_state node_state;
    };
};

/* Begin a command without zeroing the whole struct, which is large. The caller fills in its member
 * of the union. */
static inline void command_init(struct command *c, enum command_type type)
{
    c->type = type;
    c->version = 0;
}

/* Append the command's bytes. */
void command_encode(const struct command *c, struct buf *out);

/* ERR_CORRUPT if the bytes are not a known command. A node that applies such an entry stops. */
ATTR_NODISCARD enum err_code command_decode(struct str bytes, struct arena *a, struct command *out,
                                            struct err *err);

/* The newest version of a type. */
uint8_t command_newest(enum command_type type);

/* The word for a type, for messages. */
const char *command_word(enum command_type type);

/* Is there a command with this number? The numbers have gaps. */
bool command_exists(unsigned type);
