/*
 * Writes operations into segments.
 *
 * An operation is put into a batch record by record. The batch is written when it is full, when its
 * segment is full, and when the queue is empty. An operation that must wait for a segment or for
 * space stays in the queue and continues later from the same record.
 */
#include <errno.h>
#include <inttypes.h>

#include "base/check.h"
#include "base/fault.h"
#include "log/log.h"
#include "os/os_clock.h"
#include "raftlog/wal_int.h"

static_assert((int)RAFT_COMMAND == (int)SEGMENT_COMMAND, "entry types are on disk");
static_assert((int)RAFT_BARRIER == (int)SEGMENT_BARRIER, "entry types are on disk");
static_assert((int)RAFT_CHANGE == (int)SEGMENT_CHANGE, "entry types are on disk");

static enum err_code write_segment(struct wal *w, struct err *err)
{
    const struct segment_batch *b = &w->batch;
    CHECK(w->fd >= 0);
    CHECK(w->used.last != NULL);
    CHECK(w->used.last->used + b->bytes <= w->used.last->size);
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

bool wal_write__batch(struct wal *w)
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
    w->status.log_bytes += w->batch.bytes;
    w->dirty = true;
    segment_batch_clear(&w->batch);
    return true;
}

void wal_write__flush(struct wal *w)
{
    CHECK(w->batch.bytes == 0);
    if (!w->dirty) {
        return;
    }
    struct err err;
    if (FAULT(DISK_FLUSH)) {
        check_fatal("flush the log: a test said so");
    }
    int64_t begin_ns = os_clock_mono().ns;
    if (os_file_flush(w->fd, &err) != ERR_OK) {
        check_fatal("log segment " WAL_FILES_LOG "%016" PRIx64 ": %s", w->used.last->generation,
                    err.msg);
    }
    CHECK(w->flushed <= w->used.last->used);
    w->flushed = w->used.last->used;
    w->dirty = false;
    uint64_t took_ns = (uint64_t)(os_clock_mono().ns - begin_ns);
    w->status.flush_count++;
    w->status.flush_ns += took_ns;
    w->status.flush_longest_ns =
        took_ns > w->status.flush_longest_ns ? took_ns : w->status.flush_longest_ns;
}

/* Is there room for a record, and for the seal behind the last one? */
static bool has_room(const struct wal *w, uint64_t bytes)
{
    const struct wal_file *f = w->used.last;
    return f != NULL && f->used + w->batch.bytes + bytes + SEGMENT_SEAL_BYTES <= f->size;
}

/* A segment is requested at once; after the disk had no space for one, only on the timer. */
static bool may_make(const struct wal *w)
{
    return !w->make_refused || w->retry;
}

/* Is the error temporary? Nothing depends on the new segment yet, so creating it can be retried
 * when space, file descriptors or memory are available again. Other errors are fatal. */
static bool may_pass(const struct err *err)
{
    return err->code == ERR_NO_SPACE || err->sys == EMFILE || err->sys == ENFILE ||
           err->sys == ENOMEM;
}

bool wal_write__wants_segment(const struct wal *w)
{
    return w->ready == NULL && may_make(w) && (!w->stopping || w->queue != NULL);
}

void wal_write__upkeep_begin(struct wal *w)
{
    CHECK(!w->upkeep_running);
    w->upkeep.dropped = w->dropped;
    w->dropped = (struct wal_files){0};
    w->upkeep.spares_max = w->spares_max;
    w->upkeep.generation = wal_write__wants_segment(w) ? w->next_generation : 0;
    atomic_store(&w->upkeep.stop, false);
    w->upkeep_running = true;
}

void wal_write__upkeep_end(struct wal *w)
{
    CHECK(w->upkeep_running);
    w->upkeep_running = false;
    if (w->upkeep.generation == 0) {
        return;
    }
    if (w->upkeep.ready == NULL && w->upkeep.err.code == ERR_STOPPING) {
        return;
    }
    if (w->upkeep.ready != NULL) {
        CHECK(w->ready == NULL);
        CHECK(w->ready_fd == -1);
        w->ready = TAKE(w->upkeep.ready);
        w->ready_fd = w->upkeep.ready_fd;
        w->next_generation++;
        w->make_refused = false;
    } else if (may_pass(&w->upkeep.err)) {
        if (!w->make_refused) {
            log_warn("log segment not created", LOG_Z("error", w->upkeep.err.msg));
        }
        w->make_refused = true;
    } else {
        check_fatal("create a log segment: %s", w->upkeep.err.msg);
    }
}

