/*
 * Implements raft_io, the functions that Raft calls on the loop.
 *
 * Nothing here calls back from inside a call. Calls that Raft expects to be durable on return (term
 * and vote) write at once, which is rare; entries are written in the next turn. Snapshots are in
 * disk_snapshot.c.
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/check.h"
#include "cluster/disk_io_int.h"
#include "os/os_clock.h"

static struct disk_io *disk_of(const struct raft_io *io)
{
    return io->impl;
}

/* --- start and close --- */

static int serve_init(struct raft_io *io, raft_id id, const char *address)
{
    (void)io;
    (void)id;
    (void)address;
    return 0;
}

static void tick_cb(uv_timer_t *timer)
{
    struct disk_io *d = timer->data;
    d->tick(d->io);
}

static int serve_start(struct raft_io *io, unsigned msecs, raft_io_tick_cb tick,
                       raft_io_recv_cb recv)
{
    struct disk_io *d = disk_of(io);
    d->tick = tick;
    wal_start(d->wal, d->host.loop);
    d->wal_started = true;
    CHECK(uv_timer_start(&d->tick_timer, tick_cb, msecs, msecs) == 0);
    if (d->host.transport != NULL) {
        d->host.transport->start(d->host.transport->data, io, recv);
    }
    return 0;
}

static void timer_closed_cb(uv_handle_t *handle)
{
    struct disk_io *d = handle->data;
    d->timer_open = false;
    disk_work__maybe_closed(d);
}

static void transport_closed(void *data)
{
    struct disk_io *d = data;
    d->transport_open = false;
    disk_work__maybe_closed(d);
}

static void wal_closed(void *data)
{
    struct disk_io *d = data;
    d->wal = NULL;
    disk_work__maybe_closed(d);
}

static void serve_close(struct raft_io *io, raft_io_close_cb cb)
{
    struct disk_io *d = disk_of(io);
    CHECK(!d->closing);
    d->closing = true;
    d->close_cb = cb;
    uv_close((uv_handle_t *)&d->tick_timer, timer_closed_cb);
    if (d->transport_open) {
        d->host.transport->close(d->host.transport->data, transport_closed, d);
    }
    if (d->wal_started) {
        wal_close(d->wal, wal_closed, d);
    } else {
        wal_free(d->wal);
        d->wal = NULL;
    }
}

/* --- loading --- */

/* NOLINTNEXTLINE(readability-function-size): raft's signature */
static int serve_load(struct raft_io *io, raft_term *term, raft_id *voted_for,
                      struct raft_snapshot **snapshot, raft_index *start_index,
                      struct raft_entry *entries[], size_t *n_entries)
{
    struct disk_io *d = disk_of(io);
    *term = d->ballot.term;
    *voted_for = d->ballot.vote;
    *snapshot = NULL;
    if (d->newest.bytes.len > 0) {
        *snapshot = disk_snapshot__make(&d->newest);
    }
    *start_index = d->content.first_index;
    d->next_index = d->content.first_index + d->content.count;
    *n_entries = d->content.count;
    *entries = TAKE(d->content.entry);
    d->content.count = 0;
    return 0;
}

static int io_error(struct raft_io *io, const struct err *err, int code)
{
    (void)snprintf(io->errmsg, sizeof io->errmsg, "%s", err->msg);
    return code;
}

static int serve_bootstrap(struct raft_io *io, const struct raft_configuration *members)
{
    struct disk_io *d = disk_of(io);
    struct err err;
    if (d->wal_started) {
        return RAFT_BUSY;
    }
    if (!disk_io_is_pristine(d)) {
        return RAFT_CANTBOOTSTRAP;
    }
    enum err_code code = disk_io_bootstrap(d, members, &err);
    return code == ERR_OK ? 0 : io_error(io, &err, RAFT_IOERR);
}

static int serve_recover(struct raft_io *io, const struct raft_configuration *members)
{
    struct disk_io *d = disk_of(io);
    struct err err;
    if (d->wal_started) {
        return RAFT_BUSY;
    }
    enum err_code code = disk_io_recover(d, members, &err);
    return code == ERR_OK ? 0 : io_error(io, &err, RAFT_IOERR);
}

static int store_ballot(struct disk_io *d, raft_term term, raft_id vote)
{
    struct err err;
    struct ballot b = {.version = d->ballot.version, .term = term, .vote = vote};
    if (ballot_store(d->ballot_fd, &b, &err) != ERR_OK) {
        check_fatal("%s", err.msg);
    }
    d->ballot = b;
    return 0;
}

