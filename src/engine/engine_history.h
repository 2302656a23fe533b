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
    struct engine_times writes; /* of log entries, until they were committed and applied */
    uint64_t flush_count;       /* of the log */
    uint64_t flush_ns;          /* all of them together */
    uint64_t flush_max_ns;
    uint64_t lag_max_ms; /* behind the leader */
};

struct engine_history {
    struct engine_history_cell *cells[ENGINE_HISTORY_STEPS]; /* rings */
    struct engine_history_cell open; /* this minute, and what it began with: */
    struct engine_times writes_before;
    uint64_t flush_count_before, flush_ns_before;
    int fd; /* -1: there is none */
};

static inline int64_t engine_history_seconds(enum engine_history_step step)
{
    return step == ENGINE_HISTORY_MINUTE ? 60 : 3600;
}

/* Add what is in b, of a later time, to a. */
void engine_history_merge(struct engine_history_cell *a, const struct engine_history_cell *b);

/* The cell of this number, which is 0 everywhere when there is none. Inside engine_call.run. */
struct engine_history_cell engine_history_at(const struct engine *e, enum engine_history_step step,
                                             uint32_t number);

/* For the engine, on the core thread. */
void engine_history__open(struct engine *e);
/* Every now and then; lag_ms is less than 0 when it is not known. */
void engine_history__look(struct engine *e, int64_t lag_ms);
void engine_history__close(struct engine *e);
