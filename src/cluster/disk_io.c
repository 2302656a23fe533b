#include "cluster/disk_io.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "cluster/disk_io_int.h"
#include "log/log.h"
#include "raftlog/members.h"

enum { FILL_BATCH = 128, FILL_BYTES = 8 };

/* Load the snapshot before the newest. If it cannot be read, ignore it: nothing depends on it. */
static void load_older(struct disk_io *d)
{
    struct err err;
    struct disk_io_manifest older = {0};
    buf_init(&older.bytes, MANIFEST_BYTES_MAX);
    if (snapshots_load_nth(d->snapshots_dir.z, 1, &older.bytes, &err) != ERR_OK ||
        disk_manifest__decode(&older, &err) != ERR_OK) {
        log_warn("older snapshot not usable", LOG_Z("error", err.msg));
    } else if (older.bytes.len > 0) {
        d->older = disk_manifest__older(&older);
    }
    disk_manifest__clear(&older);
}

static uint64_t snapshot_index(const struct disk_io *d)
{
    return d->newest.bytes.len == 0 ? 0 : d->newest.m.index;
}

static uint64_t log_end(const struct disk_io *d)
{
    return d->content.first_index + d->content.count;
}

static uint64_t last_term(const struct disk_io *d)
{
    if (d->content.count > 0) {
        return d->content.entry[d->content.count - 1].term;
    }
    return d->newest.bytes.len == 0 ? 0 : d->newest.m.term;
}

/* Does the log continue the newest snapshot? It must begin at or before the entry after the
 * snapshot, and contain the snapshot's last entry with the same term. A log that ends earlier, or
 * has another term there, was about to be replaced: a snapshot from the leader was stored, and the
 * process died before the log was reset. (Or the log was not flushed, by configuration, and its end
 * is lost.) The snapshot covers all of the log that is valid, so fit_log resets it. A gap between
 * snapshot and log was already reported when the log was opened. */
static bool log_continues(const struct disk_io *d)
{
    uint64_t index = snapshot_index(d);
    if (log_end(d) <= index) {
        return false;
    }
    return d->content.first_index > index ||
           d->content.entry[index - d->content.first_index].term == d->newest.m.term;
}

static enum err_code fit_log(struct disk_io *d, struct err *err)
{
    uint64_t index = snapshot_index(d);
    if (index == 0) {
        bool fine = d->content.count == 0 || d->content.entry[0].type == RAFT_CHANGE;
        return fine ? ERR_OK
                    : err_set(err, ERR_CORRUPT,
                              "the log in '%s' does not begin with a membership record",
                              d->log_dir.z);
    }
    if (log_end(d) == index + 1 && d->content.count == 0) {
        return ERR_OK;
    }
    if (log_continues(d)) {
        return ERR_OK;
    }
    log_warn("log replaced by snapshot", LOG_U64("snapshot_index", index),
             LOG_U64("log_end", log_end(d)));
    wal_content_clear(&d->content);
    d->content.first_index = index + 1;
    return d->wal == NULL ? ERR_OK : wal_reset_now(d->wal, index + 1, err);
}

/* The log reaches back to the snapshot before the newest. A group of one does not need these
 * older entries while it runs, so they are not loaded into memory. */
static enum err_code trim_content(struct disk_io *d, struct err *err)
{
    struct wal_content *c = &d->content;
    struct raft_configuration members;
    uint64_t index = snapshot_index(d);
    if (c->first_index >= index) {
        return ERR_OK;
    }
    if (disk_io_members(d, &members, err) != ERR_OK) {
        return err->code;
    }
    bool alone = members.n <= 1;
    raft_configuration_close(&members);
    uint64_t surplus = index - c->first_index;
    size_t count = surplus < c->count ? (size_t)surplus : c->count;
    if (!alone || count == 0) {
        return ERR_OK;
    }
    for (size_t i = 0; i < count; i++) {
        raft_free(c->entry[i].buf.base);
    }
    c->count -= count;
    c->first_index += count;
    memmove(c->entry, c->entry + count, c->count * sizeof *c->entry);
    return ERR_OK;
}

/* Detect a missing log. Once there is a vote or a snapshot, the first entry was written, and then
 * there is always at least one segment. If all segments are missing, the entries after the snapshot
 * are lost. Only a log without durability may lose them, in a power failure. */
static enum err_code check_log(const struct disk_io *d, bool durable, struct err *err)
{
    bool has_snapshot = d->newest.bytes.len > 0;
    if (d->content.begun || (d->ballot.vote == 0 && !has_snapshot)) {
        return ERR_OK;
    }
    if (!has_snapshot) {
        return err_set(err, ERR_CORRUPT,
                       "the log in '%s' is missing, and there is no snapshot: restore its files",
                       d->log_dir.z);
    }
    if (durable) {
        return err_set(err, ERR_CORRUPT,
                       "the log in '%s' is missing: restore its files, or start with "
                       "--durable=false to accept the loss of everything after entry %" PRIu64,
                       d->log_dir.z, snapshot_index(d));
    }
    log_warn("log missing", LOG_Z("folder", d->log_dir.z),
             LOG_U64("snapshot_index", snapshot_index(d)));
    return ERR_OK;
}

