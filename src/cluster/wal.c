#include "cluster/wal.h"

#include <pthread.h>
#include <stdlib.h>

#include "base/check.h"
#include "cluster/wal_int.h"
#include "log/log.h"

/* --- the log thread --- */

static void work(struct wal *w);

/* Everything the loop should know since the last report. */
struct report {
    struct msg msg;
    struct wal *wal;
    struct wal_op *first;
    struct wal_status status;
};

/* On the loop. */
static void report_deliver(struct msg *m)
{
    struct report *r = CONTAINER_OF(m, struct report, msg);
    struct wal *w = r->wal;
    struct wal_op *op = r->first;
    w->status = r->status;
    free(r);
    while (op != NULL) {
        struct wal_op *next = op->next;
        op->done(op); /* op may be gone after this */
        op = next;
    }
}

/* Tell the loop what is new. What is taken is not done while a part of it is not written. */
static void report(struct wal *w)
{
    struct wal_op *done = w->batch.bytes == 0 ? w->taken : NULL;
    if (done == NULL && w->now.low_space == w->low_space_reported) {
        return;
    }
    struct report *r = malloc(sizeof *r);
    CHECK(r != NULL);
    *r = (struct report){
        .msg = {.deliver = report_deliver}, .wal = w, .first = done, .status = w->now};
    if (done != NULL) {
        w->taken = NULL;
        w->taken_end = &w->taken;
    }
    w->low_space_reported = w->now.low_space;
    CHECK(mailbox_post(w->outbox, &r->msg)); /* it is open until we are closed */
}

static void space_timer_cb(uv_timer_t *timer)
{
    struct wal *w = timer->data;
    w->retry = true;
    work(w);
}

/* Compare what is free with what must be; watch it while it is too little. */
static void check_space(struct wal *w)
{
    uint64_t free_bytes = 0;
    struct err err;
    if (os_file_free_bytes(w->dir.z, &free_bytes, &err) != ERR_OK) {
        log_warn("free space unknown", LOG_Z("error", err.msg));
        free_bytes = UINT64_MAX; /* no reason to refuse anything */
    }
    bool low = w->write_refused || w->make_refused || free_bytes < w->free_bytes_min;
    if (low != w->now.low_space) {
        log_warn(low ? "disk_space_low" : "disk_space_back", LOG_U64("free_bytes", free_bytes),
                 LOG_U64("needed_bytes", w->free_bytes_min));
    }
    w->now.low_space = low;
    if (low && w->threaded) {
        CHECK(uv_timer_start(&w->space_timer, space_timer_cb, w->space_check_ms, 0) == 0);
    }
}

static void upkeep_work_cb(uv_work_t *work)
{
    struct wal *w = work->data;
    wal_files__upkeep(&w->upkeep);
}

static void upkeep_after_cb(uv_work_t *req, int status)
{
    struct wal *w = req->data;
    CHECK(status == 0);
    wal_write__upkeep_end(w);
    check_space(w);
    work(w);
}

static void upkeep(struct wal *w)
{
    if (w->upkeep_running || (w->dropped.count == 0 && !wal_write__wants_segment(w))) {
        return;
    }
    wal_write__upkeep_begin(w);
    w->upkeep.work.data = w;
    CHECK(uv_queue_work(&w->loop, &w->upkeep.work, upkeep_work_cb, upkeep_after_cb) == 0);
}

/* Give back what there is no space for. */
static void abandon(struct wal *w)
{
    if (w->queue != NULL || w->batch.bytes > 0) {
        log_error("log abandoned", LOG_U64("next_index", w->next_index));
    }
    *w->taken_end = w->queue;
    w->taken_end = w->queue == NULL ? w->taken_end : w->queue_end;
    w->queue = NULL;
    w->queue_end = &w->queue;
    segment_batch_clear(&w->batch);
}

static void end(struct wal *w)
{
    w->ended = true;
    abandon(w);
    wal_write__flush(w);
    report(w);
    mailbox_close(&w->inbox);
    uv_close((uv_handle_t *)&w->space_timer, NULL);
}

/* All that the log thread does, each time something has come, is ready or is due. */
static void work(struct wal *w)
{
    if (w->ended) {
        return;
    }
    while (w->queue != NULL && wal_write__take(w, w->queue)) {
        struct wal_op *op = w->queue;
        w->queue = op->next;
        if (w->queue == NULL) {
            w->queue_end = &w->queue;
        }
        op->next = NULL;
        *w->taken_end = op;
        w->taken_end = &op->next;
    }
    if (wal_write__batch(w) && w->durable) {
        wal_write__flush(w);
    }
    bool refused = w->write_refused || w->make_refused;
    if (w->retry || (refused && !w->now.low_space)) {
        check_space(w);
    }
    report(w);
    upkeep(w);
    w->retry = false;
    if (w->stopping && !w->upkeep_running) {
        end(w);
    }
}

/* All that had come is in the queue. */
static void turned(void *data)
{
    work(data);
}

static void op_deliver(struct msg *m)
{
    struct wal_op *op = CONTAINER_OF(m, struct wal_op, msg);
    struct wal *w = op->wal;
    op->next = NULL;
    *w->queue_end = op;
    w->queue_end = &op->next;
}

static void stop_deliver(struct msg *m)
{
    struct wal *w = CONTAINER_OF(m, struct wal, stop_msg);
    w->stopping = true;
    w->retry = true; /* once more, for what still waits for space */
}

