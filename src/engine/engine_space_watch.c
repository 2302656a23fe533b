/*
 * Space: checks the free space of the disk and the log in memory, on a timer of the core's loop,
 * and reacts.
 *
 * A check is one system call and a few numbers of RocksDB. Compacting deleted data, which takes
 * longer, runs in the thread pool.
 */
#include "base/check.h"
#include "engine/engine_int.h"
#include "log/log.h"
#include "os/os_clock.h"

enum {
    LOOK_MS = 1000,
    LOOK_LOW_MS = 250,
    TIDY_MS = 60 * 1000,
    TIDY_LOW_MS = 2 * 1000,
    SNAPSHOT_RETRY_MS = 5 * 1000,
    PINNED_PART = 2,             /* replace a snapshot larger than the state by this factor… */
    PINNED_BYTES_MIN = 64 << 20, /* …and by this many bytes */
    CHECK_BYTES = 256 << 20,     /* of the newest snapshot, verified each time */
    LOG_SEGMENTS_LOW = 2,        /* while space is low, a longer log is a reason for a snapshot */
};

/* --- the reserve --- */

/* Two files: one for acks and deletions, one only for starting on a full disk. */
static const char *const reserve_names[ENGINE_SPACE_RESERVES] = {"reserve", "reserve.start"};

static struct os_file_path reserve_path(const struct engine *e, enum engine_space_reserve which)
{
    return os_file_join(e->config.data_dir, reserve_names[which]);
}

static void give_up_reserve(struct engine *e, enum engine_space_reserve which)
{
    struct os_file_path path = reserve_path(e, which);
    os_file_discard(path.z);
    log_warn("disk reserve released", LOG_Z("file", path.z),
             LOG_U64("bytes", e->space.status.reserve_bytes[which]));
    e->space.status.reserve_bytes[which] = 0;
}

static void make_reserve(struct engine *e, enum engine_space_reserve which)
{
    struct engine_space *s = &e->space;
    struct os_file_path path = reserve_path(e, which);
    struct err err;
    uint64_t bytes = engine_space_reserve_bytes(s->status.seen.min_bytes, which);
    if (bytes == 0 || s->no_reserve) {
        return;
    }
    if (os_file_reserve(path.z, bytes, &err) != ERR_OK) {
        log_warn("disk reserve not created", LOG_Z("error", err.msg));
        os_file_discard(path.z);
        s->no_reserve = err.code != ERR_NO_SPACE; /* not supported by the file system */
        return;
    }
    s->status.reserve_bytes[which] = bytes;
}

static void keep_reserve(struct engine *e)
{
    const struct engine_space_seen *seen = &e->space.status.seen;
    uint64_t *has = e->space.status.reserve_bytes;
    uint64_t missing = 0;
    if (has[ENGINE_SPACE_TO_RUN] > 0 && seen->free_bytes < engine_space_spend_mark(seen)) {
        give_up_reserve(e, ENGINE_SPACE_TO_RUN);
        return;
    }
    for (unsigned i = 0; i < ENGINE_SPACE_RESERVES; i++) {
        missing += has[i] > 0 ? 0 : engine_space_reserve_bytes(seen->min_bytes, i);
    }
    if (missing == 0 || e->space.status.level != ENGINE_SPACE_FINE ||
        seen->free_bytes < engine_space_low_mark(seen) + seen->min_bytes / 8 + missing) {
        return; /* the reserve would make space low */
    }
    for (unsigned i = 0; i < ENGINE_SPACE_RESERVES; i++) {
        if (has[i] == 0) {
            make_reserve(e, i);
        }
    }
}

/* --- freeing space --- */

/* Is space low, or not yet sufficient for the reserve? */
static bool is_short(const struct engine *e)
{
    const struct engine_space *s = &e->space;
    uint64_t wanted = engine_space_reserve_bytes(s->status.seen.min_bytes, ENGINE_SPACE_TO_RUN);
    return s->status.level != ENGINE_SPACE_FINE ||
           (wanted > 0 && !s->no_reserve && s->status.reserve_bytes[ENGINE_SPACE_TO_RUN] == 0);
}

static void tidy_work_cb(uv_work_t *work)
{
    struct engine *e = work->data;
    struct engine_space *s = &e->space;
    (void)pthread_mutex_lock(&s->state_lock);
    (void)kv_shrink(machine_store(e->machine)->kv, s->tidy_urgent, s->tidy_free_bytes);
    (void)pthread_mutex_unlock(&s->state_lock);
    struct os_file_path dir = os_file_join(e->raft_dir.z, "snapshots");
    if (snapshots_check(dir.z, &s->checked, CHECK_BYTES, &s->check_err) == ERR_OK) {
        err_clear(&s->check_err);
    }
}

