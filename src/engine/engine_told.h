/*
 * Engine_told: what the other nodes told about themselves. A part of engine.h.
 *
 * Nodes repeat it every second, because the others may have been restarted. Pure.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/limits.h"

struct engine_told_node {
    uint64_t id;
    uint8_t version;  /* newest entry version that it can read (engine_reads.h); 0: not told */
    uint8_t level;    /* what its disk space allows (engine_room.h)… */
    int64_t level_ms; /* …and when it told this; 0: never */
};

struct engine_told {
    struct engine_told_node node[LIMIT_NODES];
    size_t count;
};

/* What the node with this id told. NULL: nothing. */
const struct engine_told_node *engine_told_find(const struct engine_told *t, uint64_t id);

/* The same, to change it. NULL: there are too many nodes, so what this one tells is ignored. */
struct engine_told_node *engine_told_by(struct engine_told *t, uint64_t id);
