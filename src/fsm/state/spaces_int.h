/*
 * Spaces: the usage of each namespace, compared with its quota. A part of apply_int.h.
 */
#pragma once

#include "base/check.h"
#include "fsm/machine_int.h"
#include "store/store_access.h"

/* A namespace: what it holds, and may hold. */
struct space {
    struct map_node node; /* by name; empty: the default one */
    struct store_quota quota;
    bool has_quota;
    uint64_t jobs, payload_bytes; /* of those that have not ended */
    uint64_t queues;
    struct space_asked {
        struct space *next;
        uint64_t jobs, payload_bytes, queues;
    } asked; /* by the command that is looked at */
    char name[];
};

struct space *spaces__find(const struct machine *m, struct str name); /* NULL: empty, no quota */

/* A new queue takes its place, and gives it back when it is gone. */
void spaces__enter(struct machine *m, struct queue *q);
void spaces__leave(struct machine *m, struct queue *q);

/* A job that is not over is counted, or is no more. */
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

/* Is there room for all of these, made by one command? Says in r why not. Jobs that the machine
 * makes by itself (of schedules, chains and batches) are counted, and not refused. */
bool spaces__have_room(struct machine *m, const struct command_new *jobs, size_t count,
                       struct result *r);

/* The record of a namespace was put, with its body, or deleted, without. */
void spaces__changed(struct machine *m, struct str name, struct str body);
void spaces__load(struct machine *m); /* before the queues */
void spaces__close(struct machine *m);
