#include "engine/engine.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/check.h"
#include "base/limits.h"
#include "engine/engine_int.h"
#include "engine/engine_taken_int.h"
#include "fsm/machine_known.h"
#include "log/log.h"
#include "loop/pool.h"
#include "os/os_choice.h"
#include "os/os_clock.h"
#include "os/os_file.h"
#include "store/store_access.h"

/* Names of the folders beside the state, and of the file that selects one of them. */
#define STATE_NAME "state"

enum { NAME_BYTES_MAX = 32 /* a name in the data folder, with its slash */ };

struct engine_config engine_config_default(void)
{
    struct node_config node = node_config_default();
    node.address = "127.0.0.1:9000";
    node.bootstrap = true;
    return (struct engine_config){
        .data_dir = "data",
        .node = node,
        .cluster = {.name = "node-1", .version = "", .http_url = "", .rate_bytes = 64 << 20},
        .free_bytes_min = node.free_bytes_min,
        .limits = {.payload_bytes = LIMIT_PAYLOAD_BYTES},
        .pending_ops_max = LIMIT_PENDING_OPS,
        .feed_ids_max = LIMIT_FEED_IDS,
        .lifecycle_events = true,
        .retention_ms = 168LL * 3600 * 1000,
        .retention_interval_ms = 3600LL * 1000,
        .max_clock_jump_ms = 3600LL * 1000,
        .leader_wait_ms = 10000,
        .stop_wait_ms = 5000,
    };
}

/* Hooks of the machine, and the state machine that the node drives. */

static void ready_hook(void *data, struct str queue)
{
    engine_park__ready(data, queue);
}

static void access_hook(void *data, struct str key, struct str value)
{
    struct engine *e = data;
    if (key.len > 0 && key.ptr[0] == STORE_ACCESS_BUDGET) {
        engine_park__ready(e, STR_EMPTY); /* claims that the budget held back may succeed now */
    }
    if (e->config.hooks.access != NULL) {
        e->config.hooks.access(e->config.hooks.data, key, value);
    }
}

static void changed_hook(void *data, struct id id)
{
    engine_feed__changed(data, id);
}

static void push_ready_hook(void *data)
{
    engine_push__ready(data);
}

static void push_lost_hook(void *data, const struct job *j, bool last)
{
    engine_push__lost(data, j, last);
}

static void push_gone_hook(void *data, struct id id)
{
    engine_push__gone(data, id);
}

static void taken_hook(void *data, struct id id, uint64_t lease_token)
{
    engine_taken__add(data, id, lease_token);
}

static enum err_code open_machine(struct engine *e, struct err *err)
{
    struct machine_hooks hooks = {.data = e,
                                  .ready = ready_hook,
                                  .changed = changed_hook,
                                  .access = access_hook,
                                  .push_ready = push_ready_hook,
                                  .push_gone = push_gone_hook,
                                  .push_lost = push_lost_hook,
                                  .taken = taken_hook,
                                  .slot_ns = e->config.hooks.slot_ns};
    return machine_open(e->state_dir.z, &hooks, &e->machine, err);
}

static void fsm_apply(void *data, uint64_t index, struct str entry)
{
    struct engine *e = data;
    machine_apply(e->machine, index, entry);
    engine_pipe__applied(e, index);
    engine_ask__applied(e);
    engine_feed__tell(e);
    engine_notifier__look(e);
    engine_cluster__applied(e, index);
    if (e->entry_count == 0) {
        engine_taken__tell(e); /* no op of this node waits for the entry's results */
    }
}

static uint64_t fsm_applied_index(void *data)
{
    struct engine *e = data;
    return machine_applied_index(e->machine);
}

static enum err_code fsm_checkpoint(void *data, const char *dir, struct err *err)
{
    struct engine *e = data;
    return machine_checkpoint(e->machine, dir, err);
}

static enum err_code fsm_knows_entry(void *data, struct str entry, struct err *err)
{
    struct engine *e = data;
    arena_reset(e->reading);
    return machine_known_entry(entry, e->reading, err);
}

static enum err_code fsm_knows_state(void *data, const char *dir, struct err *err)
{
    (void)data;
    return machine_known_state(dir, err);
}

static enum err_code fsm_checkpoint_index(void *data, const char *dir, uint64_t *out_index,
                                          struct err *err)
{
    (void)data;
    return machine_known_index(dir, out_index, err);
}

/* Hard-link the files, so that the checkpoint stays unchanged: RocksDB never modifies its data
 * files. The few files that it rewrites (CURRENT, the manifest) are copied. */
