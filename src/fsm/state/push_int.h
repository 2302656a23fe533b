/*
 * Push_int: jobs that the server delivers itself, and named jobs, for the files that apply
 * commands. A part of apply_int.h.
 */
#pragma once

#include "fsm/machine_int.h"

/* push_lines.c */
/* NULL if no job waits there. */
struct push_line *push_lines__find(const struct machine *m, struct str queue, uint8_t priority,
                                   struct str host);
/* Choose the line for a job, before push_lines__stand adds it. */
void push_lines__choose(struct machine *m, const struct queue *q, struct live_job *l,
                        const struct job *j);
void push_lines__stand(struct machine *m, struct queue *q, struct live_job *l);
void push_lines__leave(struct machine *m, struct queue *q, struct live_job *l);
/* As machine_each_push_line and machine_push_throttled_until. */
void push_lines__each(struct machine *m, struct wall now, uint32_t first,
                      bool (*fn)(void *data, const struct machine_push_line *l), void *data);
struct wall push_lines__throttled_until(const struct machine *m, struct wall now);
void push_lines__open(struct machine *m);
void push_lines__close(struct machine *m);

/* tries.c: the caller writes j. */
/* A call has ended: record it, and remove the recorded calls from before keep_from. */
void tries__ended(struct machine *m, struct job *j, const struct command_push_end *it,
                  struct wall keep_from);
/* The delivery of j ends early, for example because j was cancelled: record the call and abort it.
 * Does nothing for jobs of workers. */
void tries__abandoned(struct machine *m, struct job *j, enum job_outcome outcome, struct str error);

/* apply_push.c */
/* The lease of a delivery ended: its node was lost. */
void apply_push__lost(struct machine *m, struct job *j);

/* given.c */
void given__begin(struct machine *m); /* at the start of an entry */
void given__write(struct machine *m); /* at its end */
/* This entry created the job in the queue, with the name derived from its id. */
void given__add(struct machine *m, struct str queue, struct id id);
/* False: no job with this id got its name from its id in the queue. */
bool given__may_have(struct machine *m, struct str queue, struct id id);
/* A job that was added here is removed. */
void given__remove(struct machine *m, struct str queue, struct id id);

/* names.c */
struct named;
/* The key to search a name, in the entry's memory. */
struct named *names__key(struct machine *m, struct str queue, struct str name);
/* Find the job that has the name of j in the queue of j. n is the key of that name. */
bool names__find(struct machine *m, const struct job *j, const struct named *n, struct id *out);
/* The same, but only among the names that clients chose. */
bool names__find_recorded(struct machine *m, const struct named *n, struct id *out);
/* Record that the job now has the name, which was free; or, with ID_NONE, that the name is free. In
 * that case, the name must have been found before. */
void names__note(struct machine *m, struct named *n, struct id id);
/* Release the name of j, if it has one. */
void names__forget(struct machine *m, const struct job *j);
/* Record the name of j, if it has one. False if another job has it. */
bool names__take(struct machine *m, const struct job *j);
void names__load(struct machine *m); /* the marks of all names */