static int serve_set_term(struct raft_io *io, raft_term term)
{
    return store_ballot(disk_of(io), term, 0);
}

static int serve_set_vote(struct raft_io *io, raft_id server_id)
{
    struct disk_io *d = disk_of(io);
    return store_ballot(d, d->ballot.term, server_id);
}

/* --- the log --- */

struct append {
    struct wal_op op;
    struct raft_io_append *req;
};

static void append_done(struct wal_op *op)
{
    struct append *a = CONTAINER_OF(op, struct append, op);
    struct raft_io_append *req = a->req;
    free(a);
    req->cb(req, 0); /* appends cannot fail: see wal.h */
}

static int serve_append(struct raft_io *io, struct raft_io_append *req,
                        const struct raft_entry entries[], unsigned n, raft_io_append_cb cb)
{
    struct disk_io *d = disk_of(io);
    struct append *a = calloc(1, sizeof *a);
    CHECK(a != NULL);
    a->req = req;
    a->op = (struct wal_op){.kind = WAL_APPEND,
                            .index = d->next_index,
                            .entry = entries,
                            .count = n,
                            .done = append_done};
    req->cb = cb;
    d->next_index += n;
    wal_submit(d->wal, &a->op);
    return 0;
}

static int serve_truncate(struct raft_io *io, raft_index index)
{
    struct disk_io *d = disk_of(io);
    CHECK(index <= d->next_index);
    d->next_index = index;
    disk_work__submit(d, WAL_TRUNCATE, index);
    return 0;
}

/* --- work on the pool --- */

struct job {
    struct disk_io *d;
    struct raft_io_async_work *req;
    uv_work_t work;
    int status;
};

static void job_work_cb(uv_work_t *work)
{
    struct job *j = work->data;
    j->status = j->req->work(j->req);
}

static void job_after_cb(uv_work_t *work, int status)
{
    struct job *j = work->data;
    struct disk_io *d = j->d;
    struct raft_io_async_work *req = j->req;
    int result = j->status;
    CHECK(status == 0);
    free(j);
    req->cb(req, result);
    d->jobs--;
    disk_work__maybe_closed(d);
}

static int serve_async_work(struct raft_io *io, struct raft_io_async_work *req,
                            raft_io_async_work_cb cb)
{
    struct disk_io *d = disk_of(io);
    struct job *j = calloc(1, sizeof *j);
    CHECK(j != NULL);
    *j = (struct job){.d = d, .req = req};
    j->work.data = j;
    req->cb = cb;
    d->jobs++;
    CHECK(uv_queue_work(d->host.loop, &j->work, job_work_cb, job_after_cb) == 0);
    return 0;
}

/* --- clock, random numbers, table of functions --- */

static int serve_send(struct raft_io *io, struct raft_io_send *req,
                      const struct raft_message *message, raft_io_send_cb cb)
{
    struct disk_io *d = disk_of(io);
    const struct disk_io_transport *t = d->host.transport;
    if (t == NULL || d->closing) {
        return RAFT_NOCONNECTION;
    }
    return t->send(t->data, req, message, cb);
}

static raft_time serve_time(struct raft_io *io)
{
    return uv_now(disk_of(io)->host.loop);
}

/* From min up to, but not including, max. */
static int serve_random(struct raft_io *io, int min, int max)
{
    (void)io;
    CHECK(min < max);
    uint64_t random_number;
    os_clock_random(&random_number, sizeof random_number);
    return min + (int)(random_number % (uint64_t)(max - min));
}

void disk_serve_attach(struct disk_io *d, const struct disk_io_host *host, struct raft_io *io)
{
    CHECK(d->io == NULL);
    d->host = *host;
    *io = (struct raft_io){
        .version = 2, /* with async_work */
        .impl = d,
        .init = serve_init,
        .close = serve_close,
        .load = serve_load,
        .start = serve_start,
        .bootstrap = serve_bootstrap,
        .recover = serve_recover,
        .set_term = serve_set_term,
        .set_vote = serve_set_vote,
        .send = serve_send,
        .append = serve_append,
        .truncate = serve_truncate,
        .snapshot_put = disk_snapshot__put,
        .snapshot_get = disk_snapshot__get,
        .time = serve_time,
        .random = serve_random,
        .async_work = serve_async_work,
    };
    d->io = io;
    CHECK(uv_timer_init(d->host.loop, &d->tick_timer) == 0);
    d->tick_timer.data = d;
    d->timer_open = true;
    d->transport_open = d->host.transport != NULL;
}