static void thread_main(void *data)
{
    struct wal *w = data;
    (void)pthread_setname_np(pthread_self(), "corvo-log");
    CHECK(uv_run(&w->loop, UV_RUN_DEFAULT) == 0);
    CHECK(mailbox_post(w->outbox, &w->stopped_msg));
}

/* --- the loop's side --- */

void wal_content_clear(struct wal_content *c)
{
    for (size_t i = 0; i < c->count; i++) {
        raft_free(c->entry[i].buf.base);
    }
    raft_free(c->entry);
    c->entry = NULL;
    c->count = 0;
}

static void wal_freep(struct wal **w)
{
    wal_free(*w);
}

enum err_code wal_open(const struct wal_config *config, uint64_t covered_index,
                       struct wal **out_wal, struct wal_content *out_content, struct err *err)
{
    CHECK(config->segment_bytes >= WAL_SEGMENT_BYTES_MIN);
    CHECK(config->segment_bytes <= WAL_SEGMENT_BYTES_MAX);
    CHECK(config->segment_bytes % SEGMENT_ALIGN == 0);
    ATTR_CLEANUP(wal_freep) struct wal *w = calloc(1, sizeof *w);
    CHECK(w != NULL);
    CHECK(strlen(config->dir) < sizeof w->dir.z);
    memcpy(w->dir.z, config->dir, strlen(config->dir) + 1);
    w->segment_bytes = config->segment_bytes;
    w->free_bytes_min = config->free_bytes_min;
    w->space_check_ms = config->space_check_ms;
    w->durable = config->durable;
    w->fd = -1;
    w->ready_fd = -1;
    w->queue_end = &w->queue;
    w->taken_end = &w->taken;
    w->upkeep.dir = w->dir.z;
    w->upkeep.segment_bytes = w->segment_bytes;
    if (wal_recover__run(w, covered_index, out_content, err) != ERR_OK) {
        return err->code;
    }
    check_space(w);
    w->status = w->now;
    *out_wal = TAKE(w);
    return ERR_OK;
}

enum err_code wal__do_now(struct wal *w, struct wal_op *op, struct err *err)
{
    CHECK(!w->threaded);
    w->retry = true;
    if (!wal_write__take(w, op) || !wal_write__batch(w)) {
        return err_set(err, ERR_NO_SPACE, "no space to write to the log");
    }
    wal_write__flush(w);
    w->status = w->now;
    return ERR_OK;
}

enum err_code wal_append_now(struct wal *w, uint64_t index, const struct raft_entry *entry,
                             unsigned count, struct err *err)
{
    struct wal_op op = {.kind = WAL_APPEND, .index = index, .entry = entry, .count = count};
    return wal__do_now(w, &op, err);
}

enum err_code wal_reset_now(struct wal *w, uint64_t index, struct err *err)
{
    struct wal_op op = {.kind = WAL_RESET, .index = index};
    return wal__do_now(w, &op, err);
}

const struct wal_status *wal_status(const struct wal *w)
{
    return &w->status;
}

/* The thread has ended. */
static void stopped_deliver(struct msg *m)
{
    struct wal *w = CONTAINER_OF(m, struct wal, stopped_msg);
    void (*closed)(void *data) = w->closed;
    void *data = w->closed_data;
    CHECK(uv_thread_join(&w->thread) == 0);
    mailbox_deinit(&w->inbox);
    CHECK(uv_loop_close(&w->loop) == 0);
    wal_free(w);
    closed(data);
}

void wal_start(struct wal *w, struct mailbox *box)
{
    CHECK(!w->threaded);
    w->outbox = box;
    w->stopped_msg.deliver = stopped_deliver;
    w->stop_msg.deliver = stop_deliver;
    w->low_space_reported = w->now.low_space;
    CHECK(uv_loop_init(&w->loop) == 0);
    mailbox_open(&w->inbox, &w->loop);
    mailbox_on_turn(&w->inbox, turned, w);
    CHECK(uv_timer_init(&w->loop, &w->space_timer) == 0);
    w->space_timer.data = w;
    w->threaded = true;
    w->retry = false;
    w->now.flush_count = 0;
    check_space(w); /* now there is a timer for it */
    upkeep(w);
    CHECK(uv_thread_create(&w->thread, thread_main, w) == 0);
}

void wal_submit(struct wal *w, struct wal_op *op)
{
    CHECK(op->done != NULL);
    CHECK(w->closed == NULL);
    op->wal = w;
    op->msg.deliver = op_deliver;
    CHECK(mailbox_post(&w->inbox, &op->msg));
}

void wal_close(struct wal *w, void (*closed)(void *data), void *data)
{
    CHECK(w->threaded);
    CHECK(w->closed == NULL);
    w->closed = closed;
    w->closed_data = data;
    CHECK(mailbox_post(&w->inbox, &w->stop_msg));
}

void wal_free(struct wal *w)
{
    if (w == NULL) {
        return;
    }
    os_file_close(w->fd);
    os_file_close(w->ready_fd);
    free(w->ready);
    wal_files__clear(&w->used);
    wal_files__clear(&w->dropped);
    wal_files__clear(&w->upkeep.dropped);
    wal_files__clear(&w->upkeep.spares);
    free(w);
}
