/*
 * Agent: the guardrails of an agent's loop (http-api.md 6.12). Pure.
 */
#pragma once

#include "base/buf.h"
#include "core/job.h"

/* Add what an iteration cost; the sum is held at the top of the range. */
void agent_add_cost(struct job_agent *a, int64_t cost_nusd);

/* Go on to the next iteration. When a limit is passed by that, the reason is put into out and the
 * job must be held; otherwise out stays empty. */
void agent_next_iteration(struct job_agent *a, struct buf *out_reason);
