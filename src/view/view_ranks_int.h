/*
 * View_ranks: how many jobs there are before a moment, without counting them. The idea is in
 * view_ranks.c. Ranks are the writer's, inside its transactions; the questions are the readers'.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <sqlite3.h>

#include "base/attr.h"
#include "base/err.h"
#include "base/id.h"

enum view_rank {
    VIEW_RANK_CREATED, /* milliseconds, of the id; all others nanoseconds */
    VIEW_RANK_COMPLETED,
    VIEW_RANK_SCHEDULED,
    VIEW_RANK_EXPIRE,
    VIEW_RANK_COUNT
};

struct view_bucket {
    int64_t first; /* moment; the bucket ends where the next one begins */
    int64_t n;
    int64_t cut_at; /* how many make it worth a cut */
    bool changed;
};

struct view_ranks {
    sqlite3 *db;
    struct view_rank_line {
        struct view_bucket *buckets;
        size_t count, cap;
        bool changed;
    } lines[VIEW_RANK_COUNT];
};

ATTR_NODISCARD enum err_code view_ranks__load(struct view_ranks *r, sqlite3 *db, struct err *err);
void view_ranks__deinit(struct view_ranks *r); /* fine on zeros */
int64_t view_ranks__of_id(struct id id);
/* A job's moment changes; 0 is none. */
void view_ranks__move(struct view_ranks *r, enum view_rank kind, int64_t from, int64_t to);
/* Inside the transaction that changes the jobs, when they are all there. cut: large buckets too,
 * which needs the indexes. */
ATTR_NODISCARD enum err_code view_ranks__save(struct view_ranks *r, bool cut, struct err *err);

/* How many jobs are before a place: an id for VIEW_RANK_CREATED, else a moment. And how many have
 * such a moment at all. */
struct view_place {
    int64_t moment;
    struct id id;
};
ATTR_NODISCARD enum err_code view_ranks__before(sqlite3 *db, enum view_rank kind,
                                                struct view_place place, int64_t *out,
                                                struct err *err);
ATTR_NODISCARD enum err_code view_ranks__all(sqlite3 *db, enum view_rank kind, int64_t *out,
                                             struct err *err);
