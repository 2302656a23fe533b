#include "cluster/ship.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/check.h"
#include "base/crc32c.h"
#include "base/pack.h"
#include "log/log.h"
#include "os/os_clock.h"
#include "os/os_file.h"
#include "raftlog/manifest.h"
#include "raftlog/snapshots.h"

/* The type of a piece. Numbers of the wire format. */
enum piece { PIECE_BYTES = 0, PIECE_LAST = 1, PIECE_GONE = 2 };

enum { ASK_BYTES_MAX = 4096 };

/* --- names --- */

/* A relative path without "." and "..". */
static bool name_is_safe(struct str name)
{
    struct str rest = name;
    if (name.len == 0 || name.len > MANIFEST_NAME_BYTES_MAX || name.ptr[0] == '/' ||
        memchr(name.ptr, '\0', name.len) != NULL) {
        return false;
    }
    while (rest.len > 0) {
        struct str part = str_cut(&rest, '/');
        if (part.len == 0 || str_eq(part, STR(".")) || str_eq(part, STR(".."))) {
            return false;
        }
    }
    return true;
}

static struct os_file_path join(const char *dir, struct str name)
{
    char z[MANIFEST_NAME_BYTES_MAX + 1];
    CHECK(name.len < sizeof z);
    memcpy(z, name.ptr, name.len);
    z[name.len] = '\0';
    return os_file_join(dir, z);
}

/* Create the parent folder of a file in a checkpoint. */
static enum err_code make_parent(const char *path, struct err *err)
{
    struct os_file_path parent;
    (void)snprintf(parent.z, sizeof parent.z, "%s", path);
    char *slash = strrchr(parent.z, '/');
    CHECK(slash != NULL);
    *slash = '\0';
    return os_file_make_dirs(parent.z, err);
}

void ship_clean(const char *dir)
{
    struct os_file_path outbound = os_file_join(dir, "outbound");
    os_file_discard(outbound.z);
}

/* --- sending --- */

struct serving {
    struct raftnet_link *link;
    const char *dir;
    uint64_t cluster;
    uint64_t rate_bytes;
    const atomic_bool *stop;
    struct os_file_path pinned; /* folder of hard links; empty: none yet */
    char id[MANIFEST_ID_BYTES_MAX + 1];
    struct buf frame;
    int64_t free_ns; /* when the next piece may be sent */
};

/* Keep the files of a checkpoint with hard links. */
static enum err_code pin(struct serving *s, struct str id, struct err *err)
{
    static atomic_uint_fast64_t number;
    struct os_file_path snapshots = os_file_join(s->dir, "snapshots");
    struct os_file_path from = snapshots_path(snapshots.z, id);
    struct os_file_names names = {0};
    char folder[MANIFEST_ID_BYTES_MAX + 64];
    (void)snprintf(folder, sizeof folder, "outbound/" STR_FMT ".%llu", STR_ARG(id),
                   (unsigned long long)atomic_fetch_add(&number, 1));
    s->pinned = os_file_join(s->dir, folder);
    if (os_file_make_dirs(s->pinned.z, err) != ERR_OK ||
        os_file_list_tree(from.z, &names, err) != ERR_OK) {
        return err->code;
    }
    enum err_code code =
        names.count > 0 ? ERR_OK : err_set(err, ERR_NOT_FOUND, "the checkpoint was removed");
    for (size_t i = 0; i < names.count && code == ERR_OK; i++) {
        struct os_file_path old = os_file_join(from.z, names.name[i]);
        struct os_file_path link_path = os_file_join(s->pinned.z, names.name[i]);
        code = make_parent(link_path.z, err);
        if (code == ERR_OK && link(old.z, link_path.z) != 0) {
            code = err_from_errno(err, "link");
        }
    }
    os_file_names_clear(&names);
    if (code == ERR_OK) {
        (void)snprintf(s->id, sizeof s->id, STR_FMT, STR_ARG(id));
    }
    return code;
}

static void unpin(struct serving *s)
{
    if (s->pinned.z[0] != '\0') {
        os_file_discard(s->pinned.z);
    }
    s->pinned.z[0] = s->id[0] = '\0';
}

