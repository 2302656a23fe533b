/*
 * Store: the state on disk, as the state machine sees it.
 *
 * It has the families of the key-value store, one write batch per log entry, and the machine's own
 * record (its position in the log). Applying an entry means any number of puts and deletes, then
 * one store_commit. Reads during an entry see the entry's writes: for jobs through the document
 * cache (store_docs.h), for everything else through the machine's memory.
 *
 * A failed read or write stops the process, because a replica that continued without it would
 * diverge. Belongs to the thread that applies entries; store_read_job is for any thread.
 */
#pragma once

#include <pthread.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/id.h"
#include "kv/kv.h"

enum store_family {
    STORE_LIVE,   /* documents of jobs that are not over: read whole at every start */
    STORE_DONE,   /* documents of completed, dead and cancelled jobs */
    STORE_ROWS,   /* what hangs on a job: errors, iterations, usage; bodies of large ones */
    STORE_EVENTS, /* blocks of the event log */
    STORE_META,   /* the machine's record, and those of queues, locks, schedules and the like */
    STORE_FAMILY_COUNT
};

/* The machine's own record: written with every entry. */
struct store_meta {
    uint64_t applied_index;
    struct wall now;        /* time of the last entry; never runs backwards */
    uint64_t next_order;    /* places in line handed out so far */
    uint64_t lease_token;   /* the last one handed out */
    uint64_t next_event;    /* sequence number of the next event */
    uint64_t oldest_event;  /* sequence number of the oldest one kept */
    uint64_t next_row;      /* number of the next error, iteration or usage row */
    uint64_t state_hash;    /* rolls over every batch written */
    struct id purge_cursor; /* where the next purge goes on */
};

struct store {
    struct kv *kv;           /* for the thread that applies; others hold it: store_hold */
    pthread_mutex_t kv_lock; /* while it is exchanged, and held */
    struct kv_batch *batch;
    struct store_docs *docs;
    bool bodies; /* the entry writes the bodies of large jobs apart (store_docs.h) */
    bool oldest; /* the entry writes the age of the oldest job into the history (store_history.h) */
    struct store_meta meta;
    struct buf scratch; /* for encoding one key or value */
    struct buf scratch_key;
    struct buf event_starts; /* of the event log (store_event.c) */
};

/* Open the folder and read the machine's record; a new folder starts from nothing. */
ATTR_NODISCARD enum err_code store_open(struct store *s, const char *path, struct err *err);
void store_close(struct store *s); /* fine on one that failed to open */

/* Go on with what is in the folder path, which must be another one, instead. Who reads in another
 * thread goes on with what was there; its folder is removed when the last of them is done. */
ATTR_NODISCARD enum err_code store_replace(struct store *s, const char *path, struct err *err);

/* The store as it is now, for a thread that does not apply: it stays open until kv_close. */
struct kv *store_hold(struct store *s);
/* A walk over a family of it. */
struct kv_iter *store_iter(struct store *s, enum store_family family, struct str from);

/* As kv_check, of a store that nobody has open. */
void store_check(const char *path, uint64_t *out_keys, void (*damage)(void *data, const char *what),
                 void *data);

/* Call fn for each key and value of a family of such a store, in order, until it says no; nothing
 * is changed. ERR_CORRUPT too when it has a family that this version does not know. */
ATTR_NODISCARD enum err_code store_check_each(const char *path, enum store_family family,
                                              bool (*fn)(void *data, struct str key,
                                                         struct str value),
                                              void *data, struct err *err);

/* The machine's record. ERR_CORRUPT when this version cannot read it. */
ATTR_NODISCARD enum err_code store_check_meta(struct str value, struct store_meta *out,
                                              struct err *err);

/* Write everything the entry at index did, with the record, in one atomic step. */
void store_commit(struct store *s);

/* Values of STORE_META by a kind byte and the rest of the key. */
void store_put(struct store *s, char kind, struct str rest, struct str value);
void store_put_key(struct store *s, struct str key, struct str value); /* the kind is in the key */
void store_delete(struct store *s, char kind, struct str rest);

/* The kinds of STORE_META. The bytes are on disk. */
enum {
    STORE_KIND_MACHINE = 'A',
    STORE_KIND_HISTORY = 'H',
    STORE_KIND_BATCH = 'b',
    STORE_KIND_ACCESS = 'c',  /* who may do what (store_access.h) */
    STORE_KIND_SPEND = 'e',   /* what was spent, for budgets */
    STORE_KIND_RELEASE = 'd', /* a job that has completed, and owes it to dependents */
    STORE_KIND_GIVEN = 'g',   /* jobs that were given names (store_given.h) */
    STORE_KIND_WEBHOOK = 'h',
    STORE_KIND_WAITER = 'i', /* a job that is over, and hears of what it waited for */
    STORE_KIND_BULK = 'k',
    STORE_KIND_LOCK = 'l',
    STORE_KIND_NODE = 'm',      /* a member of the cluster */
    STORE_KIND_NAME = 'n',      /* of a job, behind its queue and a NUL: its id */
    STORE_KIND_OPERATION = 'o', /* named commands of an entry, and what they came to */
    STORE_KIND_POLICY = 'p',
    STORE_KIND_QUEUE = 'q',
    STORE_KIND_REPLY = 'r',
    STORE_KIND_SCHEDULE = 's',
    STORE_KIND_THROTTLE = 't',
    STORE_KIND_AUDIT = 'u',
    STORE_KIND_WORKER = 'w',
};

/* Append the newest committed value to out; false when there is none. Any thread. */
bool store_get(struct store *s, char kind, struct str rest, struct buf *out);

/* Call fn for every committed value of a kind, in key order. */
void store_each(struct store *s, char kind,
                void (*fn)(void *data, struct str rest, struct str value), void *data);

/* The same for those whose rest begins with the prefix, from the first at or behind `from` on,
 * until fn is false. */
void store_each_from(struct store *s, char kind, struct str prefix, struct str from,
                     bool (*fn)(void *data, struct str rest, struct str value), void *data);

/* The end of a walk that the caller made over the store: stops the process when it was cut short by
 * an error, because a replica that takes that for the end of the keys diverges. Frees the walk. */
void store_end_walk(struct kv_iter *it);

/* A hash of every key and value, independent of how they came to be: equal states have equal
 * digests. Walks everything. */
uint64_t store_digest(struct store *s);
