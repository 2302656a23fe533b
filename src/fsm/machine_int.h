/*
 * Machine_int: the memory of the state machine. All of it is rebuilt from the store when a machine
 * is opened, except what belongs to the current entry.
 */
#pragma once

#include "base/arena.h"
#include "base/heap.h"
#include "base/id_set.h"
#include "base/map.h"
#include "base/marks.h"
#include "core/job_move.h"
#include "fsm/command/command.h"
#include "fsm/command/result.h"
#include "fsm/machine.h"
#include "fsm/state/live_index.h"
#include "fsm/state/queue_int.h"
#include "fsm/state/shares_int.h"
#include "fsm/state/throughput.h"
#include "store/store_docs.h"
#include "store/store_event.h"
#include "store/store_history.h"
#include "store/store_record.h"
#include "store/store_rows.h"
#include "store/store_tally.h"

/* The jobs of one queue and priority that wait for delivery to one host. */
struct push_line {
    struct map_node node;
    uint32_t number; /* in machine.push_lines */
    uint32_t queue;
    uint8_t priority;
    struct live_line line;
    struct str host; /* points into key */
    char key[];
};

struct lock {
    struct map_node node; /* by queue, NUL, key */
    struct heap_node expiry;
    struct id job;
    char key[];
};

/* A stored reply, returned again for the same idempotency key. */
struct reply {
    struct map_node node; /* by key */
    struct heap_node expiry;
    struct str record;
    char bytes[]; /* key, record */
};

/* A seal in this entry, whose result gets the id of the callback job. */
struct batch_seal {
    struct result *result;
    struct batch_seal *next;
};

struct batch {
    struct map_node node; /* by id */
    struct id id;
    struct store_batch rec; /* texts point into own memory */
    char *texts;
    bool dirty;
    struct batch *dirty_next;
    struct batch_seal *seals;
};

struct worker {
    struct map_node node; /* by its internal name, see workers.c */
    struct heap_node prune;
    struct wall started_at;
    struct wall last_heartbeat;
    struct str hostname, queues, version; /* texts point into own memory */
    char *texts;
    char name[];
};

struct schedule {
    struct map_node node;      /* by id */
    struct map_node name_node; /* by name */
    struct heap_node due;
    struct id id;
    struct store_schedule rec; /* texts point into own memory */
    char *texts;
};

struct webhook {
    struct map_node node;     /* by id, its internal name */
    struct store_webhook rec; /* texts point into own memory */
    char *texts;
    char id[];
};

struct policy {
    struct id id;
    struct store_policy rec; /* texts point into own memory */
    char *texts;
};

/* A bulk operation, in progress or finished. */
struct bulk {
    struct id id;
    struct store_bulk rec; /* texts point into own memory */
    char *texts;
};

/* Jobs that wait for one job to complete. */
struct dependency {
    struct map_node node; /* by the id of the job that they wait for */
    struct id id;
    struct heap_node release; /* set if the job completed and waiters are left to release */
    struct id *waiters;       /* can contain jobs that no longer wait */
    uint32_t first;           /* those before it were released */
    uint32_t count;
    uint32_t cap;
    bool sorted; /* from first on */
};

/* The results of named commands; see operations.c. */
struct operations {
    struct id_set names;            /* with the numbers of their blocks */
    struct operation_block *blocks; /* one for each entry with named commands: a ring, by number */
    uint32_t block_cap;             /* of the ring, a power of two, or 0 */
    uint64_t first_block, next_block;
    struct buf present; /* results of the current entry so far */
    uint32_t present_count;
    uint64_t present_bytes, bytes; /* of the current entry; of all entries */
    uint64_t forgotten;            /* the last entry whose results were deleted */
};

/* The history cells that count an event: of its queue, of all queues, of its namespace. */
struct history_cells {
    struct history_cell *cell[3];
    unsigned count;
};

/* Sums of the usage that workers report, see tallies.c. */
struct tallies {
    struct store_tally_start start;
    struct map cells;                  /* by their keys: those used in the last minutes */
    int64_t part, hour;                /* of the last report */
    struct shares shares;              /* bytes of that hour's cells, by namespace */
    struct shares tag_shares;          /* the same, by namespace and key of the tag */
    uint32_t from[STORE_TALLY_SERIES]; /* hints: no cell has a smaller number */
    /* of the entry that is being applied */
    struct tally *dirty;
    uint32_t oldest[STORE_TALLY_SERIES]; /* number of the oldest new cell; UINT32_MAX: none */
    uint32_t made[STORE_TALLY_SERIES];
};

