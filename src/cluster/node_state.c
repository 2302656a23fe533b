/*
 * Connects the state machine to Raft.
 *
 * Applying: the index of an entry is Raft's last applied index + 1. Entries that the state already
 * has are skipped, so that a start can replay from an older snapshot.
 *
 * Snapshots: Raft takes one after a number of entries. But the size of the log matters, on disk and
 * in memory. So Raft's threshold is set out of reach until enough bytes were applied, and then to
 * one entry. Taking a snapshot has three steps: on the loop, record the index; in the thread pool,
 * let the state machine write a checkpoint and describe it in a manifest; then Raft stores the
 * manifest and truncates the log. The snapshot is valid only after the last step.
 */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "cluster/node_int.h"
#include "log/log.h"
#include "os/os_clock.h"
#include "raftlog/members.h"

enum {
    TRAILING_ALONE = 1, /* no peer needs older entries; 0 has another meaning for Raft */
    RETRY_PART = 8, /* after a failure, retry when this fraction of the usual bytes was applied */
};

void node_state__consider_snapshot(struct node *n)
{
    bool due = n->snapshot_soon || n->bytes_since >= n->snapshot_log_bytes;
    raft_set_snapshot_threshold(&n->raft, due ? 1 : UINT_MAX);
}

static int state_apply(struct raft_fsm *f, const struct raft_buffer *buf, void **result)
{
    struct node *n = f->data;
    uint64_t index = raft_last_applied(&n->raft) + 1;
    *result = NULL;
    if (index > n->fsm.applied_index(n->fsm.data)) {
        n->fsm.apply(n->fsm.data, index, str_from(buf->base, buf->len));
    }
    n->bytes_since += buf->len;
    n->entries_since++;
    node_state__consider_snapshot(n);
    return 0;
}

/* --- taking a snapshot --- */

/* Entries to keep before a snapshot, for members that lag a little: about half of the entries
 * between two snapshots. */
static unsigned trailing(const struct node *n)
{
    if (n->raft.configuration.n <= 1) {
        return TRAILING_ALONE;
    }
    uint64_t half = n->entries_since / 2 + 1;
    return half < UINT_MAX ? (unsigned)half : UINT_MAX;
}

static int state_snapshot(struct raft_fsm *f, struct raft_buffer *bufs[], unsigned *n_bufs)
{
    struct node *n = f->data;
    const struct raft_snapshot *pending = &n->raft.snapshot.pending;
    if (n->closing || pending->configuration.n == 0) {
        return RAFT_BUSY;
    }
    CHECK(n->snapshot == NULL);
    struct node_snapshot *s = calloc(1, sizeof *s);
    CHECK(s != NULL);
    *s = (struct node_snapshot){.index = pending->index,
                                .term = pending->term,
                                .members_index = pending->configuration_index,
                                .id = snapshots_new_id(pending->index),
                                .earlier = disk_io_manifest(n->disk),
                                .began = os_clock_mono()};
    buf_init(&s->members, MEMBERS_BYTES_MAX);
    members_encode(&pending->configuration, &s->members);
    n->snapshot = s;
    raft_set_snapshot_trailing(&n->raft, trailing(n));
    n->bytes_since = 0;
    n->entries_since = 0;
    n->snapshot_soon = false;
    node_state__consider_snapshot(n);
    *bufs = NULL;
    *n_bufs = 0;
    return 0;
}

/* In the thread pool: write the checkpoint and the manifest that describes it. */
static enum err_code make_checkpoint(struct node *n, const struct node_snapshot *s, struct buf *out,
                                     struct err *err)
{
    const char *dir = disk_io_snapshots_dir(n->disk);
    struct str id = str_from_z(s->id.z);
    struct os_file_path path = snapshots_path(dir, id);
    struct arena *arena = arena_new(MANIFEST_BYTES_MAX);
    struct manifest m = {.index = s->index,
                         .term = s->term,
                         .checkpoint = id,
                         .members = buf_str(&s->members),
                         .members_index = s->members_index};
    enum err_code code = n->fsm.checkpoint(n->fsm.data, path.z, err);
    if (code == ERR_OK) {
        code = snapshots_describe(dir, s->earlier, arena, &m, err);
    }
    /* The checkpoint shares files with the state, and so with the previous snapshot. If that is
     * damaged, this one must not displace the one before it, which may be good. */
    if (code == ERR_OK && s->earlier != NULL && snapshots_is_damaged(dir, s->earlier->checkpoint)) {
        code = snapshots_verify(dir, &m, err);
    }
    if (code == ERR_OK) {
        manifest_encode(&m, out);
    } else {
        os_file_discard(path.z);
    }
    arena_free(arena);
    return code;
}