static enum err_code take_over_file(const char *from, const char *to, bool is_table,
                                    struct err *err)
{
    struct buf bytes;
    if (is_table) {
        return link(from, to) == 0 ? ERR_OK : err_from_errno(err, "link");
    }
    buf_init(&bytes, SIZE_MAX);
    enum err_code code = os_file_read(from, &bytes, err);
    if (code == ERR_OK) {
        code = os_file_replace(to, buf_str(&bytes), err);
    }
    buf_deinit(&bytes);
    return code;
}

static bool is_table_file(const char *name)
{
    size_t len = strlen(name);
    return len > 4 && strcmp(name + len - 4, ".sst") == 0;
}

static enum err_code stage(const char *dir, const char *into, struct err *err)
{
    struct os_file_names names = {0};
    if (os_file_remove_tree(into, err) != ERR_OK || os_file_make_dirs(into, err) != ERR_OK ||
        os_file_list(dir, &names, err) != ERR_OK) {
        return err->code;
    }
    enum err_code code = ERR_OK;
    for (size_t i = 0; i < names.count && code == ERR_OK; i++) {
        struct os_file_path from = os_file_join(dir, names.name[i]);
        struct os_file_path to = os_file_join(into, names.name[i]);
        code = take_over_file(from.z, to.z, is_table_file(names.name[i]), err);
    }
    os_file_names_clear(&names);
    return code == ERR_OK ? os_file_flush_dir(into, err) : code;
}

/* The folder for a state that is to replace the current one. A file selects the folder that
 * counts; the next start renames it to the usual name. RocksDB does not allow its folder to be
 * renamed while it is open. */
static struct os_file_path next_folder(struct engine *e)
{
    char name[32];
    (void)snprintf(name, sizeof name, STATE_NAME ".%u", ++e->exchanges);
    return os_file_join(e->config.data_dir, name);
}

static enum err_code choose_folder(const struct engine *e, const char *path, struct err *err)
{
    const char *name = strrchr(path, '/');
    CHECK(name != NULL);
    return os_choice_write(e->config.data_dir, STATE_NAME, name + 1, err);
}

/* Replace the state as a whole. If the process dies half-way, the next start finds a state older
 * than the snapshot and restores again. Current readers keep using the old state. */
static enum err_code fsm_restore(void *data, const char *dir, struct err *err)
{
    struct engine *e = data;
    struct os_file_path next = next_folder(e);
    if (stage(dir, next.z, err) != ERR_OK || choose_folder(e, next.z, err) != ERR_OK) {
        return err_wrap(err, "restore");
    }
    (void)pthread_mutex_lock(&e->space.state_lock);
    enum err_code code = machine_replace(e->machine, next.z, err);
    (void)pthread_mutex_unlock(&e->space.state_lock);
    if (code == ERR_OK) {
        e->state_dir = next;
        e->space.compaction_paused =
            false; /* not paused in the new store; the next check decides again */
        engine_ask__applied(e);
        engine_feed__replaced(e);
        engine_notifier__look(e);
        engine_cluster__applied(e, 0);
    }
    return code;
}

/* Rename the selected state to the usual name. */
static enum err_code settle_choice(struct engine *e, struct err *err)
{
    struct os_file_path path = os_choice_read(e->config.data_dir, STATE_NAME);
    if (strcmp(path.z, e->state_dir.z) == 0) {
        return ERR_OK;
    }
    if (os_file_remove_tree(e->state_dir.z, err) != ERR_OK ||
        os_file_rename(path.z, e->state_dir.z, err) != ERR_OK) {
        return err->code;
    }
    return os_file_flush_dir(e->config.data_dir, err);
}

/* Before the state is opened: finish what an interrupted replacement left. */
static enum err_code settle_folders(struct engine *e, struct err *err)
{
    struct os_file_names names = {0};
    if (settle_choice(e, err) != ERR_OK ||
        os_file_list(e->config.data_dir, &names, err) != ERR_OK) {
        return err->code;
    }
    /* The tables in these folders would keep their space for ever. */
    for (size_t i = 0; i < names.count; i++) {
        if (os_choice_is_part(STATE_NAME, names.name[i])) {
            struct os_file_path path = os_file_join(e->config.data_dir, names.name[i]);
            os_file_discard(path.z);
        }
    }
    os_file_names_clear(&names);
    return ERR_OK;
}

static void answer_open(struct engine *e)
{
    if (!e->open_answered) {
        e->open_answered = true;
        (void)uv_timer_stop(&e->patience);
        uv_sem_post(&e->opened);
    }
}

