/*
 * Reading the log when it is opened.
 *
 * Segments are read from the oldest to the newest, and each must begin with the index behind the
 * last one before it. That finds a damaged or missing segment, because a segment is flushed before
 * the next one begins; so does a valid record behind an invalid one. Only the newest may end in the
 * middle of a record: a crash can tear a write. A valid record behind the tear that was written
 * after the torn place was on disk proves damage instead of a tear; so does a file that is smaller
 * than when the segment began, because its size was on disk before that.
 *
 * A segment is sealed when the next one is ready, just before that begins. A sealed one whose next
 * is not in the folder shows that the newest file is missing. When the next one is there and has
 * not begun, the process ended in between: the seal is removed, and writing continues at its place.
 *
 * The records found are flushed before they are used: they may come from the page cache, left by a
 * process that died before its flush. Bytes that no record proves to be on disk are written again
 * first: after a failed flush, the system considers these pages clean and would report the next
 * flush as a success. The rest of the newest segment is overwritten with zeros, so that pieces of a
 * torn write can never follow a later one and count again.
 *
 * wal_inspect returns the same result without any of these writes.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/check.h"
#include "log/log.h"
#include "raftlog/wal_int.h"

/* Largest possible segment file: the limit, and one oversized entry. */
enum { FILE_BYTES_MAX = SEGMENT_PAYLOAD_BYTES_MAX + WAL_SEGMENT_BYTES_MAX / 2 };

struct recovery {
    struct wal *w;
    uint64_t covered_index;
    struct wal_content content;
    size_t capacity;
    struct wal_files idle; /* log files that have not begun */
    /* the segment being read */
    struct wal_file *file;
    struct buf image;
    struct segment_scan scan;
    /* where the last segment that had begun ended */
    uint64_t end_flushed; /* offset that its last record proves to be on disk */
    uint64_t end_generation;
    size_t end_at;
    enum segment_stop end_stop;
    uint64_t end_next;     /* the generation named by its seal; 0: not sealed */
    bool end_has_more;     /* valid records follow the end */
    bool end_was_promised; /* one of them proves that the bytes at the end were on disk */
};

static uint64_t next_index(const struct recovery *r)
{
    return r->content.first_index + r->content.count;
}

static enum err_code damaged(struct err *err, uint64_t generation, size_t at, const char *what)
{
    struct wal_name name = wal_files__name(WAL_FILES_LOG, generation);
    return err_set(err, ERR_CORRUPT, "log segment '%s' is damaged at offset %zu: %s", name.z, at,
                   what);
}

/* --- entries --- */

static void cut_from(struct recovery *r, uint64_t index)
{
    struct wal_content *c = &r->content;
    while (c->count > 0 && next_index(r) > index) {
        raft_free(c->entry[--c->count].buf.base);
    }
    if (index < c->first_index) {
        c->first_index = index; /* earlier entries were in segments that were dropped */
    }
    for (struct wal_file *f = r->w->used.first; f != NULL; f = f->next) {
        f->last = f->last < index ? f->last : index - 1;
    }
}

static void start_over(struct recovery *r, uint64_t index)
{
    cut_from(r, 1);
    r->content.first_index = index;
}

static void add_entry(struct recovery *r, const struct segment_record *record)
{
    struct wal_content *c = &r->content;
    if (c->count == r->capacity) {
        r->capacity = r->capacity == 0 ? 1024 : r->capacity * 2;
        c->entry = raft_realloc(c->entry, r->capacity * sizeof *c->entry);
        CHECK(c->entry != NULL);
    }
    size_t len = record->payload.len;
    char *copy = raft_malloc(len == 0 ? 1 : len);
    CHECK(copy != NULL);
    memcpy(copy, record->payload.ptr, len);
    c->entry[c->count++] = (struct raft_entry){.term = record->term,
                                               .type = (unsigned short)record->type,
                                               .buf = {.base = copy, .len = len}};
    r->file->last = record->index;
}