static enum err_code check_ballot(const struct disk_io *d, struct err *err)
{
    if (d->ballot.term < last_term(d)) {
        return err_set(err, ERR_CORRUPT,
                       "'%s' was missing or is old: it has term %" PRIu64
                       ", but the log has entries of term %" PRIu64,
                       d->ballot_path.z, d->ballot.term, last_term(d));
    }
    return ERR_OK;
}

static enum err_code make_folders(struct disk_io *d, bool read_only, struct err *err)
{
    d->ballot_path = os_file_join(d->dir.z, "ballot");
    d->log_dir = os_file_join(d->dir.z, "log");
    d->snapshots_dir = os_file_join(d->dir.z, "snapshots");
    if (!read_only && (os_file_make_dirs(d->log_dir.z, err) != ERR_OK ||
                       os_file_make_dirs(d->snapshots_dir.z, err) != ERR_OK)) {
        return err->code;
    }
    return os_file_lock_dir(d->dir.z, &d->lock_fd, err);
}

static enum err_code open_ballot(struct disk_io *d, bool read_only, struct err *err)
{
    return read_only ? ballot_inspect(d->ballot_path.z, &d->ballot, err)
                     : ballot_open(d->ballot_path.z, &d->ballot_fd, &d->ballot, err);
}

static enum err_code open_log(struct disk_io *d, const struct disk_io_config *config,
                              struct err *err)
{
    const struct wal_config wal = {.dir = d->log_dir.z,
                                   .segment_bytes = config->segment_bytes,
                                   .free_bytes_min = config->free_bytes_min,
                                   .space_check_ms = DISK_IO_SPACE_CHECK_MS,
                                   .durable = config->durable};
    return config->read_only ? wal_inspect(d->log_dir.z, snapshot_index(d), &d->content, err)
                             : wal_open(&wal, snapshot_index(d), &d->wal, &d->content, err);
}

static enum err_code open_all(struct disk_io *d, const struct disk_io_config *config,
                              struct err *err)
{
    if (make_folders(d, config->read_only, err) != ERR_OK ||
        open_ballot(d, config->read_only, err) != ERR_OK ||
        snapshots_load(d->snapshots_dir.z, &d->newest.bytes, err) != ERR_OK ||
        disk_manifest__decode(&d->newest, err) != ERR_OK) {
        return err->code;
    }
    if (!config->read_only) {
        snapshots_prune(d->snapshots_dir.z, true);
    }
    load_older(d);
    if (open_log(d, config, err) != ERR_OK || check_log(d, config->durable, err) != ERR_OK ||
        fit_log(d, err) != ERR_OK || check_ballot(d, err) != ERR_OK ||
        trim_content(d, err) != ERR_OK) {
        return err->code;
    }
    return ERR_OK;
}

static void disk_io_freep(struct disk_io **d)
{
    disk_io_free(*d);
}

enum err_code disk_io_open(const struct disk_io_config *config, struct disk_io **out_disk,
                           struct err *err)
{
    size_t len = strlen(config->dir);
    if (len == 0 || len > DISK_IO_DIR_BYTES_MAX) {
        return err_set(err, ERR_VALIDATION,
                       "the path of the data directory has %zu bytes, 1 to %d "
                       "are allowed",
                       len, DISK_IO_DIR_BYTES_MAX);
    }
    ATTR_CLEANUP(disk_io_freep) struct disk_io *d = calloc(1, sizeof *d);
    CHECK(d != NULL);
    memcpy(d->dir.z, config->dir, len + 1);
    d->lock_fd = -1;
    d->ballot_fd = -1;
    buf_init(&d->newest.bytes, MANIFEST_BYTES_MAX);
    if (open_all(d, config, err) != ERR_OK) {
        return err->code;
    }
    *out_disk = TAKE(d);
    return ERR_OK;
}

void disk_io_free(struct disk_io *d)
{
    if (d == NULL) {
        return;
    }
    CHECK(d->wal == NULL || !d->wal_started);
    wal_free(d->wal);
    wal_content_clear(&d->content);
    disk_manifest__clear(&d->newest);
    os_file_close(d->ballot_fd);
    os_file_close(d->lock_fd);
    free(d);
}

bool disk_io_is_pristine(const struct disk_io *d)
{
    /* A bootstrap that failed before it wrote the log leaves term 1 without a vote. */
    return d->content.count == 0 && d->newest.bytes.len == 0 && d->ballot.term <= 1 &&
           d->ballot.vote == 0;
}

uint64_t disk_io_last_index(const struct disk_io *d)
{
    return log_end(d) - 1;
}

