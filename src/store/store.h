/*
 * Store: the state on disk, for the state machine.
 *
 * It has the families of the key-value store, one write batch per log entry, and the machine's own
 * record (its position in the log). Applying an entry means any number of puts and deletes, then
 * one store_commit. Reads during an entry see the entry's writes: for jobs through the document
 * cache (store_docs.h), for everything else through the machine's memory.
 *
 * A failed read or write stops the process, because a replica that continued without it would
 * diverge. Belongs to the thread that applies entries; functions marked "any thread" can be called
 * on the others.
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
    STORE_LIVE,   /* documents of unfinished jobs; all are read at every start */
    STORE_DONE,   /* documents of completed, dead and cancelled jobs */
    STORE_ROWS,   /* errors, iterations, attempts and usage of jobs; bodies of large jobs */
    STORE_EVENTS, /* blocks of the event log */
    STORE_META,   /* the machine's record, and records of queues, locks, schedules … */
    STORE_FAMILY_COUNT
};

/* The machine's own record: written with every entry. */
struct store_meta {
    uint64_t applied_index;
    struct wall now;        /* time of the last entry; never decreases */
    uint64_t next_order;    /* next place in line */
    uint64_t lease_token;   /* last lease token assigned */
    uint64_t next_event;    /* sequence number of the next event */
    uint64_t oldest_event;  /* sequence number of the oldest one kept */
    uint64_t next_row;      /* number of the next error, iteration or usage row */
    uint64_t state_hash;    /* rolling hash of all batches */
    struct id purge_cursor; /* where the next purge continues */
};

struct store {
    struct kv *kv;           /* for the applying thread; others use store_hold */
    pthread_mutex_t kv_lock; /* held while kv is replaced or held */
    struct kv_batch *batch;
    struct store_docs *docs;
    bool bodies; /* the entry stores bodies of large jobs separately (store_docs.h) */
    bool oldest; /* the entry writes the age of the oldest job into the history (store_history.h) */
    struct store_meta meta;
    struct buf scratch; /* for encoding one key or value */
    struct buf scratch_key;
    struct buf event_starts; /* starts of the blocks of the event log (store_event.c) */
};

/* Open the directory and read the machine's record. A new directory has an empty state. */
ATTR_NODISCARD enum err_code store_open(struct store *s, const char *path, struct err *err);
void store_close(struct store *s); /* allowed after a failed open */

/* Replace the state by the one in the directory path, which must be another directory. Readers on
 * other threads finish with the old state; its directory is removed after the last of them. */
ATTR_NODISCARD enum err_code store_replace(struct store *s, const char *path, struct err *err);

/* Return the current key-value store, for threads that do not apply entries. It stays open until
 * kv_close. Any thread. */
struct kv *store_hold(struct store *s);
/* Iterate over a family of the current store, from the first key at or after `from`. Any thread. */
struct kv_iter *store_iter(struct store *s, enum store_family family, struct str from);

/* Same as kv_check, for a store that is not open. */
void store_check(const char *path, uint64_t *out_keys, void (*damage)(void *data, const char *what),
                 void *data);

/* Call fn for each key and value of a family of a store that is not open, in order, until fn
 * returns false. Changes nothing. ERR_CORRUPT also if the store has an unknown family. */
ATTR_NODISCARD enum err_code store_check_each(const char *path, enum store_family family,
                                              bool (*fn)(void *data, struct str key,
                                                         struct str value),
                                              void *data, struct err *err);

/* Decode the machine's record. ERR_CORRUPT if this version cannot read it. */
ATTR_NODISCARD enum err_code store_check_meta(struct str value, struct store_meta *out,
                                              struct err *err);

/* Write all changes of the entry and the machine's record in one atomic batch. */
void store_commit(struct store *s);

/* Values of STORE_META by a kind byte and the rest of the key. */
void store_put(struct store *s, char kind, struct str rest, struct str value);
void store_put_key(struct store *s, struct str key, struct str value); /* the kind is in the key */
void store_delete(struct store *s, char kind, struct str rest);

/* The kinds of STORE_META. The bytes are on disk. */
enum {
    STORE_KIND_MACHINE = 'A',
    STORE_KIND_HISTORY = 'H',
    STORE_KIND_TALLY = 'U', /* sums of reported usage (store_tally.h) */
    STORE_KIND_BATCH = 'b',
    STORE_KIND_ACCESS = 'c',  /* access records and settings (store_access.h) */
    STORE_KIND_SPEND = 'e',   /* spending, for budgets */
    STORE_KIND_RELEASE = 'd', /* a completed job with dependents to release */
    STORE_KIND_GIVEN = 'g',   /* jobs with names computed from their ids (store_given.h) */
    STORE_KIND_WEBHOOK = 'h',
    STORE_KIND_WAITER = 'i', /* an ended job that still has dependencies */
    STORE_KIND_BULK = 'k',
    STORE_KIND_LOCK = 'l',
    STORE_KIND_NODE = 'm',      /* a member of the cluster */
    STORE_KIND_NAME = 'n',      /* queue, NUL, name of a job: its id */
    STORE_KIND_OPERATION = 'o', /* named commands of an entry, with their results */
    STORE_KIND_POLICY = 'p',
    STORE_KIND_QUEUE = 'q',
    STORE_KIND_REPLY = 'r',
    STORE_KIND_SCHEDULE = 's',
    STORE_KIND_THROTTLE = 't',
    STORE_KIND_AUDIT = 'u',
    STORE_KIND_PROMISE = 'v', /* a job returned as a duplicate, which a clear or delete must keep */
    STORE_KIND_WORKER = 'w',
};

/* Append the newest committed value to out; false if there is none. Any thread. */
bool store_get(struct store *s, char kind, struct str rest, struct buf *out);

/* Call fn for every committed value of a kind, in key order. Any thread. */
void store_each(struct store *s, char kind,
                void (*fn)(void *data, struct str rest, struct str value), void *data);

/* The same for keys whose rest has the prefix, starting at the first key at or after `from`, until
 * fn returns false. */
void store_each_from(struct store *s, char kind, struct str prefix, struct str from,
                     bool (*fn)(void *data, struct str rest, struct str value), void *data);

/* Check and free an iterator that the caller used. If it ended because of an error, the process
 * stops: a replica that treated this as the end of the keys would diverge. */
void store_end_walk(struct kv_iter *it);

/* Return a hash of all keys and values: equal states have equal digests, regardless of their
 * history. Reads everything. */
uint64_t store_digest(struct store *s);