/* Report a damaged snapshot. The damaged file may be part of the state, too. The older snapshot and
 * the log after it are kept until there is a good snapshot again. */
static void heed_check(struct engine *e)
{
    struct engine_space *s = &e->space;
    bool damaged = s->check_err.code == ERR_CORRUPT;
    if (damaged && !s->snapshot_damaged) {
        log_error("snapshot damaged", LOG_Z("error", s->check_err.msg),
                  LOG_Z("remedy", "make a backup now; then stop the server and run corvo repair"));
    }
    s->snapshot_damaged = damaged || (s->snapshot_damaged && s->checked.rounds == 0);
}

static void want_snapshot(struct engine *e, int64_t now_ms)
{
    if (now_ms >= e->space.snapshot_after_ms) {
        e->space.snapshot_after_ms = now_ms + SNAPSHOT_RETRY_MS;
        node_snapshot_now(e->node);
    }
}

/* Request a snapshot if it would free space: an old snapshot keeps files that the state no longer
 * uses, and a new one allows the log to be truncated. */
static void consider_snapshot(struct engine *e, int64_t now_ms)
{
    struct node_status node;
    struct kv_stats kv;
    node_status(e->node, &node);
    kv_stats(machine_store(e->machine)->kv, &kv);
    bool low = is_short(e);
    bool pins = node.snapshot_bytes > PINNED_PART * kv.sst_bytes + PINNED_BYTES_MIN ||
                (low && node.snapshot_bytes > kv.sst_bytes + e->config.node.segment_bytes);
    bool long_log = low && node.log_bytes > LOG_SEGMENTS_LOW * e->config.node.segment_bytes;
    if (pins || long_log || node.log_bytes_memory > node.log_memory_max / 2) {
        want_snapshot(e, now_ms);
    }
}

static void tidy_after_cb(uv_work_t *work, int status)
{
    struct engine *e = work->data;
    CHECK(status == 0);
    e->space.tidying = false;
    heed_check(e);
    if (e->node != NULL && !e->stopping) {
        consider_snapshot(e, os_clock_mono().ns / NS_PER_MS);
    }
}

static void tidy(struct engine *e)
{
    struct engine_space *s = &e->space;
    int64_t now_ms = os_clock_mono().ns / NS_PER_MS;
    bool low = is_short(e);
    if (s->tidying || now_ms < s->tidied_ms + (low ? TIDY_LOW_MS : TIDY_MS)) {
        return;
    }
    s->tidied_ms = now_ms;
    s->tidying = true;
    s->tidy_urgent = low;
    s->tidy_free_bytes = s->status.seen.free_bytes;
    s->work.data = e;
    CHECK(uv_queue_work(&e->loop, &s->work, tidy_work_cb, tidy_after_cb) == 0);
}

/* --- checking --- */

static void say(const struct engine *e, enum engine_space_level level)
{
    static const char *const events[] = {
        [ENGINE_SPACE_FINE] = "disk_space_back",
        [ENGINE_SPACE_LOW] = "disk_space_low",
        [ENGINE_SPACE_FULL] = "disk_full",
    };
    const struct engine_space_seen *seen = &e->space.status.seen;
    struct err err = {.msg = "everything is accepted again"};
    (void)engine_space_reason(&e->space.status, &err);
    log_warn(events[level], LOG_Z("meaning", err.msg), LOG_U64("free_bytes", seen->free_bytes),
             LOG_U64("needed_bytes", engine_space_low_mark(seen)),
             LOG_U64("log_memory_bytes", seen->log_bytes));
}

static void tell(const struct engine *e)
{
    if (e->space.told != NULL) {
        e->space.told(e->space.told_data, e->space.status.level != ENGINE_SPACE_FINE);
    }
}

static void see(struct engine *e, struct engine_space_seen *out)
{
    struct node_status node;
    struct kv_stats kv;
    struct err err;
    out->min_bytes = e->config.free_bytes_min;
    kv_stats(machine_store(e->machine)->kv, &kv);
    out->unwritten_bytes = kv.memtable_bytes;
    out->compaction_bytes =
        kv.sst_bytes < KV_COMPACTION_BYTES_MAX ? kv.sst_bytes : KV_COMPACTION_BYTES_MAX;
    if (os_file_free_bytes(e->config.data_dir, &out->free_bytes, &err) != ERR_OK) {
        out->free_bytes = UINT64_MAX / 2; /* unknown free space is no reason to refuse */
    }
    node_need_space(e->node, engine_space_full_mark(out));
    node_status(e->node, &node);
    out->refused = node.full;
    out->log_bytes = node.log_bytes_memory;
    out->log_bytes_max = node.log_memory_max;
}

