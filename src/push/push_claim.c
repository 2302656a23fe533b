/*
 * From lines to claims: scan for waiting jobs, reserve slots for them, and claim that many.
 */
#include <stdlib.h>

#include "base/check.h"
#include "log/log.h"
#include "push/push_int.h"
#include "store/store_job.h"

enum {
    FOUND_MAX = 4096,      /* lines per scan; the next scan continues after them */
    FOUND_BYTES = 4 << 20, /* memory for their names */
    LINE_JOBS_MAX = 128,   /* jobs of one line per claim, so that every line gets some */
    BYTES_MAX = 256 << 20, /* documents of running calls; beyond it, one line per claim */
    AGAIN_MS = 100,        /* delay after a claim that failed, or that got fewer jobs */
};

/* --- scanning, on the core thread --- */

static bool find(void *data, const struct machine_push_line *l)
{
    struct push_sender *s = data;
    struct push_found *f = &s->found[s->found_count];
    s->first_line = l->number + 1;
    if (l->places == 0) {
        return true;
    }
    f->queue = arena_str(s->found_arena, l->queue);
    f->host = arena_str(s->found_arena, l->host);
    f->priority = l->priority;
    f->waiting = l->waiting;
    f->count = l->waiting < l->places ? l->waiting : l->places;
    f->taken = 0;
    s->found_count++;
    return s->found_count < FOUND_MAX && arena_error(s->found_arena) == ERR_OK;
}

static void look_run(struct engine_call *call, struct machine *m)
{
    struct push_sender *s = call->data;
    struct wall now = engine_time(s->config.engine);
    uint32_t first = s->first_line;
    arena_reset(s->found_arena);
    s->found_count = 0;
    machine_each_push_line(m, now, first, find, s);
    if (s->found_count < FOUND_MAX) {
        s->first_line = 0; /* the scan has reached the last line */
    }
    if (s->found_count == 0 && first > 0) {
        machine_each_push_line(m, now, 0, find, s);
        s->first_line = 0;
    }
    struct wall until = machine_push_throttled_until(m, now);
    s->throttled = until.ns != 0 ? until.ns - now.ns : 0;
}

/* --- reserving slots --- */

static int by_priority(const void *a, const void *b)
{
    return (int)((const struct push_found *)a)->priority -
           (int)((const struct push_found *)b)->priority;
}

static size_t take_places(struct push_sender *s, size_t *out_lines)
{
    uint64_t now_ms = uv_now(&s->loop);
    size_t total = 0;
    size_t lines = 0;
    s->more = false;
    for (size_t i = 0; i < s->found_count; i++) {
        struct push_found *f = &s->found[i];
        f->to = push_host__need(s, f->host);
        bool room = lines < LIMIT_PUSH_LINES && (s->bytes < BYTES_MAX || total == 0);
        while (room && f->taken < f->count && f->taken < LINE_JOBS_MAX &&
               total < LIMIT_CLAIM_COUNT && push_host__reserve(f->to, now_ms) != NULL) {
            f->taken++;
            total++;
        }
        lines += f->taken > 0 ? 1 : 0;
        s->more |= f->taken < f->waiting;
        if (f->taken < f->count && f->to->open_until_ms > now_ms &&
            f->to->open_until_ms < s->due_ms) {
            s->due_ms = f->to->open_until_ms;
        }
    }
    *out_lines = lines;
    return total;
}

/* Free the slots for which no job was claimed. */
static void give_back(struct push_sender *s)
{
    for (size_t i = 0; i < s->found_count; i++) {
        struct push_host *h = s->found[i].to;
        while (h != NULL && h->reserved != NULL) {
            struct push_call *c = h->reserved;
            h->reserved = c->next;
            push_host__release(c, COURIER_BROKEN);
        }
    }
    s->found_count = 0;
}

/* --- claiming --- */

static struct push_call *place_of(struct push_sender *s, const struct job *j)
{
    struct buf name;
    buf_init(&name, LIMIT_PUSH_HOST_BYTES);
    push_target_host(j->push, &name);
    struct push_host *h = push_host__need(s, buf_str(&name));
    buf_deinit(&name);
    struct push_call *c = h->reserved;
    CHECK(c != NULL); /* jobs are claimed only for reserved slots of their host */
    h->reserved = c->next;
    return c;
}

/* Returns the due time of a named job; otherwise WALL_NONE. */
static struct wall begin_call(struct push_sender *s, const struct result_item *item)
{
    struct job j;
    struct err err;
    struct arena *a = arena_new(SIZE_MAX); /* the size of a document is limited */
    struct str doc = arena_str(a, item->doc);
    if (store_job_decode(item->id, doc, &j, &err) != ERR_OK) {
        check_fatal("a claimed job cannot be read: %s", err.msg);
    }
    struct push_call *c = place_of(s, &j);
    c->arena = a;
    c->job = j;
    c->bytes = doc.len;
    s->bytes += doc.len;
    c->node.key = str_from(c->job.id.b, ID_BYTES);
    map_add(&s->calls, &c->node);
    push_call__start(c);
    return j.name.len > 0 ? j.due_at : WALL_NONE;
}

