/*
 * View_usage: sums of the usage reports of workers from before the state machine counted them
 * (http-api.md 17.1, 17.2; fsm/state/tallies.c).
 *
 * Such a report belongs to its job. It counts for the queue that the job is in now, and when the
 * job is removed the state machine counts it.
 */
#pragma once

#include "base/arena.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/str.h"
#include "view/view.h"

enum view_usage_by {
    VIEW_USAGE_ALL,
    VIEW_USAGE_BY_QUEUE, /* internal names */
    VIEW_USAGE_BY_MODEL,
    VIEW_USAGE_BY_PROVIDER,
    VIEW_USAGE_BY_TAG,
    VIEW_USAGE_BY_NAMESPACE
};

struct view_usage_sum {
    struct str key; /* empty: unknown */
    int64_t input, output, cache_creation, cache_read;
    int64_t cost_nusd;
    int64_t reports;
};

struct view_usage {
    struct str scope;     /* queues that the caller may see (core/queue_scope.h); empty: all */
    struct str ns;        /* namespace of the caller; empty: default, which sees all */
    struct wall from, to; /* both inclusive */
    int64_t rows_before;  /* only reports whose row has a smaller number */
    enum view_usage_by by;
    struct str tag;
    /* result */
    struct view_usage_sum total;
    struct view_usage_sum *groups; /* in the arena, highest cost first; namespaces by name */
    size_t group_count;
};

enum { VIEW_USAGE_GROUPS_MAX = 10000 }; /* in a result; the total includes all groups */

/* Inside view_ask.run. ERR_TOO_LARGE if the arena is full. */
ATTR_NODISCARD enum err_code view_usage_sum(struct view_reader *r, struct view_usage *u,
                                            struct arena *a, struct err *err);