/* A compaction that runs out of space stops all writes, so none starts that could. Deletions are
 * still compacted: kv_shrink. */
static void mind_compaction(struct engine *e)
{
    struct engine_space *s = &e->space;
    bool pause = !engine_space_has_room_to_compact(&s->status.seen, s->compaction_paused);
    if (pause != s->compaction_paused) {
        s->compaction_paused = pause;
        kv_allow_compaction(machine_store(e->machine)->kv, !pause);
        log_info(pause ? "compaction paused" : "compaction resumed",
                 LOG_U64("free_bytes", s->status.seen.free_bytes),
                 LOG_U64("compaction_bytes", s->status.seen.compaction_bytes));
    }
}

void engine_space__look(struct engine *e)
{
    struct engine_space *s = &e->space;
    if (e->node == NULL || e->node_closing) {
        return;
    }
    enum engine_space_level before = s->status.level;
    see(e, &s->status.seen);
    s->status.level = engine_space_judge(&s->status.seen, before);
    keep_reserve(e);
    mind_compaction(e);
    if (s->status.level != before) {
        say(e, s->status.level);
        tell(e);
        s->tidied_ms = 0; /* tidy at once */
        engine_pipe__refuse_unfit(e);
        engine_timers__look(e); /* commands that were held back */
        engine_pipe__pump(e);
    }
    tidy(e);
    if (s->status.seen.log_bytes > s->status.seen.log_bytes_max / 2) {
        want_snapshot(e, os_clock_mono().ns / NS_PER_MS);
    }
}

static void timer_cb(uv_timer_t *timer)
{
    struct engine *e = timer->data;
    engine_space__look(e);
    bool fine = e->space.status.level == ENGINE_SPACE_FINE;
    CHECK(uv_timer_start(timer, timer_cb, fine ? LOOK_MS : LOOK_LOW_MS, 0) == 0);
}

/* --- open and close --- */

void engine_space__before_open(struct engine *e)
{
    struct engine_space_seen seen = {.min_bytes = e->config.free_bytes_min};
    const uint64_t marks[ENGINE_SPACE_RESERVES] = {
        [ENGINE_SPACE_TO_RUN] = engine_space_spend_mark(&seen),
        [ENGINE_SPACE_TO_START] = engine_space_reserve_bytes(seen.min_bytes, ENGINE_SPACE_TO_START),
    };
    for (unsigned i = 0; i < ENGINE_SPACE_RESERVES; i++) {
        struct os_file_path path = reserve_path(e, i);
        struct os_file_info info;
        struct err err;
        if (os_file_stat(path.z, &info, &err) != ERR_OK) {
            continue;
        }
        e->space.status.reserve_bytes[i] = info.size;
        bool known = os_file_free_bytes(e->config.data_dir, &seen.free_bytes, &err) == ERR_OK;
        if (info.size != engine_space_reserve_bytes(seen.min_bytes, i) ||
            (known && seen.free_bytes < marks[i])) {
            give_up_reserve(e, i);
        }
    }
}

void engine_space__open(struct engine *e)
{
    CHECK(pthread_mutex_init(&e->space.state_lock, NULL) == 0);
    CHECK(uv_timer_init(&e->loop, &e->space.timer) == 0);
    e->space.timer.data = e;
}

void engine_space__start(struct engine *e)
{
    e->space.tidied_ms = os_clock_mono().ns / NS_PER_MS; /* do not tidy during the start */
    timer_cb(&e->space.timer);
}

void engine_space__close(struct engine *e)
{
    uv_close((uv_handle_t *)&e->space.timer, NULL);
}

void engine_space__free(struct engine *e)
{
    (void)pthread_mutex_destroy(&e->space.state_lock);
}

struct tell_visit {
    struct engine *engine;
    void (*told)(void *data, bool low);
    void *data;
};

static void run_tell(void *data)
{
    const struct tell_visit *v = data;
    v->engine->space.told = v->told;
    v->engine->space.told_data = v->data;
    tell(v->engine);
}

void engine_on_space(struct engine *e, void (*told)(void *data, bool low), void *data)
{
    engine__visit(e, run_tell, &(struct tell_visit){.engine = e, .told = told, .data = data});
}
