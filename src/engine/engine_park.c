/*
 * The park: claims that found nothing wait here until one can succeed.
 *
 * A claim waits in the waitlist of each of its queues, in the order of tickets. When a job becomes
 * claimable, or a limit is released, its waitlist may be ready; then as many of the longest-waiting
 * claims are proposed as there are jobs to claim, less those that are in progress already. A claim
 * that finds no job, because another was quicker, keeps its ticket and so its place.
 *
 * A claim whose job is about to become claimable is put into the same entry (engine_follow.c): this
 * is the same claim, only sooner, and if it finds nothing it is parked again like any other.
 *
 * Most limits are released by commands, which the machine reports. Only throttles are released by
 * time, and daily budgets at midnight: a waitlist that waits for these has a time at which it is
 * checked again.
 *
 * A claim that has put a job on hold, because of a budget, may not hold another (engine_pipe.c).
 * While the next job in line is one to be held, this claim keeps waiting, and the claims behind it
 * are proposed.
 */
#include <stdlib.h>

#include "base/check.h"
#include "engine/engine_int.h"
#include "engine/engine_op_int.h"
#include "os/os_clock.h"

static bool ticket_before(const struct heap_node *a, const struct heap_node *b)
{
    return CONTAINER_OF(a, const struct engine_op, end)->ticket <
           CONTAINER_OF(b, const struct engine_op, end)->ticket;
}

static bool name_before(const struct heap_node *a, const struct heap_node *b)
{
    return str_cmp(CONTAINER_OF(a, const struct engine_waitlist, throttle_end)->node.key,
                   CONTAINER_OF(b, const struct engine_waitlist, throttle_end)->node.key) < 0;
}

static void set_timer(struct engine *e);

static struct engine_waitlist *find_waitlist(const struct engine *e, struct str queue)
{
    struct map_node *n = map_find(&e->park.waitlists, queue);
    return n == NULL ? NULL : CONTAINER_OF(n, struct engine_waitlist, node);
}

static struct engine_waitlist *need_waitlist(struct engine *e, struct str queue)
{
    struct engine_waitlist *list = find_waitlist(e, queue);
    if (list == NULL) {
        list = calloc(1, sizeof *list + queue.len);
        CHECK(list != NULL);
        memcpy(list->name, queue.ptr, queue.len);
        list->node.key = str_from(list->name, queue.len);
        list->throttle_end = heap_node_out();
        map_add(&e->park.waitlists, &list->node);
    }
    return list;
}

/* Free a waitlist that has no claims. */
static void drop_waitlist(struct engine *e, struct engine_waitlist *list)
{
    CHECK((list->first == NULL) == (list->last == NULL));
    if (list->first == NULL && list->woken == 0 && !list->maybe_ready) {
        map_remove(&e->park.waitlists, &list->node);
        heap_remove(&e->park.throttle_ends, &list->throttle_end);
        free(list);
    }
}

/* Insert after all claims with an older ticket. For a new claim, this is the end of the list. */
static void join_waitlist(struct engine_waitlist *list, struct engine_waiter *waiter)
{
    struct engine_waiter *before = list->last;
    while (before != NULL && before->op->ticket > waiter->op->ticket) {
        before = before->prev;
    }
    waiter->prev = before;
    waiter->next = before == NULL ? list->first : before->next;
    *(waiter->next == NULL ? &list->last : &waiter->next->prev) = waiter;
    *(before == NULL ? &list->first : &before->next) = waiter;
    CHECK(waiter->prev == NULL || waiter->prev->op->ticket <= waiter->op->ticket);
    CHECK(waiter->next == NULL || waiter->next->op->ticket > waiter->op->ticket);
}

static void leave_waitlist(struct engine_waiter *waiter)
{
    struct engine_waitlist *list = waiter->waitlist;
    *(waiter->prev == NULL ? &list->first : &waiter->prev->next) = waiter->next;
    *(waiter->next == NULL ? &list->last : &waiter->next->prev) = waiter->prev;
}

static void unpark(struct engine *e, struct engine_op *op)
{
    CHECK(op->parked);
    CHECK(op->waiters != NULL);
    CHECK(e->park.count > 0);
    for (size_t i = 0; i < op->claim.queue_count; i++) {
        leave_waitlist(&op->waiters[i]);
        drop_waitlist(e, op->waiters[i].waitlist);
    }
    free(op->waiters);
    op->waiters = NULL;
    heap_remove(&e->park.ends, &op->end);
    op->parked = false;
    e->park.count--;
    CHECK(e->park.count == e->park.ends.count);
}

/* Wait in the waitlists. They are checked in this turn: one may have been skipped because it had
 * no claim. */
