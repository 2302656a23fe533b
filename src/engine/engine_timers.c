/*
 * The timers: start the work that is due by time. They run only on the leader.
 *
 * The machine reports when the next job, lock, worker or schedule is due; one timer is set for the
 * earliest. When it expires, a tick is submitted, or the due schedules are fired, each with its
 * next run. The next run is computed here, because time zones are data of the node.
 */
#include <stdlib.h>

#include "base/check.h"
#include "base/limits.h"
#include "engine/engine_int.h"
#include "engine/engine_schedule.h"
#include "log/log.h"
#include "os/os_clock.h"

enum {
    /* The wall clock may be set without an effect on the timer, which uses the monotonic clock.
     * So the timer never sleeps longer than this while something is due later. */
    SLEEP_MS_MAX = 30000,
    FIRST_PURGE_MS = 60 * 1000,
};

struct zone_node {
    struct map_node node;
    struct zone *zone;
    char name[];
};

/* Find the zone by name and keep it; NULL if the system does not have it. */
static const struct zone *find_zone(struct engine *e, struct str name, struct err *err)
{
    struct map_node *known = map_find(&e->timers.zones, name);
    struct zone *zone = NULL;
    if (known != NULL) {
        return CONTAINER_OF(known, struct zone_node, node)->zone;
    }
    if (engine_schedule_zone(name, &zone, err) == ERR_OK) {
        struct zone_node *z = calloc(1, sizeof *z + name.len);
        CHECK(z != NULL);
        memcpy(z->name, name.ptr, name.len);
        z->node.key = str_from(z->name, name.len);
        z->zone = zone;
        map_add(&e->timers.zones, &z->node);
    }
    return zone;
}

static void log_schedule(const char *event, struct id schedule, const struct err *err)
{
    char id[ID_TEXT_MAX];
    size_t len = id_format(schedule, ID_SCHEDULE, id);
    log_error(event, LOG_STR("schedule", str_from(id, len)), LOG_Z("error", err->msg));
}

/* The first run after now; 0 if there is none. A schedule that this node cannot compute must not
 * stop the others: without its time zone it uses UTC, without a valid expression it ends.
 *
 * Periods are counted from the run that is due, not from the creation of the record. The first run
 * is one period after the request, which is slightly older than the record; counted from the
 * record, another run would be due a moment later. */
static struct wall next_run(struct engine *e, const struct machine_due_schedule *s, struct wall now)
{
    ATTR_CLEANUP(zone_freep) struct zone *utc = NULL;
    struct wall next = WALL_NONE;
    struct err err;
    const struct zone *zone = find_zone(e, s->timezone, &err);
    if (zone == NULL) {
        log_schedule("schedule_by_utc", s->id, &err);
        utc = zone_new_utc();
        zone = utc;
    }
    if (engine_schedule_next(s->cron, zone, s->next_run, now, &next, &err) != ERR_OK) {
        log_schedule("schedule_ended", s->id, &err);
        return WALL_NONE;
    }
    return next;
}

static void tick_done(struct engine_op *op)
{
    op->engine->timers.tick_busy = false;
    op->engine->timers.ticks += op->err.code == ERR_OK;
    op->engine->timers.tick_errors += op->err.code != ERR_OK;
    engine_timers__look(op->engine);
}

static void fire_done(struct engine_op *op)
{
    struct engine_timers *w = &op->engine->timers;
    w->tick_errors += op->err.code != ERR_OK;
    w->fires_busy--;
    if (w->fires_busy == 0) {
        engine_timers__look(op->engine);
    }
}

static int64_t passed_ms(struct mono since)
{
    return (os_clock_mono().ns - since.ns) / NS_PER_MS;
}

/* Submit one step of a purge. */
static void purge_more(struct engine *e)
{
    struct engine_timers *w = &e->timers;
    struct command c = {.type = COMMAND_PURGE};
    c.purge.retention_ms = e->config.retention_ms;
    w->purge.busy = true;
    w->purge.step_began = os_clock_mono();
    w->purge.began = w->purge.goes_on ? w->purge.began : w->purge.step_began;
    engine_pipe__submit_own(e, &w->purge_op, &c);
}

/* A purge runs in steps until the machine reports that it is done. */
static void purge_done(struct engine_op *op)
{
    struct engine *e = op->engine;
    struct result r;
    struct arena *a = arena_new(LIMIT_ENTRY_BYTES);
    bool more = op->err.code == ERR_OK && result_decode(buf_str(&op->result), a, &r) &&
                r.code == ERR_OK && r.more;
    arena_free(a);
    struct engine_timers *w = &e->timers;
    uint64_t applied = atomic_load(&e->applied_ops);
    struct engine_purge_step step = {.took_ms = passed_ms(w->purge.step_began) + 1,
                                     .passed_ms = passed_ms(w->purge.began),
                                     .interval_ms = e->config.retention_interval_ms,
                                     .others = applied - w->purge.applied};
    w->purge.busy = false;
    w->purge.errors += op->err.code != ERR_OK;
    w->purge.goes_on = more;
    w->purge.applied = applied;
    w->purge.at_ns =
        wall_add_ms(engine__now(e), more ? engine_purge_rest_ms(&step) : step.interval_ms).ns;
    engine_timers__look(e);
}

static void fire(struct engine *e, struct engine_op *op, const struct machine_due_schedule *s,
                 struct wall now)
{
    struct command c = {.type = COMMAND_SCHEDULE_FIRE};
    c.schedule_fire.id = s->id;
    c.schedule_fire.expected_next = s->next_run;
    c.schedule_fire.next = next_run(e, s, now);
    engine_pipe__submit_own(e, op, &c);
}

