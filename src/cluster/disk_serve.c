/*
 * Raft's calls, on the loop.
 *
 * Nothing here calls back from inside a call. A call that Raft expects to be durable on return
 * (term and vote) writes here and now, which is rare; entries go to the log thread; manifests are
 * written on the pool, or on the log thread when they replace the log.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "cluster/disk_io_int.h"
#include "cluster/members.h"
#include "log/log.h"
#include "os/os_clock.h"

static struct disk_io *disk_of(const struct raft_io *io)
{
    return io->impl;
}

static void *must_alloc(size_t n)
{
    void *p = raft_malloc(n);
    CHECK(p != NULL);
    return p;
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
    d->recv = recv;
    wal_start(d->wal, d->host.box);
    d->wal_started = true;
    CHECK(uv_timer_start(&d->tick_timer, tick_cb, msecs, msecs) == 0);
    if (d->host.transport != NULL) {
        d->host.transport->start(d->host.transport->data, io, recv);
    }
    return 0;
}

/* The one list of what must be over before Raft may go. */
static void maybe_closed(struct disk_io *d)
{
    if (d->closing && !d->timer_open && !d->transport_open && d->wal == NULL && d->jobs == 0) {
        d->close_cb(d->io); /* d may be gone after this */
    }
}

static void timer_closed_cb(uv_handle_t *handle)
{
    struct disk_io *d = handle->data;
    d->timer_open = false;
    maybe_closed(d);
}

static void transport_closed(void *data)
{
    struct disk_io *d = data;
    d->transport_open = false;
    maybe_closed(d);
}

