/*
 * Machine_known: can this program read it? A part of machine.h.
 *
 * What the machine is given to apply, or to go on from, it must understand: it stops the process
 * otherwise. Other members may run a newer version. So what they send is looked at here before it
 * is taken, and refused with a sentence that says what is the matter. Any thread.
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
