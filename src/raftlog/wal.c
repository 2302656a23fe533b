#include "raftlog/wal.h"

#include <stdlib.h>

#include "base/check.h"
#include "log/log.h"
#include "raftlog/wal_int.h"

/* --- writing, on the loop --- */

static void work(struct wal *w);

/* Complete operations that are on disk. None completes while a part of it is unwritten. */
static void give_back(struct wal *w)
{
    if (w->batch.bytes > 0) {
        return;
    }
    struct wal_op *op = TAKE(w->taken);
    w->taken_end = &w->taken;
    while (op != NULL) {
        struct wal_op *next = op->next;
        op->done(op); /* op may be gone after this, and others submitted */
        op = next;
    }
}

static void space_timer_cb(uv_timer_t *timer)
{
    struct wal *w = timer->data;
    w->retry = true;
    work(w);
}

/* Compare the free space with the minimum, and keep checking while it is too low. */
static void check_space(struct wal *w)
{
    uint64_t free_bytes = 0;
    struct err err;
    if (os_file_free_bytes(w->dir.z, &free_bytes, &err) != ERR_OK) {
        log_warn("free space unknown", LOG_Z("error", err.msg));
        free_bytes = UINT64_MAX; /* unknown free space is no reason to refuse entries */
    }
    w->status.full = w->write_refused || w->make_refused;
    w->status.low_space = w->status.full || free_bytes < w->free_bytes_min;
    /* Spares only save time: give up their space on a nearly full disk. */
    w->spares_max = w->status.low_space ? 0 : WAL_SPARES_MAX;
    if (w->status.low_space && w->started) {
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
    CHECK(w->upkeep_running);
    wal_write__upkeep_end(w);
    check_space(w);
    work(w);
}

static void upkeep(struct wal *w)
{
    bool trims = !w->upkeep_running && w->upkeep.spares.count > w->spares_max;
    if (w->upkeep_running || (w->dropped.count == 0 && !wal_write__wants_segment(w) && !trims)) {
        return;
    }
    wal_write__upkeep_begin(w);
    w->upkeep.work.data = w;
    CHECK(uv_queue_work(w->loop, &w->upkeep.work, upkeep_work_cb, upkeep_after_cb) == 0);
}

/* Complete the operations that there is no space for. */
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

static void handle_closed_cb(uv_handle_t *handle)
{
    struct wal *w = handle->data;
    CHECK(w->ended);
    CHECK(w->handles > 0);
    if (--w->handles > 0) {
        return;
    }
    void (*closed)(void *data) = w->closed;
    void *data = w->closed_data;
    wal_free(w);
    closed(data);
}

static void end(struct wal *w)
{
    CHECK(w->stopping);
    CHECK(!w->upkeep_running);
    w->ended = true;
    abandon(w);
    wal_write__flush(w);
    give_back(w);
    CHECK(w->queue == NULL);
    CHECK(w->taken == NULL);
    uv_close((uv_handle_t *)&w->submitted, handle_closed_cb);
    uv_close((uv_handle_t *)&w->space_timer, handle_closed_cb);
}

/* Do all work that is due, after each event: a submission, a ready segment, the timer. */
static void work(struct wal *w)
{
    bool stopping = w->stopping; /* a done callback may set it: handled in the next turn */
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
        uv_update_time(w->loop); /* the work took time; timers use the loop's clock */
    }
    bool refused = w->write_refused || w->make_refused;
    if (w->retry || (refused && !w->status.low_space)) {
        check_space(w);
    }
    upkeep(w);
    w->retry = false;
    give_back(w);
    if (stopping && w->upkeep_running && w->queue == NULL) {
        atomic_store(&w->upkeep.stop, true);
    } else if (stopping && !w->upkeep_running) {
        end(w);
    }
}

/* All operations submitted in this turn of the loop are in the queue now. */
static void submitted_cb(uv_idle_t *idle)
{
    struct wal *w = idle->data;
    CHECK(uv_idle_stop(idle) == 0);
    work(w);
}

/* --- open, submit, close --- */

static void wal_freep(struct wal **w)
{
    wal_free(*w);
}