/* Enlarge the ready segment for one record; false if there is no space. */
static bool fit_ready(struct wal *w, uint64_t bytes)
{
    uint64_t size = SEGMENT_HEADER_BYTES + bytes + SEGMENT_SEAL_BYTES;
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
        check_fatal("extend a log segment: %s", err.msg);
    }
    return !w->make_refused;
}

/* Write the seal, which names the next segment, if that is ready and the batch is empty. False
 * if the disk is full. */
static bool seal(struct wal *w)
{
    const struct wal_file *f = w->used.last;
    if (f == NULL || f->used + SEGMENT_SEAL_BYTES > f->size) {
        return true; /* no segment yet, or one that was filled before seals existed */
    }
    CHECK(w->ready != NULL);
    CHECK(w->batch.bytes == 0);
    CHECK(w->ready->generation > f->generation);
    const struct segment_record r = {
        .type = SEGMENT_SEAL, .index = w->ready->generation, .flushed = w->flushed};
    segment_batch_add(&w->batch, w->seed, &r);
    if (!wal_write__batch(w)) {
        segment_batch_clear(&w->batch); /* the seal is built again on the next attempt */
        return false;
    }
    return true;
}

/* Continue in the next segment. The current one is sealed and flushed first, durable or not: a
 * segment that has begun proves that all earlier ones are complete, and a sealed one proves that
 * the next one is in the folder. False if the next one is not ready yet. */
static bool roll(struct wal *w, uint64_t bytes)
{
    if (!wal_write__batch(w)) {
        return false;
    }
    if (w->ready == NULL && !w->started) {
        wal_write__upkeep_begin(w);
        wal_files__upkeep(&w->upkeep);
        wal_write__upkeep_end(w);
    }
    if (w->ready == NULL || !fit_ready(w, bytes) || !seal(w)) {
        return false;
    }
    wal_write__flush(w);
    os_file_close(w->fd);
    w->fd = w->ready_fd;
    w->ready_fd = -1;
    wal_files__push(&w->used, TAKE(w->ready));
    struct segment_id id = wal_files__id(w, w->used.last);
    w->seed = segment_seed(id);
    w->flushed = 0;
    segment_batch_begin(&w->batch, id, w->next_index, w->used.last->size);
    return true;
}

/* Put one record into the batch; false if it must wait for a segment or for space. */
static bool put(struct wal *w, struct segment_record r)
{
    if (segment_batch_full(&w->batch) && !wal_write__batch(w)) {
        return false;
    }
    uint64_t bytes = segment_record_bytes(r.payload.len);
    if (!has_room(w, bytes) && !roll(w, bytes)) {
        return false;
    }
    CHECK(has_room(w, bytes));
    CHECK(w->flushed <= w->used.last->used);
    r.flushed = w->flushed;
    segment_batch_add(&w->batch, w->seed, &r);
    return true;
}

static bool take_append(struct wal *w, const struct wal_op *op)
{
    CHECK(op->index + w->progress == w->next_index);
    CHECK(w->progress <= op->count);
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
    if (!wal_write__batch(w) || (!has_room(w, bytes) && !roll(w, bytes))) {
        return false;
    }
    if (op->prepare != NULL) {
        if (!wal_write__batch(w)) { /* the header of a segment that has just begun */
            return false;
        }
        wal_write__flush(w);
        op->prepare(op);
    }
    CHECK(put(w, (struct segment_record){.type = SEGMENT_RESET, .index = op->index}));
    w->next_index = op->index;
    for (struct wal_file *f = w->used.first; f != NULL; f = f->next) {
        f->last = 0;
    }
    wal_write__drop(w, op->index - 1);
    return true;
}

void wal_write__drop(struct wal *w, uint64_t index)
{
    struct wal_file *f = w->used.first;
    while (f != NULL && f != w->used.last && f->last <= index) {
        CHECK(w->status.log_bytes >= f->used);
        w->status.log_bytes -= f->used;
        wal_files__push(&w->dropped, wal_files__pop(&w->used));
        f = w->used.first;
    }
}

bool wal_write__take(struct wal *w, struct wal_op *op)
{
    switch (op->kind) {
    case WAL_APPEND:
        return take_append(w, op);
    case WAL_TRUNCATE:
        return take_truncate(w, op);
    case WAL_RESET:
        return take_reset(w, op);
    case WAL_DROP:
        wal_write__drop(w, op->index);
        return true;
    default:
        UNREACHABLE("an operation has one of the four kinds");
    }
}