static enum err_code apply_record(struct recovery *r, const struct segment_record *record,
                                  size_t at, struct err *err)
{
    if (r->end_next != 0) {
        return damaged(err, r->file->generation, at, "a record after the seal");
    }
    switch (record->type) {
    case SEGMENT_COMMAND:
    case SEGMENT_BARRIER:
    case SEGMENT_CHANGE:
        if (record->index != next_index(r)) {
            return damaged(err, r->file->generation, at, "an entry with the wrong index");
        }
        add_entry(r, record);
        return ERR_OK;
    case SEGMENT_TRUNCATE:
        if (record->index > next_index(r)) {
            return damaged(err, r->file->generation, at, "a truncation after the end");
        }
        cut_from(r, record->index);
        return ERR_OK;
    case SEGMENT_RESET:
        start_over(r, record->index);
        return ERR_OK;
    case SEGMENT_SEAL:
        r->end_next = record->index;
        return ERR_OK;
    default:
        UNREACHABLE("the scan gives no other record");
    }
}

/* --- one segment --- */

/* Record where and why the scan ended, and whether valid records follow. */
static void note_end(struct recovery *r)
{
    struct segment_record record;
    size_t offset = r->scan.at;
    r->end_generation = r->file->generation;
    r->end_at = r->scan.at;
    r->end_stop = r->scan.stop;
    r->end_has_more = false;
    r->end_was_promised = false;
    while (!r->end_was_promised && segment_find(&r->scan, &offset, &record)) {
        r->end_has_more = true;
        r->end_was_promised = record.flushed > r->scan.at;
    }
}

static const struct wal_file *find_idle(const struct recovery *r, uint64_t generation)
{
    const struct wal_file *f = r->idle.first;
    while (f != NULL && f->generation != generation) {
        f = f->next;
    }
    return f;
}

/* A segment must continue the previous one, and be the one that its seal names. Otherwise it may
 * still become the first segment, if the snapshot covers all earlier entries: then the earlier
 * files were dropped, but not all of them were removed. */
static enum err_code join(struct recovery *r, struct err *err)
{
    uint64_t first = r->scan.first_index;
    if (r->w->used.count == 0) {
        r->content.first_index = first;
        return ERR_OK;
    }
    bool is_next = r->end_next == 0 || r->end_next == r->file->generation;
    if (is_next && first == next_index(r) && !r->end_has_more) {
        return ERR_OK;
    }
    if (first <= r->covered_index + 1) {
        log_warn("log segments ignored", LOG_U64("before_index", first),
                 LOG_U64("count", r->w->used.count));
        start_over(r, first);
        return ERR_OK;
    }
    struct wal_name before = wal_files__name(WAL_FILES_LOG, r->end_generation);
    struct wal_name name = wal_files__name(WAL_FILES_LOG, r->file->generation);
    if (!is_next && find_idle(r, r->end_next) == NULL) {
        struct wal_name missing = wal_files__name(WAL_FILES_LOG, r->end_next);
        return err_set(err, ERR_CORRUPT,
                       "log segment '%s' is missing between '%s' and '%s': restore the file",
                       missing.z, before.z, name.z);
    }
    if (r->idle.count > 0) {
        return damaged(err, r->idle.first->generation, 0,
                       "no valid header, and entries are missing");
    }
    if (r->end_has_more) {
        return damaged(err, r->end_generation, r->end_at, segment_stop_text(r->end_stop));
    }
    return err_set(err, ERR_CORRUPT,
                   "log segment '%s' begins with entry %" PRIu64 ", but entry %" PRIu64
                   " is next: '%s' has %s at offset %zu",
                   name.z, first, next_index(r), before.z, segment_stop_text(r->end_stop),
                   r->end_at);
}

static enum err_code read_records(struct recovery *r, struct err *err)
{
    struct segment_record record;
    size_t at = r->scan.at;
    r->end_flushed = 0;
    r->end_next = 0;
    r->file->used = at;
    while (segment_scan_next(&r->scan, &record)) {
        if (apply_record(r, &record, at, err) != ERR_OK) {
            return err->code;
        }
        r->end_flushed = record.flushed;
        at = r->scan.at;
        if (record.type != SEGMENT_SEAL) { /* writing would overwrite a seal */
            r->file->used = at;
        }
    }
    note_end(r);
    return ERR_OK;
}

static enum err_code read_image(struct recovery *r, struct err *err)
{
    struct wal_name name = wal_files__name(WAL_FILES_LOG, r->file->generation);
    struct os_file_path path = os_file_join(r->w->dir.z, name.z);
    buf_clear(&r->image);
    if (os_file_read(path.z, &r->image, err) != ERR_OK) {
        return err->code;
    }
    r->file->size = r->image.len;
    return ERR_OK;
}

/* Keep a segment that has not begun: it was prepared but not used, or its header is torn. Takes
 * ownership of the file. */
