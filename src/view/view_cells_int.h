/*
 * View_cells: the number of jobs in each cell.
 *
 * A cell is a combination of queue, state, priority, number of attempts, and whether there were
 * errors. Few cells contain jobs. Their counters (the table counts) give the total of a search that
 * has no other conditions. The indexes jobs_line and jobs_cell start with the cell, so the jobs of
 * a cell are in id order there, and a search merges its cells. Queue 0 stands for all queues
 * together.
 *
 * In the table jobs, a cell without its queue is one number, so that an index compares one value
 * instead of four.
 *
 * The writer updates the counters inside its transactions.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <sqlite3.h>

#include "base/attr.h"
#include "base/err.h"

/* Queues are numbered from 1; a number above the maximum is damage. Tables by number start with
 * room for the first few. */
enum { VIEW_QUEUES_FIRST = 64, VIEW_QUEUES_MAX = 1 << 30 };

struct view_cell {
    int64_t state, priority, attempt, failing;
};

struct job;
struct view_cell view_cells__of_job(const struct job *j);

/* Convert a cell to its number and back. The cell of an invalid number is invalid. In SQL: the
 * number of a row of counts, and the parts of the number in a row of jobs. In SQLite, these
 * operators have the same precedence. */
int64_t view_cells__number(struct view_cell cell);
struct view_cell view_cells__of(int64_t number);
#define VIEW_CELL_OF(c)                                                                            \
    "((" c ".attempt << 12) | (" c ".priority << 4) | (" c ".failing << 3) | " c ".state)"
#define VIEW_CELL_FAILING(j)  "(" j ".cell >> 3 & 1)"
#define VIEW_CELL_PRIORITY(j) "(" j ".cell >> 4 & 255)"
#define VIEW_CELL_ATTEMPT(j)  "(" j ".cell >> 12)"

struct view_cells {
    sqlite3 *db;
    struct view_cell_queue *queues; /* by number */
    int64_t queue_cap;
    int64_t changed; /* the first queue in the list of changed ones; -1: none */
};

/* queue_max: the largest number of a queue. */
ATTR_NODISCARD enum err_code view_cells__load(struct view_cells *c, sqlite3 *db, int64_t queue_max,
                                              struct err *err);
void view_cells__deinit(struct view_cells *c); /* allowed on zeros */
/* Count a job of the queue (not 0) in or out. Impossible values, from a damaged row, are
 * ignored. */
void view_cells__add(struct view_cells *c, int64_t queue, struct view_cell cell, int64_t delta);
/* Call inside the transaction that changes the jobs. */
ATTR_NODISCARD enum err_code view_cells__save(struct view_cells *c, struct err *err);
