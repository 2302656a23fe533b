/*
 * The writer: a thread with a loop, subscribed to the engine's feed.
 *
 *   start --> file up to date?  -----> [ take --> write --> … --> words --> idle ]
 *                  | behind: compare        | damaged, or requested
 *                  | unusable: build  <-----+
 *
 * A turn takes up to TAKE_MAX ids and writes them in one transaction with the watermark. When the
 * feed is empty, the full text is updated in chunks; between two chunks the feed is checked again.
 * A change is not written at once but after linger_ms, unless a question waits for it: a job that
 * is enqueued, claimed and completed within that time costs one row instead of three. Under load
 * the feed is never empty, so the ids are counted: a turn takes only as many as were waiting
 * linger_ms ago.
 *
 * After a turn, the writer rests for a while if others need the processors more: view_pace.c.
 *
 * What was taken from the feed is kept until it is written. If the disk is full, the same
 * transaction is repeated until it succeeds, and nothing is lost. Before the disk is full, writing
 * stops: view_space.c.
 */
#include <pthread.h>
#include <stdlib.h>

#include "base/check.h"
#include "log/log.h"
#include "os/os_clock.h"
#include "view/view_writer_int.h"

enum {
    TAKE_MAX = 4096, /* a transaction has a cost of its own */
    RETRY_MS = 1000,
    REBUILD_RETRY_MS = 10000, /* each attempt writes the complete file */
    SPACE_RETRY_MS = 1000,
    TURNS_PER_SHRINK = 16, /* while the feed is never empty */
    TURNS_PER_LOG_LOOK = 8,
    DRAIN_MS = 2000,      /* maximum time of writing before the end, plus one turn */
    TURNS_PER_WORDS = 16, /* write turns per turn of the full text, while the feed is not empty */
    WORDS_LINGER_MS = 500,
    WORDS_WAIT_MAX = 64 * VIEW_WORDS_CHUNK, /* maximum of texts that wait while the writer rests */
};

#define ALL UINT64_MAX

static void go_on(struct view_writer *w);

/* Take everything that is in the feed, without delay. */
static void look_now(struct view_writer *w)
{
    w->look = true;
    w->due = ALL;
}

static void on_shrink_timer(uv_timer_t *timer)
{
    struct view_writer *w = timer->data;
    w->shrink_due = true;
    go_on(w);
}

/* Something was written: later there may be unused pages. */
static void shrink_later(struct view_writer *w)
{
    if (uv_is_active((uv_handle_t *)&w->shrink_timer) == 0) {
        CHECK(uv_timer_start(&w->shrink_timer, on_shrink_timer, (uint64_t)w->view->config.shrink_ms,
                             0) == 0);
    }
}

static void on_words_timer(uv_timer_t *timer);

static void words_later(struct view_writer *w)
{
    CHECK(uv_timer_start(&w->words_timer, on_words_timer, WORDS_LINGER_MS, 0) == 0);
}

static bool words_can_wait(const struct view_writer *w)
{
    return w->status.text_lag < WORDS_WAIT_MAX && view_pace__is_pressed(&w->pace);
}

static void on_words_timer(uv_timer_t *timer)
{
    struct view_writer *w = timer->data;
    if (words_can_wait(w)) {
        words_later(w);
        return;
    }
    w->words_due = true;
    go_on(w);
}

static void publish(struct view_writer *w)
{
    if (w->ready) {
        w->status.text_lag = view_words__lag(&w->rows);
        w->words_behind = w->status.text_lag > 0;
        w->words_complete = w->words_behind ? w->words_complete : w->complete;
    }
    if (w->words_behind && !w->words_due && uv_is_active((uv_handle_t *)&w->words_timer) == 0) {
        words_later(w);
    }
    view__publish(w->view, &w->status, w->complete, w->words_complete);
}

static void set_timer(struct view_writer *w, uint64_t ms);

/* Handle an error: retry after ms, or rebuild a damaged file. A full disk is logged once, until
 * something is written again. */
