/*
 * Invariants.
 *
 * CHECK stays on in release builds: in a replicated state machine, continuing with a broken
 * invariant spreads the damage to every node, while a crash costs one restart and one replay.
 * DCHECK is for checks too slow for that (walking a list, re-reading what was just written).
 * Neither is for input: what a client, a disk or a peer can cause is an error, not an invariant.
 */
#pragma once

#include "base/attr.h"

/* Print where and why, then abort. */
ATTR_NORETURN ATTR_COLD void check_failed(const char *file, int line, const char *what);

/* Stop the process for a reason that is not a bug: a failing disk, a store that refuses a write.
 * Continuing would acknowledge data that is not stored. */
ATTR_NORETURN ATTR_COLD void check_fatal(const char *fmt, ...) ATTR_PRINTF(1, 2);

#define CHECK(cond) ((cond) ? (void)0 : check_failed(__FILE__, __LINE__, #cond))

#ifdef NDEBUG
#define DCHECK(cond) ((void)sizeof(!(cond)))
#else
#define DCHECK(cond) CHECK(cond)
#endif

#define UNREACHABLE(why) check_failed(__FILE__, __LINE__, "unreachable: " why)
