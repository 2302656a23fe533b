/*
 * View_check: compares every column, text, error, usage report and counter of the view with the
 * documents. For tests and for diagnosis.
 */
#pragma once

#include "base/err.h"
#include "store/store.h"
#include "view/view.h"

struct view_check {
    uint64_t jobs;        /* documents */
    uint64_t differences; /* number of differences */
    char first[200];      /* description of the first one; empty: none */
};

/* Inside view_ask.run, while no job changes. */
ATTR_NODISCARD enum err_code view_check_run(struct view_reader *r, struct store *store,
                                            struct view_check *out, struct err *err);