enum err_code disk_io_each_command(const struct disk_io *d,
                                   enum err_code (*fn)(void *data, uint64_t index, struct str entry,
                                                       struct err *err),
                                   void *data, struct err *err)
{
    for (size_t i = 0; i < d->content.count; i++) {
        const struct raft_entry *e = &d->content.entry[i];
        if (e->type == RAFT_COMMAND && fn(data, d->content.first_index + i,
                                          str_from(e->buf.base, e->buf.len), err) != ERR_OK) {
            return err->code;
        }
    }
    return ERR_OK;
}

enum err_code disk_io_members(const struct disk_io *d, struct raft_configuration *out,
                              struct err *err)
{
    for (size_t i = d->content.count; i > 0; i--) {
        const struct raft_entry *e = &d->content.entry[i - 1];
        if (e->type == RAFT_CHANGE) {
            return members_decode(str_from(e->buf.base, e->buf.len), out, err);
        }
    }
    if (d->newest.bytes.len > 0) {
        return members_decode(d->newest.m.members, out, err);
    }
    raft_configuration_init(out);
    return ERR_OK;
}

/* Append entries to the log on disk and to the content that Raft will load, which takes over
 * their bytes. After a failure they are freed. */
static enum err_code append_now(struct disk_io *d, const struct raft_entry *entry, unsigned count,
                                struct err *err)
{
    struct wal_content *c = &d->content;
    enum err_code code = wal_append_now(d->wal, log_end(d), entry, count, err);
    if (code != ERR_OK) {
        for (unsigned i = 0; i < count; i++) {
            raft_free(entry[i].buf.base);
        }
        return code;
    }
    c->entry = raft_realloc(c->entry, (c->count + count) * sizeof *c->entry);
    CHECK(c->entry != NULL);
    memcpy(c->entry + c->count, entry, count * sizeof *entry);
    c->count += count;
    return ERR_OK;
}

static enum err_code append_members(struct disk_io *d, const struct raft_configuration *members,
                                    struct err *err)
{
    struct buf bytes;
    buf_init(&bytes, MEMBERS_BYTES_MAX);
    members_encode(members, &bytes);
    if (bytes.overflow) {
        buf_deinit(&bytes);
        return err_set(err, ERR_VALIDATION, "the list of members is too long");
    }
    struct raft_entry e = {.term = d->ballot.term, .type = RAFT_CHANGE, .buf.len = bytes.len};
    e.buf.base = buf_take(&bytes); /* from malloc, like everything from raft_malloc */
    return append_now(d, &e, 1, err);
}

enum err_code disk_io_bootstrap(struct disk_io *d, const struct raft_configuration *members,
                                struct err *err)
{
    if (!disk_io_is_pristine(d)) {
        return err_set(err, ERR_CONFLICT, "'%s' is already part of a cluster", d->dir.z);
    }
    struct ballot first = {.version = d->ballot.version, .term = 1};
    if (ballot_store(d->ballot_fd, &first, err) != ERR_OK) {
        return err->code;
    }
    d->ballot = first;
    return append_members(d, members, err);
}

enum err_code disk_io_recover(struct disk_io *d, const struct raft_configuration *members,
                              struct err *err)
{
    if (disk_io_is_pristine(d)) {
        return err_set(err, ERR_CONFLICT, "'%s' is not part of a cluster", d->dir.z);
    }
    return append_members(d, members, err);
}

enum err_code disk_io_fill(struct disk_io *d, uint64_t index, struct err *err)
{
    while (disk_io_last_index(d) < index) {
        struct raft_entry batch[FILL_BATCH];
        uint64_t missing = index - disk_io_last_index(d);
        unsigned count = missing < COUNT_OF(batch) ? (unsigned)missing : (unsigned)COUNT_OF(batch);
        for (unsigned i = 0; i < count; i++) {
            void *bytes = raft_calloc(1, FILL_BYTES);
            CHECK(bytes != NULL);
            batch[i] = (struct raft_entry){.term = d->ballot.term,
                                           .type = RAFT_BARRIER,
                                           .buf = {.base = bytes, .len = FILL_BYTES}};
        }
        if (append_now(d, batch, count, err) != ERR_OK) {
            return err->code;
        }
    }
    return ERR_OK;
}

const struct manifest *disk_io_manifest(const struct disk_io *d)
{
    return d->newest.bytes.len == 0 ? NULL : &d->newest.m;
}

const char *disk_io_snapshots_dir(const struct disk_io *d)
{
    return d->snapshots_dir.z;
}

uint64_t disk_io_take_longest_flush(struct disk_io *d)
{
    return wal_take_longest(d->wal);
}

const struct wal_status *disk_io_wal_status(const struct disk_io *d)
{
    return wal_status(d->wal);
}

void disk_io_need_space(struct disk_io *d, uint64_t free_bytes_min)
{
    wal_need_space(d->wal, free_bytes_min);
}

uint64_t disk_io_snapshot_bytes(const struct disk_io *d)
{
    uint64_t newest = d->newest.bytes.len == 0 ? 0 : snapshots_bytes(&d->newest.m);
    return newest > d->older.bytes ? newest : d->older.bytes;
}