static void trouble(struct view_writer *w, const struct err *err, const char *doing, uint64_t ms)
{
    bool full = err->code == ERR_NO_SPACE;
    if (!full || !w->status.low_space) {
        log_error("search index update failed", LOG_Z("doing", doing), LOG_Z("error", err->msg));
    }
    w->status.low_space = full;
    if (err->code == ERR_CORRUPT) {
        w->build_next = true;
    }
    w->resting = true;
    w->lingering = w->yielding = false;
    set_timer(w, ms);
}

/* The file */

/* The jobs of the take are in the file: release it. */
static void let_go(struct view_writer *w)
{
    w->holding = false;
    engine_take_deinit(&w->take);
    engine_feed_copied(w->view->feed);
}

static enum err_code build(struct view_writer *w, struct err *err)
{
    struct view *v = w->view;
    struct view_mark mark = {.complete = w->complete};
    view_file__remove(&v->new_path);
    enum err_code code = view_copy__build(v, &mark, err);
    if (code != ERR_OK) {
        view_file__remove(&v->new_path);
        return code;
    }
    code = view_file__swap(w, err);
    if (code == ERR_OK) {
        atomic_store(&v->unread, 0);
        w->compare_next = false;
    }
    if (code == ERR_OK && w->holding) {
        /* The documents that were read are at least as new as the take. */
        let_go(w);
    }
    return code;
}

static void deliver_rebuilt(struct msg *m)
{
    struct view_rebuild *r = CONTAINER_OF(m, struct view_rebuild, msg);
    r->done(r);
}

static void tell_rebuilt(struct view_writer *w, const struct err *err)
{
    while (w->rebuilds != NULL) {
        struct view_rebuild *r = w->rebuilds;
        w->rebuilds =
            r->msg.next == NULL ? NULL : CONTAINER_OF(r->msg.next, struct view_rebuild, msg);
        r->err = *err;
        r->took_ms = w->status.rebuild_took_ms;
        r->msg.deliver = deliver_rebuilt;
        bool posted = mailbox_post(r->reply_to, &r->msg); /* r may be freed after this */
        CHECK(posted);
    }
}

static void rebuild(struct view_writer *w)
{
    struct err err = {.code = ERR_OK};
    struct mono start = os_clock_mono();
    w->status.rebuilding = true;
    w->status.rebuild_started_ms = os_clock_wall().ns / NS_PER_MS;
    publish(w);
    log_info("search index rebuild started");
    enum err_code code = build(w, &err);
    w->status.rebuilding = false;
    w->status.rebuilt = true;
    w->status.rebuild_took_ms = (os_clock_mono().ns - start.ns) / NS_PER_MS;
    w->status.rebuild_ok = code == ERR_OK;
    (void)snprintf(w->status.rebuild_error, sizeof w->status.rebuild_error, "%.*s",
                   (int)sizeof w->status.rebuild_error - 1, code == ERR_OK ? "" : err.msg);
    w->build_next = false;
    if (code == ERR_OK) {
        log_info("search index rebuilt", LOG_I64("took_ms", w->status.rebuild_took_ms));
        look_now(w); /* a take returns the engine's position */
        w->words_complete = 0;
    } else if (code != ERR_STOPPING) {
        w->build_next = !w->ready;
        trouble(w, &err, "rebuild", REBUILD_RETRY_MS);
    }
    publish(w);
    tell_rebuilt(w, &err);
}

/* Correct the rows from the documents, which are at the index or later. */
static enum err_code compare(struct view_writer *w, uint64_t index, struct err *err)
{
    struct view *v = w->view;
    struct view_mark mark = {.complete = index};
    uint64_t changed = 0;
    enum err_code code = view_copy__compare(v, &w->rows, &mark, &changed, err);
    if (code == ERR_OK) {
        atomic_store(&v->unread, 0);
        log_info("search index compared", LOG_U64("changed", changed));
        w->status.written += changed;
    }
    return code;
}

static void look_at_file(struct view_writer *w)
{
    struct err err;
    uint64_t index;
    uint64_t hash;
    uint64_t jobs;
    engine_feed_begin(w->view->feed, &index, &hash, &jobs);
    enum err_code code = view_file__use(w, index, hash, &err);
    if (code == ERR_OK) {
        view__reopen(w->view, true);
        publish(w);
        return;
    }
    view_file__close(w);
    w->complete = index;
    w->build_next = true;
    if (code != ERR_STOPPING && code != ERR_NOT_FOUND) { /* there is none at the first start */
        log_info("search index unusable", LOG_Z("reason", err.msg));
    }
}

