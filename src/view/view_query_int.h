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
    VIEW_QUERY_QUEUES_MAX = 16, /* of a namespace, that are looked at one by one */
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
    int64_t queue; /* 0: all that the query may see */
    struct view_cell cell;
    int64_t n;
    bool wanted;
};

/* From a place to before another. */
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
    bool nothing; /* no job can match, whatever jobs there are */

    /* what is wanted */
    struct view_query_cell *cells; /* by queue, state, …; all of the queues, wanted or not */
    size_t cell_count;
    int64_t wanted_n;                               /* jobs in the wanted ones */
    struct view_query_range ids;                    /* of VIEW_RANK_CREATED; in where too */
    struct view_query_range spans[VIEW_RANK_COUNT]; /* in where too */
    unsigned span_count;
    struct buf where;   /* conditions on a row that cells do not say, each with " AND " in front */
    bool rest;          /* there is one among them that is neither ids nor a span */
    bool texts;         /* a condition looks at texts */
    struct str program; /* of payload_jq, asked of all rows that the statement gives */

    int64_t queues[VIEW_QUERY_QUEUES_MAX];
    unsigned queue_count; /* 0: all, or those that where has */
    bool many_queues;     /* a namespace with more of them: where says which */
    unsigned states;

    /* the plan */
    const char *index; /* that a look at everything walks; NULL: the cells */
    int64_t scan_n;    /* entries that it finds there at most; INT64_MAX: of a key, not known */
    enum view_sort sort;
    bool ascending;
    int limit, offset; /* parameters; 0: none */
    struct buf sql;
};

/* view_query.c */

/* The filter must outlive the query; end in any case. */
ATTR_NODISCARD enum err_code view_query__begin(struct view_query *q, struct view_reader *r,
                                               const struct view_filter *f, struct arena *a,
                                               struct err *err);
void view_query__end(struct view_query *q);
/* A value; its number. */
int view_query__add_i64(struct view_query *q, int64_t v);
int view_query__add_id(struct view_query *q, struct id v);
/* One more condition, that ends before its value. */
void view_query__where(struct view_query *q, const char *condition, int param);
/* The statement in q->sql, with its values. */
ATTR_NODISCARD enum err_code view_query__prepare(struct view_query *q, sqlite3_stmt **out,
                                                 struct err *err);

/* view_plan.c */

/* The smallest set that has all matches. When limit and offset are known. */
ATTR_NODISCARD enum err_code view_plan__choose(struct view_query *q, struct err *err);
/* A walk in the order that is asked for meets matches only. */
bool view_plan__is_straight(const struct view_query *q);
/* The column that is sorted by. */
const char *view_plan__sort_column(const struct view_query *q);
/* The matches in order: their id, what they are ordered by, and one more column. */
ATTR_NODISCARD enum err_code view_plan__write_ordered(struct view_query *q, const char *column,
                                                      struct err *err);

/* Some of the cells. */
struct view_plan_cells {
    size_t at, end;
    bool wanted; /* those, or the others */
    bool by_id;  /* each in the direction of the sort */
};
/* Statements that together look at all matches of the cells, one or a few at a time: false when
 * there are no more. */
bool view_plan__write_cells(struct view_query *q, const char *what, struct view_plan_cells *cells);
/* The same by the plan, which may have something smaller than cells; cells: all wanted ones. */
bool view_plan__write_scan(struct view_query *q, const char *what, struct view_plan_cells *cells);

/* view_total.c */

/* How many match, if that is to be had without looking at them all. */
ATTR_NODISCARD enum err_code view_total__known(struct view_query *q, bool *out_known, uint64_t *out,
                                               struct err *err);
ATTR_NODISCARD enum err_code view_total__count(struct view_query *q, uint64_t *out,
                                               struct err *err);
/* How many of a line are in the range. */
ATTR_NODISCARD enum err_code view_total__of_range(struct view_query *q, struct view_line line,
                                                  const struct view_query_range *range,
                                                  int64_t *out, struct err *err);

/* view_pass.c */

/* Page and total by one look at everything. The page must fit: see VIEW_PASS_MAX. */
enum { VIEW_PASS_MAX = 1 << 16 };
ATTR_NODISCARD enum err_code view_pass__run(struct view_query *q, struct view_search *s,
                                            struct err *err);
