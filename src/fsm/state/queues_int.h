/*
 * Queues_int: queues with their lines and limits, for the files that apply commands. A part of
 * apply_int.h.
 */
#pragma once

#include "fsm/machine_int.h"

/* queues.c */
struct queue *queues__find(const struct machine *m, struct str name);
void queues__touch(struct machine *m, struct queue *q); /* write its record with this entry */
/* Record that a clear or delete of all jobs with smaller ids than `until` continues after this
 * entry. */
void queues__note_removal(struct machine *m, struct queue *q, struct id until);
/* May a clear or delete of the queue that began earlier still reach the job? */
bool queues__may_remove(const struct machine *m, const struct queue *q, struct id job);
/* Does an operation on all jobs from before `began`, which may be none, include this job, by its
 * id? It also includes a job that was restored with an id from the future. */
bool queues__is_before(const struct machine *m, struct id job, struct id began);
/* The set of its pending jobs has changed. Call once, when q->moved is not set. */
void queues__moved(struct machine *m, struct queue *q);
/* Update the age of the oldest job of these queues: at the end of an entry, and after loading. */
void queues__settle_oldest(struct machine *m);
/* Creation time of the oldest pending job of the queue, or of all queues if q is NULL; false if
 * there is none. Valid only between queues__settle_oldest and the next change. */
bool queues__oldest_ms(const struct machine *m, const struct queue *q, int64_t *out);
void queues__ready(struct machine *m, struct queue *q); /* a claim may now find a job */
void queues__push_ready(struct machine *m);             /* there may be something to deliver */

/* queue_lines.c */
/* A pending job: stand adds it to the end of its line; wait counts it without a line, because it
 * waits for other jobs; leave removes it. */
void queue_lines__stand(struct machine *m, struct queue *q, struct live_job *l);
void queue_lines__wait(struct machine *m, struct queue *q, struct live_job *l);
void queue_lines__leave(struct machine *m, struct queue *q, struct live_job *l);
/* Insert a job into its line, behind the jobs with a lower place. False if there are too many of
 * those to search. */
bool queue_lines__stand_back(struct machine *m, struct queue *q, struct live_job *l,
                             uint64_t order);
/* Call when its heap or slots may have grown. */
void queue_lines__note_bytes(struct machine *m, struct queue *q);
/* The job that is served next, of all priorities or of this one and lower ones. NULL if there is
 * none. */
struct live_job *queue_lines__first(const struct machine *m, const struct queue *q);
struct live_job *queue_lines__first_of_priority(const struct machine *m, const struct queue *q,
                                                unsigned priority);
struct id queue_lines__oldest_pending(const struct machine *m,
                                      const struct queue *q); /* or ID_NONE */

/* queue_limits.c */
/* Do the queue's limits allow a claim now? out_until as in machine_claimable. */
bool queue_limits__open(const struct queue *q, struct wall now, struct wall *out_until);
/* When the throttle allows the next claim; 0 if it allows one now. */
struct wall queue_limits__throttled_until(const struct queue *q, struct wall now);
/* How many claims the queue's limits allow now. */
uint32_t queue_limits__places(const struct queue *q, struct wall now);
/* The same, ignoring a pause. */
uint32_t queue_limits__places_unpaused(const struct queue *q, struct wall now);
void queue_limits__count_claim(struct machine *m, struct queue *q);
/* Set a throttle, with no claim counted yet, or remove it. False if nothing changes. */
bool queue_limits__set_throttle(struct machine *m, struct queue *q, uint32_t rate,
                                int64_t window_ms);
void queue_limits__drop_throttle(struct machine *m, struct queue *q);
void queue_limits__load(struct machine *m); /* of the queues that were loaded */

/* queue_records.c */
struct queue *queue_records__need(struct machine *m,
                                  struct str name); /* created if it does not exist */
void queue_records__write(struct machine *m);
void queue_records__load(struct machine *m);
void queue_records__close(struct machine *m);