/* Wait until the rate limit allows these bytes. */
static void pace(struct serving *s, size_t bytes)
{
    int64_t now = os_clock_mono().ns;
    if (s->rate_bytes == 0) {
        return;
    }
    s->free_ns = s->free_ns < now ? now : s->free_ns;
    if (s->free_ns > now) {
        int64_t wait = s->free_ns - now;
        struct timespec t = {.tv_sec = wait / NS_PER_S, .tv_nsec = wait % NS_PER_S};
        (void)nanosleep(&t, NULL);
    }
    s->free_ns += (int64_t)((double)bytes * 1e9 / (double)s->rate_bytes);
}

static enum err_code send_piece(struct serving *s, enum piece what, const char *bytes, size_t len,
                                struct err *err)
{
    buf_clear(&s->frame);
    raftnet_frame_begin(&s->frame);
    pack_u8(&s->frame, (uint8_t)what);
    buf_add(&s->frame, bytes, len);
    raftnet_frame_end(&s->frame, RAFTNET_FRAME_PIECE, 0, s->cluster);
    return raftnet_link_write_all(s->link, buf_str(&s->frame), err);
}

static enum err_code send_file(struct serving *s, const char *path, uint64_t offset,
                               struct err *err)
{
    static _Thread_local char room[SHIP_PIECE_BYTES];
    int fd = -1;
    if (os_file_open(path, O_RDONLY, &fd, err) != ERR_OK) {
        return send_piece(s, PIECE_GONE, NULL, 0, err);
    }
    enum err_code code = ERR_OK;
    for (;;) {
        ssize_t n = pread(fd, room, sizeof room, (off_t)offset);
        if (n < 0) {
            code = err_from_errno(err, "read");
            break;
        }
        offset += (uint64_t)n;
        pace(s, (size_t)n);
        code = send_piece(s, n == 0 ? PIECE_LAST : PIECE_BYTES, room, (size_t)n, err);
        if (code != ERR_OK || n == 0 || atomic_load(s->stop)) {
            break;
        }
    }
    os_file_close(fd);
    return code;
}

static enum err_code answer(struct serving *s, struct str ask, struct err *err)
{
    struct unpack u = unpack_from(ask);
    struct str id = unpack_text(&u);
    struct str name = unpack_text(&u);
    uint64_t offset = unpack_u64(&u);
    if (!unpack_done(&u) || !manifest_id_is_valid(id) || !name_is_safe(name) ||
        offset > INT64_MAX) {
        return err_set(err, ERR_CORRUPT, "the request is not valid");
    }
    if (!str_eq(id, str_from_z(s->id))) {
        unpin(s);
        if (pin(s, id, err) != ERR_OK) {
            log_info("checkpoint not available", LOG_STR("checkpoint", id),
                     LOG_Z("error", err->msg));
            unpin(s);
            return send_piece(s, PIECE_GONE, NULL, 0, err);
        }
        log_info("checkpoint requested", LOG_STR("checkpoint", id));
    }
    struct os_file_path path = join(s->pinned.z, name);
    return send_file(s, path.z, offset, err);
}

void ship_serve(struct raftnet_link *link, const char *dir, uint64_t cluster, uint64_t rate_bytes,
                const atomic_bool *stop)
{
    struct serving s = {
        .link = link, .dir = dir, .cluster = cluster, .rate_bytes = rate_bytes, .stop = stop};
    struct raftnet_frame f;
    struct buf in;
    struct err err;
    buf_init(&s.frame, RAFTNET_FRAME_HEAD_BYTES + 1 + SHIP_PIECE_BYTES);
    buf_init(&in, RAFTNET_FRAME_HEAD_BYTES + ASK_BYTES_MAX);
    raftnet_link_block(link, SHIP_TIMEOUT_MS);
    while (
        !atomic_load(stop) && raftnet_stream_read(link, &in, ASK_BYTES_MAX, &f, &err) == ERR_OK &&
        f.kind == RAFTNET_FRAME_ASK && f.cluster == cluster && answer(&s, f.body, &err) == ERR_OK) {
    }
    unpin(&s);
    raftnet_link_close(link);
    buf_deinit(&s.frame);
    buf_deinit(&in);
}

