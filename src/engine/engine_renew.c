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
    AGAIN_MS = 100,  /* after a step was refused, until the next attempt */
};

static void step(struct engine *e);

/* A step is refused while leadership is being handed over, which can fail, and while the disk is
 * full. The leases are then still to be renewed. */
static void done(struct engine_op *op)
{
    struct engine *e = op->engine;
    struct engine_timers *w = &e->timers;
    bool good = op->err.code == ERR_OK;
    engine_op_deinit(op);
    free(op);
    w->renew_busy = false;
    if (!good) {
        w->renew_ns = e->leads ? wall_add_ms(engine__now(e), AGAIN_MS).ns : 0;
    } else if (w->renew_more && ++w->renew_steps < STEPS_MAX) {
        step(e);
    } else {
        w->renewing = false;
    }
    engine_timers__look(e);
}

/* Renew some of the leases that expire soon. Renewed leases are not listed again. */
static void step(struct engine *e)
{
    struct engine_timers *w = &e->timers;
    struct id *ids = calloc(LIMIT_HEARTBEAT_JOBS, sizeof *ids);
    struct command_heartbeat_item *items = calloc(LIMIT_HEARTBEAT_JOBS, sizeof *items);
    struct command c = {.type = COMMAND_HEARTBEAT};
    CHECK(ids != NULL && items != NULL);
    struct wall before = wall_add_ms(engine__now(e), HEARD_WITHIN_MS);
    uint32_t count =
        machine_ending_leases(e->machine, before, ids, LIMIT_HEARTBEAT_JOBS, &w->renew_more);
    for (uint32_t i = 0; i < count; i++) {
        items[i].id = ids[i];
    }
    c.heartbeat.items = items;
    c.heartbeat.count = count;
    w->renewing = w->renew_busy = count > 0;
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
    struct engine_timers *w = &e->timers;
    if (!engine_ask_has_peers(e)) {
        return;
    }
    w->renewing = true;
    w->renew_steps = 0;
    if (!w->renew_busy) {
        step(e);
    }
}

int64_t engine_renew__go_on(struct engine *e, struct wall now)
{
    struct engine_timers *w = &e->timers;
    if (!engine_space_allows(e->space.status.level, ENGINE_SPACE_GOES_ON)) {
        return INT64_MAX; /* called again when there is space */
    }
    if (w->renewing && !w->renew_busy && w->renew_ns <= now.ns) {
        step(e);
    }
    return w->renewing && !w->renew_busy ? w->renew_ns : INT64_MAX;
}