/* Allocate the memory for firing, which a server without schedules does not need. */
static void need_fires(struct engine_timers *w)
{
    if (w->fires != NULL) {
        return;
    }
    w->fires = calloc(ENGINE_FIRES, sizeof *w->fires);
    w->due = calloc(ENGINE_FIRES, sizeof *w->due);
    CHECK(w->fires != NULL && w->due != NULL);
    for (unsigned i = 0; i < ENGINE_FIRES; i++) {
        engine_op_init(&w->fires[i]);
        w->fires[i].done = fire_done;
    }
}

/* Fire the due schedules in batches, so that they share log entries. Returns the time at which the
 * next one is due. */
static int64_t fire_due(struct engine *e, struct wall now)
{
    struct engine_timers *w = &e->timers;
    struct machine_due_schedule next;
    if (!machine_next_schedule(e->machine, &next)) {
        return INT64_MAX;
    }
    if (next.next_run.ns > now.ns) {
        return next.next_run.ns;
    }
    need_fires(w);
    uint32_t count = machine_due_schedules(e->machine, now, w->due, ENGINE_FIRES);
    w->fires_busy = count; /* set it first: one of them may be refused at once */
    for (uint32_t i = 0; i < count; i++) {
        fire(e, &w->fires[i], &w->due[i], now);
    }
    return INT64_MAX; /* checked again when all are done */
}

/* The first purge begins soon after a start, so that a node that is restarted often purges, too. */
static int64_t first_purge(const struct engine *e, struct wall now)
{
    int64_t ms = e->config.retention_interval_ms;
    return wall_add_ms(now, ms < FIRST_PURGE_MS ? ms : FIRST_PURGE_MS).ns;
}

/* Submit all work that is due. Returns the time at which more is due. */
static int64_t run_due(struct engine *e, struct wall now)
{
    struct engine_timers *w = &e->timers;
    int64_t again = engine_renew__go_on(e, now);
    int64_t next = machine_next_tick(e->machine).ns;
    if (w->tick_busy || w->renewing ||
        !engine_space_allows(e->space.status.level, ENGINE_SPACE_GOES_ON)) {
        next = INT64_MAX; /* checked again when it is done, and when there is space */
    } else if (next <= now.ns) {
        w->tick_busy = true;
        engine_pipe__submit_own(e, &w->tick, &(struct command){.type = COMMAND_TICK});
        next = INT64_MAX;
    }
    next = again < next ? again : next;
    if (w->fires_busy == 0 && engine_space_allows(e->space.status.level, ENGINE_SPACE_ADDS)) {
        int64_t at = fire_due(e, now);
        next = at < next ? at : next;
    }
    if (e->config.retention_ms > 0 && !w->purge.busy) {
        if (w->purge.at_ns == 0) {
            w->purge.at_ns = first_purge(e, now);
        }
        /* Not soon after a clock jump: purged jobs cannot be restored. */
        if (w->purge.at_ns <= now.ns && !engine_now_is_settled(&e->now, os_clock_boot())) {
            w->purge.at_ns = wall_add_ms(now, e->config.max_clock_jump_ms).ns;
        }
        if (w->purge.at_ns <= now.ns) {
            purge_more(e);
        } else if (w->purge.at_ns < next) {
            next = w->purge.at_ns;
        }
    }
    return next;
}

static void timer_cb(uv_timer_t *timer)
{
    struct engine *e = timer->data;
    e->timers.armed_ns = INT64_MAX;
    engine_timers__look(e);
    engine_pipe__pump(e);
}

void engine_timers__look(struct engine *e)
{
    struct engine_timers *w = &e->timers;
    if (!e->leads || e->stopping || e->given_up) {
        return;
    }
    struct wall now = engine__now(e);
    int64_t next = run_due(e, now);
    if (next == w->armed_ns) {
        return;
    }
    w->armed_ns = next;
    if (next == INT64_MAX) {
        (void)uv_timer_stop(&w->timer);
        return;
    }
    int64_t left_ms = (next - now.ns + NS_PER_MS - 1) / NS_PER_MS;
    if (left_ms > SLEEP_MS_MAX) {
        left_ms = SLEEP_MS_MAX;
    }
    uv_update_time(&e->loop);
    CHECK(uv_timer_start(&w->timer, timer_cb, left_ms < 0 ? 0 : (uint64_t)left_ms, 0) == 0);
}

void engine_timers__stop(struct engine *e)
{
    (void)uv_timer_stop(&e->timers.timer);
    e->timers.armed_ns = INT64_MAX;
}

void engine_timers__open(struct engine *e)
{
    struct engine_timers *w = &e->timers;
    CHECK(uv_timer_init(&e->loop, &w->timer) == 0);
    w->timer.data = e;
    w->armed_ns = INT64_MAX;
    map_init(&w->zones);
    engine_op_init(&w->tick);
    engine_op_init(&w->purge_op);
    w->tick.done = tick_done;
    w->purge_op.done = purge_done;
}

static void free_zone(struct map_node *n, void *data)
{
    struct engine *e = data;
    struct zone_node *z = CONTAINER_OF(n, struct zone_node, node);
    map_remove(&e->timers.zones, n);
    zone_free(z->zone);
    free(z);
}

void engine_timers__close(struct engine *e)
{
    struct engine_timers *w = &e->timers;
    engine_op_deinit(&w->tick);
    for (unsigned i = 0; w->fires != NULL && i < ENGINE_FIRES; i++) {
        engine_op_deinit(&w->fires[i]);
    }
    free(w->fires);
    free(w->due);
    engine_op_deinit(&w->purge_op);
    map_each(&w->zones, free_zone, e);
    map_deinit(&w->zones);
    uv_close((uv_handle_t *)&w->timer, NULL);
}
