/*
 * Engine_reads: which entry versions the other nodes can read. A part of engine.h.
 *
 * Every node repeatedly tells the others the newest version of a log entry that it can read
 * (command_entry.h); it repeats this because they may have been restarted. The leader writes no
 * version that a member cannot read. A follower does not accept such an entry (peers.h), and with a
 * majority of such followers nothing would be committed. In a rolling upgrade, a new version is
 * therefore used once the last node supports it.
 *
 * Pure.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/limits.h"
#include "fsm/command/command_entry.h"

/* Of a node that says nothing: what the first that had a cluster read. */
enum { ENGINE_READS_SILENT = COMMAND_ENTRY_WHOLE_NAMED };

struct engine_reads {
    struct {
        uint64_t id;
        uint8_t version;
    } told[LIMIT_NODES];
    size_t count;
};

/* A node has said it. */
void engine_reads_heard(struct engine_reads *r, uint64_t id, uint8_t version);

/* The newest version that the node with this id, and all before, may be given; `so_far` is that of
 * the others. */
uint8_t engine_reads_least(const struct engine_reads *r, uint64_t id, uint8_t so_far);
