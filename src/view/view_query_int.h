/*
 * View_query: a filter as the pieces of a statement, shared by the files that answer questions.
 *
 * view_query.c reads a filter: conditions, values, queues. view_plan.c makes statements of it that
 * an index can walk. view_total.c says how many there are, view_search.c has what is asked.
 */
#pragma once

#include "base/limits.h"
#include "view/view_int.h"
#include "view/view_search.h"

enum {
    VIEW_QUERY_PARAMS_MAX = 2 * LIMIT_TAGS + 64,
    VIEW_QUERY_QUEUES_MAX = 16, /* of a namespace, that become branches */
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

struct view_query {
    struct view_reader *r;
    struct arena *arena;
    const struct view_filter *f;
    struct view_param params[VIEW_QUERY_PARAMS_MAX];
    int param_count;
    struct buf where; /* conditions on a row, each with " AND " in front */
    struct buf sql;
    bool nothing;       /* no job can match */
    bool texts;         /* a condition looks at texts */
    struct str program; /* of payload_jq, asked of all rows that the statement gives */
    bool plain;         /* only namespace, queue and state are asked for: the counters know */
    bool ranked;        /* only one span is asked for, and nothing else: the ranks know */
    enum view_rank rank;
    struct view_place from, until;
    bool has_from, has_until;
    const char *index; /* that the one branch walks; NULL: branches by queue and state */
    int64_t queues[VIEW_QUERY_QUEUES_MAX];
    unsigned queue_count; /* 0: all */
    unsigned states;      /* of the branches */
    const char *sort;     /* column; NULL: the id */
    bool ascending;
    int limit, offset; /* parameters; 0: none */
};
/* view_query.c */

/* The filter must outlive the query; end in any case. */
ATTR_NODISCARD enum err_code view_query__begin(struct view_query *q, struct view_reader *r,
                                               const struct view_filter *f, struct arena *a,
                                               struct err *err);
void view_query__end(struct view_query *q);
bool view_query__is_set(struct view_span span);
/* A value; its number. */
int view_query__add_i64(struct view_query *q, int64_t v);
int view_query__add_id(struct view_query *q, struct id v);
/* One more condition, that ends before its value. */
void view_query__where(struct view_query *q, const char *condition, int param);
/* The statement in q->sql, with its values. */
ATTR_NODISCARD enum err_code view_query__prepare(struct view_query *q, sqlite3_stmt **out,
                                                 struct err *err);

/* view_plan.c */

void view_plan__choose(struct view_query *q); /* when the sort is known */
/* Queue and state as conditions. */
void view_plan__write_place(struct view_query *q);
void view_plan__write_branches(struct view_query *q, const char *what);
/* The matches in order: their id, what they are ordered by, and one more column. */
void view_plan__write_ordered(struct view_query *q, const char *column);

/* view_total.c */

ATTR_NODISCARD enum err_code view_total__read(struct view_query *q, uint64_t *out, struct err *err);
