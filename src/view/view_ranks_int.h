/*
 * View_ranks: the number of jobs of a state before a given time, without counting them.
 * view_ranks.c explains the idea. The writer updates ranks inside its transactions; readers query
 * them.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <sqlite3.h>

#include "base/attr.h"
#include "base/err.h"
#include "base/id.h"
#include "core/job.h"

enum view_rank {
    VIEW_RANK_CREATED, /* milliseconds, from the id; all others nanoseconds */
    VIEW_RANK_COMPLETED,
    VIEW_RANK_SCHEDULED,
    VIEW_RANK_EXPIRE,
    VIEW_RANK_STARTED,
    VIEW_RANK_FAILED,
    VIEW_RANK_COUNT
};

struct view_bucket {
    int64_t first; /* first time; the bucket ends where the next one begins */
    int64_t n;
    int64_t cut_at; /* number of jobs at which it is split */
    bool changed;
};

/* The times of one kind, for the jobs of one queue (0: all) and state. */
struct view_rank_line {
    enum view_rank kind;
    int64_t queue, state;
    struct view_bucket *buckets;
    size_t count, cap;
    int64_t newest; /* no job has a later time; INT64_MAX: unknown */
    bool changed;
    struct view_rank_line *changed_next;
};

struct view_ranks {
    sqlite3 *db;
    struct view_rank_line lines[VIEW_RANK_COUNT][JOB_STATE_COUNT]; /* over all queues */
    struct view_rank_line **queues; /* of VIEW_RANK_CREATED, by number of the queue and state */
    int64_t queue_cap;
    struct view_rank_line *changed;
};

/* queue_max: the largest number of a queue. */
ATTR_NODISCARD enum err_code view_ranks__load(struct view_ranks *r, sqlite3 *db, int64_t queue_max,
                                              struct err *err);
void view_ranks__deinit(struct view_ranks *r); /* allowed on zeros */

/* The position of a job in the counters. Times of 0 are not counted. */
struct view_moments {
    int64_t queue, state;
    int64_t at[VIEW_RANK_COUNT];
};
/* Count a change of a job from one position to another; NULL: it is new, or was removed. */
void view_ranks__move(struct view_ranks *r, const struct view_moments *from,
                      const struct view_moments *to);
/* Call inside the transaction that changes the jobs, after jobs and counts were written; needs the
 * indexes. */
ATTR_NODISCARD enum err_code view_ranks__save(struct view_ranks *r, struct err *err);

/* Count the jobs of a line before a place: an id for VIEW_RANK_CREATED, otherwise a time. Only
 * VIEW_RANK_CREATED has lines of single queues. view_ranks__all counts all jobs with such a
 * time. */
struct view_line {
    enum view_rank kind;
    int64_t queue, state;
};
struct view_place {
    int64_t moment;
    struct id id;
};
ATTR_NODISCARD enum err_code view_ranks__before(sqlite3 *db, struct view_line line,
                                                struct view_place place, int64_t *out,
                                                struct err *err);
ATTR_NODISCARD enum err_code view_ranks__all(sqlite3 *db, struct view_line line, int64_t *out,
                                             struct err *err);