static enum err_code set_aside(struct recovery *r, struct wal_file *file, struct err *err)
{
    wal_files__push(&r->idle, file);
    if (r->scan.stop != SEGMENT_NOT_BEGUN) {
        return damaged(err, file->generation, 0, segment_stop_text(r->scan.stop));
    }
    struct segment_record record;
    size_t offset = 0;
    while (segment_find(&r->scan, &offset, &record)) {
        if (record.flushed > 0) {
            return damaged(err, file->generation, 0, "no valid header before valid records");
        }
    }
    return ERR_OK;
}

/* Takes ownership of the file. */
static enum err_code read_segment(struct recovery *r, struct wal_file *file, struct err *err)
{
    r->file = file;
    if (read_image(r, err) != ERR_OK) {
        free(file);
        return err->code;
    }
    if (!segment_scan_begin(&r->scan, buf_str(&r->image), wal_files__id(r->w, file))) {
        return set_aside(r, file, err);
    }
    enum err_code code = join(r, err);
    wal_files__push(&r->w->used, file);
    return code == ERR_OK ? read_records(r, err) : code;
}

/* --- the folder --- */

static bool parse_name(const char *name, const char *prefix, uint64_t *out_generation)
{
    size_t len = strlen(prefix);
    if (strncmp(name, prefix, len) != 0 || strlen(name) != len + 16) {
        return false;
    }
    uint64_t value = 0;
    for (const char *p = name + len; *p != '\0'; p++) {
        bool digit = *p >= '0' && *p <= '9';
        if (!digit && !(*p >= 'a' && *p <= 'f')) {
            return false;
        }
        value = value << 4 | (uint64_t)(digit ? *p - '0' : *p - 'a' + 10);
    }
    *out_generation = value;
    return value > 0 && value < UINT64_MAX; /* there must be room for a next number */
}

static void add_spare(struct recovery *r, uint64_t generation, const char *name)
{
    struct wal_files *spares = &r->w->upkeep.spares;
    struct os_file_path path = os_file_join(r->w->dir.z, name);
    struct os_file_info info;
    struct err err;
    if (r->w->read_only) {
        return;
    }
    if (spares->count < WAL_SPARES_MAX && os_file_stat(path.z, &info, &err) == ERR_OK &&
        info.size == r->w->segment_bytes) {
        wal_files__push(spares, wal_files__new(generation, info.size));
    } else {
        os_file_discard(path.z);
    }
}

static enum err_code read_folder(struct recovery *r, struct err *err)
{
    struct os_file_names names = {0};
    if (os_file_list(r->w->dir.z, &names, err) != ERR_OK) {
        return err->code;
    }
    enum err_code code = ERR_OK;
    uint64_t generation_max = 0;
    for (size_t i = 0; i < names.count && code == ERR_OK; i++) {
        uint64_t generation = 0;
        if (parse_name(names.name[i], WAL_FILES_LOG, &generation)) {
            code = read_segment(r, wal_files__new(generation, 0), err);
        } else if (parse_name(names.name[i], WAL_FILES_SPARE, &generation)) {
            add_spare(r, generation, names.name[i]);
        }
        generation_max = generation > generation_max ? generation : generation_max;
    }
    os_file_names_clear(&names);
    r->w->next_generation = generation_max + 1;
    return code;
}

/* The newest segment that has begun may be sealed. Then the next segment was in the folder, with
 * its zeros, before the seal was written. A crash does not remove it: if it is missing,
 * acknowledged entries are lost. */
static enum err_code check_next(const struct recovery *r, struct err *err)
{
    const struct wal_file *next = find_idle(r, r->end_next);
    if (r->end_next == 0 || (next != NULL && next->size >= WAL_SEGMENT_BYTES_MIN)) {
        return ERR_OK;
    }
    struct wal_name name = wal_files__name(WAL_FILES_LOG, r->end_next);
    const char *what = next == NULL ? "missing" : "truncated";
    uint64_t last = next_index(r) - 1 > r->covered_index ? next_index(r) - 1 : r->covered_index;
    if (r->w->durable) {
        return err_set(err, ERR_CORRUPT,
                       "log segment '%s' is %s: restore it to '%s', or start with "
                       "--durable=false to accept the loss of everything after entry %" PRIu64,
                       name.z, what, r->w->dir.z, last);
    }
    log_warn("log segment missing", LOG_Z("file", name.z), LOG_Z("folder", r->w->dir.z),
             LOG_U64("last_index", last));
    return ERR_OK;
}

