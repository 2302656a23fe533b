/*
 * View_program: payload_jq in the complete jq language, evaluated on the rows of a statement.
 */
#pragma once

#include "view/view_int.h"

/* Of the jobs that match, in order, those behind the first `skip`, at most max. */
struct view_program {
    struct str text;
    uint64_t skip;
    uint32_t max;
    bool all; /* go on behind them, and count */
    /* result */
    struct id *ids; /* room for max */
    size_t count;
    uint64_t total; /* with all */
};
/* Ask the program about every row of a statement that gives ids and, in column num, numbers of
 * texts. */
ATTR_NODISCARD enum err_code view_program__select(struct view_reader *r, struct view_program *p,
                                                  sqlite3_stmt *rows, int num, struct err *err);