/* Turns */

/* Documents are read on this thread, to spare the core thread. They can be newer than the take. The
 * rows are then not from one moment, and the mark gets no hash, so that the next start compares
 * them. */
static enum err_code write_jobs(struct view_writer *w, struct err *err)
{
    if (view_rows__begin(&w->rows, err) != ERR_OK) {
        return err->code;
    }
    for (size_t i = 0; i < w->take.count;) {
        i += view_batch__read(w->batch, w->view->config.engine, w->take.ids + i, w->take.count - i);
        if (view_batch__is_full(w->batch) &&
            view_rows__write_batch(&w->rows, w->batch, err) != ERR_OK) {
            return err->code;
        }
    }
    if (view_rows__write_batch(&w->rows, w->batch, err) != ERR_OK) {
        return err->code;
    }
    bool exact = w->take.behind == 0 && engine_feed_newest(w->view->feed) <= w->take.index;
    struct view_mark mark = {.complete = w->take.complete,
                             .hash = exact ? w->take.state_hash : 0,
                             .words = w->rows.mark.words};
    return view_rows__commit(&w->rows, &mark, err);
}

/* Statements and memory may be inconsistent after an error: open the rows again. */
static void start_over(struct view_writer *w, const struct err *err, const char *doing)
{
    struct err again;
    view_rows__rollback(&w->rows);
    view_rows__close(&w->rows);
    w->ready =
        view_rows__open(&w->rows, w->db, engine_store(w->view->config.engine), &again) == ERR_OK;
    trouble(w, err, doing, RETRY_MS);
    if (!w->ready) {
        view_file__close(w);
        w->build_next = true;
    }
}

static void write_turn(struct view_writer *w)
{
    struct err err;
    uint64_t before = w->rows.written;
    if (write_jobs(w, &err) != ERR_OK) {
        start_over(w, &err, "write");
        publish(w);
        return;
    }
    w->status.written += w->rows.written - before;
    w->status.low_space = false;
    w->complete = w->take.complete;
    w->look = w->take.behind > 0;
    w->turns++;
    let_go(w);
    publish(w);
    if (++w->turns_total % TURNS_PER_LOG_LOOK == 0) {
        view_file__trim_log(w, w->view->config.log_bytes);
    }
}

/* Compare, because more had changed than the feed keeps, or before the feed began. */
static void compare_turn(struct view_writer *w)
{
    struct err err;
    uint64_t index = w->compare_next ? w->compare_index : w->take.index;
    enum err_code code = compare(w, index, &err);
    if (code == ERR_STOPPING) {
        w->resting = true; /* until the end */
        return;
    }
    if (code != ERR_OK) {
        start_over(w, &err, "compare");
        publish(w);
        return;
    }
    w->complete = index;
    w->status.low_space = false;
    look_now(w); /* the engine has continued meanwhile */
    if (!w->compare_next) {
        let_go(w);
    }
    w->compare_next = false;
    publish(w);
    view_file__trim_log(w, w->view->config.log_bytes);
}

/* No question may run before the lag of the full text is published. */
static enum err_code restart_words(struct view_writer *w, struct err *err)
{
    view__shut(w->view);
    w->words_complete = 0;
    enum err_code code = view_words__restart(&w->rows, err);
    publish(w);
    view__reopen(w->view, true);
    return code;
}

static void words_turn(struct view_writer *w)
{
    struct err err;
    bool stale = false;
    w->turns = 0;
    enum err_code code = view_words__is_stale(&w->rows, &stale, &err);
    if (code == ERR_OK) {
        code = stale ? restart_words(w, &err) : view_words__advance(&w->rows, &err);
    }
    if (code != ERR_OK) {
        start_over(w, &err, "full text");
    } else if (view_words__lag(&w->rows) == 0) {
        w->words_due = false;
    }
    publish(w);
}

/* Full text is cheapest in large chunks. It waits until there are many texts, until some time has
 * passed, or until a question needs it; longer while others need the processors. Rows that are due
 * come first. */
