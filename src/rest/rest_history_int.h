/*
 * Rest_history: a time range divided into steps, as requested from the history routes.
 */
#pragma once

#include "rest/rest_int.h"

enum { REST_HISTORY_POINTS_MAX = 3000, REST_HISTORY_TIME_BYTES = 64 };

struct rest_history_span {
    struct wall now, from, to;
    int64_t step_s; /* a multiple of a minute */
};

extern const struct json_word rest_history__formats[]; /* json 0, csv 1 */

/* False if the call has ended. */
ATTR_NODISCARD bool rest_history__span(struct rest_call *c, struct str from, struct str to,
                                       struct str step, struct rest_history_span *out);
