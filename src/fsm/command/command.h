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
    COMMAND_TICK = 9,  /* time has passed: promote, reclaim, expire, clean up */
    COMMAND_PURGE = 10,
    COMMAND_BATCH_OPEN = 11,
    COMMAND_BATCH_SEAL = 12,
    COMMAND_SCHEDULE_PUT = 13,
    COMMAND_SCHEDULE_DELETE = 14,
    COMMAND_SCHEDULE_FIRE = 15,
    COMMAND_WEBHOOK_PUT = 16,
    COMMAND_WEBHOOK_DELETE = 17,
    COMMAND_WEBHOOK_MARK = 18, /* how far deliveries have come */
    COMMAND_BULK_PUT = 20,     /* a bulk operation that goes on in the background */
    COMMAND_BULK_STEP = 21,    /* a chunk of it, and how far it is */
    COMMAND_BULK_END = 22,     /* cancelled, or it cannot go on */
    COMMAND_RESTORE = 24,      /* a piece of a backup */
    COMMAND_POLICY_PUT = 25,
    COMMAND_POLICY_DELETE = 26,
    COMMAND_BULK_QUEUE = 27, /* a queue is cleared or deleted in the background */
    COMMAND_RETURN = 28,     /* what was claimed for a worker that had gone */
    COMMAND_NODE_PUT = 29,   /* a member of the cluster */
    COMMAND_NODE_STATE = 30, /* it is to leave, or has left */
    COMMAND_ACCESS = 32,     /* keys, roles, namespaces and the like are put or deleted */
    COMMAND_AUDIT = 33,      /* who did what */
    COMMAND_PUSH_CLAIM = 40, /* jobs that the server is about to deliver */
    COMMAND_PUSH_FINISH = 41,
    COMMAND_NAMED_PUT = 42, /* a job with a name that its maker gave it */
    COMMAND_NAMED_PURGE = 43,
    COMMAND_TYPE_LAST = COMMAND_NAMED_PURGE
};

/* A job to be created. `job` is a template: queue, payload, priority, retry options, unique key and
 * period, tags, checkpoint, agent limits, parent, chain members, batch_id, push; scheduled_at when
 * it is to wait; waits_for lists the jobs it depends on. Everything else is the machine's. */
struct command_new {
    struct job job;
    int64_t expire_after_ms; /* 0: never */
    bool starts_chain;       /* gets a chain id, and is its step 0 */
    /* Whoever made this has seen to it; not part of the bytes. */
    bool payload_is_json;
    bool push_is_target; /* push_target_read takes it */
};

struct command_enqueue {
    struct command_new *jobs;
    size_t count;
    bool is_list; /* refusals say which job they mean; not part of the bytes */
    bool has_batch;
    struct str callback_queue;
    struct str callback_payload;
    struct store_owner owner;   /* of the batch */
    struct str idempotency_key; /* a repeat within a day gets the first answer; empty: none */
    uint64_t body_hash; /* of what was sent with the key: a repeat has the same; 0: not known */
};

struct command_claim {
    struct str *queues;
    size_t queue_count;
    struct str worker_id;
    struct str hostname;
    struct str ns;      /* whose worker it is; empty: the default one's */
    struct str version; /* of the worker's program; empty: as it was */
    int64_t lease_ms;
    uint32_t count;
    bool no_hold; /* a budget that would hold a job leaves it where it is: the same fetch has held
                     one before */
};

/* The numbers are on the wire. */
enum command_agent_status {
    COMMAND_AGENT_NONE,
    COMMAND_AGENT_DONE,
    COMMAND_AGENT_CONTINUE,
    COMMAND_AGENT_HOLD,
    COMMAND_AGENT_HOLD_ANY /* a hold, whether it is an agent's job or not */
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
};

struct command_ack {
    bool lenient;  /* items that cannot be acknowledged are passed over; otherwise there is one */
    bool any_cost; /* budgets that limit what one job costs are not evaluated */
    struct command_ack_item *items;
    size_t count;                     /* 0 only in the last step of one with a next */
    const struct command_claim *next; /* what the worker does next, unless it is refused; or NULL */
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
    struct str ns; /* whose worker it is; empty: the default one's */
};

/* A repeat with the same key within a day gets the first answer; empty: none. */
struct command_once {
    struct str key;
    uint64_t hash; /* of what was sent with it: a repeat has the same */
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
    uint8_t version; /* of its meaning, as it was decoded; 0 in one that is made: the newest */
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

/* Begin a command; its member of the union is the caller's to fill. For those that do not zero the
 * whole, which is large. */
static inline void command_init(struct command *c, enum command_type type)
{
    c->type = type;
    c->version = 0;
}

/* Append the command's bytes. */
void command_encode(const struct command *c, struct buf *out);

/* ERR_CORRUPT when the bytes are no command that we know: on a node that applies, the end. */
ATTR_NODISCARD enum err_code command_decode(struct str bytes, struct arena *a, struct command *out,
                                            struct err *err);

/* The newest version of a type. */
uint8_t command_newest(enum command_type type);

/* The word for a type, for messages. */
const char *command_word(enum command_type type);

/* Whether there is a command of this number: they have gaps. */
bool command_exists(unsigned type);