/* --- fetching --- */

struct fetching {
    const struct ship_fetch *f;
    struct manifest m;
    struct raftnet_link link;
    struct os_file_path inbound; /* the folder that receives the checkpoint */
    struct buf in;
};

static enum err_code ask(struct fetching *g, struct str name, uint64_t offset, struct err *err)
{
    struct buf frame;
    buf_init(&frame, RAFTNET_FRAME_HEAD_BYTES + ASK_BYTES_MAX);
    raftnet_frame_begin(&frame);
    pack_text(&frame, g->m.checkpoint);
    pack_text(&frame, name);
    pack_u64(&frame, offset);
    raftnet_frame_end(&frame, RAFTNET_FRAME_ASK, 0, g->f->target.self.cluster);
    enum err_code code = raftnet_link_write_all(&g->link, buf_str(&frame), err);
    buf_deinit(&frame);
    return code;
}

/* Read one piece; *out_more is false after the last one. */
static enum err_code take_piece(struct fetching *g, int fd, uint64_t size, uint64_t *offset,
                                bool *out_more, struct err *err)
{
    struct raftnet_frame f;
    if (atomic_load(g->f->stop)) {
        return err_set_default(err, ERR_STOPPING);
    }
    if (raftnet_stream_read(&g->link, &g->in, SHIP_PIECE_BYTES + 1, &f, err) != ERR_OK) {
        return err->code;
    }
    if (f.kind != RAFTNET_FRAME_PIECE || f.body.len == 0) {
        return err_set(err, ERR_CORRUPT, "the response is not valid");
    }
    struct str bytes = str_from_offset(f.body, 1);
    *out_more = f.body.ptr[0] == PIECE_BYTES;
    if (f.body.ptr[0] == PIECE_GONE) {
        return err_set(err, ERR_NOT_FOUND, "the sender no longer has the checkpoint");
    }
    if (bytes.len > size - *offset) {
        return err_set(err, ERR_CORRUPT, "a file is longer than in the manifest");
    }
    struct iovec iov = {.iov_base = (void *)(uintptr_t)bytes.ptr, .iov_len = bytes.len};
    if (bytes.len > 0 && os_file_write_at(fd, &iov, 1, *offset, err) != ERR_OK) {
        return err->code;
    }
    *offset += bytes.len;
    atomic_fetch_add(g->f->done_bytes, bytes.len);
    return ERR_OK;
}

static enum err_code is_right(const char *path, const struct manifest_file *file, struct err *err)
{
    uint32_t crc = 0;
    uint64_t size = 0;
    if (os_file_checksum(path, &crc, &size, err) != ERR_OK) {
        return err->code;
    }
    return crc == file->crc ? ERR_OK
                            : err_set(err, ERR_CORRUPT, "'%s' does not match the manifest", path);
}

/* After a failed flush, later flushes may succeed without writing: remove the file, so that the
 * next attempt fetches all of it. */
static enum err_code flush(int fd, const char *path, struct err *err)
{
    if (os_file_flush(fd, err) != ERR_OK) {
        os_file_discard(path);
        return err->code;
    }
    return ERR_OK;
}

/* An earlier attempt received the whole file, but may have ended before flushing it. */
static enum err_code flush_whole(const char *path, struct err *err)
{
    int fd = -1;
    if (os_file_open(path, O_WRONLY, &fd, err) != ERR_OK) {
        return err->code;
    }
    enum err_code code = flush(fd, path, err);
    os_file_close(fd);
    return code;
}

static enum err_code fetch_rest(struct fetching *g, const struct manifest_file *file,
                                const char *path, uint64_t have, struct err *err)
{
    int fd = -1;
    bool more = true;
    if (os_file_open(path, O_WRONLY | O_CREAT, &fd, err) != ERR_OK) {
        return err->code;
    }
    enum err_code code = ask(g, file->name, have, err);
    while (code == ERR_OK && more) {
        code = take_piece(g, fd, file->size, &have, &more, err);
    }
    if (code == ERR_OK && have != file->size) {
        code = err_set(err, ERR_CORRUPT, "a file is shorter than in the manifest");
    }
    code = code == ERR_OK ? flush(fd, path, err) : code;
    os_file_close(fd);
    return code;
}