static void park(struct engine *e, struct engine_op *op)
{
    CHECK(!op->parked);
    CHECK(op->waiters == NULL);
    CHECK(op->woken_by == NULL);
    op->waiters = calloc(op->claim.queue_count, sizeof *op->waiters);
    CHECK(op->waiters != NULL);
    for (size_t i = 0; i < op->claim.queue_count; i++) {
        struct engine_waiter *waiter = &op->waiters[i];
        waiter->op = op;
        waiter->waitlist = need_waitlist(e, op->claim.queues[i]);
        join_waitlist(waiter->waitlist, waiter);
        engine_park__ready(e, waiter->waitlist->node.key);
    }
    op->parked = true;
    op->waited = true;
    e->park.count++;
    heap_set(&e->park.ends, &op->end, op->deadline_ns);
    CHECK(e->park.count == e->park.ends.count);
    set_timer(e);
    /* A parked claim does not count as pending: it costs the pipeline nothing. */
    engine_op__leave(e, op);
}

/* Could the claim find a job now, or would it have to hold one because of a budget? */
static bool may_succeed(const struct engine *e, const struct engine_op *op, struct wall now)
{
    for (size_t i = 0; i < op->claim.queue_count; i++) {
        struct wall until;
        if (machine_claimable(e->machine, op->claim.queues[i], now, &until) ||
            machine_over_budget(e->machine, op->claim.queues[i], now)) {
            return true;
        }
    }
    return false;
}

bool engine_park__admit(struct engine *e, struct engine_op *op)
{
    struct wall now = engine__now(e);
    CHECK(op->park_ms > 0);
    op->ticket = ++e->park.next_ticket;
    op->deadline_ns = os_clock_mono().ns + op->park_ms * NS_PER_MS;
    if (may_succeed(e, op, now) || machine_worker_is_stale(e->machine, &op->claim, now)) {
        return true;
    }
    park(e, op);
    return false;
}

bool engine_park__again(struct engine *e, struct engine_op *op)
{
    if (e->stopping || !e->leads || op->cancelled || op->deadline_ns <= os_clock_mono().ns) {
        return false;
    }
    buf_clear(&op->result);
    park(e, op);
    return true;
}

void engine_park__returned(struct engine *e, struct engine_op *op)
{
    struct engine_waitlist *list = op->woken_by;
    if (list != NULL) {
        op->woken_by = NULL;
        CHECK(list->woken > 0);
        list->woken--;
        /* There may be more jobs than wake-ups; and if this claim found nothing, there may be a
         * job for the next one. */
        engine_park__ready(e, list->node.key);
        drop_waitlist(e, list);
    }
}

static void mark_ready(struct map_node *node, void *data)
{
    struct engine *e = data;
    struct engine_waitlist *list = CONTAINER_OF(node, struct engine_waitlist, node);
    if (!list->maybe_ready && list->first != NULL) {
        list->maybe_ready = true;
        list->maybe_ready_next = e->park.maybe_ready;
        e->park.maybe_ready = list;
    }
}

void engine_park__ready(struct engine *e, struct str queue)
{
    struct map_node *node = map_find(&e->park.waitlists, queue);
    if (node != NULL) {
        mark_ready(node, e);
    }
    e->park.all_maybe_ready = e->park.all_maybe_ready || queue.len == 0;
}

/* The claim counts as pending again, but is never refused: it was admitted once. */
static void leave_park(struct engine *e, struct engine_op *op, struct engine_waitlist *from)
{
    CHECK(op->woken_by == NULL);
    from->woken++;
    op->woken_by = from;
    unpark(e, op);
    engine_op__arrive(e, op);
}

/* Propose the claim. */
static void wake_claim(struct engine *e, struct engine_op *op, struct engine_waitlist *from)
{
    leave_park(e, op, from);
    engine_pipe__add(e, op);
}

struct engine_op **engine_park__send_along(struct engine *e, uint64_t queue, uint32_t jobs,
                                           bool opened, struct engine_op **last)
{
    struct map_node *n = map_find_hash(&e->park.waitlists, queue);
    struct engine_waitlist *list = n == NULL ? NULL : CONTAINER_OF(n, struct engine_waitlist, node);
    if (list == NULL || list->first == NULL) {
        return last;
    }
    uint32_t places = machine_places(e->machine, list->node.key, engine__now(e), opened);
    uint32_t line = opened ? machine_in_line(e->machine, list->node.key) : jobs;
    uint64_t wanted = 0;
    jobs = line < jobs ? line : jobs;
    while (list->first != NULL && list->woken < places && wanted < jobs) {
        struct engine_op *op = list->first->op;
        wanted += op->claim.count;
        leave_park(e, op, list);
        *last = op;
        last = &op->next;
    }
    *last = NULL;
    return last;
}

/* The next waiter of another claim. A claim that lists a queue twice has two waiters in it. */
static struct engine_waiter *next_claim(const struct engine_waiter *w)
{
    struct engine_waiter *next = w->next;
    while (next != NULL && next->op == w->op) {
        next = next->next;
    }
    return next;
}

