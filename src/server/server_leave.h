/*
 * Server_leave: leave-on-shutdown (scheduler.md 14.5).
 *
 * A leader that shuts down removes itself from the cluster and moves its data folder aside, because
 * the number of a former member is never used again (fsm/apply/apply_node.c). The next start finds
 * an empty folder, joins with a new number, and deletes the old data once it is a member.
 *
 *   data/left/        data of the former member; without an identity file: the move is not complete
 *   data/left.gone/   the same while it is being removed
 */
#pragma once

#include <stdbool.h>

#include "base/attr.h"
#include "engine/engine.h"
#include "server/settings.h"

/* Before engine_last_call: leave the cluster if this node leads and the others can continue without
 * it. Returns true if it has left. */
bool server_leave(const struct settings *s, struct engine *e);

/* After the engine was closed: move the data of the former member aside. */
ATTR_NODISCARD enum err_code server_leave_put_aside(const char *data_dir, struct err *err);

/* Before the engine is opened: complete what a crash interrupted. *out_left: the node has left and
 * has not joined again, so it must not create a cluster of its own. */
ATTR_NODISCARD enum err_code server_leave_resume(const char *data_dir, bool *out_left,
                                                 struct err *err);

/* The node is a member again: delete the old data. */
void server_leave_forget(const char *data_dir);