static void look_again_soon(struct push_sender *s)
{
    uint64_t at_ms = uv_now(&s->loop) + AGAIN_MS;
    s->due_ms = at_ms < s->due_ms ? at_ms : s->due_ms;
}

/* Scan again if jobs are left: the scan also determines when a throttle that this claim has filled
 * opens again. A claim gets fewer jobs than the scan found if a worker claimed some first or some
 * have expired. It may not have filled the throttle, so another scan follows a little later. */
static void look_after(struct push_sender *s, uint32_t claimed)
{
    s->wanted |= claimed > 0 && s->more;
    if (claimed < s->asked) {
        look_again_soon(s);
    }
}

static void claim_done(struct engine_op *op)
{
    struct push_sender *s = op->data;
    struct arena *a = arena_new(SIZE_MAX);
    struct result r = {0};
    s->claim_busy = false;
    bool ok =
        op->err.code == ERR_OK && result_decode(buf_str(&op->result), a, &r) && r.code == ERR_OK;
    struct wall *due = ARENA_ARRAY(a, struct wall, r.count + 1);
    size_t named = 0;
    if (ok && s->leads) {
        for (uint32_t i = 0; i < r.count; i++) {
            due[named] = begin_call(s, &r.items[i]);
            named += due[named].ns != 0 ? 1 : 0;
        }
    } else if (!ok) {
        if (op->err.code != ERR_LEADER_UNAVAILABLE && op->err.code != ERR_STOPPING) {
            log_warn("deliveries could not be claimed", LOG_Z("error", op->err.msg));
        }
        look_again_soon(s);
    }
    push_meter__end_round(s, due, named);
    give_back(s);
    arena_free(a);
    if (ok) {
        look_after(s, r.count);
    }
    push__step(s);
}

static void claim(struct push_sender *s, size_t lines)
{
    struct command c = {.type = COMMAND_PUSH_CLAIM};
    struct err err;
    c.push_claim.node = str_from_z(s->worker);
    c.push_claim.lease_ms = s->config.lease_ms;
    c.push_claim.lines = calloc(lines, sizeof *c.push_claim.lines);
    CHECK(c.push_claim.lines != NULL);
    for (size_t i = 0; i < s->found_count; i++) {
        const struct push_found *f = &s->found[i];
        if (f->taken > 0) {
            c.push_claim.lines[c.push_claim.count++] = (struct command_push_line){
                .queue = f->queue, .host = f->host, .priority = f->priority, .count = f->taken};
        }
    }
    enum err_code code = engine_op_prepare(s->config.engine, &s->claim_op, &c, &err);
    free(c.push_claim.lines);
    if (code != ERR_OK) {
        log_error("deliveries could not be claimed", LOG_Z("error", err.msg));
        give_back(s);
        look_again_soon(s);
        return;
    }
    s->claim_busy = true;
    engine_submit(s->config.engine, &s->claim_op);
}

static void looked(struct engine_call *call)
{
    struct push_sender *s = call->data;
    size_t lines = 0;
    s->look_busy = false;
    s->due_ms = s->throttled == 0 ? UINT64_MAX
                                  : uv_now(&s->loop) + (uint64_t)(s->throttled / NS_PER_MS) + 1;
    if (s->leads && !s->stopping) {
        if (s->found_count > 1) {
            qsort(s->found, s->found_count, sizeof *s->found, by_priority);
        }
        s->asked = take_places(s, &lines);
        if (s->asked > 0) {
            claim(s, lines);
        } else {
            s->found_count = 0;
        }
    }
    if (!s->claim_busy) {
        push_meter__end_round(s, NULL, 0);
    }
    push__step(s);
}

void push_claim__step(struct push_sender *s)
{
    if (!s->wanted || s->look_busy || s->claim_busy || !s->leads || s->stopping ||
        s->ends > s->config.calls_max) {
        return;
    }
    s->wanted = false;
    push_meter__begin_round(s);
    s->look_busy = engine_run(s->config.engine, &s->look);
}

void push_claim__open(struct push_sender *s)
{
    s->due_ms = UINT64_MAX;
    s->found = calloc(FOUND_MAX, sizeof *s->found);
    CHECK(s->found != NULL);
    s->found_arena = arena_new(FOUND_BYTES);
    s->look = (struct engine_call){.run = look_run, .done = looked, .reply_to = &s->box, .data = s};
    engine_op_init(&s->claim_op);
    s->claim_op.done = claim_done;
    s->claim_op.reply_to = &s->box;
    s->claim_op.data = s;
}

void push_claim__close(struct push_sender *s)
{
    engine_op_deinit(&s->claim_op);
    arena_free(s->found_arena);
    free(s->found);
}
