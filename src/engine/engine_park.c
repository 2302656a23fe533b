/*
 * The park: claims that found nothing wait here until one can succeed.
 *
 * A claim waits in the hall of each of its queues, in the order of tickets. When a job comes into
 * line, or a limit gives way, its hall becomes hot; then as many of the longest-waiting claims are
 * sent off as there are jobs to claim, less those that are on their way already. A claim that comes
 * back empty, because somebody was quicker, keeps its ticket and so its place.
 *
 * A claim whose job is about to come goes along with it, in the same entry (engine_follow.c): that
 * is the same claim, only sooner, and if it finds nothing it comes back as any other.
 *
 * Limits give way by commands, which the machine tells; only a throttle gives way by itself. A hall
 * that it keeps waiting has a time at which it is looked at again.
 */
#include <stdlib.h>

#include "base/check.h"
#include "engine/engine_int.h"
#include "os/os_clock.h"

static bool ticket_before(const struct heap_node *a, const struct heap_node *b)
{
    return CONTAINER_OF(a, const struct engine_op, end)->ticket <
           CONTAINER_OF(b, const struct engine_op, end)->ticket;
}

static bool name_before(const struct heap_node *a, const struct heap_node *b)
{
    return str_cmp(CONTAINER_OF(a, const struct engine_hall, opening)->node.key,
                   CONTAINER_OF(b, const struct engine_hall, opening)->node.key) < 0;
}

static void set_timer(struct engine *e);

static struct engine_hall *find_hall(const struct engine *e, struct str queue)
{
    struct map_node *n = map_find(&e->park.halls, queue);
    return n == NULL ? NULL : CONTAINER_OF(n, struct engine_hall, node);
}

static struct engine_hall *need_hall(struct engine *e, struct str queue)
{
    struct engine_hall *h = find_hall(e, queue);
    if (h == NULL) {
        h = calloc(1, sizeof *h + queue.len);
        CHECK(h != NULL);
        memcpy(h->name, queue.ptr, queue.len);
        h->node.key = str_from(h->name, queue.len);
        h->opening = heap_node_out();
        map_add(&e->park.halls, &h->node);
    }
    return h;
}

/* A hall that nobody needs any more goes. */
static void leave_hall(struct engine *e, struct engine_hall *h)
{
    CHECK((h->first == NULL) == (h->last == NULL));
    if (h->first == NULL && h->woken == 0 && !h->hot) {
        map_remove(&e->park.halls, &h->node);
        heap_remove(&e->park.openings, &h->opening);
        free(h);
    }
}

/* Behind everyone with an older ticket; that is at the end, but for those that came back. */
static void stand_in_hall(struct engine_hall *h, struct engine_link *l)
{
    struct engine_link *before = h->last;
    while (before != NULL && before->op->ticket > l->op->ticket) {
        before = before->prev;
    }
    l->prev = before;
    l->next = before == NULL ? h->first : before->next;
    *(l->next == NULL ? &h->last : &l->next->prev) = l;
    *(before == NULL ? &h->first : &before->next) = l;
    CHECK(l->prev == NULL || l->prev->op->ticket <= l->op->ticket);
    CHECK(l->next == NULL || l->next->op->ticket > l->op->ticket);
}

static void unlink_from_hall(struct engine_link *l)
{
    struct engine_hall *h = l->hall;
    *(l->prev == NULL ? &h->first : &l->prev->next) = l->next;
    *(l->next == NULL ? &h->last : &l->next->prev) = l->prev;
}

static void unpark(struct engine *e, struct engine_op *op)
{
    CHECK(op->parked);
    CHECK(op->links != NULL);
    CHECK(e->park.count > 0);
    for (size_t i = 0; i < op->claim.queue_count; i++) {
        unlink_from_hall(&op->links[i]);
        leave_hall(e, op->links[i].hall);
    }
    free(op->links);
    op->links = NULL;
    heap_remove(&e->park.ends, &op->end);
    op->parked = false;
    e->park.count--;
    CHECK(e->park.count == e->park.ends.count);
}

/* Wait in the halls. They are looked at in this turn: one may have been skipped for want of
 * somebody who waits. */
static void park(struct engine *e, struct engine_op *op)
{
    CHECK(!op->parked);
    CHECK(op->links == NULL);
    CHECK(op->woken_by == NULL);
    op->links = calloc(op->claim.queue_count, sizeof *op->links);
    CHECK(op->links != NULL);
    for (size_t i = 0; i < op->claim.queue_count; i++) {
        struct engine_link *l = &op->links[i];
        l->op = op;
        l->hall = need_hall(e, op->claim.queues[i]);
        stand_in_hall(l->hall, l);
        engine_park__ready(e, l->hall->node.key);
    }
    op->parked = true;
    op->waited = true;
    e->park.count++;
    heap_set(&e->park.ends, &op->end, op->deadline_ns);
    CHECK(e->park.count == e->park.ends.count);
    set_timer(e);
    /* A parked claim does not count as pending: it costs the pipeline nothing. */
    engine_pipe__leave(e, op);
}