static bool words_are_due(const struct view_writer *w)
{
    return w->words_behind && !w->stopping &&
           (w->words_due || (w->status.text_lag >= VIEW_WORDS_CHUNK && !words_can_wait(w))) &&
           (!w->look || w->lingering || w->turns >= TURNS_PER_WORDS);
}

/* Space */

/* Unused pages are returned when there is nothing else to do, and after a number of turns. */
static bool shrinking_is_due(const struct view_writer *w)
{
    bool idle = !w->look && !w->lingering;
    return !w->stopping && (w->shrink == VIEW_SHRINK_MORE || w->shrink_due) &&
           (idle || w->shrink_turns >= TURNS_PER_SHRINK);
}

static void shrink_turn(struct view_writer *w)
{
    struct err err;
    w->shrink_turns = 0;
    w->shrink_due = false;
    if (view_space__shrink(w->db, &w->shrink, &err) != ERR_OK) {
        w->shrink = VIEW_SHRINK_LATER; /* the file may be in use for a moment */
        trouble(w, &err, "shrink", RETRY_MS);
    }
    if (w->shrink == VIEW_SHRINK_LATER) {
        shrink_later(w);
    }
}

/* Nothing may grow: rest, then check again. */
static void wait_for_space(struct view_writer *w)
{
    struct err err;
    bool news = !w->status.low_space;
    w->status.low_space = true;
    w->resting = true;
    w->lingering = w->yielding = false;
    set_timer(w, SPACE_RETRY_MS);
    if (news) {
        publish(w);
        view_file__trim_log(w, 0); /* return unused space at once */
    }
    (void)err_set(&err, ERR_NO_SPACE, "there is too little space on the disk");
    tell_rebuilt(w, &err);
}

/* Choosing the next step */

static void taken(struct engine_take *t)
{
    struct view_writer *w = t->data;
    w->taking = false;
    w->holding = true;
    if (t->behind == 0) {
        w->due = 0;
    } else if (w->due != ALL) {
        w->due -= t->count < w->due ? t->count : w->due;
    }
    if (t->replaced) {
        /* A new state and a new store: nothing of the old ones may be used. */
        view_file__close(w);
        w->build_next = true;
        atomic_store(&w->view->unread, t->jobs);
        let_go(w);
    }
    go_on(w);
}

static void start_take(struct view_writer *w)
{
    uint32_t max = w->due < TAKE_MAX && !w->stopping ? (uint32_t)w->due : TAKE_MAX;
    w->look = false;
    w->taking = true;
    w->take = (struct engine_take){.max = max, .done = taken, .data = w};
    engine_feed_take(w->view->feed, &w->take);
}

static void on_timer(uv_timer_t *timer)
{
    struct view_writer *w = timer->data;
    w->due = w->lingering ? w->ripening : w->due;
    w->lingering = w->yielding = w->resting = false;
    go_on(w);
}

static void set_timer(struct view_writer *w, uint64_t ms)
{
    CHECK(uv_timer_start(&w->timer, on_timer, ms, 0) == 0);
}

/* Take the ids that are in the feed now, but later. */
static void linger(struct view_writer *w)
{
    uint64_t waiting = engine_feed_waiting(w->view->feed);
    w->ripening = waiting > 0 ? waiting : 1; /* a take is needed even if no ids are waiting */
    w->lingering = true;
    set_timer(w, (uint64_t)view_pace__linger_ms(&w->pace, w->view->config.linger_ms));
}

static void take_or_linger(struct view_writer *w)
{
    if (w->due > 0 || w->stopping) {
        start_take(w);
    } else {
        linger(w);
    }
}

static void deliver_step(struct msg *m)
{
    struct view_writer *w = CONTAINER_OF(m, struct view_writer, step_msg);
    w->step_out = false;
    go_on(w);
}

/* Continue after the messages that are waiting. */
static void step_later(struct view_writer *w)
{
    if (!w->step_out) {
        w->step_out = true;
        w->step_msg.deliver = deliver_step;
        bool posted = mailbox_post(&w->box, &w->step_msg);
        CHECK(posted);
    }
}

static void refuse_rebuilds(struct view_writer *w)
{
    struct err err;
    (void)err_set_default(&err, ERR_STOPPING);
    tell_rebuilt(w, &err);
}

