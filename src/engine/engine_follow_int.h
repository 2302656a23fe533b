/*
 * Engine_follow: claims that are put into the same entry as the command that they wait for.
 */
#pragma once

#include "engine/engine_int.h"

/* The op was put into an entry with this time. Returns the list of claims that follow it in the
 * same entry. */
struct engine_op *engine_follow__behind(struct engine *e, const struct engine_op *op,
                                        struct wall now);