static void fsm_leads_changed(void *data, bool leads)
{
    struct engine *e = data;
    e->leads = leads;
    atomic_store(&e->leads_now, leads);
    if (leads) {
        engine_ask__applied(e);
        engine_renew__begin(e);
        engine_timers__look(e);
        if (e->node != NULL) { /* NULL inside node_open; core_main pumps after it */
            engine_pipe__pump(e);
        }
        answer_open(e);
    } else {
        engine_timers__stop(e);
        engine_pipe__refuse_all(e, ERR_LEADER_UNAVAILABLE);
        engine_park__release_all(e, ERR_LEADER_UNAVAILABLE);
    }
    engine_cluster__leads(e);
    engine_notifier__leads(e);
}

/* A follower can serve as soon as it knows its leader. */
static void fsm_leader_changed(void *data, uint64_t leader_id)
{
    struct engine *e = data;
    engine_cluster__leader(e, leader_id);
    if (e->machine != NULL) {
        engine_ask__applied(e);
    }
    if (leader_id != 0 && leader_id != e->config.node.id) {
        answer_open(e);
    }
}

static void fsm_stands_changed(void *data, bool stands)
{
    struct engine *e = data;
    atomic_store(&e->stands_now, stands);
}

/* The core thread */

static void no_leader_cb(uv_timer_t *timer)
{
    struct engine *e = timer->data;
    log_warn("no leader yet", LOG_I64("waited_ms", e->config.leader_wait_ms));
    answer_open(e);
}

static void turned(void *data)
{
    struct engine *e = data;
    engine_park__wake(e);
    engine_pipe__pump(e);
}

/* The snapshot and the log contain the whole state, but it is not rebuilt automatically: the
 * operator should know that the disk corrupts data, and keep the evidence. */
static enum err_code say_remedy(const char *event, const char *folder, const struct err *err)
{
    if (err->code == ERR_CORRUPT) {
        log_error(event, LOG_Z("folder", folder),
                  LOG_Z("remedy", "stop the server and run corvo repair with this data directory; "
                                  "it first reports what "
                                  "a repair would lose and changes nothing"));
    }
    return err->code;
}

/* What the log contains now was counted by an earlier process. */
static void repeat_until_end_of_log(struct engine *e)
{
    struct node_status status;
    node_status(e->node, &status);
    machine_repeats_until(e->machine, status.last_index);
}

static enum err_code start(struct engine *e, struct err *err)
{
    engine_space__before_open(e);
    e->reading = arena_new(SIZE_MAX); /* entries are bounded */
    struct node_fsm fsm = {.data = e,
                           .apply = fsm_apply,
                           .applied_index = fsm_applied_index,
                           .knows_entry = fsm_knows_entry,
                           .knows_state = fsm_knows_state,
                           .checkpoint_index = fsm_checkpoint_index,
                           .checkpoint = fsm_checkpoint,
                           .restore = fsm_restore,
                           .leads_changed = fsm_leads_changed,
                           .leader_changed = fsm_leader_changed,
                           .stands_changed = fsm_stands_changed};
    if (engine_cluster__identify(e, err) != ERR_OK) {
        return say_remedy("identity damaged", e->config.data_dir, err);
    }
    if (settle_folders(e, err) != ERR_OK) {
        return err->code;
    }
    if (open_machine(e, err) != ERR_OK) {
        return say_remedy("state damaged", e->state_dir.z, err);
    }
    machine_repeats_until(e->machine, UINT64_MAX); /* a node on its own applies its log here */
    if (node_open(&e->loop, &e->config.node, &fsm, &e->node, err) != ERR_OK) {
        return say_remedy("log damaged", e->raft_dir.z, err);
    }
    repeat_until_end_of_log(e);
    if (engine_cluster__keep_identity(e, err) != ERR_OK) {
        log_warn("identity not stored", LOG_Z("error", err->msg)); /* the next start repeats this */
    }
    engine_hash__start(e);
    return ERR_OK;
}

static void open_loop(struct engine *e)
{
    CHECK(uv_loop_init(&e->loop) == 0);
    mailbox_open(&e->box, &e->loop);
    mailbox_on_turn(&e->box, turned, e);
    CHECK(uv_timer_init(&e->loop, &e->patience) == 0);
    e->patience.data = e;
    engine_park__open(e);
    engine_timers__open(e);
    engine_space__open(e);
    engine_cluster__open(e);
}

static void close_loop(struct engine *e)
{
    engine_ask__close(e);
    engine_cluster__close(e);
    engine_space__close(e);
    engine_timers__close(e);
    engine_park__close(e);
    uv_close((uv_handle_t *)&e->patience, NULL);
    mailbox_close(&e->box);
}