static void end(struct view_writer *w)
{
    w->ended = true;
    refuse_rebuilds(w);
    if (w->holding) {
        engine_take_deinit(&w->take);
    }
    engine_feed_close(w->view->feed);
    view__shut(w->view); /* the writer's connection is closed last, which removes the log */
    view_file__end(w);
    uv_close((uv_handle_t *)&w->timer, NULL);
    uv_close((uv_handle_t *)&w->words_timer, NULL);
    uv_close((uv_handle_t *)&w->shrink_timer, NULL);
    mailbox_close(&w->box);
}

/* When stopping, write what is in the feed, so that the next start finds the file complete. */
static bool may_end(struct view_writer *w)
{
    bool in_time = os_clock_mono().ns < w->drain_end.ns;
    bool can_write = w->ready && !w->build_next && !w->compare_next && !w->resting && in_time;
    return !can_write || (!w->look && !w->holding);
}

/* After a turn: rest, if others need the processors. */
static void give_way(struct view_writer *w)
{
    uint64_t ms = w->resting ? 0 : (uint64_t)view_pace__rest_ms(&w->pace, w->view->feed);
    uint64_t lingers_ms = w->lingering ? uv_timer_get_due_in(&w->timer) : 0;
    if (ms > 0) {
        w->yielding = true;
        set_timer(w, ms > lingers_ms ? ms : lingers_ms);
    }
}

/* Do one thing. Returns true if there may be more to do. */
static bool take_turn(struct view_writer *w)
{
    bool grows = w->rebuilds != NULL || w->build_next || w->compare_next || w->holding || w->look ||
                 words_are_due(w);
    if (!w->stopping && grows && view_space__is_low(w->view)) {
        wait_for_space(w);
        return false;
    }
    if (!w->stopping && (w->rebuilds != NULL || w->build_next)) {
        rebuild(w);
        return true;
    }
    if (w->ready && (w->compare_next || (w->holding && w->take.too_many))) {
        compare_turn(w);
        return true;
    }
    if (w->ready && (w->holding || words_are_due(w))) {
        view_pace__begin(&w->pace, w->view->feed);
        (w->holding ? write_turn : words_turn)(w);
        w->shrink_turns++;
        shrink_later(w);
        give_way(w);
        return true;
    }
    if (w->ready && shrinking_is_due(w)) {
        view_pace__begin(&w->pace, w->view->feed);
        shrink_turn(w);
        give_way(w);
        return true;
    }
    if (w->ready && w->look && !w->lingering) {
        take_or_linger(w);
        return words_are_due(w); /* full text uses the time in which changes are collected */
    }
    return false;
}

static void go_on(struct view_writer *w)
{
    if (w->ended || w->taking || w->step_out || ((w->resting || w->yielding) && !w->stopping)) {
        return;
    }
    if (w->stopping && may_end(w)) {
        end(w);
    } else if (take_turn(w)) {
        step_later(w);
    }
}

/* Messages */

static void woken(void *data)
{
    struct view_writer *w = data;
    w->look = true;
    go_on(w);
}

static void deliver_hurry(struct msg *m)
{
    struct view_writer *w = CONTAINER_OF(m, struct view_writer, hurry_msg);
    atomic_store(&w->hurry_out, false);
    if (atomic_exchange(&w->hurry_words, false)) {
        w->words_due = true;
    }
    if (w->lingering || w->yielding) {
        w->lingering = w->yielding = false;
        CHECK(uv_timer_stop(&w->timer) == 0);
    }
    view_pace__asked(&w->pace);
    look_now(w);
    go_on(w);
}

void view_writer__hurry(struct view *v, bool words)
{
    struct view_writer *w = v->writer;
    if (words) {
        atomic_store(&w->hurry_words, true);
    }
    if (!atomic_exchange(&w->hurry_out, true)) {
        w->hurry_msg.deliver = deliver_hurry;
        bool posted = mailbox_post(&w->box, &w->hurry_msg);
        CHECK(posted);
    }
}

static void deliver_damage(struct msg *m)
{
    struct view *v = CONTAINER_OF(m, struct view, damage.msg);
    struct view_writer *w = v->writer;
    atomic_store(&v->damage.out, false);
    w->build_next = true;
    go_on(w);
}