/* Propose up to count claims. If the next job is one to be held, skip claims that may not hold
 * one; *until is then the time at which its budget is released. */
static void wake_claims(struct engine *e, struct engine_waitlist *list, uint32_t count,
                        struct wall now, struct wall *until)
{
    bool asked = false;
    bool is_held = false;
    struct engine_waiter *next;
    for (struct engine_waiter *w = list->first; w != NULL && list->woken < count; w = next) {
        next = next_claim(w);
        if (w->op->claim.no_hold && !asked) {
            asked = true;
            is_held = machine_next_is_held(e->machine, list->node.key, now, until);
        }
        if (!w->op->claim.no_hold || !is_held) {
            wake_claim(e, w->op, list); /* frees w */
        }
    }
}

static void dispatch(struct engine *e, struct engine_waitlist *list)
{
    struct wall now = engine__now(e);
    struct wall until;
    CHECK(list->maybe_ready);
    if (machine_claimable(e->machine, list->node.key, now, &until)) {
        uint32_t count = machine_claimable_count(e->machine, list->node.key, now);
        wake_claims(e, list, count, now, &until);
    }
    if (list->first != NULL && until.ns != 0) {
        heap_set(&e->park.throttle_ends, &list->throttle_end,
                 os_clock_mono().ns + (until.ns - now.ns));
        set_timer(e);
    }
}

void engine_park__wake(struct engine *e)
{
    if (e->park.all_maybe_ready) {
        e->park.all_maybe_ready = false;
        map_each(&e->park.waitlists, mark_ready, e);
    }
    while (e->park.maybe_ready != NULL) {
        struct engine_waitlist *list = e->park.maybe_ready;
        e->park.maybe_ready = list->maybe_ready_next;
        dispatch(e, list);
        list->maybe_ready = false;
        drop_waitlist(e, list);
    }
}

/* End a parked claim without a job. */
static void end_empty(struct engine *e, struct engine_op *op)
{
    struct result nothing = {0};
    unpark(e, op);
    buf_clear(&op->result);
    result_encode(&nothing, &op->result);
    engine_op__finish(e, op);
}

void engine_park__cancel(struct engine *e, struct engine_op *op)
{
    end_empty(e, op);
}

static void timer_cb(uv_timer_t *timer)
{
    struct engine *e = timer->data;
    int64_t now = os_clock_mono().ns;
    struct heap_node *first;
    while ((first = heap_first_until(&e->park.ends, now)) != NULL) {
        end_empty(e, CONTAINER_OF(first, struct engine_op, end));
    }
    while ((first = heap_first_until(&e->park.throttle_ends, now)) != NULL) {
        heap_remove(&e->park.throttle_ends, first);
        engine_park__ready(e, CONTAINER_OF(first, struct engine_waitlist, throttle_end)->node.key);
    }
    engine_park__wake(e);
    set_timer(e);
    engine_pipe__pump(e);
}

static void set_timer(struct engine *e)
{
    int64_t end = heap_first_key(&e->park.ends);
    int64_t throttle_end = heap_first_key(&e->park.throttle_ends);
    if (heap_first(&e->park.ends) == NULL) {
        (void)uv_timer_stop(&e->park.timer);
        return;
    }
    int64_t next = throttle_end < end ? throttle_end : end;
    int64_t left_ns = next - os_clock_mono().ns;
    uint64_t left_ms = left_ns <= 0 ? 0 : (uint64_t)((left_ns + NS_PER_MS - 1) / NS_PER_MS);
    uv_update_time(&e->loop);
    CHECK(uv_timer_start(&e->park.timer, timer_cb, left_ms, 0) == 0);
}

void engine_park__release_all(struct engine *e, enum err_code code)
{
    struct heap_node *first;
    while ((first = heap_first(&e->park.ends)) != NULL) {
        struct engine_op *op = CONTAINER_OF(first, struct engine_op, end);
        if (code == ERR_STOPPING) {
            end_empty(e, op); /* the contract: long polls return "no job" early */
        } else {
            unpark(e, op);
            (void)err_set_default(&op->err, code);
            engine_op__finish(e, op);
        }
    }
}

void engine_park__open(struct engine *e)
{
    map_init(&e->park.waitlists);
    heap_init(&e->park.ends, ticket_before);
    heap_init(&e->park.throttle_ends, name_before);
    CHECK(uv_timer_init(&e->loop, &e->park.timer) == 0);
    e->park.timer.data = e;
}

void engine_park__close(struct engine *e)
{
    CHECK(e->park.count == 0);
    CHECK(e->park.ends.count == 0);
    engine_park__wake(e); /* free waitlists that were ready but had no claims */
    heap_deinit(&e->park.ends);
    heap_deinit(&e->park.throttle_ends);
    map_deinit(&e->park.waitlists);
    uv_close((uv_handle_t *)&e->park.timer, NULL);
}
