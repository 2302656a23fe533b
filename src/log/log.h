/*
 * Log: events with named values, one line each, on standard error.
 *
 *   log_info("snapshot taken", LOG_U64("index", index), LOG_I64("took_ms", ms));
 *   => time=2026-02-11T10:00:00.123Z level=INFO msg="snapshot taken" index=4096 took_ms=34
 *
 * Messages and names are constants, so that every line can be found in the source. Lines are logfmt
 * on a terminal and JSON otherwise, unless the format is configured. A line is built by the calling
 * thread and written with one write(2) under the module's lock, so that lines never mix. A thread
 * that writes many lines collects them and writes them together (log_collect). Nothing per job or
 * per request is logged above debug, except requests and calls of the Scheduled-DB API, whose
 * contract requires it; payloads, tokens and keys never.
 *
 * The server does not wait for the reader of its log: if standard error is a full pipe, a line is
 * dropped. The next line that is written is preceded by the number of lost ones.
 *
 * error: an operator must act. warn: the server continues, and the line describes how. info: the
 * state of the node changed. debug: everything else.
 */
#pragma once

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

enum log_level { LOG_DEBUG, LOG_INFO, LOG_WARN, LOG_ERROR, LOG_LEVEL_COUNT };
enum log_format { LOG_AUTO, LOG_TEXT, LOG_JSON };

struct log_value {
    const char *name;
    enum { LOG_VALUE_STR, LOG_VALUE_I64, LOG_VALUE_U64, LOG_VALUE_BOOL } kind;
    union {
        struct str s;
        int64_t i;
        uint64_t u;
        bool b;
    };
};

/* clang-format off */
#define LOG_STR(n, v)  ((struct log_value){.name = (n), .kind = LOG_VALUE_STR, .s = (v)})
#define LOG_Z(n, v)    LOG_STR((n), str_from_z(v))
#define LOG_I64(n, v)  ((struct log_value){.name = (n), .kind = LOG_VALUE_I64, .i = (v)})
#define LOG_U64(n, v)  ((struct log_value){.name = (n), .kind = LOG_VALUE_U64, .u = (v)})
#define LOG_BOOL(n, v) ((struct log_value){.name = (n), .kind = LOG_VALUE_BOOL, .b = (v)})
/* clang-format on */

/* Parse the configured level: debug, info, warn or error; anything else is info. */
enum log_level log_level_of(struct str word);

/* Call before the first thread starts; the default is info and above, as LOG_AUTO. */
void log_configure(enum log_level min, enum log_format format);

/* Are lines of this level written? Saves work for frequent lines. */
bool log_wants(enum log_level level);

/* Lines that will be written together. */
struct log_batch {
    size_t len;
    uint64_t lines;
    char bytes[PIPE_BUF];
};

/* From now on the calling thread collects its lines in the batch, until log_collect(NULL). They are
 * written by log_flush, and earlier if the batch is full or a line is a warning or an error. A
 * thread that collects lines must flush before it waits. */
void log_collect(struct log_batch *into);
void log_flush(void);

void log_event(enum log_level level, const char *event, const struct log_value *values,
               size_t count);

#define LOG_AT(level, event, ...)                                                                  \
    do {                                                                                           \
        const struct log_value log_values_[] = {{0}, ##__VA_ARGS__};                               \
        log_event((level), (event), log_values_ + 1, COUNT_OF(log_values_) - 1);                   \
    } while (0)

#define log_debug(event, ...) LOG_AT(LOG_DEBUG, (event), ##__VA_ARGS__)
#define log_info(event, ...)  LOG_AT(LOG_INFO, (event), ##__VA_ARGS__)
#define log_warn(event, ...)  LOG_AT(LOG_WARN, (event), ##__VA_ARGS__)
#define log_error(event, ...) LOG_AT(LOG_ERROR, (event), ##__VA_ARGS__)
