/*
 * Queue_int: a queue in memory: its lines of waiting jobs, its counters and its record.
 */
#pragma once

#include "core/job.h"
#include "fsm/state/live_index.h"
#include "fsm/state/slots.h"
#include "store/store_record.h"

struct space;

/* The waiting jobs of one priority. Most of them are in the order of their ids. */
struct priority_line {
    uint8_t priority;
    struct live_line line;
    uint32_t oldest;  /* first of the jobs in id order; LIVE_NONE if there is none */
    struct id newest; /* if there is one: the largest id among them */
};

struct queue {
    struct map_node node; /* by name */
    struct space *space;
    uint32_t number; /* in machine.queues */
    struct store_queue rec;
    uint32_t live_count[JOB_STATE_COUNT]; /* of unfinished jobs, by state */
    struct priority_line *priority_lines; /* by priority; never removed */
    unsigned priority_line_count;
    struct heap out_of_order; /* pending jobs behind newer ones, or in no line; by id */
    struct live_line active;  /* active jobs; the order has no meaning */
    uint64_t named_count;     /* unfinished jobs with names… */
    uint64_t named_bytes;     /* …and their bytes of the queue's capacity */
    /* numbers of live jobs, see struct live_job */
    uint64_t timed_out_waiting, pending_again, recurring;
    struct slots slots; /* of named jobs that wait for their due time */
    uint64_t bytes;     /* memory of its heap and slots, as counted in machine.queue_bytes */
    int64_t *claims; /* times of the last throttle_rate claims, as a ring; NULL without throttle */
    bool dirty;      /* its record is to be written with this entry */
    bool gone;       /* deleted: its record is to be removed with this entry */
    struct queue *dirty_next;
    struct heap_node oldest; /* in machine.oldest while a job is pending */
    bool moved;              /* its place there must be updated */
    struct queue *moved_next;
    char name[];
};

/* Jobs in line, of all priorities. */
static inline uint32_t machine__in_line(const struct queue *q)
{
    uint32_t count = 0;
    for (unsigned i = 0; i < q->priority_line_count; i++) {
        count += q->priority_lines[i].line.count;
    }
    return count;
}
