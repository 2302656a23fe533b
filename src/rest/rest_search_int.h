/*
 * Rest_search: a search as clients send it: the members of its JSON body, and the resulting filter.
 * For every endpoint with a filter.
 */
#pragma once

#include "rest/rest_int.h"
#include "view/view_search.h"

enum { REST_SEARCH_TEXT_MAX = 4096 }; /* of a text that is looked for */

struct rest_search_in {
    int64_t attempt_min, attempt_max, chain_step;
    bool has_errors;
    struct str queue;
    struct str state;    /* JSON: a text, with commas or not, or an array */
    struct str priority; /* JSON: a word or a number */
    struct str tags;     /* JSON: an object */
    struct str payload_contains, payload_jq, error_contains, error_fingerprint;
    struct wall created_after, created_before, scheduled_after, scheduled_before;
    struct wall started_after, started_before, completed_after, completed_before;
    struct wall expire_after, expire_before;
    struct str unique_key, batch_id, worker_id, parent_id, chain_id, depends_on, job_id_prefix;
    struct str sort, order, cursor;
    int64_t limit;
    struct str *tag; /* in a query only: key:value each */
    size_t tag_count;
    uint64_t set; /* which were present: bits of the first rows */
};

extern const struct json_schema rest_search__schema;

/* Refuse a member that no search has, by name: passed over, a misspelt condition would mean every
 * job. The text is a JSON object, or nothing. */
ATTR_NODISCARD bool rest_search__members_known(struct str json, struct err *err);

/* The order that a word means; an empty one means the default. False, with err, when there is none.
 */
ATTR_NODISCARD bool rest_search__sort(struct str word, enum view_sort *out, struct err *err);

/* Fill the filter, for the caller's namespace; everything is in the call's arena. False, with err,
 * when a member makes no sense or the caller may not name the queue. */
ATTR_NODISCARD bool rest_search__filter(struct rest_call *c, const struct rest_search_in *in,
                                        struct view_filter *out, struct err *err);
