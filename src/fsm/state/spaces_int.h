/*
 * Spaces: the usage of each namespace, compared with its quota. A part of apply_int.h.
 */
#pragma once

#include "base/check.h"
#include "fsm/machine_int.h"
#include "store/store_access.h"

/* A namespace: its usage and its quota. */
struct space {
    struct map_node node; /* by name; empty: default */
    struct store_quota quota;
    bool has_quota;
    uint64_t jobs, payload_bytes; /* of unfinished jobs */
    uint64_t queues;
    struct space_asked {
        struct space *next;
        uint64_t jobs, payload_bytes, queues;
    } asked; /* by the command that is being checked */
    char name[];
};

struct space *spaces__find(const struct machine *m, struct str name); /* NULL: no usage, no quota */

/* Count a new queue, or a queue that was deleted. */
void spaces__enter(struct machine *m, struct queue *q);
void spaces__leave(struct machine *m, struct queue *q);

/* Count an unfinished job, or remove it from the count. */
static inline void spaces__count(struct queue *q, const struct live_job *l)
{
    q->space->jobs++;
    q->space->payload_bytes += l->payload_bytes;
}
static inline void spaces__uncount(struct queue *q, const struct live_job *l)
{
    CHECK(q->space->jobs > 0);
    CHECK(q->space->payload_bytes >= l->payload_bytes);
    q->space->jobs--;
    q->space->payload_bytes -= l->payload_bytes;
}

/* Does the quota allow all of these jobs of one command? If not, refuse with the reason. Jobs that
 * the machine creates itself (schedules, chains, batches) are counted but never refused. */
bool spaces__have_room(struct machine *m, const struct command_new *jobs, size_t count,
                       struct result *r);

/* The record of a namespace was written (body) or deleted (empty body). */
void spaces__changed(struct machine *m, struct str name, struct str body);
void spaces__load(struct machine *m); /* call before the queues are loaded */
void spaces__close(struct machine *m);