static struct wal *wal_new(const struct wal_config *config)
{
    CHECK(config->segment_bytes >= WAL_SEGMENT_BYTES_MIN);
    CHECK(config->segment_bytes <= WAL_SEGMENT_BYTES_MAX);
    CHECK(config->segment_bytes % SEGMENT_ALIGN == 0);
    struct wal *w = calloc(1, sizeof *w);
    CHECK(w != NULL);
    CHECK(strlen(config->dir) < sizeof w->dir.z);
    memcpy(w->dir.z, config->dir, strlen(config->dir) + 1);
    w->segment_bytes = config->segment_bytes;
    w->free_bytes_min = config->free_bytes_min;
    w->space_check_ms = config->space_check_ms;
    w->durable = config->durable;
    w->spares_max = WAL_SPARES_MAX;
    w->fd = -1;
    w->ready_fd = -1;
    w->queue_end = &w->queue;
    w->taken_end = &w->taken;
    w->upkeep.dir = w->dir.z;
    w->upkeep.segment_bytes = w->segment_bytes;
    return w;
}

enum err_code wal_open(const struct wal_config *config, uint64_t covered_index,
                       struct wal **out_wal, struct wal_content *out_content, struct err *err)
{
    ATTR_CLEANUP(wal_freep) struct wal *w = wal_new(config);
    if (wal_recover__run(w, covered_index, out_content, err) != ERR_OK) {
        return err->code;
    }
    check_space(w);
    *out_wal = TAKE(w);
    return ERR_OK;
}

enum err_code wal_inspect(const char *dir, uint64_t covered_index, struct wal_content *out_content,
                          struct err *err)
{
    const struct wal_config config = {
        .dir = dir, .segment_bytes = WAL_SEGMENT_BYTES_MIN, .durable = true};
    ATTR_CLEANUP(wal_freep) struct wal *w = wal_new(&config);
    w->read_only = true;
    return wal_recover__run(w, covered_index, out_content, err);
}

enum err_code wal__do_now(struct wal *w, struct wal_op *op, struct err *err)
{
    CHECK(!w->started);
    w->retry = true;
    if (!wal_write__take(w, op) || !wal_write__batch(w)) {
        return err_set(err, ERR_NO_SPACE, "no space to write to the log");
    }
    wal_write__flush(w);
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

void wal_need_space(struct wal *w, uint64_t free_bytes_min)
{
    w->free_bytes_min = free_bytes_min;
    check_space(w);
    if (w->started && !w->stopping) {
        upkeep(w);
    }
}

uint64_t wal_take_longest(struct wal *w)
{
    uint64_t ns = w->status.flush_longest_ns;
    w->status.flush_longest_ns = 0;
    return ns;
}

const struct wal_status *wal_status(const struct wal *w)
{
    return &w->status;
}

void wal_start(struct wal *w, uv_loop_t *loop)
{
    CHECK(!w->started);
    w->loop = loop;
    CHECK(uv_idle_init(loop, &w->submitted) == 0);
    CHECK(uv_timer_init(loop, &w->space_timer) == 0);
    w->submitted.data = w->space_timer.data = w;
    w->handles = 2;
    w->started = true;
    w->retry = false;
    w->status.flush_count = 0;
    w->status.flush_ns = 0;
    check_space(w); /* only now can it start the timer */
    upkeep(w);
}

void wal_submit(struct wal *w, struct wal_op *op)
{
    CHECK(op->done != NULL);
    CHECK(w->started);
    CHECK(w->closed == NULL);
    CHECK(*w->queue_end == NULL);
    op->next = NULL;
    *w->queue_end = op;
    w->queue_end = &op->next;
    CHECK(uv_idle_start(&w->submitted, submitted_cb) == 0);
}

void wal_close(struct wal *w, void (*closed)(void *data), void *data)
{
    CHECK(w->started);
    CHECK(w->closed == NULL);
    w->closed = closed;
    w->closed_data = data;
    w->stopping = true;
    w->retry = true; /* retry operations that wait for space */
    CHECK(uv_idle_start(&w->submitted, submitted_cb) == 0);
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
