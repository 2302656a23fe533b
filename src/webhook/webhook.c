#include "webhook/webhook.h"

#include <pthread.h>
#include <stdlib.h>

#include "base/check.h"
#include "base/limits.h"
#include "log/log.h"
#include "webhook/webhook_int.h"

enum {
    PAGES_BYTES = 8 << 20,
    MARK_MS = 1000, /* interval of reports: one small log entry per second at most */
};

static void look(struct webhook_sender *s);

/* ---- reporting positions to the machine ---- */

static void mark_item(struct webhook_line *l, struct command_webhook_mark_item *out)
{
    l->mark_sent = webhook_line__position(l);
    l->results_sent = l->results;
    *out = (struct command_webhook_mark_item){
        .id = l->id, .created_at = l->created_at, .position = l->mark_sent};
    if (l->results != l->results_marked) {
        out->attempted = true;
        out->status = l->last_status;
        out->error = str_from_z(l->last_error);
        out->at = l->last_at;
    }
}

static void mark_done(struct engine_op *op)
{
    struct webhook_sender *s = op->data;
    s->mark_busy = false;
    if (op->err.code == ERR_OK) {
        for (struct webhook_line *l = s->lines; l != NULL; l = l->next) {
            l->marked = l->mark_sent;
            l->results_marked = l->results_sent;
        }
    } else if (op->err.code != ERR_LEADER_UNAVAILABLE && op->err.code != ERR_STOPPING) {
        log_warn("webhook positions not stored", LOG_Z("error", op->err.msg));
    }
    s->mark_due_ms = uv_now(&s->loop) + MARK_MS;
    look(s);
}

/* For a line that is not in the command, mark_sent equals marked: mark_done leaves it unchanged. */
static void submit_marks(struct webhook_sender *s, size_t count)
{
    struct command c = {.type = COMMAND_WEBHOOK_MARK};
    struct err err;
    c.webhook_mark.items = calloc(count, sizeof *c.webhook_mark.items);
    CHECK(c.webhook_mark.items != NULL);
    for (struct webhook_line *l = s->lines; l != NULL; l = l->next) {
        if (webhook_line__is_dirty(l)) {
            mark_item(l, &c.webhook_mark.items[c.webhook_mark.count++]);
        }
    }
    enum err_code code = engine_op_prepare(s->config.engine, &s->mark_op, &c, &err);
    free(c.webhook_mark.items);
    if (code != ERR_OK) { /* retried with the next report */
        log_warn("webhook positions not stored", LOG_Z("error", err.msg));
        s->mark_due_ms = uv_now(&s->loop) + MARK_MS;
        return;
    }
    s->mark_busy = true;
    engine_submit(s->config.engine, &s->mark_op);
}

/* Report changed positions if it is time; at once while stopping. */
static void report(struct webhook_sender *s)
{
    size_t dirty = 0;
    for (struct webhook_line *l = s->lines; l != NULL; l = l->next) {
        dirty += webhook_line__is_dirty(l) ? 1 : 0;
    }
    bool due = s->stopping || uv_now(&s->loop) >= s->mark_due_ms;
    if (dirty > 0 && due && !s->mark_busy) {
        submit_marks(s, dirty);
    }
}

/* ---- the list of webhooks ---- */

static struct webhook_line *find(const struct webhook_sender *s, struct str id, struct wall created)
{
    for (struct webhook_line *l = s->lines; l != NULL; l = l->next) {
        if (str_eq(l->id, id) && l->created_at.ns == created.ns) {
            return l;
        }
    }
    return NULL;
}

static void take_up(void *data, struct str id, struct str value)
{
    struct webhook_sender *s = data;
    struct store_webhook rec;
    if (!store_record_decode_webhook(value, &rec)) {
        check_fatal("the record of a webhook is damaged");
    }
    if (!rec.enabled) {
        return;
    }
    struct webhook_line *l = find(s, id, rec.created_at);
    if (l == NULL) {
        l = webhook_line__new(s, id, &rec);
        l->next = s->lines;
        s->lines = l;
    } else {
        webhook_line__update(l, id, &rec);
    }
    l->listed = true;
}

/* Remove lines that are no longer in the list, and cancel their requests. */
static void drop_lines(struct webhook_sender *s, bool all)
{
    struct webhook_line **at = &s->lines;
    while (*at != NULL) {
        struct webhook_line *l = *at;
        if (all || !l->listed) {
            *at = l->next;
            webhook_line__free(l);
        } else {
            at = &l->next;
        }
    }
}

static void read_list(struct webhook_sender *s)
{
    s->changes =
        engine_notifier_webhook_changes(s->notifier); /* read first: later changes are seen */
    for (struct webhook_line *l = s->lines; l != NULL; l = l->next) {
        l->listed = false;
    }
    store_each(engine_store(s->config.engine), STORE_KIND_WEBHOOK, take_up, s);
    drop_lines(s, false);
}

/* Only the leader delivers. */
static void follow(struct webhook_sender *s)
{
    bool leads = engine_leads(s->config.engine);
    bool changed =
        leads && (!s->leads || s->changes != engine_notifier_webhook_changes(s->notifier));
    bool led = s->leads;
    s->leads = leads;
    if (led && !leads) {
        drop_lines(s, true);
    }
    if (changed) {
        read_list(s);
    }
}

/* ---- time ---- */

static void show_courier(struct webhook_sender *s)
{
    struct courier_numbers n = courier_numbers(s->courier);
    atomic_store(&s->counters.slow, n.slow);
    atomic_store(&s->counters.hosts_hung, n.hosts_hung);
    atomic_store(&s->counters.held_back, n.lines_waiting);
}

static void timer_cb(uv_timer_t *timer)
{
    look(timer->data);
}

