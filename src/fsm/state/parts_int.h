/*
 * Parts_int: locks, promises, stored replies, sums of usage, chains, dependencies, approval
 * policies and workers, for the files that apply commands. A part of apply_int.h.
 */
#pragma once

#include "fsm/machine_int.h"
#include "store/store_access.h"

struct job_end_ack;

/* The newest versions of the records that only this module reads and writes. The first is 1. */
enum {
    PARTS_OPERATION_VERSION = 1,
    PARTS_RELEASE_VERSION = 1,
    PARTS_WAITER_VERSION = 1,
    PARTS_REPLY_VERSION = 2,
    PARTS_SPEND_VERSION = 1,
};

/* locks.c */
/* The lock that holds the key at the entry's time; NULL if the key is free. */
const struct lock *locks__running(const struct machine *m, struct str queue, struct str key);
void locks__take(struct machine *m, const struct job *j); /* for its period, or the default one */
void locks__release(struct machine *m, const struct job *j);
/* Move the lock of j, if it holds one, to another queue. */
void locks__move(struct machine *m, const struct job *j, struct str to_queue);
/* Restore from a backup, unless another job holds the key. */
void locks__restore(struct machine *m, const struct job *j, struct wall until);
void locks__expire(struct machine *m, unsigned limit);
void locks__load(struct machine *m);
void locks__close(struct machine *m);

/* jobs.c, promises.c: jobs that operations in several steps leave, because of what happened after
 * they began */

/* Greater than all ids of the entry. What happens in the entry in which such an operation begins
 * therefore counts as later. */
static inline struct id jobs__last_id(const struct machine *m)
{
    return id_make(m->now, m->index, UINT32_MAX);
}

/* Record that an operator or a backup brings j into its queue or back into line. Operations on many
 * jobs that began earlier leave it, like a new job. */
void jobs__join(const struct machine *m, struct job *j);

/* Record that a request to the queue is answered with this job. Clears and deletes of the queue,
 * and bulk operations with a filter, that have already begun do not end it. */
void promises__make(struct machine *m, struct id job, struct str queue);
/* The time of the last such answer, as an id. None: there was no answer that matters. */
struct id promises__since(const struct machine *m, struct id job);
void promises__removed(struct machine *m, struct id job);
void promises__load(struct machine *m);
void promises__close(struct machine *m);

/* operations.c */

/* True if the command must not be applied: either it was applied before, and r is the stored
 * result; or this can no longer be known, and r refuses. */
bool operations__find(struct machine *m, struct id name, uint64_t since, struct result *r);
void operations__keep(struct machine *m, struct id name, enum command_type type,
                      const struct result *r);
void operations__write(struct machine *m); /* at the end of the entry */
void operations__load(struct machine *m);
void operations__close(struct machine *m);

/* replies.c */

/* If there is a stored reply for the key, set r and return true. If the reply belongs to another
 * request body, r refuses. */
bool replies__find(struct machine *m, struct str key, uint64_t body_hash, struct result *r);
void replies__keep(struct machine *m, struct str key, uint64_t body_hash, const struct result *r);
void replies__expire(struct machine *m, unsigned limit);
void replies__load(struct machine *m);
void replies__close(struct machine *m);

/* tallies.c */
/* Call before a usage row is added. False if counting has not begun. */
bool tallies__begin(struct machine *m);
void tallies__report(struct machine *m, const struct job *j, const struct store_tokens *tokens);
/* Call before the job is removed: counts its reports that were not counted yet. */
void tallies__settle(struct machine *m, const struct job *j, enum store_family family);
/* Count a restored report of the job, which was never counted here. Call tallies__begin before the
 * report is stored. */
void tallies__restored(struct machine *m, const struct job *j, const struct store_usage *u);
/* Restore sums from a backup. If there are sums already, the larger numbers are kept: the same sums
 * may be restored twice, and the sums of a bucket only grow. */
void tallies__restore(struct machine *m, struct str key, const struct store_tally *sums);
void tallies__write(struct machine *m); /* at the end of an entry */
void tallies__load(struct machine *m);
void tallies__close(struct machine *m);

/* chains.c */
void chains__completed(struct machine *m, const struct job *j, const struct job_end_ack *ack);
void chains__dead(struct machine *m, const struct job *j, struct str error);

/* dependencies.c */
/* Remove completed jobs from the list of jobs that j waits for. False if a listed job does not
 * exist: it stays in the list, and *out_missing is the first such id. */
bool dependencies__settle(struct machine *m, struct job *j, struct id *out_missing);
void dependencies__add(struct machine *m, const struct job *j);
/* A job was written or removed: keep track of ended jobs that would have to wait again if they were
 * retried. */
void dependencies__written(struct machine *m, const struct job *j);
void dependencies__removed(struct machine *m, struct id id);
/* Could the job wait for others, now or when it is retried? */
bool dependencies__may_wait(const struct machine *m, struct id id);
/* Copy the ids except for one of them, in the entry's memory. */
struct str dependencies__without(struct machine *m, struct str ids, struct id id);
/* The jobs that wait for this one; NULL: none. */
static inline struct dependency *dependencies__find(const struct machine *m, struct id id)
{
    struct map_node *n = map_find(&m->dependencies, str_from(id.b, ID_BYTES));
    return n == NULL ? NULL : CONTAINER_OF(n, struct dependency, node);
}
struct dependency *dependencies__need(struct machine *m, struct id id);
/* Sort the waiters that were not released yet by id, and remove duplicates: the order in which they
 * get into line must not depend on when this table was built. */
void dependencies__sort(struct dependency *d);
void dependencies__drop(struct machine *m, struct dependency *d);
void dependencies__load(struct machine *m);
void dependencies__close(struct machine *m);

/* releases.c */
/* A job completed: release its dependents, as many as the entry has room for. */
void releases__completed(struct machine *m, struct id done);
/* Release dependents that were left over. Returns their number. */
uint32_t releases__continue(struct machine *m, uint32_t limit);
/* A completed job runs again: dependents that were not released yet wait for its new end. */
void releases__undo(struct machine *m, struct id id);
void releases__load(struct machine *m);
void releases__close(struct machine *m);

/* policies.c */
bool policies__is_known(const struct machine *m, struct id id);
/* Name of the newest policy that holds the job before its next iteration; empty: none. */
struct str policies__match(const struct machine *m, const struct job *j);
void policies__add(struct machine *m, struct id id, const struct store_policy *rec);
bool policies__remove(struct machine *m, struct id id); /* false: there is none with this id */
void policies__load(struct machine *m);
void policies__close(struct machine *m);

/* workers.c */
void workers__seen(struct machine *m, const struct command_claim *c);
bool workers__is_stale(struct machine *m, const struct command_claim *c, struct wall now);
/* A worker of the namespace, or a node, has reported its version. The first report of a version
 * creates a marker. */
void markers__first_seen(struct machine *m, enum store_marker_source source, struct str ns,
                         struct str version);
/* The version that the worker reported; empty if unknown. Valid until the next claim. */
struct str workers__version(const struct machine *m, struct str ns, struct str id);
void workers__heartbeat(struct machine *m, struct str ns, struct str id);
void workers__each(struct machine *m, void (*fn)(void *data, const struct machine_worker *w),
                   void *data);
void workers__prune(struct machine *m, unsigned limit);
void workers__load(struct machine *m);
void workers__close(struct machine *m);
