/*
 * View_query: a filter as parts of SQL statements, shared by the files that answer queries.
 *
 * view_query.c translates a filter into cells (view_cells_int.h), ids, time ranges, and remaining
 * conditions. view_plan.c turns these into statements that can use an index. view_total.c counts
 * matches, view_pass.c computes a page and the total in one scan, and view_search.c has the public
 * functions.
 */
#pragma once

#include "base/limits.h"
#include "view/view_int.h"
#include "view/view_search.h"

enum {
    VIEW_QUERY_PARAMS_MAX = 2 * LIMIT_TAGS + 64,
    VIEW_QUERY_QUEUES_MAX = 16, /* queues of a namespace that are searched one by one */
    VIEW_QUERY_ALL_STATES = (1U << JOB_STATE_COUNT) - 1,
};

struct view_param {
    enum { VIEW_PARAM_I64, VIEW_PARAM_TEXT, VIEW_PARAM_ID, VIEW_PARAM_JQ } kind;
    union {
        int64_t number;
        struct str text;
        struct id id;
        struct view_jq *jq;
    };
};

struct view_query_cell {
    int64_t queue; /* 0: all queues that the query may see */
    struct view_cell cell;
    int64_t n;
    bool wanted;
};

/* A range: from (included) until (excluded). */
struct view_query_range {
    enum view_rank kind;
    bool has_from, has_until;
    struct view_place from, until;
};

struct view_query {
    struct view_reader *r;
    struct arena *arena;
    const struct view_filter *f;
    struct view_param params[VIEW_QUERY_PARAMS_MAX];
    int param_count;
    bool nothing; /* no job can ever match */

    /* the parsed filter */
    struct view_query_cell *cells; /* by queue, state, …; all cells of the queues, wanted or not */
    size_t cell_count;
    int64_t wanted_n;                               /* jobs in the wanted cells */
    struct view_query_range ids;                    /* of VIEW_RANK_CREATED; in where too */
    struct view_query_range spans[VIEW_RANK_COUNT]; /* in where too */
    unsigned span_count;
    struct buf where;   /* further conditions on a row, each preceded by " AND " */
    bool rest;          /* where has a condition that is neither ids nor a span */
    bool texts;         /* a condition reads texts */
    struct str program; /* of payload_jq, run on all rows of the statement */

    int64_t queues[VIEW_QUERY_QUEUES_MAX];
    unsigned queue_count; /* 0: all, or restricted by where */
    bool many_queues;     /* a namespace with more queues: restricted by where */
    unsigned states;

    /* the plan */
    const char *index; /* index for a complete scan; NULL: the cells */
    int64_t scan_n;    /* maximum of entries in it; INT64_MAX: unknown (a key) */
    enum view_sort sort;
    bool ascending;
    int limit, offset; /* numbers of parameters; 0: none */
    struct buf sql;
};

/* view_query.c */

/* The filter must outlive the query. Always call end, even after an error. */
ATTR_NODISCARD enum err_code view_query__begin(struct view_query *q, struct view_reader *r,
                                               const struct view_filter *f, struct arena *a,
                                               struct err *err);
void view_query__end(struct view_query *q);
/* Add a parameter value. Returns its number. */
int view_query__add_i64(struct view_query *q, int64_t v);
int view_query__add_id(struct view_query *q, struct id v);
/* Add a condition, whose text ends before its parameter. */
void view_query__where(struct view_query *q, const char *condition, int param);
/* Prepare the statement in q->sql and bind its parameters. */
ATTR_NODISCARD enum err_code view_query__prepare(struct view_query *q, sqlite3_stmt **out,
                                                 struct err *err);

/* The number of jobs of a line in the range, from its ranks. */
ATTR_NODISCARD enum err_code view_query__in_range(struct view_query *q, struct view_line line,
                                                  const struct view_query_range *range,
                                                  int64_t *out, struct err *err);

/* view_plan.c */

/* Choose the smallest set that contains all matches. Call it when limit and offset are known. */
ATTR_NODISCARD enum err_code view_plan__choose(struct view_query *q, struct err *err);
/* Does a walk in sort order find only matches? */
bool view_plan__is_straight(const struct view_query *q);
/* The column of the sort. */
const char *view_plan__sort_column(const struct view_query *q);
/* Write a statement for the matches in order: id, sort column, and one more column. */
ATTR_NODISCARD enum err_code view_plan__write_ordered(struct view_query *q, const char *column,
                                                      struct err *err);

/* A selection of cells. */
struct view_plan_cells {
    size_t at, end;
    bool wanted; /* the wanted cells, or all others */
    bool by_id;  /* each in the sort direction */
};
/* Write the next statement; together they read all matches of the cells, one or a few cells at a
 * time. False if there is none left. */
bool view_plan__write_cells(struct view_query *q, const char *what, struct view_plan_cells *cells);
/* The same according to the plan, which may use something smaller than cells. cells: all wanted
 * ones. */
bool view_plan__write_scan(struct view_query *q, const char *what, struct view_plan_cells *cells);

/* view_total.c */

/* The number of matches, if it is known without reading them all. */
ATTR_NODISCARD enum err_code view_total__known(struct view_query *q, bool *out_known, uint64_t *out,
                                               struct err *err);
ATTR_NODISCARD enum err_code view_total__count(struct view_query *q, uint64_t *out,
                                               struct err *err);

/* view_pass.c */

/* Compute the page and the total in one complete scan. The page must fit into VIEW_PASS_MAX. */
enum { VIEW_PASS_MAX = 1 << 16 };
ATTR_NODISCARD enum err_code view_pass__run(struct view_query *q, struct view_search *s,
                                            struct err *err);
