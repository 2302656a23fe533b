/*
 * Explain: why a job is not running.
 *
 * Reads the machine's memory between two entries: which limits of the queue are reached and by
 * which jobs, how many jobs are ahead, and which workers fetch from the queue. The output is
 * bounded, and so is the walk along a line: beyond EXPLAIN_STEPS_MAX the answer is "at least".
 *
 * On the machine's thread. Texts are copied into the caller's arena; if it is full, they are empty.
 */
#pragma once

#include "base/arena.h"
#include "fsm/machine.h"

enum { EXPLAIN_HOLDERS_MAX = 10, EXPLAIN_WORKERS_MAX = 10, EXPLAIN_STEPS_MAX = 4096 };

/* A budget that is exceeded: fetches hold jobs instead of handing them out, or are refused. */
struct explain_budget {
    bool exceeded;
    bool refuses;
    struct str reason;
    struct wall until; /* 0: unknown */
};

struct explain_queue {
    bool known;                             /* the queue exists; if false, nothing else is set */
    struct machine_queue settings;          /* without its name */
    bool at_limit;                          /* of concurrent active jobs */
    struct wall throttled_until;            /* 0: not throttled */
    struct explain_budget budget;           /* of the queue or the namespace */
    uint64_t waiting;                       /* jobs in line */
    struct id holders[EXPLAIN_HOLDERS_MAX]; /* some of the active jobs */
    uint32_t holder_count;
    /* workers that fetch from the queue, most recently seen first */
    struct machine_worker workers[EXPLAIN_WORKERS_MAX];
    uint32_t worker_count;
    uint64_t workers_total;
};

struct explain_job {
    bool found;
    struct job job; /* id, state, numbers and times; of its texts only queue, worker_id, hostname,
                       hold_reason and waits_for */
    bool in_line;
    uint64_t ahead; /* jobs that would be claimed first */
    bool ahead_is_least;
    struct explain_budget budget; /* of one of its tags, if it is pending */
    struct explain_queue queue;
};

void explain_queue(struct machine *m, struct str name, struct wall now, struct arena *a,
                   struct explain_queue *out);
void explain_job(struct machine *m, struct id id, struct wall now, struct arena *a,
                 struct explain_job *out);