static void core_main(void *data)
{
    struct engine *e = data;
    open_loop(e);
    pool_start(&e->loop);
    (void)pthread_setname_np(pthread_self(), "core");
    if (start(e, &e->open_err) != ERR_OK) {
        e->open_failed = true;
        e->open_answered = true;
        uv_sem_post(&e->opened);
        close_loop(e);
    } else {
        atomic_store(&e->cluster.read_by_all, engine_cluster__entry_version(e));
        if (atomic_load(&e->cluster.cluster_id) == 0) {
            answer_open(e); /* the caller has to join a cluster */
        } else if (!e->leads) {
            CHECK(uv_timer_start(&e->patience, no_leader_cb, (uint64_t)e->config.leader_wait_ms,
                                 0) == 0);
        }
        engine_space__start(e);
        engine_ask__applied(e);
        engine_history__open(e);
        engine_cluster__start(e);
        engine_timers__look(e);
        engine_pipe__pump(e);
    }
    CHECK(uv_run(&e->loop, UV_RUN_DEFAULT) == 0);
    mailbox_deinit(&e->box);
    CHECK(uv_loop_close(&e->loop) == 0);
    engine_space__free(e);
    engine_history__close(e);
    engine_cluster__closed(e);
    machine_close(e->machine);
    arena_free(e->reading);
}

/* Opening and closing, from outside */

static enum err_code set_paths(struct engine *e, struct err *err)
{
    const char *dir = e->config.data_dir;
    if (strlen(dir) + NAME_BYTES_MAX > OS_FILE_PATH_MAX) {
        return err_set(err, ERR_VALIDATION, "the path of the data directory is too long");
    }
    e->state_dir = os_file_join(dir, STATE_NAME);
    e->raft_dir = os_file_join(dir, "raft");
    e->config.node.dir = e->raft_dir.z;
    e->config.node.free_bytes_min =
        engine_space_full_mark(&(struct engine_space_seen){.min_bytes = e->config.free_bytes_min});
    return os_file_make_dirs(dir, err);
}

static void engine_free(struct engine *e)
{
    uv_sem_destroy(&e->opened);
    engine_cluster__free(e);
    free(e);
}

enum err_code engine_open(const struct engine_config *config, struct engine **out_engine,
                          struct err *err)
{
    struct engine *e = calloc(1, sizeof *e);
    CHECK(e != NULL);
    e->config = *config;
    e->now.max_jump_ns = config->max_clock_jump_ms * NS_PER_MS;
    e->time_off_ns = os_clock_wall().ns - os_clock_boot().ns;
    e->pending_last = &e->pending_first;
    e->entries_last = &e->entries_first;
    CHECK(uv_sem_init(&e->opened, 0) == 0);
    engine_cluster__init(e);
    if (set_paths(e, err) != ERR_OK) {
        engine_free(e);
        return err->code;
    }
    CHECK(uv_thread_create(&e->thread, core_main, e) == 0);
    uv_sem_wait(&e->opened);
    if (e->open_failed) {
        CHECK(uv_thread_join(&e->thread) == 0);
        *err = e->open_err;
        engine_free(e);
        return err->code;
    }
    log_info("raft cluster started", LOG_U64("raft_max_pending", config->pending_ops_max),
             LOG_U64("segment_bytes", config->node.segment_bytes),
             LOG_U64("snapshot_log_bytes", config->node.snapshot_log_bytes),
             LOG_U64("election_timeout_ms", config->node.election_ms),
             LOG_U64("heartbeat_interval_ms", config->node.heartbeat_ms),
             LOG_BOOL("durable", config->node.durable));
    *out_engine = e;
    return ERR_OK;
}

static void node_closed(void *data)
{
    struct engine *e = data;
    e->node = NULL;
    engine_pipe__refuse_all(e, ERR_STOPPING);
    close_loop(e);
}

static void close_node(struct engine *e)
{
    if (!e->node_closing) {
        e->node_closing = true;
        (void)uv_timer_stop(&e->patience);
        node_close(e->node, node_closed, e);
    }
}

static void handed_over(void *data, bool moved)
{
    (void)moved; /* if the transfer failed, the remaining members elect a leader */
    close_node(data);
}

/* A leader that stops without a transfer leaves the others without a leader until they notice. */
void engine__maybe_stopped(struct engine *e)
{
    struct err err;
    if (!e->stopping || e->entry_count > 0 || e->handing_over || e->node_closing) {
        return;
    }
    e->handing_over = node_transfer(e->node, 0, handed_over, e, &err) == ERR_OK;
    if (!e->handing_over) { /* not the leader, or a group of one */
        close_node(e);
    }
}

