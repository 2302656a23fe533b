/*
 * Rest_bulk: shared by the files for bulk operations (http-api.md 11): a request in progress, and
 * the ways in which it ends.
 */
#pragma once

#include "rest/rest_int.h"

struct rest_bulk_in {
    uint64_t set; /* which members were given: bit n for row n of the schema */
    struct str action;
    struct str *job_ids;
    size_t job_ids_count;
    struct str filter;
    struct str move_to_queue;
    struct str priority; /* any JSON */
    struct str reason;
    bool reset_attempts;
    bool async;
    bool dry_run;
};

/* One request. */
struct rest_bulk {
    enum command_job_action action;
    bool reset_attempts;
    uint8_t priority;
    struct str queue; /* internal name */
    struct str reason;
    struct str filter;
    struct job_fit fit; /* what of the filter is looked at once more when the jobs are changed */
    unsigned states;    /* as bits: in these the action changes a job */
    void *found;        /* of a filter: rest_bulk_filter.c's own */
    bool async;
    bool dry_run;
    struct id *ids; /* what is to be done, each once */
    size_t count;
    uint64_t affected;
    uint64_t errors;
};

/* rest_bulk.c */

/* Answer 202: the operation goes on in the background, with about so many jobs. */
void rest_bulk__reply_put(struct rest_call *c, struct id task, uint64_t total);

/* What a filter means: the jobs when they are few, else how many they are. */
struct rest_bulk_found {
    struct id *ids; /* at most LIMIT_BULK_SYNC + 1: then there are more */
    size_t count;
    uint64_t matched;    /* of a dry run, and of what goes on in the background */
    uint64_t applicable; /* of a dry run: those that the action would change */
    uint64_t lag;        /* the view is so many changes behind, after a while too */
};

/* rest_bulk_filter.c: find what the filter of the call means, and go on with that. An error ends
 * the call. */
void rest_bulk_filter__find(struct rest_call *c,
                            void (*then)(struct rest_call *c, const struct rest_bulk_found *f));

/* rest_bulk_progress.c: how an operation goes on, as it happens. */
void rest_bulk_progress__handle(struct rest_call *c);
/* The record of the operation that the path names, when the caller may see it; the call has ended
 * otherwise. value is the caller's, and what out points into. */
ATTR_NODISCARD bool rest_bulk_progress__record(struct rest_call *c, struct id *out_id,
                                               struct buf *value, struct store_bulk *out);
const char *rest_bulk_progress__status_word(enum store_bulk_status status);
