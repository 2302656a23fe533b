/*
 * Engine_reads: which entry versions the other nodes can read. A part of engine.h.
 *
 * Every node repeatedly tells the others the newest version of a log entry that it can read
 * (command_entry.h). The leader writes no
 * version that a member cannot read. A follower does not accept such an entry (peers.h), and with a
 * majority of such followers nothing would be committed. In a rolling upgrade, a new version is
 * therefore used once the last node supports it.
 *
 * Pure.
 */
#pragma once

#include <stdint.h>

#include "engine/engine_told.h"
#include "fsm/command/command_entry.h"

/* Assumed for a node that reports nothing: what the first version with clusters could read. */
enum { ENGINE_READS_SILENT = COMMAND_ENTRY_WHOLE_NAMED };

/* A node reported its version. */
void engine_reads_heard(struct engine_told *t, uint64_t id, uint8_t version);

/* The smaller of so_far and the newest version that the node with this id can read. Call it for
 * each member in turn. */
uint8_t engine_reads_least(const struct engine_told *t, uint64_t id, uint8_t so_far);