/* Set the timer for the next event: the end of a pause, a request that becomes slow, or a
 * report. */
static void arm(struct webhook_sender *s)
{
    uint64_t now_ms = uv_now(&s->loop);
    uint64_t due_ms = courier_due_ms(s->courier);
    for (struct webhook_line *l = s->lines; l != NULL; l = l->next) {
        due_ms = l->due_ms < due_ms ? l->due_ms : due_ms;
        if (!s->mark_busy && webhook_line__is_dirty(l) && s->mark_due_ms < due_ms) {
            due_ms = s->mark_due_ms;
        }
    }
    show_courier(s);
    if (due_ms == UINT64_MAX) {
        (void)uv_timer_stop(&s->timer);
    } else {
        uint64_t in_ms = due_ms > now_ms ? due_ms - now_ms : 0;
        CHECK(uv_timer_start(&s->timer, timer_cb, in_ms, 0) == 0);
    }
}

static void more_cb(uv_idle_t *idle)
{
    look(idle->data);
}

/* ---- shutdown ---- */

/* Stopping: a last report, then close everything. */
static void wind_up(struct webhook_sender *s)
{
    if (s->leads && !s->last_report && !s->mark_busy) {
        s->last_report = true;
        report(s);
    }
    if (s->mark_busy || s->closing) {
        return;
    }
    s->closing = true;
    drop_lines(s, true);
    outgoing_close(s->outgoing);
    engine_notifier_close(s->notifier);
    uv_close((uv_handle_t *)&s->timer, NULL);
    uv_close((uv_handle_t *)&s->more, NULL);
    mailbox_close(&s->box);
}

static void deliver_stop(struct msg *m)
{
    struct webhook_sender *s = CONTAINER_OF(m, struct webhook_sender, stop_msg);
    s->stopping = true;
    (void)uv_timer_stop(&s->timer);
    (void)uv_idle_stop(&s->more);
    for (struct webhook_line *l = s->lines; l != NULL; l = l->next) {
        webhook_line__break_off(l);
    }
    wind_up(s);
}

/* ---- main ---- */

static void look(struct webhook_sender *s)
{
    bool more = false;
    if (s->stopping) {
        wind_up(s);
        return;
    }
    follow(s);
    courier_turn(s->courier, uv_now(&s->loop));
    engine_notifier_listen(s->notifier, s->lines != NULL);
    for (struct webhook_line *l = s->lines; l != NULL; l = l->next) {
        more |= webhook_line__step(l);
    }
    CHECK((more ? uv_idle_start(&s->more, more_cb) : uv_idle_stop(&s->more)) == 0);
    report(s);
    arm(s);
}

void webhook__moved(struct webhook_line *l)
{
    struct webhook_sender *s = l->sender;
    if (webhook_line__step(l)) {
        CHECK(uv_idle_start(&s->more, more_cb) == 0);
    }
    report(s);
    arm(s);
}

/* Called while another line's request ends. That caller arms the timer. */
void webhook__has_place(struct courier_line *place)
{
    struct webhook_line *l = CONTAINER_OF(place, struct webhook_line, place);
    struct webhook_sender *s = l->sender;
    if (!s->stopping && s->leads && !l->dropped && webhook_line__step(l)) {
        CHECK(uv_idle_start(&s->more, more_cb) == 0);
    }
}

static void told(void *data)
{
    look(data);
}

static void sender_main(void *data)
{
    struct webhook_sender *s = data;
    struct courier_config courier = courier_config_default();
    struct outgoing_config outgoing = {.guard = s->config.guard,
                                       .connections_max = courier.calls_max,
                                       .user_agent = s->config.user_agent};
    (void)pthread_setname_np(pthread_self(), "webhooks");
    CHECK(uv_loop_init(&s->loop) == 0);
    mailbox_open(&s->box, &s->loop);
    CHECK(uv_timer_init(&s->loop, &s->timer) == 0);
    CHECK(uv_idle_init(&s->loop, &s->more) == 0);
    s->timer.data = s->more.data = s;
    s->pages = event_pages_new(PAGES_BYTES);
    s->outgoing = outgoing_open(&s->loop, &outgoing);
    s->courier = courier_new(&courier);
    engine_op_init(&s->mark_op);
    s->mark_op.done = mark_done;
    s->mark_op.reply_to = &s->box;
    s->mark_op.data = s;
    s->notifier = engine_notifier_open(s->config.engine, &s->box, told, s);
    uv_sem_post(&s->opened);
    look(s);
    CHECK(uv_run(&s->loop, UV_RUN_DEFAULT) == 0);
    engine_op_deinit(&s->mark_op);
    courier_free(s->courier);
    event_pages_free(s->pages);
    mailbox_deinit(&s->box);
    CHECK(uv_loop_close(&s->loop) == 0);
}

struct webhook_sender *webhook_open(const struct webhook_config *config)
{
    struct webhook_sender *s = calloc(1, sizeof *s);
    CHECK(s != NULL);
    s->config = *config;
    CHECK(uv_sem_init(&s->opened, 0) == 0);
    CHECK(uv_thread_create(&s->thread, sender_main, s) == 0);
    uv_sem_wait(&s->opened);
    return s;
}

void webhook_close(struct webhook_sender *s)
{
    if (s == NULL) {
        return;
    }
    s->stop_msg.deliver = deliver_stop;
    bool posted = mailbox_post(&s->box, &s->stop_msg);
    CHECK(posted);
    CHECK(uv_thread_join(&s->thread) == 0);
    uv_sem_destroy(&s->opened);
    free(s);
}

void webhook_stats(const struct webhook_sender *s, struct webhook_stats *out)
{
#define GET(name) out->name = atomic_load(&s->counters.name);
    WEBHOOK_STATS_LIST(GET)
#undef GET
}
