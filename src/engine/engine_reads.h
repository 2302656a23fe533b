/*
 * Engine_reads: which versions of an entry the other nodes read. A part of engine.h.
 *
 * Every node tells the others the newest version of a log entry that it can read (command_entry.h),
 * again and again, because they may have been started anew. Whoever leads stamps no newer one than
 * all members read: a follower does not take what it cannot read (peers.h), and with a majority of
 * such followers nothing would be committed. So in an upgrade node by node the new version is used
 * once the last one runs it.
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
