/*
 * Cli_top_model: the data of `corvo top`, and what is computed from it.
 *
 * The server reports current counts. Rates are differences between samples, over the last few of
 * them. Everything is computed from values that the caller passes: no clock, no server, no
 * terminal. Texts that do not fit are cut at the end of a character.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/limits.h"
#include "base/str.h"

enum {
    CLI_TOP_MINUTES = 60,      /* of the server's throughput */
    CLI_TOP_TREND = 60,        /* samples that a trend keeps */
    CLI_TOP_SMOOTH = 5,        /* number of samples in the mean of a rate */
    CLI_TOP_FAILURES_MAX = 64, /* the newest are kept */
    CLI_TOP_NAME_BYTES = 2 * (LIMIT_QUEUE_NAME_BYTES + 1), /* a queue with its namespace prefix */
    CLI_TOP_ID_BYTES = 64,
    CLI_TOP_WORD_BYTES = 24,
    CLI_TOP_TEXT_BYTES = 256,
    CLI_TOP_NUMBER_BYTES = 24, /* of a number or an age as text */
    CLI_TOP_STALE_S = 60,      /* a worker is stale after this long without a heartbeat */
    CLI_TOP_OFFLINE_S = 300,   /* a worker is offline after this long */
};

enum cli_top_state {
    CLI_TOP_PENDING,
    CLI_TOP_ACTIVE,
    CLI_TOP_RETRYING,
    CLI_TOP_SCHEDULED,
    CLI_TOP_HELD,
    CLI_TOP_DEAD,
    CLI_TOP_COMPLETED,
    CLI_TOP_STATE_COUNT
};

enum cli_top_sort {
    CLI_TOP_BY_NAME,
    CLI_TOP_BY_PENDING,
    CLI_TOP_BY_ACTIVE,
    CLI_TOP_BY_DEAD,
    CLI_TOP_BY_RATE,
    CLI_TOP_SORT_COUNT
};

/* Values of the last samples, oldest first. */
struct cli_top_trend {
    int64_t values[CLI_TOP_TREND];
    size_t count;
};

struct cli_top_queue {
    char name[CLI_TOP_NAME_BYTES];
    bool paused;
    int64_t counts[CLI_TOP_STATE_COUNT];
    int64_t stored;          /* jobs of all states */
    int64_t failed;          /* attempts since the queue exists */
    struct wall oldest;      /* pending job; WALL_NONE: none */
    struct cli_top_trend in; /* jobs per minute; filled in by the model */
    struct cli_top_trend out;
};

struct cli_top_worker {
    char id[CLI_TOP_TEXT_BYTES];
    char host[CLI_TOP_TEXT_BYTES];
    char queues[CLI_TOP_TEXT_BYTES];
    int64_t active; /* -1: the server does not report it */
    struct wall heartbeat;
};

struct cli_top_cluster {
    char mode[CLI_TOP_WORD_BYTES];
    char status[CLI_TOP_WORD_BYTES];
    char state[CLI_TOP_WORD_BYTES];
    char node[CLI_TOP_ID_BYTES];
    char leader[CLI_TOP_ID_BYTES];
    size_t nodes;
    int64_t pending, pending_max;       /* operations in the write pipeline */
    int64_t applied, flushes, overload; /* totals */
    int64_t waiting;                    /* fetches that wait for a job */
    char wait_p50[CLI_TOP_WORD_BYTES];  /* time until an operation is in the log */
    char wait_p99[CLI_TOP_WORD_BYTES];
    char apply_p50[CLI_TOP_WORD_BYTES]; /* time until it is flushed, committed and applied */
    char apply_p99[CLI_TOP_WORD_BYTES];
};

enum cli_top_flow { CLI_TOP_ENQUEUED, CLI_TOP_DONE, CLI_TOP_FAILED, CLI_TOP_FLOW_COUNT };

struct cli_top_minute {
    struct wall at;
    int64_t counts[CLI_TOP_FLOW_COUNT];
};

/* The response to all requests of a sample. cli_top_model_take takes ownership of the arrays. */
struct cli_top_sample {
    struct cli_top_queue *queues; /* from malloc, sorted by name by the model */
    size_t queue_count;
    struct cli_top_worker *workers; /* from malloc */
    size_t worker_count;
    struct cli_top_cluster cluster;
    struct cli_top_minute minutes[CLI_TOP_MINUTES];
    size_t minute_count;
};

struct cli_top_failure {
    int64_t seq; /* of the event */
    struct wall at;
    char job[CLI_TOP_ID_BYTES];
    char queue[CLI_TOP_NAME_BYTES];
    char error[CLI_TOP_TEXT_BYTES];
    int64_t attempt;
    bool dead; /* it was the last attempt */
};

struct cli_top_model {
    struct cli_top_sample now;
    bool any;       /* false before the first sample */
    struct mono at; /* time of the sample */
    int64_t totals[CLI_TOP_STATE_COUNT];
    struct cli_top_trend flow[CLI_TOP_FLOW_COUNT];         /* jobs per minute */
    struct cli_top_trend applied, flushes;                 /* per second */
    struct cli_top_failure failures[CLI_TOP_FAILURES_MAX]; /* newest first */
    size_t failure_count;

    /* the queues to show, in order; see cli_top_model_arrange */
    const struct cli_top_queue **shown;
    size_t shown_count;
};

void cli_top_model_init(struct cli_top_model *m);
void cli_top_model_deinit(struct cli_top_model *m);
void cli_top_model_drop(struct cli_top_sample *sample); /* free a sample that was not taken */

/* Take the next sample. The view must be arranged again. */
void cli_top_model_take(struct cli_top_model *m, struct cli_top_sample *sample, struct mono at);

/* Add a failure. If a dead job's failure is already listed, it is marked as dead instead. */
void cli_top_model_fail(struct cli_top_model *m, const struct cli_top_failure *failure);

/* Choose and sort the queues: those whose names contain the filter, ignoring case. Numbers are
 * sorted from the largest, equal ones by name. */
void cli_top_model_arrange(struct cli_top_model *m, enum cli_top_sort sort, struct str filter);

/* The position of the queue among those shown; shown_count if it is not shown. */
size_t cli_top_model_find(const struct cli_top_model *m, const char *name);

/* The mean of the last values; -1 if there are none. */
int64_t cli_top_model_rate(const struct cli_top_trend *trend);

/* Jobs per minute: from the last samples; before the second sample, from the last full minute. */
int64_t cli_top_model_flow(const struct cli_top_model *m, enum cli_top_flow flow);

/* "healthy", "stale" or "offline". */
const char *cli_top_model_health(const struct cli_top_worker *worker, struct wall now);

/* Append one character per value, the highest for the largest value and the lowest for 0. */
void cli_top_model_spark(struct buf *out, const int64_t *values, size_t count, bool unicode);

/* Format as 950, 1.2k, 45k, 3.1M: at most five characters; "-" for negative numbers. */
const char *cli_top_model_number(int64_t n, char out[CLI_TOP_NUMBER_BYTES]);

/* Format the time since then as 12s, 5m, 3h, 4d; "-" if there is none. */
const char *cli_top_model_age(struct wall then, struct wall now, char out[CLI_TOP_NUMBER_BYTES]);

/* Copy as much as fits, with a NUL. */
void cli_top_model_text(char *out, size_t size, struct str text);
