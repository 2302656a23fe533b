#include "engine/engine_history.h"

#include <fcntl.h>
#include <stdlib.h>

#include "base/check.h"
#include "base/crc32c.h"
#include "base/limits.h"
#include "base/pack.h"
#include "base/unpack.h"
#include "engine/engine_int.h"
#include "log/log.h"
#include "os/os_clock.h"
#include "os/os_file.h"

enum {
    NUMBERS = ENGINE_TIMES_BUCKETS + 1 + 4,
    CELL_BYTES = 4 + 8 * NUMBERS + 4 /* checksum */
};

static const uint32_t kept[ENGINE_HISTORY_STEPS] = {LIMIT_HISTORY_MINUTES, LIMIT_HISTORY_HOURS};

/* Cells */

void engine_history_merge(struct engine_history_cell *a, const struct engine_history_cell *b)
{
    for (unsigned i = 0; i < ENGINE_TIMES_BUCKETS; i++) {
        a->writes.count[i] += b->writes.count[i];
    }
    a->writes.sum_ns += b->writes.sum_ns;
    a->flush_count += b->flush_count;
    a->flush_ns += b->flush_ns;
    a->flush_max_ns = b->flush_max_ns > a->flush_max_ns ? b->flush_max_ns : a->flush_max_ns;
    a->lag_max_ms = b->lag_max_ms > a->lag_max_ms ? b->lag_max_ms : a->lag_max_ms;
}

static struct engine_history_cell *place(const struct engine_history *h,
                                         enum engine_history_step step, uint32_t number)
{
    return &h->cells[step][number % kept[step]];
}

struct engine_history_cell engine_history_at(const struct engine *e, enum engine_history_step step,
                                             uint32_t number)
{
    const struct engine_history *h = &e->history;
    uint32_t open_number = step == ENGINE_HISTORY_MINUTE ? h->open.number : h->open.number / 60;
    struct engine_history_cell cell = *place(h, step, number);
    if (cell.number != number) {
        cell = (struct engine_history_cell){0};
    }
    if (open_number == number) {
        engine_history_merge(&cell, &h->open);
    }
    cell.number = number;
    return cell;
}

/* The file: the minutes' cells, then the hours' cells, each at its place in the ring */

static void encode(const struct engine_history_cell *c, struct buf *out)
{
    pack_u32(out, c->number);
    for (unsigned i = 0; i < ENGINE_TIMES_BUCKETS; i++) {
        pack_u64(out, c->writes.count[i]);
    }
    pack_u64(out, c->writes.sum_ns);
    pack_u64(out, c->flush_count);
    pack_u64(out, c->flush_ns);
    pack_u64(out, c->flush_max_ns);
    pack_u64(out, c->lag_max_ms);
    pack_u32(out, crc32c_update(0, out->ptr, out->len));
}

static bool decode(struct str bytes, struct engine_history_cell *out)
{
    struct unpack u = unpack_from(bytes);
    out->number = unpack_u32(&u);
    for (unsigned i = 0; i < ENGINE_TIMES_BUCKETS; i++) {
        out->writes.count[i] = unpack_u64(&u);
    }
    out->writes.sum_ns = unpack_u64(&u);
    out->flush_count = unpack_u64(&u);
    out->flush_ns = unpack_u64(&u);
    out->flush_max_ns = unpack_u64(&u);
    out->lag_max_ms = unpack_u64(&u);
    uint32_t sum = unpack_u32(&u);
    return unpack_done(&u) && out->number != 0 &&
           sum == crc32c_update(0, bytes.ptr, CELL_BYTES - sizeof sum);
}

static uint64_t offset_of(enum engine_history_step step, uint32_t number)
{
    uint64_t at = step == ENGINE_HISTORY_MINUTE ? 0 : kept[ENGINE_HISTORY_MINUTE];
    return (at + number % kept[step]) * CELL_BYTES;
}

/* Stop using the file; the history is in memory only. */
static void give_up(struct engine_history *h, const struct err *err)
{
    log_warn("history of this node is not written", LOG_Z("error", err->msg));
    os_file_close(h->fd);
    h->fd = -1;
}

static void write_cell(struct engine_history *h, enum engine_history_step step,
                       const struct engine_history_cell *c)
{
    char room[CELL_BYTES];
    struct buf bytes;
    struct err err;
    if (h->fd < 0) {
        return;
    }
    buf_init_room(&bytes, sizeof room, room, sizeof room);
    encode(c, &bytes);
    CHECK(bytes.len == CELL_BYTES);
    struct iovec iov = {.iov_base = room, .iov_len = sizeof room};
    if (os_file_write_at(h->fd, &iov, 1, offset_of(step, c->number), &err) != ERR_OK) {
        give_up(h, &err);
    }
}

