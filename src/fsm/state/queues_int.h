/*
 * Queues_int: queues with their lines and limits, for the files that apply commands. A part of
 * apply_int.h.
 */
#pragma once

#include "fsm/machine_int.h"

struct queue *queues__find(const struct machine *m, struct str name);
struct queue *queues__need(struct machine *m, struct str name); /* made when it is new */
void queues__touch(struct machine *m, struct queue *q);         /* write its record */
/* A pending job comes to the end of its line, waits for others in none, or is pending no more. */
void queues__stand(struct machine *m, struct queue *q, struct live_job *l);
void queues__wait(struct queue *q, struct live_job *l);
/* Among those in line: behind the ones with a lower place. False when there are too many of them.
 */
bool queues__stand_back(struct machine *m, struct queue *q, struct live_job *l, uint64_t order);
void queues__leave(struct machine *m, struct queue *q, struct live_job *l);
/* Who is served next: the first of all, or of that priority and those after it. Or NULL. */
struct live_job *queues__first_in_line(const struct machine *m, const struct queue *q);
struct live_job *queues__first_of_priority(const struct machine *m, const struct queue *q,
                                           unsigned priority);
struct id queues__oldest_pending(const struct machine *m, const struct queue *q); /* or none */
/* One of its jobs has become pending, or is pending no more. */
void queues__moved(struct machine *m, struct queue *q);
/* Note how old the oldest jobs of these queues are: with an entry, and after jobs were loaded. */
void queues__settle_oldest(struct machine *m);
/* When the oldest pending job of the queue, or of all for NULL, was created; false when there is
 * none. Between queues__settle_oldest and the next move. */
bool queues__oldest_ms(const struct machine *m, const struct queue *q, int64_t *out);
/* May something be claimed now? until as in machine_claimable. */
bool queues__open(const struct queue *q, struct wall now, struct wall *out_until);
/* When the throttle lets the next claim through; 0 when it does now. */
struct wall queues__throttled_until(const struct queue *q, struct wall now);
/* How many claims its limits let through now. */
uint32_t queues__places(const struct queue *q, struct wall now);
/* The same as if it were not paused. */
uint32_t queues__limits(const struct queue *q, struct wall now);
void queues__count_claim(struct machine *m, struct queue *q);
/* A throttle begins with no claim counted, or goes. False when it is this one already. */
bool queues__set_throttle(struct machine *m, struct queue *q, uint32_t rate, int64_t window_ms);
void queues__drop_throttle(struct machine *m, struct queue *q);
void queues__ready(struct machine *m, struct queue *q); /* claims may now find something */
void queues__write_dirty(struct machine *m);
void queues__load(struct machine *m);
void queues__close(struct machine *m);
