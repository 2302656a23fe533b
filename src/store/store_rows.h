/*
 * Store_rows: errors, iterations, delivery attempts and usage reports of a job, stored outside its
 * document.
 *
 * Each row has a number that is unique on the server and only increases, and a position under its
 * job (counted in the document). All rows of a job are next to each other in the store and are
 * removed with it.
 */
#pragma once

#include "base/unpack.h"
#include "core/job.h"
#include "store/store.h"

struct store_error {
    uint64_t row;
    uint32_t attempt;
    struct wall created_at;
    struct str error;
    struct str backtrace;
    struct str version; /* version of the worker's program; empty: unknown */
};

/* The numbers are on disk. */
enum store_phase { STORE_PHASE_ACK = 1, STORE_PHASE_HEARTBEAT = 2 };

/* A usage report of a worker. All zero and empty: no report. */
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

/* Why a delivery attempt failed. The numbers are on disk; the words are part of the contract
 * (scheduler.md 6). */
#define STORE_TRY_ERROR_LIST(X)                                                                    \
    X(NONE, 0, "")                                                                                 \
    X(TIMEOUT, 1, "timeout")                                                                       \
    X(CANCELLED, 2, "cancelled")                                                                   \
    X(DNS, 3, "dns_error")                                                                         \
    X(CONNECTION, 4, "connection_error")                                                           \
    X(HTTP, 5, "http_error")                                                                       \
    X(UNKNOWN, 6, "unknown")

enum store_try_error {
#define STORE_TRY_ERROR_ENUM(name, number, word) STORE_TRY_ERROR_##name = (number),
    STORE_TRY_ERROR_LIST(STORE_TRY_ERROR_ENUM)
#undef STORE_TRY_ERROR_ENUM
        STORE_TRY_ERROR_COUNT
};

/* A delivery attempt: one call that the server made or was about to make. */
struct store_try {
    uint64_t row;
    uint32_t attempt; /* from 1 */
    enum job_outcome outcome;
    enum store_try_error error_type;
    uint32_t http_status; /* 0: no response */
    uint32_t answer_ms;   /* until the response headers arrived */
    struct wall due_at;   /* due time of the run */
    struct wall started_at, ended_at;
    struct str node;
    struct str error;
};

/* Add a row to j and count it in j. Sets the number of the row. Removes the oldest error if there
 * are too many. */
void store_rows_add_error(struct store *s, struct job *j, struct store_error *e);
void store_rows_add_usage(struct store *s, struct job *j, struct store_usage *u);
void store_rows_add_iteration(struct store *s, struct job *j, struct store_iteration *it);

/* Also removes a few old attempts: the oldest if there are too many, and those that started before
 * keep_from. */
void store_rows_add_try(struct store *s, struct job *j, struct store_try *t, struct wall keep_from);

/* Remove every row of a job. */
void store_rows_remove(struct store *s, const struct job *j);

bool store_rows_tokens_any(const struct store_tokens *t);
/* Usage as part of a row or a command. */
void store_rows_encode_tokens(const struct store_tokens *t, struct buf *out);
void store_rows_decode_tokens(struct unpack *u, struct store_tokens *out);

/* Committed rows of a job, oldest first: call fn for each. Any thread. A row that cannot be decoded
 * stops the process. */
void store_rows_each_error(struct store *s, struct id job,
                           void (*fn)(void *data, const struct store_error *e), void *data);
void store_rows_each_usage(struct store *s, struct id job,
                           void (*fn)(void *data, const struct store_usage *u), void *data);
void store_rows_each_iteration(struct store *s, struct id job,
                               void (*fn)(void *data, const struct store_iteration *it),
                               void *data);

/* The newest committed row of an iteration; texts are in room. False if there is none. Iteration
 * numbers never decrease from row to row, so few rows are read. */
ATTR_NODISCARD bool store_rows_find_iteration(struct store *s, const struct job *j,
                                              int64_t iteration, struct buf *room,
                                              struct store_iteration *out);

void store_rows_each_try(struct store *s, struct id job,
                         void (*fn)(void *data, const struct store_try *t), void *data);
const char *store_rows_try_word(enum store_try_error error);

/* Pass a row to the function for its kind; functions can be NULL. A row that cannot be decoded
 * stops the process. */
struct store_rows_visitor {
    void *data;
    void (*error)(void *data, const struct store_error *e);
    void (*iteration)(void *data, const struct store_iteration *it);
    void (*usage)(void *data, const struct store_usage *u);
    void (*try_)(void *data, const struct store_try *t);
};
void store_rows_visit(struct str key, struct str value, const struct store_rows_visitor *visitor);

/* The bytes of a row's kind in its key. They are on disk. */
enum {
    STORE_ROW_ERROR = 'e',
    STORE_ROW_ITERATION = 'i',
    STORE_ROW_USAGE = 'u',
    STORE_ROW_TRY = 't'
};

/* Restore a row at its position under a job, unless a row is there. It gets a new number. For
 * usage: returns whether the row was restored. */
void store_rows_restore_error(struct store *s, struct id job, uint32_t place,
                              struct store_error *e);
void store_rows_restore_iteration(struct store *s, struct id job, uint32_t place,
                                  struct store_iteration *it);
bool store_rows_restore_usage(struct store *s, struct id job, uint32_t place,
                              struct store_usage *u);

/* Encode and decode a row (docs/formats/documents.md). */
void store_rows_encode_error(const struct store_error *e, struct buf *out);
void store_rows_encode_usage(const struct store_usage *u, struct buf *out);
void store_rows_encode_iteration(const struct store_iteration *it, struct buf *out);
void store_rows_encode_try(const struct store_try *t, struct buf *out);
ATTR_NODISCARD bool store_rows_decode_try(struct str value, struct store_try *out);
ATTR_NODISCARD bool store_rows_decode_error(struct str value, struct store_error *out);
ATTR_NODISCARD bool store_rows_decode_usage(struct str value, struct store_usage *out);
ATTR_NODISCARD bool store_rows_decode_iteration(struct str value, struct store_iteration *out);
