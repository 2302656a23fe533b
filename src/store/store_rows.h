/*
 * Store_rows: what hangs on a job besides its document: errors, iterations and usage reports.
 *
 * Each row has a number that is unique on the server and only grows, and a place under its job
 * (counted in the document), so that all rows of a job stand together in the store and go with it.
 */
#pragma once

#include "core/job.h"
#include "store/store.h"

struct store_error {
    uint64_t row;
    uint32_t attempt;
    struct wall created_at;
    struct str error;
    struct str backtrace;
};

/* The numbers are on disk. */
enum store_phase { STORE_PHASE_ACK = 1, STORE_PHASE_HEARTBEAT = 2 };

/* What a worker reports of the models it used. All zero and empty: no report. */
struct store_tokens {
    int64_t input, output, cache_creation, cache_read;
    int64_t cost_nusd;
    struct str model, provider;
};

struct store_usage {
    uint64_t row;
    uint32_t attempt;
    enum store_phase phase;
    struct wall created_at;
    struct store_tokens tokens;
};

/* The numbers are on disk. */
enum store_iteration_status {
    STORE_ITERATION_CONTINUE = 1,
    STORE_ITERATION_DONE = 2,
    STORE_ITERATION_HOLD = 3
};

struct store_iteration {
    uint64_t row;
    int64_t iteration;
    enum store_iteration_status status;
    struct wall created_at;
    struct str checkpoint, hold_reason, result;
    struct store_tokens tokens;
};

/* Add a row under j and count it there; the oldest error goes when there are too many. The row's
 * number is filled in. */
void store_rows_add_error(struct store *s, struct job *j, struct store_error *e);
void store_rows_add_usage(struct store *s, struct job *j, struct store_usage *u);
void store_rows_add_iteration(struct store *s, struct job *j, struct store_iteration *it);

/* Remove every row of a job. */
void store_rows_remove(struct store *s, const struct job *j);

bool store_rows_tokens_any(const struct store_tokens *t);

/* Committed rows of a job, oldest first: call fn for each. Any thread. A row that cannot be decoded
 * stops the process. */
void store_rows_each_error(struct store *s, struct id job,
                           void (*fn)(void *data, const struct store_error *e), void *data);
void store_rows_each_usage(struct store *s, struct id job,
                           void (*fn)(void *data, const struct store_usage *u), void *data);
void store_rows_each_iteration(struct store *s, struct id job,
                               void (*fn)(void *data, const struct store_iteration *it),
                               void *data);

/* One row's bytes (docs/formats/documents.md). */
void store_rows_encode_error(const struct store_error *e, struct buf *out);
void store_rows_encode_usage(const struct store_usage *u, struct buf *out);
void store_rows_encode_iteration(const struct store_iteration *it, struct buf *out);
ATTR_NODISCARD bool store_rows_decode_error(struct str value, struct store_error *out);
ATTR_NODISCARD bool store_rows_decode_usage(struct str value, struct store_usage *out);
ATTR_NODISCARD bool store_rows_decode_iteration(struct str value, struct store_iteration *out);
