/*
 * Push_int: jobs that the server delivers itself, and named jobs, for the files that apply
 * commands. A part of apply_int.h.
 */
#pragma once

#include "fsm/machine_int.h"

/* push_lines.c */
/* NULL when nobody waits there. */
struct push_line *push_lines__find(const struct machine *m, struct str queue, uint8_t priority,
                                   struct str host);
/* The line that j will stand in; then let it. */
void push_lines__choose(struct machine *m, const struct queue *q, struct live_job *l,
                        const struct job *j);
void push_lines__stand(struct machine *m, struct queue *q, struct live_job *l);
void push_lines__leave(struct machine *m, struct queue *q, struct live_job *l);
void push_lines__ready(struct machine *m); /* something may be delivered now */
/* As machine_each_push_line and machine_push_throttled_until. */
void push_lines__each(struct machine *m, struct wall now, uint32_t first,
                      bool (*fn)(void *data, const struct machine_push_line *l), void *data);
struct wall push_lines__throttled_until(const struct machine *m, struct wall now);
void push_lines__open(struct machine *m);
void push_lines__close(struct machine *m);

/* apply_push.c */
/* j was being delivered, and is taken away from whoever does: the try is recorded, the call is to
 * be broken off. j is written by the caller. Nothing for jobs of workers. */
void apply_push__abandoned(struct machine *m, struct job *j, enum job_outcome outcome,
                           struct str error);
/* The lease of a delivery has run out. */
void apply_push__lost(struct machine *m, struct job *j);

/* given.c */
void given__begin(struct machine *m); /* an entry */
void given__write(struct machine *m); /* at its end */
/* The job was made by this entry in the queue, and has the name of its id. */
void given__add(struct machine *m, struct str queue, struct id id);
/* False: no job of this id was given its name in the queue. */
bool given__may_have(struct machine *m, struct str queue, struct id id);
/* A job that was added goes. */
void given__remove(struct machine *m, struct str queue, struct id id);

/* apply_named.c */
/* The marks of all names. */
void apply_named__load(struct machine *m);
/* j's name is free again, if it has one. */
void apply_named__forget(struct machine *m, const struct job *j);
/* j gets its name, if it has one; false when another job has it. */
bool apply_named__take(struct machine *m, const struct job *j);