/* Read the cell at its place in the file, if it is valid. */
static void read_cell(struct engine_history *h, enum engine_history_step step, uint32_t i,
                      struct str file)
{
    struct engine_history_cell c;
    uint64_t at = offset_of(step, i);
    if (at + CELL_BYTES <= file.len && decode(str_from(file.ptr + at, CELL_BYTES), &c) &&
        c.number % kept[step] == i) {
        h->cells[step][i] = c;
    }
}

static void read_file(struct engine_history *h, const char *path)
{
    struct buf bytes;
    struct err err;
    buf_init(&bytes, SIZE_MAX);
    if (os_file_read(path, &bytes, &err) != ERR_OK) {
        buf_clear(&bytes);
    }
    for (unsigned step = 0; step < ENGINE_HISTORY_STEPS; step++) {
        for (uint32_t i = 0; i < kept[step]; i++) {
            read_cell(h, step, i, buf_str(&bytes));
        }
    }
    buf_deinit(&bytes);
}

/* Sampling */

/* The minute is over: store it, and add it to its hour. */
static void close_minute(struct engine_history *h)
{
    struct engine_history_cell *minute = place(h, ENGINE_HISTORY_MINUTE, h->open.number);
    uint32_t number = h->open.number / 60;
    struct engine_history_cell *hour = place(h, ENGINE_HISTORY_HOUR, number);
    if (minute->number != h->open.number) {
        *minute = (struct engine_history_cell){.number = h->open.number};
    }
    if (hour->number != number) {
        *hour = (struct engine_history_cell){.number = number};
    }
    engine_history_merge(minute, &h->open);
    engine_history_merge(hour, &h->open);
    write_cell(h, ENGINE_HISTORY_MINUTE, minute);
    write_cell(h, ENGINE_HISTORY_HOUR, hour);
}

static void begin_minute(struct engine *e, uint32_t number, const struct node_flushes *flushes)
{
    struct engine_history *h = &e->history;
    h->open = (struct engine_history_cell){.number = number};
    h->writes_before = e->apply_times;
    h->flush_count_before = flushes->count;
    h->flush_ns_before = flushes->ns;
}

void engine_history__look(struct engine *e, int64_t lag_ms)
{
    struct engine_history *h = &e->history;
    struct engine_history_cell *c = &h->open;
    uint32_t number = (uint32_t)(os_clock_wall().ns / (60 * NS_PER_S));
    if (e->node == NULL || e->stopping) { /* the log may be closed already */
        return;
    }
    struct node_flushes flushes = node_take_flushes(e->node);
    if (c->number == 0) {
        begin_minute(e, number, &flushes);
    }
    for (unsigned i = 0; i < ENGINE_TIMES_BUCKETS; i++) {
        c->writes.count[i] = e->apply_times.count[i] - h->writes_before.count[i];
    }
    c->writes.sum_ns = e->apply_times.sum_ns - h->writes_before.sum_ns;
    c->flush_count = flushes.count - h->flush_count_before;
    c->flush_ns = flushes.ns - h->flush_ns_before;
    c->flush_max_ns = flushes.longest_ns > c->flush_max_ns ? flushes.longest_ns : c->flush_max_ns;
    if (lag_ms > 0 && (uint64_t)lag_ms > c->lag_max_ms) {
        c->lag_max_ms = (uint64_t)lag_ms;
    }
    if (c->number != number) {
        close_minute(h);
        begin_minute(e, number, &flushes);
    }
}

void engine_history__open(struct engine *e)
{
    struct engine_history *h = &e->history;
    struct os_file_path path = os_file_join(e->config.data_dir, "node.history");
    struct err err;
    for (unsigned step = 0; step < ENGINE_HISTORY_STEPS; step++) {
        h->cells[step] = calloc(kept[step], sizeof *h->cells[step]);
        CHECK(h->cells[step] != NULL);
    }
    read_file(h, path.z);
    if (os_file_open(path.z, O_RDWR | O_CREAT, &h->fd, &err) != ERR_OK) {
        h->fd = -1;
        log_warn("history of this node is not written", LOG_Z("error", err.msg));
    }
}

void engine_history__close(struct engine *e)
{
    struct engine_history *h = &e->history;
    if (h->cells[0] == NULL) {
        return;
    }
    if (h->open.number != 0) {
        close_minute(h);
    }
    if (h->fd >= 0) {
        os_file_close(h->fd);
    }
    for (unsigned step = 0; step < ENGINE_HISTORY_STEPS; step++) {
        free(h->cells[step]);
    }
}