struct machine {
    struct store store; /* first: see machine_replace */
    struct machine_hooks hooks;

    struct live_index live_index;
    struct heap due;    /* live.due */
    struct heap expiry; /* live.expiry */
    struct map queue_names;
    struct queue *queue_hint; /* the queue used last, often the next one too; or NULL */
    struct queue **queues;    /* by number; NULL where one was deleted */
    uint32_t queue_count;
    struct heap oldest; /* queue.oldest: by the time of the oldest pending job, in ms */
    struct queue *moved_queues;
    struct map locks;
    struct heap lock_expiry;
    struct map promises; /* jobs that clears, deletes and bulk operations leave: promises.c */
    struct map replies;
    struct heap reply_expiry;
    uint64_t reply_bytes;
    struct operations operations;
    struct map batches;              /* unfinished batches */
    struct shares batch_shares;      /* bytes of their texts */
    struct shares open_batch_shares; /* number of batches that are not sealed */
    struct map workers;
    struct heap worker_prune;
    struct map schedules;
    struct map schedule_names;
    struct heap schedule_due;
    struct map webhooks;
    uint64_t webhook_changes; /* webhooks put and deleted since the machine was opened */
    uint64_t bulk_puts;       /* bulk operations put since then */
    struct policy **policies; /* by id, which is the order of their creation */
    uint32_t policy_count;
    struct map budgets; /* by the names of their records */
    uint32_t tag_budgets;
    struct map spends;
    struct heap spend_days; /* spend.by_day */
    uint32_t spend_tags;    /* number of sums of tags */
    struct map spaces;      /* namespaces with a queue or a quota */
    uint32_t quota_count;
    uint64_t audit_first, audit_next; /* numbers of the oldest entry kept, and of the next */
    struct node_record *nodes;        /* by number */
    uint32_t node_count;
    uint64_t node_changes;
    struct map dependencies;
    struct map idle_waiters; /* ended jobs that still have dependencies */
    struct heap releases;    /* dependency.release */
    struct bulk **bulks;     /* by id, which is the order of their creation */
    uint32_t bulk_count;
    struct id newest_ending; /* the newest unfinished one with a filter that ends jobs; or none */
    struct marks names;      /* of all stored names and those of the entry: names.c */
    struct map push_line_names;
    struct push_line **push_lines; /* by number; NULL where one is unused */
    uint32_t push_line_count, push_line_cap;
    uint32_t *push_line_unused; /* the unused numbers */
    uint32_t push_line_free;    /* how many numbers are unused */
    struct throughput throughput;
    uint64_t repeated_until; /* see machine_repeats_until */
    struct map history;      /* open cells of names, see history.c */
    uint64_t history_bytes[STORE_HISTORY_STEPS];
    uint32_t history_from[STORE_HISTORY_STEPS]; /* lower bounds of the closed cells */
    struct tallies tallies;
    uint64_t pending_count;      /* jobs, of all queues */
    uint64_t queue_bytes;        /* memory of the heaps and slots of all queues */
    struct id newest_id;         /* upper bound of restored ids: see ids__new */
    struct wall oldest_event_at; /* lower bound of the time of the oldest event block; 0: none */

    /* of the current entry: */
    struct arena *arena;
    struct wall now;
    uint64_t index;
    uint32_t next_number; /* for ids */
    uint8_t entry_version;
    uint64_t markers_index; /* index of the last entry that created markers… */
    uint32_t markers_made;  /* …and their number */
    uint8_t version;        /* of the current command */
    uint64_t extra_bytes;   /* added to its cost, apart from documents and writes */
    bool events_on;
    struct store_event_block events;
    struct history_cell *history_dirty;
    struct history_cells history_cells;           /* of the last event */
    uint32_t history_oldest[STORE_HISTORY_STEPS]; /* oldest cell written; UINT32_MAX: none */
    uint32_t history_closed;
    struct queue *dirty_queues;
    struct batch *dirty_batches;
    struct map access; /* access records written by the entry, by key */
    struct access_change *access_first, **access_last;
    struct id *changed;
    uint32_t changed_count, changed_cap;
    struct map fresh_names;                 /* names that the entry added or removed: names.c */
    struct named *fresh_named;              /* the newest ones, not in the map yet */
    struct map givens;                      /* records read by the entry: given.c */
    struct given *last_given;               /* used last, often the next one too; or NULL */
    struct given *first_given, **given_end; /* those changed by the entry */
    struct result *results;
    uint32_t result_count;
};
