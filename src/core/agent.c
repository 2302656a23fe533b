#include "core/agent.h"

#include <inttypes.h>

void agent_add_cost(struct job_agent *a, int64_t cost_nusd)
{
    if (cost_nusd > 0 &&
        __builtin_add_overflow(a->total_cost_nusd, cost_nusd, &a->total_cost_nusd)) {
        a->total_cost_nusd = INT64_MAX;
    }
}

/* Dollars with four decimals, rounded half up. */
static void add_dollars(struct buf *out, int64_t nusd)
{
    int64_t unit = JOB_NUSD_PER_USD / 10000;
    int64_t parts = nusd / unit + (nusd % unit >= unit / 2 ? 1 : 0);
    buf_printf(out, "%" PRId64 ".%04" PRId64, parts / 10000, parts % 10000);
}

void agent_next_iteration(struct job_agent *a, struct buf *out_reason)
{
    /* A restored job may have any iteration number: raise it to the first, and do not overflow
     * after the last. */
    a->iteration = a->iteration < 1 ? 1 : a->iteration;
    a->iteration += a->iteration < INT64_MAX ? 1 : 0;
    if (a->max_iterations > 0 && a->iteration > a->max_iterations) {
        buf_printf(out_reason, "max_iterations exceeded (%" PRId64 ")", a->max_iterations);
    } else if (a->max_cost_nusd > 0 && a->total_cost_nusd > a->max_cost_nusd) {
        buf_printf(out_reason, "max_cost_usd exceeded (");
        add_dollars(out_reason, a->total_cost_nusd);
        buf_printf(out_reason, " > ");
        add_dollars(out_reason, a->max_cost_nusd);
        buf_printf(out_reason, ")");
    }
}
