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

/* An entry of the log. ERR_CORRUPT when this version knows it or one of its commands not. What is
 * decoded is in the arena, which the caller resets. */
ATTR_NODISCARD enum err_code machine_known_entry(struct str entry, struct arena *arena,
                                                 struct err *err);

/* A state in the folder path that nobody has open, and that is not changed: the machine's record,
 * all other records, and the jobs that are not over. ERR_CORRUPT when one has a version or a kind
 * that this program does not know. */
ATTR_NODISCARD enum err_code machine_known_state(const char *path, struct err *err);

/* The index of the last entry that such a state has. */
ATTR_NODISCARD enum err_code machine_known_index(const char *path, uint64_t *out_index,
                                                 struct err *err);
