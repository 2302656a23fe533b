#include "cluster/wal.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>

#include "base/check.h"
#include "base/fault.h"
#include "cluster/wal_int.h"
#include "log/log.h"

static_assert((int)RAFT_COMMAND == (int)SEGMENT_COMMAND, "entry types are on disk");
static_assert((int)RAFT_BARRIER == (int)SEGMENT_BARRIER, "entry types are on disk");
static_assert((int)RAFT_CHANGE == (int)SEGMENT_CHANGE, "entry types are on disk");

/* --- writing: on the log thread, or on the opener's before it runs --- */

static enum err_code write_segment(struct wal *w, struct err *err)
{
    const struct segment_batch *b = &w->batch;
    uint64_t offset = w->used.last->used;
    if (FAULT(DISK_WRITE_FULL)) {
        return err_set(err, ERR_NO_SPACE, "write: a test said so");
    }
    if (FAULT(DISK_WRITE)) {
        return err_set(err, ERR_IO, "write: a test said so");
    }
    if (FAULT(DISK_WRITE_SHORT)) {
        enum err_code code = os_file_write_at(w->fd, b->iov, b->iov_count / 2, offset, err);
        return code != ERR_OK ? code : err_set(err, ERR_IO, "write: a test said so");
    }
    return os_file_write_at(w->fd, b->iov, b->iov_count, offset, err);
}

/* False when the disk is full: the batch stays and is tried again later. */
static bool write_batch(struct wal *w)
{
    if (w->batch.bytes == 0) {
        return true;
    }
    struct err err;
    enum err_code code = write_segment(w, &err);
    w->write_refused = code == ERR_NO_SPACE;
    if (w->write_refused) {
        return false;
    }
    struct wal_file *f = w->used.last;
    if (code != ERR_OK) {
        check_fatal("log segment " WAL_FILES_LOG "%016" PRIx64 ", offset %" PRIu64 ": %s",
                    f->generation, f->used, err.msg);
    }
    f->used += w->batch.bytes;
    w->now.log_bytes += w->batch.bytes;
    w->dirty = true;
    segment_batch_clear(&w->batch);
    return true;
}

/* Everything written is on disk afterwards. */
static void flush(struct wal *w)
{
    CHECK(w->batch.bytes == 0);
    if (!w->dirty) {
        return;
    }
    struct err err;
    if (FAULT(DISK_FLUSH)) {
        check_fatal("flush the log: a test said so");
    }
    if (os_file_flush(w->fd, &err) != ERR_OK) {
        check_fatal("log segment " WAL_FILES_LOG "%016" PRIx64 ": %s", w->used.last->generation,
                    err.msg);
    }
    w->flushed = w->used.last->used;
    w->dirty = false;
    w->now.flush_count++;
}

static bool has_room(const struct wal *w, uint64_t bytes)
{
    const struct wal_file *f = w->used.last;
    return f != NULL && f->used + w->batch.bytes + bytes <= f->size;
}

/* A segment is tried at once, but after the disk had no space for one only when the timer says. */
static bool may_make(const struct wal *w)
{
    return !w->make_refused || w->retry;
}

static bool wants_segment(const struct wal *w)
{
    return w->ready == NULL && may_make(w) && (!w->stopping || w->queue != NULL);
}

static void upkeep_begin(struct wal *w)
{
    w->upkeep.dropped = w->dropped;
    w->dropped = (struct wal_files){0};
    w->upkeep.generation = wants_segment(w) ? w->next_generation : 0;
    w->upkeep_running = true;
}

static void upkeep_end(struct wal *w)
{
    w->upkeep_running = false;
    if (w->upkeep.generation == 0) {
        return;
    }
    if (w->upkeep.ready != NULL) {
        w->ready = TAKE(w->upkeep.ready);
        w->ready_fd = w->upkeep.ready_fd;
        w->next_generation++;
        w->make_refused = false;
    } else if (w->upkeep.err.code == ERR_NO_SPACE) {
        w->make_refused = true;
    } else {
        check_fatal("make a log segment: %s", w->upkeep.err.msg);
    }
}

/* Make the ready segment large enough for one record; false when there is no space for that. */
static bool fit_ready(struct wal *w, uint64_t bytes)
{
    uint64_t size = SEGMENT_HEADER_BYTES + bytes;
    if (w->ready->size >= size) {
        return true;
    }
    if (!may_make(w)) {
        return false;
    }
    struct err err;
    enum err_code code = wal_files__grow(w->ready, w->ready_fd, size, &err);
    w->make_refused = code == ERR_NO_SPACE;
    if (code != ERR_OK && !w->make_refused) {
        check_fatal("make a log segment larger: %s", err.msg);
    }
    return !w->make_refused;
}

/* Go on in the next segment. The one before is flushed first, durable or not: a segment that has
 * begun proves that those before it are whole. False when the next one is not there yet. */
static bool roll(struct wal *w, uint64_t bytes)
{
    if (!write_batch(w)) {
        return false;
    }
    if (w->ready == NULL && !w->threaded) {
        upkeep_begin(w);
        wal_files__upkeep(&w->upkeep);
        upkeep_end(w);
    }
    if (w->ready == NULL || !fit_ready(w, bytes)) {
        return false;
    }
    flush(w);
    os_file_close(w->fd);
    w->fd = w->ready_fd;
    w->ready_fd = -1;
    wal_files__push(&w->used, TAKE(w->ready));
    w->seed = segment_seed(w->used.last->generation);
    w->flushed = 0;
    segment_batch_begin(&w->batch, w->used.last->generation, w->next_index);
    return true;
}

