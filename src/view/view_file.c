/*
 * The writer's file: opened, checked and replaced.
 *
 * Nothing is flushed while the file is in use: flushes of many megabytes delayed the writer, and
 * also the flushes of the Raft log. If the process ends in any way, the operating system still has
 * the written data. If the machine stops, the file can be damaged without a sign of it, and must
 * not be used. Therefore a second file contains the boot id of the machine during which the file
 * was written. It is removed when the view is closed and flushed. A file of another boot is
 * rebuilt.
 */
#include <fcntl.h>

#include "base/check.h"
#include "log/log.h"
#include "view/view_writer_int.h"

void view_file__close(struct view_writer *w)
{
    view_rows__close(&w->rows);
    view_db__close(w->db);
    w->db = NULL;
    w->ready = false;
}

/* The boot id of the machine */

enum { BOOT_BYTES = 36 };

static struct os_file_path boot_path(const struct view *v)
{
    return os_file_join(v->config.dir, "view.db-boot");
}

/* Read the boot id. Empty if the system does not provide it. */
static struct str read_boot(char out[BOOT_BYTES])
{
    struct err err;
    int fd = -1;
    size_t got = 0;
    if (os_file_open("/proc/sys/kernel/random/boot_id", O_RDONLY, &fd, &err) == ERR_OK) {
        if (os_file_read_at(fd, out, BOOT_BYTES, 0, &got, &err) != ERR_OK) {
            got = 0;
        }
        os_file_close(fd);
    }
    return str_from(out, got);
}

/* Record that the file belongs to this boot. ERR_CORRUPT if it belongs to another or unknown
 * boot. */
static enum err_code claim_boot(const struct view *v, struct err *err)
{
    struct os_file_path path = boot_path(v);
    char bytes[BOOT_BYTES];
    struct str boot = read_boot(bytes);
    struct buf before;
    struct err none;
    buf_init(&before, SIZE_MAX);
    enum err_code code = os_file_read(path.z, &before, &none);
    if (code == ERR_NOT_FOUND) {
        code = os_file_replace(path.z, boot, err);
    } else if (code != ERR_OK || boot.len == 0 || !str_eq(buf_str(&before), boot)) {
        code = err_set(err, ERR_CORRUPT, "view: the machine stopped while the file was in use");
    }
    buf_deinit(&before);
    return code;
}

void view_file__end(struct view_writer *w)
{
    struct view *v = w->view;
    struct os_file_path log = os_file_join(v->config.dir, "view.db-wal");
    struct os_file_info info;
    struct err err;
    int fd = -1;
    bool was_ready = w->ready;
    view_file__close(w);
    if (!was_ready || os_file_stat(log.z, &info, &err) == ERR_OK ||
        os_file_open(v->path.z, O_RDONLY, &fd, &err) != ERR_OK) {
        return; /* unusable, or still open elsewhere: the next start detects it */
    }
    if (os_file_flush(fd, &err) == ERR_OK) {
        os_file_discard(boot_path(v).z);
    }
    os_file_close(fd);
}

enum err_code view_file__open(struct view_writer *w, struct err *err)
{
    struct view *v = w->view;
    struct store *store = engine_store(v->config.engine);
    struct os_file_info info;
    if (os_file_stat(v->path.z, &info, err) == ERR_OK && claim_boot(v, err) == ERR_OK &&
        view_db__open(v->path.z, VIEW_DB_WRITE, &w->db, err) == ERR_OK &&
        view_db__check_version(w->db, err) == ERR_OK &&
        view_payload__add(w->db, v->config.engine, err) == ERR_OK &&
        view_rows__open(&w->rows, w->db, store, err) == ERR_OK) {
        w->ready = true;
        return ERR_OK;
    }
    view_file__close(w);
    return err->code;
}

void view_file__remove(const struct os_file_path *path)
{
    static const char *const tails[] = {"", "-wal", "-shm", "-journal", "-boot"};
    char z[OS_FILE_PATH_MAX + 16];
    for (size_t i = 0; i < COUNT_OF(tails); i++) {
        (void)snprintf(z, sizeof z, "%s%s", path->z, tails[i]);
        os_file_discard(z);
    }
}

enum err_code view_file__swap(struct view_writer *w, struct err *err)
{
    struct view *v = w->view;
    view__shut(v);
    view_file__close(w);
    view_file__remove(&v->path);
    enum err_code code = os_file_rename(v->new_path.z, v->path.z, err);
    if (code == ERR_OK) {
        code = view_file__open(w, err);
    }
    view__reopen(v, code == ERR_OK);
    return code;
}

/* The file is behind. It can answer questions meanwhile, and reports that it is late. */
static enum err_code plan_comparison(struct view_writer *w, uint64_t index, struct err *err)
{
    uint64_t unread = atomic_load(&w->view->unread);
    int64_t rows = 0;
    if (view_sql__number(w->db, "SELECT sum(n) FROM counts WHERE queue = 0", &rows, err) !=
        ERR_OK) {
        return err->code;
    }
    w->complete = w->rows.mark.complete;
    if (w->complete == index) {
        unread = 0; /* rows may be newer than the watermark, but none is missing */
    } else if (rows > 0 && (uint64_t)rows > unread) {
        unread = (uint64_t)rows; /* jobs removed since then */
    }
    atomic_store(&w->view->unread, unread);
    w->compare_next = true;
    w->compare_index = index;
    return ERR_OK;
}

enum err_code view_file__use(struct view_writer *w, uint64_t index, uint64_t hash, struct err *err)
{
    if (view_file__open(w, err) != ERR_OK) {
        return err->code;
    }
    const struct view_mark *mark = &w->rows.mark;
    if (mark->complete == index && mark->hash == hash) {
        atomic_store(&w->view->unread, 0);
        w->complete = index;
        return ERR_OK;
    }
    if (mark->complete > index || (mark->complete == index && mark->hash != 0)) {
        return err_set(err, ERR_CORRUPT, "view: the file belongs to another history");
    }
    return plan_comparison(w, index, err);
}

void view_file__trim_log(struct view_writer *w, uint64_t max)
{
    struct view *v = w->view;
    struct os_file_path log = os_file_join(v->config.dir, "view.db-wal");
    struct os_file_info info;
    struct err err;
    if (os_file_stat(log.z, &info, &err) != ERR_OK || info.size <= max) {
        return;
    }
    if (!w->ready) {
        return;
    }
    view__shut(v);
    if (view_sql__exec(w->db, "PRAGMA wal_checkpoint(TRUNCATE)", &err) != ERR_OK) {
        log_warn("search index log not trimmed", LOG_Z("error", err.msg));
    }
    view__reopen(v, true);
}
