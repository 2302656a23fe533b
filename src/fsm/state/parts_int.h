/*
 * Parts_int: locks, stored replies, chains, dependencies and workers, for the files that apply
 * commands. A part of apply_int.h.
 */
#pragma once

#include "fsm/machine_int.h"
#include "store/store_access.h"

struct job_end_ack;

/* The newest versions of records that are this module's own; the first is 1. */
enum {
    PARTS_OPERATION_VERSION = 1,
    PARTS_RELEASE_VERSION = 1,
    PARTS_WAITER_VERSION = 1,
    PARTS_REPLY_VERSION = 2,
    PARTS_SPEND_VERSION = 1,
};

/* locks.c */
/* The lock on the key that runs at the entry's time; NULL when the key is free. */
const struct lock *locks__running(const struct machine *m, struct str queue, struct str key);
void locks__take(struct machine *m, const struct job *j); /* for its period, or the usual one */
void locks__release(struct machine *m, const struct job *j);
/* The lock of j, if it holds one, goes along to another queue. */
void locks__move(struct machine *m, const struct job *j, struct str to_queue);
/* From a backup: unless another job holds the key. */
void locks__restore(struct machine *m, const struct job *j, struct wall until);
void locks__expire(struct machine *m, unsigned limit);
void locks__load(struct machine *m);
void locks__close(struct machine *m);

/* operations.c */

/* True when the command is not to be done: it has been, and r is the answer again; or it cannot be
 * known whether it has, and r refuses. */
bool operations__find(struct machine *m, struct id name, uint64_t since, struct result *r);
void operations__keep(struct machine *m, struct id name, enum command_type type,
                      const struct result *r);
void operations__write(struct machine *m); /* with the entry, whose end it is */
void operations__load(struct machine *m);
void operations__close(struct machine *m);

/* replies.c */

/* Fills r when there is one; with a refusal when it is the answer to something else. */
bool replies__find(struct machine *m, struct str key, uint64_t body_hash, struct result *r);
void replies__keep(struct machine *m, struct str key, uint64_t body_hash, const struct result *r);
void replies__expire(struct machine *m, unsigned limit);
void replies__load(struct machine *m);
void replies__close(struct machine *m);

/* chains.c */
void chains__completed(struct machine *m, const struct job *j, const struct job_end_ack *ack);
void chains__dead(struct machine *m, const struct job *j, struct str error);

/* dependencies.c */
/* Cut down what j waits for to what has not completed. False when one of them does not exist; it
 * stays in the list, and the first such is put into *out_missing. */
bool dependencies__settle(struct machine *m, struct job *j, struct id *out_missing);
void dependencies__add(struct machine *m, const struct job *j);
/* The job was written, or is removed: is it one that is over and may come back to wait? */
void dependencies__written(struct machine *m, const struct job *j);
void dependencies__removed(struct machine *m, struct id id);
/* The job has completed: those that waited for it go on, as many as the entry has room for. */
void dependencies__met(struct machine *m, struct id done);
/* The next of those for which there was none; how many. */
uint32_t dependencies__release(struct machine *m, uint32_t limit);
/* The job runs again: those that it has not let go wait for its new end. */
void dependencies__unmet(struct machine *m, struct id id);
void dependencies__load(struct machine *m);
void dependencies__close(struct machine *m);

/* workers.c */
void workers__seen(struct machine *m, const struct command_claim *c);
bool workers__is_stale(struct machine *m, const struct command_claim *c, struct wall now);
/* A version of a worker of the namespace, or of a node, is there: the first time makes a marker. */
void markers__first_seen(struct machine *m, enum store_marker_source source, struct str ns,
                         struct str version);
/* The version that the worker has named; empty: none, or it is not known. Until the next claim. */
struct str workers__version(const struct machine *m, struct str ns, struct str id);
void workers__heartbeat(struct machine *m, struct str ns, struct str id);
void workers__each(struct machine *m, void (*fn)(void *data, const struct machine_worker *w),
                   void *data);
void workers__prune(struct machine *m, unsigned limit);
void workers__load(struct machine *m);
void workers__close(struct machine *m);