static void deliver_space(struct msg *m)
{
    struct view_writer *w = CONTAINER_OF(m, struct view_writer, space_msg);
    atomic_store(&w->space_out, false);
    look_now(w); /* so that the space is checked */
    if (w->status.low_space && w->resting) {
        w->resting = false;
        CHECK(uv_timer_stop(&w->timer) == 0);
    }
    go_on(w);
}

void view_writer__space(struct view *v)
{
    struct view_writer *w = v->writer;
    if (!atomic_exchange(&w->space_out, true)) {
        w->space_msg.deliver = deliver_space;
        (void)mailbox_post(&w->box, &w->space_msg); /* the writer may have ended */
    }
}

static void deliver_rebuild(struct msg *m)
{
    struct view_rebuild *r = CONTAINER_OF(m, struct view_rebuild, msg);
    struct view_writer *w = r->view->writer;
    r->msg.next = w->rebuilds == NULL ? NULL : &w->rebuilds->msg;
    w->rebuilds = r;
    if (w->ended) {
        refuse_rebuilds(w);
    }
    go_on(w);
}

void view_writer__rebuild(struct view *v, struct view_rebuild *r)
{
    r->view = v;
    r->msg.deliver = deliver_rebuild;
    if (!mailbox_post(&v->writer->box, &r->msg)) {
        (void)err_set_default(&r->err, ERR_STOPPING);
        r->took_ms = 0;
        r->msg.deliver = deliver_rebuilt;
        bool posted = mailbox_post(r->reply_to, &r->msg);
        CHECK(posted);
    }
}

static void deliver_stop(struct msg *m)
{
    struct view_writer *w = CONTAINER_OF(m, struct view_writer, stop_msg);
    w->stopping = true;
    w->drain_end.ns = os_clock_mono().ns + DRAIN_MS * NS_PER_MS;
    w->lingering = w->yielding = false;
    look_now(w);
    go_on(w);
}

/* The thread */

/* Until the file has been checked, all jobs count as missing in it. */
static void open_feed(struct view_writer *w)
{
    struct view *v = w->view;
    uint64_t index;
    uint64_t hash;
    uint64_t jobs;
    v->feed = engine_feed_open(v->config.engine, &w->box, woken, w);
    engine_feed_begin(v->feed, &index, &hash, &jobs);
    atomic_store(&v->unread, jobs);
}

static void writer_main(void *data)
{
    struct view_writer *w = data;
    (void)pthread_setname_np(pthread_self(), "view");
    w->batch = view_batch__new();
    CHECK(uv_loop_init(&w->loop) == 0);
    mailbox_open(&w->box, &w->loop);
    CHECK(uv_timer_init(&w->loop, &w->timer) == 0);
    CHECK(uv_timer_init(&w->loop, &w->words_timer) == 0);
    CHECK(uv_timer_init(&w->loop, &w->shrink_timer) == 0);
    w->timer.data = w->words_timer.data = w->shrink_timer.data = w;
    open_feed(w);
    uv_sem_post(&w->started);
    look_at_file(w);
    shrink_later(w);
    look_now(w);
    go_on(w);
    CHECK(uv_run(&w->loop, UV_RUN_DEFAULT) == 0);
    mailbox_deinit(&w->box);
    CHECK(uv_loop_close(&w->loop) == 0);
    view_batch__free(w->batch);
}

void view_writer__start(struct view *v)
{
    struct view_writer *w = calloc(1, sizeof *w);
    CHECK(w != NULL);
    w->view = v;
    v->writer = w;
    v->damage.box = &w->box;
    v->damage.msg.deliver = deliver_damage;
    CHECK(uv_sem_init(&w->started, 0) == 0);
    CHECK(uv_thread_create(&w->thread, writer_main, w) == 0);
    uv_sem_wait(&w->started);
}

void view_writer__stop(struct view *v)
{
    struct view_writer *w = v->writer;
    w->stop_msg.deliver = deliver_stop;
    bool posted = mailbox_post(&w->box, &w->stop_msg);
    CHECK(posted);
    CHECK(uv_thread_join(&w->thread) == 0);
    uv_sem_destroy(&w->started);
    free(w);
}
