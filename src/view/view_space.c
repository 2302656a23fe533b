/*
 * Space: when the file may grow, and how it becomes smaller.
 *
 * The view can be rebuilt and the jobs cannot. So the view is the first to stop when the disk
 * fills: slightly before the engine refuses new jobs, and at the latest when it does. Meanwhile,
 * changes wait in the feed.
 *
 * If a large part of the file is unused, pages of deleted rows are returned to the file system, a
 * few per step, each step in a separate transaction. Some pages are kept for new rows.
 */
#include "log/log.h"
#include "os/os_clock.h"
#include "view/view_int.h"

enum {
    LOOK_MS = 1000,
    STEP_PAGES = 512,
    FREE_MIN_PAGES = 1024, /* fewer unused pages are ignored */
    FREE_MAX_PART = 4,     /* begin if one in this many pages is unused… */
    FREE_KEPT_PART = 16,   /* …and continue until one in this many is */
};

/* Is space low? To end that state, an eighth more is required, so that it does not alternate. */
static bool is_short(uint64_t free_bytes, uint64_t min_bytes, bool before)
{
    return free_bytes < min_bytes + (before ? min_bytes / 8 : 0);
}

static void look(struct view *v)
{
    struct view_space *s = &v->space;
    struct err err;
    uint64_t bytes = 0;
    int64_t now_ns = os_clock_mono().ns;
    if (v->config.free_bytes_min == 0 || now_ns < s->next_look_ns) {
        return;
    }
    s->next_look_ns = now_ns + LOOK_MS * NS_PER_MS;
    if (os_file_free_bytes(v->config.dir, &bytes, &err) == ERR_OK) {
        s->is_short = is_short(bytes, v->config.free_bytes_min, s->is_short);
    }
}

bool view_space__is_low(struct view *v)
{
    look(v);
    bool low = v->space.is_short || atomic_load(&v->space.told_low);
    if (low != v->space.was_low) {
        v->space.was_low = low;
        if (low) {
            log_warn("search index updates paused", LOG_Z("reason", "the disk is nearly full"));
        } else {
            log_info("search index updates resumed");
        }
    }
    return low;
}

enum err_code view_space__go_on(struct view *v, struct err *err)
{
    if (atomic_load(&v->stop)) {
        return err_set_default(err, ERR_STOPPING);
    }
    return view_space__is_low(v)
               ? err_set(err, ERR_NO_SPACE, "view: there is too little space on the disk")
               : ERR_OK;
}

/* Move the log into the file, so that truncated pages leave the disk. A reader may still need the
 * log. */
static enum err_code empty_log(sqlite3 *db, enum view_shrink *shrink, struct err *err)
{
    int in_log = 0;
    int in_file = 0;
    if (sqlite3_wal_checkpoint_v2(db, NULL, SQLITE_CHECKPOINT_PASSIVE, &in_log, &in_file) !=
        SQLITE_OK) {
        return view_sql__err(db, "checkpoint", err);
    }
    *shrink = in_file < in_log ? VIEW_SHRINK_LATER : VIEW_SHRINK_DONE;
    return ERR_OK;
}

enum err_code view_space__shrink(sqlite3 *db, enum view_shrink *shrink, struct err *err)
{
    int64_t pages = 0;
    int64_t unused = 0;
    char sql[64];
    if (view_sql__number(db, "PRAGMA page_count", &pages, err) != ERR_OK ||
        view_sql__number(db, "PRAGMA freelist_count", &unused, err) != ERR_OK) {
        return err->code;
    }
    int64_t part = *shrink == VIEW_SHRINK_MORE ? FREE_KEPT_PART : FREE_MAX_PART;
    int64_t keep = pages / part > FREE_MIN_PAGES ? pages / part : FREE_MIN_PAGES;
    if (unused > keep) {
        *shrink = VIEW_SHRINK_MORE;
        (void)snprintf(sql, sizeof sql, "PRAGMA incremental_vacuum(%d)", STEP_PAGES);
        return view_sql__exec(db, sql, err);
    }
    return *shrink == VIEW_SHRINK_DONE ? ERR_OK : empty_log(db, shrink, err);
}
