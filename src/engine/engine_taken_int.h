/*
 * Engine_taken_int: the core thread's part of engine_taken.h.
 */
#pragma once

#include "engine/engine_taken.h"

/* During apply. */
void engine_taken__add(struct engine *e, struct id id, uint64_t lease_token);
/* The entry was applied and the results of its commands are on their way: report the taken jobs. */
void engine_taken__tell(struct engine *e);