static bool is_zero(const char *p, size_t n)
{
    return n == 0 || (p[0] == 0 && memcmp(p, p + 1, n - 1) == 0);
}

/* Prepare the newest segment for appending: keep everything acknowledged, remove everything
 * else. */
static enum err_code mend_tail(struct recovery *r, int fd, struct err *err)
{
    struct wal_file *last = r->file;
    struct wal_name name = wal_files__name(WAL_FILES_LOG, last->generation);
    const struct iovec owed = {.iov_base = r->image.ptr + r->end_flushed,
                               .iov_len = (size_t)(last->used - r->end_flushed)};
    if (os_file_write_at(fd, &owed, 1, r->end_flushed, err) != ERR_OK) {
        return err_wrap(err, "write the end of '%s' again", name.z);
    }
    if (!is_zero(r->image.ptr + last->used, (size_t)(last->size - last->used))) {
        log_info("log tail cleared", LOG_Z("file", name.z), LOG_U64("offset", last->used),
                 LOG_U64("next_index", next_index(r)));
        if (os_file_zero(fd, last->used, last->size, err) != ERR_OK) {
            return err_wrap(err, "clear the end of '%s'", name.z);
        }
    }
    return os_file_flush(fd, err) == ERR_OK ? ERR_OK : err_wrap(err, "flush '%s'", name.z);
}

static enum err_code reopen_last(struct recovery *r, struct err *err)
{
    struct wal *w = r->w;
    struct wal_file *last = w->used.last;
    if (last == NULL) {
        return ERR_OK;
    }
    if (r->end_was_promised || r->end_stop == SEGMENT_CUT) {
        return damaged(err, last->generation, r->end_at, segment_stop_text(r->end_stop));
    }
    r->file = last;
    if (check_next(r, err) != ERR_OK) {
        return err->code;
    }
    if (w->read_only) {
        return ERR_OK;
    }
    if (read_image(r, err) != ERR_OK) {
        return err->code;
    }
    struct wal_name name = wal_files__name(WAL_FILES_LOG, last->generation);
    struct os_file_path path = os_file_join(w->dir.z, name.z);
    if (os_file_open(path.z, O_RDWR, &w->fd, err) != ERR_OK || mend_tail(r, w->fd, err) != ERR_OK) {
        return err->code;
    }
    w->seed = segment_seed(wal_files__id(w, last));
    w->flushed = last->used;
    return ERR_OK;
}

static enum err_code load_key(struct wal *w, struct err *err)
{
    enum wal_key_source source;
    return w->read_only ? wal_key__find(w->dir.z, &source, &w->key, err)
                        : wal_key__load(w->dir.z, &w->key, err);
}

static enum err_code recover(struct recovery *r, struct err *err)
{
    struct wal *w = r->w;
    if (load_key(w, err) != ERR_OK || read_folder(r, err) != ERR_OK ||
        reopen_last(r, err) != ERR_OK) {
        return err->code;
    }
    if (r->content.first_index > r->covered_index + 1) {
        return err_set(err, ERR_CORRUPT,
                       "the log begins with entry %" PRIu64 ", but entry %" PRIu64
                       " is needed: a log segment or a snapshot is missing",
                       r->content.first_index, r->covered_index + 1);
    }
    /* Segments that have not begun get a new number before use, like every spare. */
    for (struct wal_file *f = wal_files__pop(&r->idle); f != NULL; f = wal_files__pop(&r->idle)) {
        wal_files__push(&w->dropped, f);
    }
    for (struct wal_file *f = w->used.first; f != NULL; f = f->next) {
        w->status.log_bytes += f->used;
    }
    r->content.begun = w->used.last != NULL;
    wal_write__drop(w, 0); /* drop the segments that a reset emptied */
    w->next_index = next_index(r);
    return ERR_OK;
}

enum err_code wal_recover__run(struct wal *w, uint64_t covered_index, struct wal_content *out,
                               struct err *err)
{
    struct recovery r = {
        .w = w, .covered_index = covered_index, .content = {.first_index = covered_index + 1}};
    buf_init(&r.image, FILE_BYTES_MAX);
    enum err_code code = recover(&r, err);
    buf_deinit(&r.image);
    wal_files__clear(&r.idle);
    if (code == ERR_OK) {
        *out = r.content;
    } else {
        wal_content_clear(&r.content);
    }
    return code;
}
