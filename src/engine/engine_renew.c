/*
 * Without a leader, no lease can be renewed. A new leader therefore first renews the leases that
 * would expire before their workers can reach it. Only then does it let leases expire.
 */
#include <stdlib.h>

#include "base/check.h"
#include "base/limits.h"
#include "engine/engine_int.h"
#include "log/log.h"

enum {
    /* Workers send heartbeats every 15 s (contract), and have to find the new leader first. */
    HEARD_WITHIN_MS = 20000,
    STEPS_MAX = 100, /* some leases are listed again: those of jobs that time out in any case */
};

static void step(struct engine *e);

static void done(struct engine_op *op)
{
    struct engine *e = op->engine;
    bool good = op->err.code == ERR_OK;
    engine_op_deinit(op);
    free(op);
    if (good && e->timers.renew_more && ++e->timers.renew_steps < STEPS_MAX) {
        step(e);
    } else {
        e->timers.renewing = false;
        engine_timers__look(e);
    }
}

/* Renew some of the leases that expire soon. Renewed leases are not listed again. */
static void step(struct engine *e)
{
    struct id *ids = calloc(LIMIT_HEARTBEAT_JOBS, sizeof *ids);
    struct command_heartbeat_item *items = calloc(LIMIT_HEARTBEAT_JOBS, sizeof *items);
    struct command c = {.type = COMMAND_HEARTBEAT};
    CHECK(ids != NULL && items != NULL);
    struct wall before = wall_add_ms(engine__now(e), HEARD_WITHIN_MS);
    uint32_t count =
        machine_ending_leases(e->machine, before, ids, LIMIT_HEARTBEAT_JOBS, &e->timers.renew_more);
    for (uint32_t i = 0; i < count; i++) {
        items[i].id = ids[i];
    }
    c.heartbeat.items = items;
    c.heartbeat.count = count;
    e->timers.renewing = count > 0;
    if (count > 0) {
        struct engine_op *op = calloc(1, sizeof *op);
        CHECK(op != NULL);
        engine_op_init(op);
        op->done = done;
        log_info("leases renewed", LOG_U64("count", count));
        engine_pipe__submit_own(e, op, &c);
    }
    free(items);
    free(ids);
}

void engine_renew__begin(struct engine *e)
{
    if (!e->timers.renewing && engine_ask_has_peers(e)) {
        e->timers.renew_steps = 0;
        step(e);
    }
}
