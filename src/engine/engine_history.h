/*
 * Engine_history: write latency, flush time and lag of this node, per minute and per hour. A part
 * of engine.h.
 *
 * Each node keeps its own history, in memory and in one file of a fixed size
 * (docs/formats/documents.md), so that it survives a restart. The file is not flushed, and nothing
 * depends on it. Cells that cannot be read are left out; cells that cannot be written are lost.
 */
#pragma once

#include <stdint.h>

#include "base/clock.h"
#include "engine/engine_times.h"

struct engine;

enum engine_history_step { ENGINE_HISTORY_MINUTE, ENGINE_HISTORY_HOUR, ENGINE_HISTORY_STEPS };

struct engine_history_cell {
    uint32_t number;            /* minutes or hours since 1970; 0: none */
    struct engine_times writes; /* time until a log entry was committed and applied */
    uint64_t flush_count;       /* flushes of the log */
    uint64_t flush_ns;          /* their total time */
    uint64_t flush_max_ns;
    uint64_t lag_max_ms; /* behind the leader */
};

struct engine_history {
    struct engine_history_cell *cells[ENGINE_HISTORY_STEPS]; /* rings */
    struct engine_history_cell open; /* the current minute, and the totals at its start: */
    struct engine_times writes_before;
    uint64_t flush_count_before, flush_ns_before;
    int fd; /* -1: no file */
};

static inline int64_t engine_history_seconds(enum engine_history_step step)
{
    return step == ENGINE_HISTORY_MINUTE ? 60 : 3600;
}

/* Add b, which is of a later time, to a. */
void engine_history_merge(struct engine_history_cell *a, const struct engine_history_cell *b);

/* The cell with this number; all zeros if it does not exist. Inside engine_call.run. */
struct engine_history_cell engine_history_at(const struct engine *e, enum engine_history_step step,
                                             uint32_t number);

/* For the engine, on the core thread. */
void engine_history__open(struct engine *e);
/* Call regularly. lag_ms is negative if unknown. */
void engine_history__look(struct engine *e, int64_t lag_ms);
void engine_history__close(struct engine *e);