static void wal_closed(void *data)
{
    struct disk_io *d = data;
    d->wal = NULL;
    maybe_closed(d);
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

/* --- what was stored --- */

static void manifest_to_snapshot(const struct disk_io_manifest *from, struct raft_snapshot *out)
{
    struct err err;
    *out = (struct raft_snapshot){.index = from->m.index,
                                  .term = from->m.term,
                                  .configuration_index = from->m.members_index};
    CHECK(members_decode(from->m.members, &out->configuration, &err) == ERR_OK); /* it was before */
    out->bufs = must_alloc(sizeof *out->bufs);
    out->n_bufs = 1;
    out->bufs[0].len = from->bytes.len;
    out->bufs[0].base = must_alloc(from->bytes.len);
    memcpy(out->bufs[0].base, from->bytes.ptr, from->bytes.len);
}

static int serve_load(struct raft_io *io, raft_term *term, raft_id *voted_for,
                      struct raft_snapshot **snapshot, raft_index *start_index,
                      struct raft_entry *entries[], size_t *n_entries)
{
    struct disk_io *d = disk_of(io);
    *term = d->ballot.term;
    *voted_for = d->ballot.vote;
    *snapshot = NULL;
    if (d->newest.bytes.len > 0) {
        *snapshot = must_alloc(sizeof **snapshot);
        manifest_to_snapshot(&d->newest, *snapshot);
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
    struct err err;
    enum err_code code = disk_io_bootstrap(disk_of(io), members, &err);
    return code == ERR_OK ? 0
                          : io_error(io, &err,
                                     code == ERR_CONFLICT ? RAFT_CANTBOOTSTRAP : RAFT_IOERR);
}

static int serve_recover(struct raft_io *io, const struct raft_configuration *members)
{
    struct err err;
    enum err_code code = disk_io_recover(disk_of(io), members, &err);
    return code == ERR_OK ? 0 : io_error(io, &err, RAFT_IOERR);
}

static int store_ballot(struct disk_io *d, raft_term term, raft_id vote)
{
    struct err err;
    struct ballot b = {.version = d->ballot.version, .term = term, .vote = vote};
    if (ballot_store(d->ballot_path.z, &b, &err) != ERR_OK) {
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
    req->cb(req, 0); /* it cannot fail: see wal.h */
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

static void op_done(struct wal_op *op)
{
    free(op);
}

static void submit(struct disk_io *d, enum wal_kind kind, uint64_t index)
{
    struct wal_op *op = calloc(1, sizeof *op);
    CHECK(op != NULL);
    *op = (struct wal_op){.kind = kind, .index = index, .done = op_done};
    wal_submit(d->wal, op);
}

static int serve_truncate(struct raft_io *io, raft_index index)
{
    struct disk_io *d = disk_of(io);
    CHECK(index <= d->next_index);
    d->next_index = index;
    submit(d, WAL_TRUNCATE, index);
    return 0;
}

/* --- snapshots --- */

/* A manifest on its way to the disk: on the pool when the log stays, on the log thread, in order
 * with the entries, when it replaces the log. */
struct put {
    struct disk_io *d;
    struct raft_io_snapshot_put *req;
    struct disk_io_manifest manifest; /* becomes the newest */
    uint64_t drop_index;              /* 0: replace the log */
    uv_work_t work;
    struct wal_op reset;
    enum err_code code;
    struct err err;
};

static void put_store(struct put *p)
{
    const char *dir = p->d->snapshots_dir.z;
    p->code = snapshots_store(dir, buf_str(&p->manifest.bytes), &p->err);
    if (p->code == ERR_OK) {
        snapshots_prune(dir, false);
    } else {
        struct os_file_path checkpoint = snapshots_path(dir, p->manifest.m.checkpoint);
        os_file_discard(checkpoint.z);
    }
}

static void put_finish(struct put *p)
{
    struct disk_io *d = p->d;
    struct raft_io_snapshot_put *req = p->req;
    int status = p->code == ERR_OK ? 0 : RAFT_IOERR;
    if (p->code == ERR_OK) {
        disk_io__manifest_clear(&d->newest);
        d->newest = p->manifest;
        if (p->drop_index > 0 && !d->closing) {
            submit(d, WAL_DROP, p->drop_index);
        }
    } else {
        log_warn("snapshot_not_stored", LOG_Z("error", p->err.msg));
        disk_io__manifest_clear(&p->manifest);
    }
    free(p);
    req->cb(req, status);
    d->jobs--;
    maybe_closed(d);
}

static void put_work_cb(uv_work_t *work)
{
    put_store(work->data);
}

static void put_after_cb(uv_work_t *work, int status)
{
    CHECK(status == 0);
    put_finish(work->data);
}

/* On the log thread. Raft has given up its old log already, so there is no way back. */
static void reset_prepare(struct wal_op *op)
{
    struct put *p = CONTAINER_OF(op, struct put, reset);
    put_store(p);
    if (p->code != ERR_OK) {
        check_fatal("store a snapshot from the leader: %s", p->err.msg);
    }
}

static void reset_done(struct wal_op *op)
{
    put_finish(CONTAINER_OF(op, struct put, reset));
}

/* The snapshot's one or more buffers are a manifest, and it says the same as Raft does. */
static enum err_code take_manifest(const struct raft_snapshot *s, struct disk_io_manifest *out,
                                   struct err *err)
{
    buf_init(&out->bytes, MANIFEST_BYTES_MAX);
    for (unsigned i = 0; i < s->n_bufs; i++) {
        buf_add(&out->bytes, s->bufs[i].base, s->bufs[i].len);
    }
    if (out->bytes.overflow || out->bytes.len == 0) {
        return err_set(err, ERR_TOO_LARGE, "a snapshot of no or too many bytes");
    }
    if (disk_io__manifest_decode(out, err) != ERR_OK) {
        return err->code;
    }
    if (out->m.index != s->index || out->m.term != s->term ||
        out->m.members_index != s->configuration_index) {
        return err_set(err, ERR_CORRUPT, "a snapshot with the manifest of another");
    }
    return ERR_OK;
}

static int serve_snapshot_put(struct raft_io *io, unsigned trailing,
                              struct raft_io_snapshot_put *req,
                              const struct raft_snapshot *snapshot, raft_io_snapshot_put_cb cb)
{
    struct disk_io *d = disk_of(io);
    if (d->closing) {
        return RAFT_CANCELED;
    }
    struct put *p = calloc(1, sizeof *p);
    CHECK(p != NULL);
    struct err err;
    if (take_manifest(snapshot, &p->manifest, &err) != ERR_OK) {
        log_warn("snapshot_refused", LOG_Z("error", err.msg));
        disk_io__manifest_clear(&p->manifest);
        free(p);
        return RAFT_MALFORMED;
    }
    p->d = d;
    p->req = req;
    p->work.data = p;
    req->cb = cb;
    d->jobs++;
    if (trailing == 0) { /* from the leader */
        d->next_index = snapshot->index + 1;
        p->reset = (struct wal_op){.kind = WAL_RESET,
                                   .index = d->next_index,
                                   .prepare = reset_prepare,
                                   .done = reset_done};
        wal_submit(d->wal, &p->reset);
        return 0;
    }
    p->drop_index = snapshot->index > trailing ? snapshot->index - trailing : 0;
    CHECK(uv_queue_work(d->host.loop, &p->work, put_work_cb, put_after_cb) == 0);
    return 0;
}

/* A copy of the newest snapshot, handed over in the next turn of the loop. */
struct get {
    struct msg msg;
    struct disk_io *d;
    struct raft_io_snapshot_get *req;
    struct raft_snapshot *snapshot; /* NULL when there is none */
};

static void get_deliver(struct msg *m)
{
    struct get *g = CONTAINER_OF(m, struct get, msg);
    struct disk_io *d = g->d;
    struct raft_io_snapshot_get *req = g->req;
    struct raft_snapshot *snapshot = g->snapshot;
    free(g);
    req->cb(req, snapshot, snapshot == NULL ? RAFT_NOTFOUND : 0);
    d->jobs--;
    maybe_closed(d);
}

static int serve_snapshot_get(struct raft_io *io, struct raft_io_snapshot_get *req,
                              raft_io_snapshot_get_cb cb)
{
    struct disk_io *d = disk_of(io);
    struct get *g = calloc(1, sizeof *g);
    CHECK(g != NULL);
    *g = (struct get){.msg = {.deliver = get_deliver}, .d = d, .req = req};
    if (d->newest.bytes.len > 0) {
        g->snapshot = must_alloc(sizeof *g->snapshot);
        manifest_to_snapshot(&d->newest, g->snapshot);
    }
    req->cb = cb;
    d->jobs++;
    CHECK(mailbox_post(d->host.box, &g->msg));
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
    maybe_closed(d);
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

/* --- the rest --- */

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
    uint64_t chance;
    os_clock_random(&chance, sizeof chance);
    return min + (int)(chance % (uint64_t)(max - min));
}

void disk_serve__attach(struct disk_io *d, struct raft_io *io)
{
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
        .snapshot_put = serve_snapshot_put,
        .snapshot_get = serve_snapshot_get,
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
