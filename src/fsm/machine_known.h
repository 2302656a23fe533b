/*
 * Machine_known: whether this program can read an entry or a state. A part of machine.h.
 *
 * The machine stops the process if it has to apply an entry, or to continue from a state, that it
 * cannot read. Other members may run a newer version. Their entries and states are therefore
 * checked here before they are accepted; the error message gives the reason. Any thread.
 */
#pragma once

#include "base/arena.h"
#include "base/attr.h"
#include "base/err.h"
#include "base/str.h"

/* Check a log entry. ERR_CORRUPT if this version does not know it or one of its commands. Decodes
 * into the arena, which the caller resets. */
ATTR_NODISCARD enum err_code machine_known_entry(struct str entry, struct arena *arena,
                                                 struct err *err);

/* Check the state in the directory path, which must not be open anywhere and is not changed: the
 * machine's record, all other records, and the unfinished jobs. ERR_CORRUPT if one has a version or
 * a kind that this program does not know. */
ATTR_NODISCARD enum err_code machine_known_state(const char *path, struct err *err);

/* The index of the last entry that is applied in such a state. */
ATTR_NODISCARD enum err_code machine_known_index(const char *path, uint64_t *out_index,
                                                 struct err *err);