/* Take one record into the batch; false when it must wait for a segment or for space. */
static bool put(struct wal *w, struct segment_record r)
{
    if (segment_batch_full(&w->batch) && !write_batch(w)) {
        return false;
    }
    uint64_t bytes = segment_record_bytes(r.payload.len);
    if (!has_room(w, bytes) && !roll(w, bytes)) {
        return false;
    }
    r.flushed = w->flushed;
    segment_batch_add(&w->batch, w->seed, &r);
    return true;
}

static bool take_append(struct wal *w, const struct wal_op *op)
{
    CHECK(op->index + w->progress == w->next_index);
    for (; w->progress < op->count; w->progress++) {
        const struct raft_entry *e = &op->entry[w->progress];
        CHECK(e->type >= RAFT_COMMAND && e->type <= RAFT_CHANGE);
        struct segment_record r = {.type = (enum segment_type)e->type,
                                   .index = w->next_index,
                                   .term = e->term,
                                   .payload = str_from(e->buf.base, e->buf.len)};
        if (!put(w, r)) {
            return false;
        }
        w->used.last->last = w->next_index++;
    }
    w->progress = 0;
    return true;
}

static bool take_truncate(struct wal *w, const struct wal_op *op)
{
    CHECK(op->index > 0);
    CHECK(op->index <= w->next_index);
    if (!put(w, (struct segment_record){.type = SEGMENT_TRUNCATE, .index = op->index})) {
        return false;
    }
    w->next_index = op->index;
    for (struct wal_file *f = w->used.first; f != NULL; f = f->next) {
        f->last = f->last < op->index ? f->last : op->index - 1;
    }
    return true;
}

static bool take_reset(struct wal *w, struct wal_op *op)
{
    CHECK(op->index > 0);
    uint64_t bytes = segment_record_bytes(0);
    if (!write_batch(w) || (!has_room(w, bytes) && !roll(w, bytes))) {
        return false;
    }
    if (op->prepare != NULL) {
        if (!write_batch(w)) { /* the header of a segment that has just begun */
            return false;
        }
        flush(w);
        op->prepare(op);
    }
    CHECK(put(w, (struct segment_record){.type = SEGMENT_RESET, .index = op->index}));
    w->next_index = op->index;
    for (struct wal_file *f = w->used.first; f != NULL; f = f->next) {
        f->last = 0;
    }
    wal__drop(w, op->index - 1);
    return true;
}

void wal__drop(struct wal *w, uint64_t index)
{
    while (w->used.first != w->used.last && w->used.first->last <= index) {
        struct wal_file *f = wal_files__pop(&w->used);
        w->now.log_bytes -= f->used;
        wal_files__push(&w->dropped, f);
    }
}

static bool take(struct wal *w, struct wal_op *op)
{
    switch (op->kind) {
    case WAL_APPEND:
        return take_append(w, op);
    case WAL_TRUNCATE:
        return take_truncate(w, op);
    case WAL_RESET:
        return take_reset(w, op);
    case WAL_DROP:
        wal__drop(w, op->index);
        return true;
    default:
        UNREACHABLE("an operation has one of the four kinds");
    }
}

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
        log_warn("free_space_unknown", LOG_Z("error", err.msg));
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
    upkeep_end(w);
    check_space(w);
    work(w);
}

static void upkeep(struct wal *w)
{
    if (w->upkeep_running || (w->dropped.count == 0 && !wants_segment(w))) {
        return;
    }
    upkeep_begin(w);
    w->upkeep.work.data = w;
    CHECK(uv_queue_work(&w->loop, &w->upkeep.work, upkeep_work_cb, upkeep_after_cb) == 0);
}

/* Give back what there is no space for. */
static void abandon(struct wal *w)
{
    if (w->queue != NULL || w->batch.bytes > 0) {
        log_error("log_abandoned", LOG_U64("next_index", w->next_index));
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
    flush(w);
    report(w);
    mailbox_close(&w->inbox);
    uv_close((uv_handle_t *)&w->check, NULL);
    uv_close((uv_handle_t *)&w->space_timer, NULL);
}

/* All that the log thread does, each time something has come, is ready or is due. */
static void work(struct wal *w)
{
    if (w->ended) {
        return;
    }
    while (w->queue != NULL && take(w, w->queue)) {
        struct wal_op *op = w->queue;
        w->queue = op->next;
        if (w->queue == NULL) {
            w->queue_end = &w->queue;
        }
        op->next = NULL;
        *w->taken_end = op;
        w->taken_end = &op->next;
    }
    if (write_batch(w) && w->durable) {
        flush(w);
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

static void check_cb(uv_check_t *check)
{
    struct wal *w = check->data;
    if (w->queue != NULL || w->stopping) {
        work(w);
    }
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
    if (!take(w, op) || !write_batch(w)) {
        return err_set(err, ERR_NO_SPACE, "no space to write to the log");
    }
    flush(w);
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
    CHECK(uv_check_init(&w->loop, &w->check) == 0);
    CHECK(uv_timer_init(&w->loop, &w->space_timer) == 0);
    w->check.data = w;
    w->space_timer.data = w;
    CHECK(uv_check_start(&w->check, check_cb) == 0);
    w->threaded = true;
    w->retry = false;
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