static enum err_code fetch_file(struct fetching *g, const struct manifest_file *file,
                                struct err *err)
{
    struct os_file_info info;
    if (!name_is_safe(file->name)) {
        return err_set(err, ERR_CORRUPT, "a file of the checkpoint has an invalid name");
    }
    struct os_file_path path = join(g->inbound.z, file->name);
    if (make_parent(path.z, err) != ERR_OK) {
        return err->code;
    }
    bool exists = os_file_stat(path.z, &info, err) == ERR_OK;
    uint64_t have = exists && info.size <= file->size ? info.size : 0;
    if (exists && info.size > file->size) {
        os_file_discard(path.z);
        exists = false;
    }
    atomic_fetch_add(g->f->done_bytes, have);
    bool whole = exists && have == file->size;
    enum err_code code = whole ? flush_whole(path.z, err) : fetch_rest(g, file, path.z, have, err);
    if (code != ERR_OK) {
        return code;
    }
    code = is_right(path.z, file, err);
    if (code != ERR_OK) {
        os_file_discard(path.z); /* the next attempt fetches all of it */
    }
    return code;
}

static enum err_code fetch_all(struct fetching *g, struct err *err)
{
    for (size_t i = 0; i < g->m.file_count; i++) {
        if (fetch_file(g, &g->m.file[i], err) != ERR_OK) {
            return err->code;
        }
    }
    return os_file_flush_dir(g->inbound.z, err);
}

/* Remove unfinished downloads of other checkpoints. */
static void forget_others(const char *inbound, struct str id)
{
    struct os_file_names names = {0};
    struct err err;
    if (os_file_list(inbound, &names, &err) != ERR_OK) {
        return;
    }
    for (size_t i = 0; i < names.count; i++) {
        if (!str_eq(str_from_z(names.name[i]), id)) {
            struct os_file_path path = os_file_join(inbound, names.name[i]);
            os_file_discard(path.z);
        }
    }
    os_file_names_clear(&names);
}

static enum err_code fetch_checkpoint(struct fetching *g, struct err *err)
{
    struct os_file_path all = os_file_join(g->f->dir, "inbound");
    struct os_file_path snapshots = os_file_join(g->f->dir, "snapshots");
    struct os_file_path final_path = snapshots_path(snapshots.z, g->m.checkpoint);
    struct os_file_info info;
    if (os_file_stat(final_path.z, &info, err) == ERR_OK &&
        snapshots_verify(snapshots.z, &g->m, err) == ERR_OK) {
        return ERR_OK; /* our own checkpoint, or fetched before */
    }
    g->inbound = join(all.z, g->m.checkpoint);
    if (os_file_make_dirs(g->inbound.z, err) != ERR_OK) {
        return err->code;
    }
    forget_others(all.z, g->m.checkpoint);
    if (raftnet_stream_dial(&g->f->target, &g->link, err) != ERR_OK) {
        return err->code;
    }
    enum err_code code = fetch_all(g, err);
    raftnet_link_close(&g->link);
    if (code != ERR_OK) {
        return code;
    }
    os_file_discard(final_path.z);
    code = os_file_rename(g->inbound.z, final_path.z, err);
    return code == ERR_OK ? os_file_flush_dir(snapshots.z, err) : code;
}

enum err_code ship_fetch(const struct ship_fetch *f, struct err *err)
{
    struct arena *arena = arena_new(MANIFEST_BYTES_MAX);
    struct fetching g = {.f = f, .link = {.fd = -1}};
    buf_init(&g.in, RAFTNET_FRAME_HEAD_BYTES + SHIP_PIECE_BYTES + 1);
    enum err_code code = manifest_decode(f->manifest, arena, &g.m, err);
    code = code == ERR_OK ? fetch_checkpoint(&g, err) : code;
    buf_deinit(&g.in);
    arena_free(arena);
    return code;
}