/* Could the claim find something now, or will a budget have a word about it? */
static bool may_succeed(const struct engine *e, const struct engine_op *op, struct wall now)
{
    for (size_t i = 0; i < op->claim.queue_count; i++) {
        struct wall until;
        if (machine_claimable(e->machine, op->claim.queues[i], now, &until) ||
            machine_over_budget(e->machine, op->claim.queues[i])) {
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
    struct engine_hall *h = op->woken_by;
    if (h != NULL) {
        op->woken_by = NULL;
        CHECK(h->woken > 0);
        h->woken--;
        /* There may be more jobs than wake-ups; and if it came back empty, one may still be there
         * for the next. */
        engine_park__ready(e, h->node.key);
        leave_hall(e, h);
    }
}

void engine_park__ready(struct engine *e, struct str queue)
{
    struct engine_hall *h = find_hall(e, queue);
    if (h != NULL && !h->hot && h->first != NULL) {
        h->hot = true;
        h->hot_next = e->park.hot;
        e->park.hot = h;
    }
}

/* It counts as pending again, but is never refused: it was let in once. */
static void leave_park(struct engine *e, struct engine_op *op, struct engine_hall *from)
{
    CHECK(op->woken_by == NULL);
    from->woken++;
    op->woken_by = from;
    unpark(e, op);
    engine_pipe__arrive(e, op);
}

/* Off to the machine. */
static void send_off(struct engine *e, struct engine_op *op, struct engine_hall *from)
{
    leave_park(e, op, from);
    engine_pipe__add(e, op);
}

struct engine_op **engine_park__send_along(struct engine *e, uint64_t queue, uint32_t jobs,
                                           bool opened, struct engine_op **last)
{
    struct map_node *n = map_find_hash(&e->park.halls, queue);
    struct engine_hall *h = n == NULL ? NULL : CONTAINER_OF(n, struct engine_hall, node);
    if (h == NULL || h->first == NULL) {
        return last;
    }
    uint32_t places = machine_places(e->machine, h->node.key, engine__now(e), opened);
    uint32_t line = opened ? machine_in_line(e->machine, h->node.key) : jobs;
    uint64_t wanted = 0;
    jobs = line < jobs ? line : jobs;
    while (h->first != NULL && h->woken < places && wanted < jobs) {
        struct engine_op *op = h->first->op;
        wanted += op->claim.count;
        leave_park(e, op, h);
        *last = op;
        last = &op->next;
    }
    *last = NULL;
    return last;
}

static void cool_down(struct engine *e, struct engine_hall *h)
{
    struct wall now = engine__now(e);
    struct wall until;
    uint32_t count = 0;
    CHECK(h->hot);
    if (machine_claimable(e->machine, h->node.key, now, &until)) {
        count = machine_claimable_count(e->machine, h->node.key, now);
    }
    while (h->first != NULL && h->woken < count) {
        send_off(e, h->first->op, h);
    }
    if (h->first != NULL && until.ns != 0) {
        heap_set(&e->park.openings, &h->opening, os_clock_mono().ns + (until.ns - now.ns));
        set_timer(e);
    }
}

void engine_park__wake(struct engine *e)
{
    while (e->park.hot != NULL) {
        struct engine_hall *h = e->park.hot;
        e->park.hot = h->hot_next;
        cool_down(e, h);
        h->hot = false;
        leave_hall(e, h);
    }
}

/* End a parked claim without a job. */
static void end_empty(struct engine *e, struct engine_op *op)
{
    struct result nothing = {0};
    unpark(e, op);
    buf_clear(&op->result);
    result_encode(&nothing, &op->result);
    engine_pipe__finish(e, op);
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
    while ((first = heap_first_until(&e->park.openings, now)) != NULL) {
        heap_remove(&e->park.openings, first);
        engine_park__ready(e, CONTAINER_OF(first, struct engine_hall, opening)->node.key);
    }
    engine_park__wake(e);
    set_timer(e);
    engine_pipe__pump(e);
}

static void set_timer(struct engine *e)
{
    int64_t end = heap_first_key(&e->park.ends);
    int64_t opening = heap_first_key(&e->park.openings);
    if (heap_first(&e->park.ends) == NULL) {
        (void)uv_timer_stop(&e->park.timer);
        return;
    }
    int64_t next = opening < end ? opening : end;
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
            end_empty(e, op); /* the contract: long polls answer "no job" early */
        } else {
            unpark(e, op);
            (void)err_set_default(&op->err, code);
            engine_pipe__finish(e, op);
        }
    }
}

void engine_park__open(struct engine *e)
{
    map_init(&e->park.halls);
    heap_init(&e->park.ends, ticket_before);
    heap_init(&e->park.openings, name_before);
    CHECK(uv_timer_init(&e->loop, &e->park.timer) == 0);
    e->park.timer.data = e;
}

void engine_park__close(struct engine *e)
{
    CHECK(e->park.count == 0);
    CHECK(e->park.ends.count == 0);
    engine_park__wake(e); /* halls that were hot for nobody go */
    heap_deinit(&e->park.ends);
    heap_deinit(&e->park.openings);
    map_deinit(&e->park.halls);
    uv_close((uv_handle_t *)&e->park.timer, NULL);
}