static int state_snapshot_async(struct raft_fsm *f, struct raft_buffer *bufs[], unsigned *n_bufs)
{
    struct node *n = f->data;
    struct buf manifest;
    struct err err;
    buf_init(&manifest, MANIFEST_BYTES_MAX);
    if (make_checkpoint(n, n->snapshot, &manifest, &err) != ERR_OK) {
        log_warn("snapshot failed", LOG_U64("index", n->snapshot->index), LOG_Z("error", err.msg));
        n->snapshot->err = err;
        buf_deinit(&manifest);
        return RAFT_IOERR;
    }
    struct raft_buffer *one = raft_malloc(sizeof *one);
    CHECK(one != NULL);
    one->len = manifest.len;
    one->base = buf_take(&manifest);
    *bufs = one;
    *n_bufs = 1;
    return 0;
}

/* Finish a snapshot, successful or not, on the loop. */
static int state_snapshot_finalize(struct raft_fsm *f, struct raft_buffer *bufs[], unsigned *n_bufs)
{
    struct node *n = f->data;
    struct node_snapshot *s = TAKE(n->snapshot);
    const struct manifest *newest = disk_io_manifest(n->disk);
    for (unsigned i = 0; i < *n_bufs; i++) {
        free((*bufs)[i].base);
    }
    raft_free(*bufs);
    *bufs = NULL;
    *n_bufs = 0;
    if (newest != NULL && newest->index == s->index) {
        n->snapshot_count++;
        n->snapshot_failures = 0;
        int64_t took_ms = (os_clock_mono().ns - s->began.ns) / NS_PER_MS;
        log_info("snapshot taken", LOG_U64("index", s->index), LOG_I64("took_ms", took_ms));
    } else {
        n->bytes_since += n->snapshot_log_bytes - n->snapshot_log_bytes / RETRY_PART;
        n->snapshot_failures++;
        n->snapshot_err = s->err;
        if (s->err.code == ERR_OK) {
            (void)err_set(&n->snapshot_err, ERR_IO, "the manifest could not be stored");
        }
    }
    buf_deinit(&s->members);
    free(s);
    return 0;
}

/* --- restoring a snapshot --- */

enum err_code node_state__restore(struct node *n, const struct manifest *m, struct err *err)
{
    uint64_t before = n->fsm.applied_index(n->fsm.data);
    /* The state never has the index of a snapshot that ends with Raft's own entries: restore it
     * only once. */
    if (m->index <= before || m->index == n->restored_index) {
        return ERR_OK;
    }
    const char *dir = disk_io_snapshots_dir(n->disk);
    struct os_file_path path = snapshots_path(dir, m->checkpoint);
    if (snapshots_verify(dir, m, err) != ERR_OK ||
        n->fsm.restore(n->fsm.data, path.z, err) != ERR_OK) {
        return err_wrap(err, "restore the state");
    }
    uint64_t applied = n->fsm.applied_index(n->fsm.data);
    /* The state may end before the manifest's index: Raft's own entries, which the state never
     * sees, may follow. But it must not have less than the state that it replaces. */
    if (applied < before) {
        return err_set(err, ERR_CORRUPT, "the checkpoint '%s' ends before the state it replaces",
                       path.z);
    }
    n->restored_index = m->index;
    log_info("snapshot restored", LOG_U64("index", m->index), LOG_U64("applied_index", applied));
    return ERR_OK;
}

static int state_restore(struct raft_fsm *f, struct raft_buffer *buf)
{
    struct node *n = f->data;
    struct arena *arena = arena_new(MANIFEST_BYTES_MAX);
    struct manifest m;
    struct err err;
    if (manifest_decode(str_from(buf->base, buf->len), arena, &m, &err) != ERR_OK ||
        node_state__restore(n, &m, &err) != ERR_OK) {
        /* The log before the snapshot is gone. A restart tries again, with the same manifest. */
        check_fatal("%s", err.msg);
    }
    arena_free(arena);
    raft_free(buf->base);
    n->bytes_since = 0;
    n->entries_since = 0;
    return 0;
}

struct raft_fsm node_state__fsm(struct node *n)
{
    return (struct raft_fsm){
        .version = 3, /* with snapshot_async */
        .data = n,
        .apply = state_apply,
        .snapshot = state_snapshot,
        .restore = state_restore,
        .snapshot_finalize = state_snapshot_finalize,
        .snapshot_async = state_snapshot_async,
    };
}
