/*
 * View_program: payload_jq in the complete jq language, evaluated on the rows of a statement.
 */
#pragma once

#include "view/view_int.h"

/* A page of the matching jobs: skip the first `skip`, then at most max. */
struct view_program {
    struct str text;
    uint64_t skip;
    uint32_t max;
    bool all; /* continue after the page to count all matches */
    /* result */
    struct id *ids; /* room for max */
    size_t count;
    uint64_t total; /* if all */
};
/* Compile the program. Fails as jqbox_open. */
ATTR_NODISCARD enum err_code view_program__check(struct view_reader *r, struct str program,
                                                 struct err *err);
/* Run the program on every row of a statement that returns ids and, in column num, the numbers of
 * texts. */
ATTR_NODISCARD enum err_code view_program__select(struct view_reader *r, struct view_program *p,
                                                  sqlite3_stmt *rows, int num, struct err *err);
