/*
 * Agent: the limits of an agent's loop (http-api.md 6.12). Pure.
 */
#pragma once

#include "base/buf.h"
#include "core/job.h"

/* Add the cost of an iteration; the sum saturates. */
void agent_add_cost(struct job_agent *a, int64_t cost_nusd);

/* Start the next iteration. If this exceeds a limit, the reason is appended to out_reason and
 * the job must be held; otherwise out_reason stays empty. */
void agent_next_iteration(struct job_agent *a, struct buf *out_reason);