/* Without a majority, or on a full disk, an entry may never complete, and no other node takes
 * over. */
static void no_end_cb(uv_timer_t *timer)
{
    struct engine *e = timer->data;
    log_warn("shutdown did not wait for pending log entries", LOG_U64("entries", e->entry_count));
    close_node(e);
}

static void last_call_cb(uv_timer_t *timer)
{
    struct engine *e = timer->data;
    log_warn("shutdown did not wait for pending responses", LOG_U64("entries", e->entry_count));
    e->given_up = true;
    engine_timers__stop(e);
    engine_park__release_all(e, ERR_STOPPING);
    engine_pipe__refuse_all(e, ERR_STOPPING);
    engine_pipe__give_up(e);
}

static void deliver_last_call(struct msg *m)
{
    struct engine *e = CONTAINER_OF(m, struct engine, last_call_msg);
    uint64_t wait_ms = (uint64_t)e->last_call_ms + (uint64_t)e->config.stop_wait_ms;
    CHECK(uv_timer_start(&e->patience, last_call_cb, wait_ms, 0) == 0);
}

void engine_last_call(struct engine *e, uint32_t in_ms)
{
    e->last_call_ms = in_ms;
    e->last_call_msg.deliver = deliver_last_call;
    bool posted = mailbox_post(&e->box, &e->last_call_msg);
    CHECK(posted);
}

static void deliver_stop(struct msg *m)
{
    struct engine *e = CONTAINER_OF(m, struct engine, stop_msg);
    e->stopping = true;
    engine_timers__stop(e);
    engine_park__release_all(e, ERR_STOPPING);
    engine_pipe__refuse_all(e, ERR_STOPPING);
    CHECK(uv_timer_start(&e->patience, no_end_cb, (uint64_t)e->config.stop_wait_ms, 0) == 0);
    if (e->given_up) {
        close_node(e); /* the wait for entries is over already */
    } else {
        engine__maybe_stopped(e);
    }
}

void engine_close(struct engine *e)
{
    if (e == NULL) {
        return;
    }
    e->stop_msg.deliver = deliver_stop;
    bool posted = mailbox_post(&e->box, &e->stop_msg);
    CHECK(posted);
    CHECK(uv_thread_join(&e->thread) == 0);
    engine_free(e);
}

/* The status */

void engine_status_here(struct engine *e, struct engine_status *out)
{
    const struct machine *m = e->machine;
    (void)engine__now(e); /* use the current time for the clock's status */
    *out = (struct engine_status){
        .clock_ahead_ms = engine_now_ahead_ms(&e->now),
        .clock_behind_ms = engine_now_behind_ms(&e->now),
        .pending_ops = atomic_load(&e->pending_ops),
        .parked_ops = e->park.count,
        .applied_ops = atomic_load(&e->applied_ops),
        .entries = e->entries_total,
        .overload_total = atomic_load(&e->overload_total),
        .ticks = e->timers.ticks,
        .tick_errors = e->timers.tick_errors,
        .purge_errors = e->timers.purge.errors,
        .queue_times = e->queue_times,
        .apply_times = e->apply_times,
        .next_event = machine_store(e->machine)->meta.next_event,
        .oldest_event = machine_store(e->machine)->meta.oldest_event,
        .live_jobs = machine_live_count(m),
        .index_bytes = machine_index_bytes(m),
        .state_hash = machine_state_hash(m),
    };
    out->space = e->space.status;
    out->snapshot_damaged = e->space.snapshot_damaged;
    node_status(e->node, &out->node);
}

struct status_visit {
    struct engine *engine;
    struct engine_status *out;
};

static void run_status(void *data)
{
    const struct status_visit *v = data;
    engine_status_here(v->engine, v->out);
}

void engine_status(struct engine *e, struct engine_status *out)
{
    engine__visit(e, run_status, &(struct status_visit){.engine = e, .out = out});
}

int64_t engine_accept_clock(struct engine *e)
{
    (void)engine__now(e);
    int64_t ahead_ms = engine_now_ahead_ms(&e->now);
    if (ahead_ms > 0) {
        engine_now_accept(&e->now);
        (void)engine__now(e);
        log_warn("clock accepted by an operator", LOG_I64("ahead_ms", ahead_ms));
        engine_timers__look(e);
        engine_pipe__pump(e);
    }
    return ahead_ms;
}
