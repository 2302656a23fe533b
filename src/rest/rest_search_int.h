/*
 * Rest_search: a search as clients send it: the members of its JSON body, and the resulting filter.
 * For every endpoint with a filter.
 */
#pragma once

#include "rest/rest_int.h"
#include "view/view_search.h"

enum { REST_SEARCH_TEXT_MAX = 4096 }; /* maximum size of a search text */

struct rest_search_in {
    int64_t attempt_min, attempt_max, chain_step;
    bool has_errors;
    struct str queue;
    struct str state;    /* JSON: a string, possibly with commas, or an array */
    struct str priority; /* JSON: a word or a number */
    struct str tags;     /* JSON: an object */
    struct str payload_contains, payload_jq, error_contains, error_fingerprint;
    struct wall created_after, created_before, scheduled_after, scheduled_before;
    struct wall started_after, started_before, completed_after, completed_before;
    struct wall expire_after, expire_before;
    struct str unique_key, batch_id, worker_id, parent_id, chain_id, depends_on, job_id_prefix;
    struct str sort, order, cursor;
    int64_t limit;
    struct str *tag; /* in a query only, each key:value */
    size_t tag_count;
    uint64_t set; /* which members are present: bits of the first rows */
};

extern const struct json_schema rest_search__schema;

/* False, with err, if the JSON object has an unknown member. If it were ignored, a misspelt
 * condition would match every job. An empty text is allowed. */
ATTR_NODISCARD bool rest_search__members_known(struct str json, struct err *err);

/* Look up a sort order; an empty word means the default. False, with err, if it is unknown. */
ATTR_NODISCARD bool rest_search__sort(struct str word, enum view_sort *out, struct err *err);

/* Fill the filter for the caller's namespace, from the call's arena. False, with err, if a member
 * is invalid or the caller may not use the queue. */
ATTR_NODISCARD bool rest_search__filter(struct rest_call *c, const struct rest_search_in *in,
                                        struct view_filter *out, struct err *err);
