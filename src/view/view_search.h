/*
 * View_search: searches for jobs (http-api.md 10).
 *
 * A filter is a struct whose members can be unset; all members that are set must match. It becomes
 * one SQL statement with bound parameters: text from a caller never becomes part of the statement.
 * The results are ids; read the documents from the engine.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/id.h"
#include "base/str.h"
#include "core/job.h"
#include "view/view.h"

struct view_tag {
    struct str key, value;
};

struct view_span {
    struct wall after, before; /* strictly; 0: unset */
};

struct view_filter {
    struct str ns;    /* namespace of the caller; empty: default */
    struct str scope; /* queues that the caller may see (core/queue_scope.h); empty: all */
    struct str queue; /* internal name; empty: any */
    unsigned states;  /* bits 1 << enum job_state; 0: any; only other bits: no job matches */
    bool has_priority;
    uint8_t priority;
    const struct view_tag *tags;
    size_t tag_count;
    struct str payload_contains;
    struct str payload_jq;
    struct view_span created, scheduled, started, completed, expire;
    bool has_attempt_min, has_attempt_max, has_chain_step;
    int64_t attempt_min, attempt_max, chain_step;
    struct str unique_key, worker_id;
    struct str batch_id, parent_id, chain_id, depends_on; /* as written by the caller */
    bool has_errors_set, has_errors;
    struct str error_contains;
    struct str error_fingerprint; /* of any of the job's errors: 16 hex digits */
    struct str job_id_prefix;
    struct id above, below; /* ids strictly between; none: no bound */
};

/* The words of `sort`, in this order. */
enum view_sort {
    VIEW_SORT_CREATED_AT,
    VIEW_SORT_PRIORITY,
    VIEW_SORT_STARTED_AT,
    VIEW_SORT_COMPLETED_AT,
    VIEW_SORT_ATTEMPT,
    VIEW_SORT_SCHEDULED_AT,
    VIEW_SORT_FAILED_AT
};

struct view_search {
    const struct view_filter *filter;
    enum view_sort sort;
    bool ascending;
    uint64_t offset;
    uint32_t limit;
    /* result */
    struct id *ids; /* in the arena */
    size_t count;
    uint64_t total;
};

/* Is the filter valid? The error describes the client's mistake. Any thread. */
ATTR_NODISCARD enum err_code view_search_check(const struct view_filter *f, struct err *err);

/* The cost of a search with a valid filter: for view_ask.kind. Any thread. */
enum view_kind view_search_kind(const struct view_filter *f);

/* Inside view_ask.run. */
ATTR_NODISCARD enum err_code view_search_run(struct view_reader *r, struct view_search *s,
                                             struct arena *a, struct err *err);

/* The number of matches. Inside view_ask.run. */
ATTR_NODISCARD enum err_code view_search_count(struct view_reader *r, const struct view_filter *f,
                                               struct arena *a, uint64_t *out, struct err *err);

/* The next matches in id order, after `after` and before `until` (none: no bound), at most max. For
 * callers that walk all matches while jobs change. Inside view_ask.run. */
struct view_page {
    const struct view_filter *filter;
    struct id after, until;
    uint32_t max;
    /* result */
    struct id *ids; /* in the arena */
    size_t count;
};
ATTR_NODISCARD enum err_code view_search_page(struct view_reader *r, struct view_page *p,
                                              struct arena *a, struct err *err);
