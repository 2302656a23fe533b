/*
 * Engine_follow: claims that are put into the same entry as the command that they wait for.
 */
#pragma once

#include "engine/engine_int.h"

/* While the op is prepared, on its caller's thread: what the command puts into line. */
void engine_follow__note(struct engine_op *op, const struct command *c);

/* The op has just been put into an entry of this time: a list of those that follow it there. */
struct engine_op *engine_follow__behind(struct engine *e, const struct engine_op *op,
                                        struct wall now);
