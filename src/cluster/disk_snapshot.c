/*
 * Stores and loads Raft's snapshots, which are manifests.
 */
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "cluster/disk_io_int.h"
#include "log/log.h"
#include "raftlog/members.h"

static void *must_alloc(size_t n)
{
    void *p = raft_malloc(n);
    CHECK(p != NULL);
    return p;
}

struct raft_snapshot *disk_snapshot__make(const struct disk_io_manifest *from)
{
    struct err err;
    struct raft_snapshot *out = must_alloc(sizeof *out);
    *out = (struct raft_snapshot){
        .index = from->m.index, .term = from->m.term, .configuration_index = from->m.members_index};
    CHECK(members_decode(from->m.members, &out->configuration, &err) == ERR_OK); /* validated */
    out->bufs = must_alloc(sizeof *out->bufs);
    out->n_bufs = 1;
    out->bufs[0].len = from->bytes.len;
    out->bufs[0].base = must_alloc(from->bytes.len);
    memcpy(out->bufs[0].base, from->bytes.ptr, from->bytes.len);
    return out;
}

/* Stores a manifest: in the thread pool if the log is kept; on the loop, in order with the
 * entries, if it replaces the log. */
struct put {
    struct disk_io *d;
    struct raft_io_snapshot_put *req;
    struct disk_io_manifest manifest; /* becomes the newest */
    uint64_t drop_index;              /* entries up to here can be dropped afterwards */
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
        return;
    }
    /* The manifest was removed. Until that is flushed, a crash could bring it back, so its
     * checkpoint must stay. */
    struct err err;
    if (os_file_flush_dir(dir, &err) == ERR_OK) {
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
        d->older = disk_manifest__older(&d->newest);
        disk_manifest__clear(&d->newest);
        d->newest = p->manifest;
        if (p->drop_index > 0 && !d->closing) {
            disk_work__submit(d, WAL_DROP, p->drop_index);
        }
    } else {
        log_warn("snapshot not stored", LOG_Z("error", p->err.msg));
        disk_manifest__clear(&p->manifest);
    }
    free(p);
    req->cb(req, status);
    d->jobs--;
    disk_work__maybe_closed(d);
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

/* Raft has already discarded its old log in memory, so this must succeed. */
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

/* Decode the manifest from the snapshot's buffers, and check that it agrees with Raft's own
 * fields. */
static enum err_code take_manifest(const struct raft_snapshot *s, struct disk_io_manifest *out,
                                   struct err *err)
{
    buf_init(&out->bytes, MANIFEST_BYTES_MAX);
    for (unsigned i = 0; i < s->n_bufs; i++) {
        buf_add(&out->bytes, s->bufs[i].base, s->bufs[i].len);
    }
    if (out->bytes.overflow || out->bytes.len == 0) {
        return err_set(err, ERR_TOO_LARGE, "a snapshot is empty or too large");
    }
    if (disk_manifest__decode(out, err) != ERR_OK) {
        return err->code;
    }
    if (out->m.index != s->index || out->m.term != s->term ||
        out->m.members_index != s->configuration_index) {
        return err_set(err, ERR_CORRUPT, "a snapshot has the manifest of another snapshot");
    }
    return ERR_OK;
}

int disk_snapshot__put(struct raft_io *io, unsigned trailing, struct raft_io_snapshot_put *req,
                       const struct raft_snapshot *snapshot, raft_io_snapshot_put_cb cb)
{
    struct disk_io *d = io->impl;
    if (d->closing) {
        return RAFT_CANCELED;
    }
    struct put *p = calloc(1, sizeof *p);
    CHECK(p != NULL);
    struct err err;
    if (take_manifest(snapshot, &p->manifest, &err) != ERR_OK) {
        log_warn("snapshot refused", LOG_Z("error", err.msg));
        disk_manifest__clear(&p->manifest);
        free(p);
        return RAFT_MALFORMED;
    }
    p->d = d;
    p->req = req;
    p->work.data = p;
    p->code = err_set_default(&p->err, ERR_STOPPING); /* unless it is written to disk */
    req->cb = cb;
    d->jobs++;
    if (trailing == 0) { /* the snapshot comes from the leader */
        d->next_index = snapshot->index + 1;
        p->reset = (struct wal_op){.kind = WAL_RESET,
                                   .index = d->next_index,
                                   .prepare = reset_prepare,
                                   .done = reset_done};
        wal_submit(d->wal, &p->reset);
        return 0;
    }
    p->drop_index = snapshot->index > trailing ? snapshot->index - trailing : 0;
    /* The current newest snapshot is kept as a fallback for a repair, so the log must also
     * continue that one. */
    uint64_t before = d->newest.bytes.len == 0 ? 0 : d->newest.m.index;
    p->drop_index = p->drop_index < before ? p->drop_index : before;
    CHECK(uv_queue_work(d->host.loop, &p->work, put_work_cb, put_after_cb) == 0);
    return 0;
}

/* Returns a copy of the newest snapshot, in the next turn of the loop. */
struct get {
    struct msg msg;
    struct disk_io *d;
    struct raft_io_snapshot_get *req;
    struct raft_snapshot *snapshot; /* NULL if there is none */
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
    disk_work__maybe_closed(d);
}

int disk_snapshot__get(struct raft_io *io, struct raft_io_snapshot_get *req,
                       raft_io_snapshot_get_cb cb)
{
    struct disk_io *d = io->impl;
    struct get *g = calloc(1, sizeof *g);
    CHECK(g != NULL);
    *g = (struct get){.msg = {.deliver = get_deliver}, .d = d, .req = req};
    if (d->newest.bytes.len > 0) {
        g->snapshot = disk_snapshot__make(&d->newest);
    }
    req->cb = cb;
    d->jobs++;
    CHECK(mailbox_post(d->host.box, &g->msg));
    return 0;
}
