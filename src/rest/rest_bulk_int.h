/*
 * Rest_bulk: shared by the files for bulk operations (http-api.md 11): a request in progress, and
 * the ways in which it ends.
 */
#pragma once

#include "rest/rest_int.h"

struct rest_bulk_in {
    uint64_t set; /* which members are present: bit n for row n of the schema */
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
    struct job_fit fit; /* filter conditions checked again when jobs are changed */
    unsigned states;    /* bits of the states in which the action changes a job */
    void *found;        /* private data of rest_bulk_filter.c */
    bool async;
    bool dry_run;
    struct id *ids; /* jobs to change, without duplicates */
    size_t count;
    uint64_t affected;
    uint64_t errors;
};

/* rest_bulk.c */

/* Respond 202: the operation continues in the background. total is the approximate number of
 * jobs. */
void rest_bulk__reply_put(struct rest_call *c, struct id task, uint64_t total);

/* The jobs that match a filter; if there are many, only their number. */
struct rest_bulk_found {
    struct id *ids; /* at most LIMIT_BULK_SYNC + 1, which means that there are more */
    size_t count;
    uint64_t matched;    /* set for a dry run and for a background operation */
    uint64_t applicable; /* set for a dry run: number of jobs that the action would change */
    uint64_t lag;        /* changes that the view is behind, even after waiting */
};

/* rest_bulk_filter.c: find the jobs that match the filter of the call, then call `then`. An error
 * ends the call. */
void rest_bulk_filter__find(struct rest_call *c,
                            void (*then)(struct rest_call *c, const struct rest_bulk_found *f));

/* rest_bulk_progress.c: stream the progress of an operation. */
void rest_bulk_progress__handle(struct rest_call *c);
/* Read the record of the operation in the path. False, with the call ended, if there is none that
 * the caller may see. out points into value, which the caller frees. */
ATTR_NODISCARD bool rest_bulk_progress__record(struct rest_call *c, struct id *out_id,
                                               struct buf *value, struct store_bulk *out);
const char *rest_bulk_progress__status_word(enum store_bulk_status status);
