#include "repair/repair.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "cluster/disk_io.h"
#include "os/os_choice.h"
#include "os/os_clock.h"
#include "os/os_file.h"
#include "raftlog/manifest.h"
#include "raftlog/snapshots.h"
#include "raftlog/wal.h"
#include "repair/repair_member.h"
#include "store/store.h"

#define STATE_NAME "state"

/* One of the kept snapshots. */
struct repair_snapshot {
    bool exists;
    bool readable; /* its manifest is readable: a start refuses if the newest one is not */
    bool sound;    /* all its files are undamaged, too */
    uint64_t index;
    struct snapshots_id id; /* from the file's name: known even if it is damaged */
    struct err err;
};

struct repair {
    const struct repair_ask *ask;
    struct buf *out;
    struct os_file_path raft, log, snapshots, view;
    struct os_file_path state; /* the folder in use: a checkpoint may have replaced the first one */
    struct os_file_path aside; /* where damaged files are moved */
    bool aside_made;
    bool has_state, state_sound;
    bool log_sound;
    uint64_t log_first; /* first entry of the log; if empty, the next one */
    uint64_t log_last;
    uint64_t state_last; /* the last entry that the state contains; 0: not known */
    struct repair_snapshot snapshot[SNAPSHOTS_KEPT]; /* newest first */
    struct repair_member member;
};

/* --- examining --- */

static void say_damage(void *data, const char *what)
{
    struct repair *r = data;
    buf_printf(r->out, "  damaged: %s\n", what);
    r->state_sound = false;
}

/* The machine's record is the first. */
static bool read_last(void *data, struct str key, struct str value)
{
    struct repair *r = data;
    struct store_meta meta;
    struct err err;
    if (key.len == 1 && key.ptr[0] == STORE_KIND_MACHINE &&
        store_check_meta(value, &meta, &err) == ERR_OK) {
        r->state_last = meta.applied_index;
    }
    return false;
}

static void examine_state(struct repair *r)
{
    struct os_file_info info;
    struct err err;
    uint64_t entries = 0;
    r->has_state = os_file_stat(r->state.z, &info, &err) == ERR_OK;
    if (!r->has_state) {
        buf_printf(r->out, "state: missing\n");
        return;
    }
    buf_printf(r->out, "state: %s\n", r->state.z);
    r->state_sound = true;
    store_check(r->state.z, &entries, say_damage, r);
    buf_printf(r->out, "  %" PRIu64 " records are readable\n", entries);
    if (r->state_sound && store_check_each(r->state.z, STORE_META, read_last, r, &err) != ERR_OK) {
        r->state_last = 0;
    }
}

static enum err_code check_snapshot(struct repair *r, size_t nth, struct buf *bytes,
                                    struct arena *arena, struct err *err)
{
    struct repair_snapshot *s = &r->snapshot[nth];
    struct manifest m;
    if (snapshots_load_nth(r->snapshots.z, nth, bytes, err) != ERR_OK ||
        manifest_decode(buf_str(bytes), arena, &m, err) != ERR_OK) {
        return err->code;
    }
    s->readable = true;
    s->index = m.index;
    return snapshots_verify(r->snapshots.z, &m, err);
}

static enum err_code examine_snapshot(struct repair *r, size_t nth, struct err *err)
{
    struct repair_snapshot *s = &r->snapshot[nth];
    if (snapshots_id_nth(r->snapshots.z, nth, &s->id, err) != ERR_OK) {
        return err->code == ERR_NOT_FOUND ? ERR_OK : err->code;
    }
    s->exists = s->id.z[0] != '\0';
    if (!s->exists) {
        return ERR_OK;
    }
    struct arena *arena = arena_new(MANIFEST_BYTES_MAX);
    struct buf bytes;
    buf_init(&bytes, MANIFEST_BYTES_MAX);
    s->index = snapshots_id_index(&s->id);
    s->sound = check_snapshot(r, nth, &bytes, arena, &s->err) == ERR_OK;
    buf_printf(r->out, "snapshot %s, up to entry %" PRIu64 ": %s\n", s->id.z, s->index,
               s->sound ? "good" : s->err.msg);
    buf_deinit(&bytes);
    arena_free(arena);
    return ERR_OK;
}

/* The last entry of the newest snapshot with a readable manifest, which the log must continue. An
 * unreadable manifest has to be moved aside before a start reads the log. */
static uint64_t covered_index(const struct repair *r)
{
    for (size_t i = 0; i < SNAPSHOTS_KEPT; i++) {
        if (r->snapshot[i].readable) {
            return r->snapshot[i].index;
        }
    }
    return 0;
}

/* Examine the files of the member, with the newest readable snapshot. */
static void examine_member(struct repair *r, const struct wal_content *content)
{
    struct arena *arena = arena_new(MANIFEST_BYTES_MAX);
    struct buf bytes;
    struct manifest m;
    struct err err;
    size_t nth = 0;
    buf_init(&bytes, MANIFEST_BYTES_MAX);
    while (nth < SNAPSHOTS_KEPT && !r->snapshot[nth].readable) {
        nth++;
    }
    bool found = nth < SNAPSHOTS_KEPT &&
                 snapshots_load_nth(r->snapshots.z, nth, &bytes, &err) == ERR_OK &&
                 manifest_decode(buf_str(&bytes), arena, &m, &err) == ERR_OK;
    repair_member_examine(&r->member, r->ask->data_dir, content, found ? &m : NULL);
    buf_deinit(&bytes);
    arena_free(arena);
    if (r->member.identity_lost) {
        buf_printf(r->out, "identity: %s\n", r->member.identity_err.msg);
    }
    if (r->member.ballot_lost) {
        buf_printf(r->out, "ballot: %s\n", r->member.ballot_err.msg);
    }
}

static void examine_log(struct repair *r)
{
    struct wal_content content = {0};
    struct err err;
    if (wal_inspect(r->log.z, covered_index(r), &content, &err) != ERR_OK) {
        buf_printf(r->out, "log: damaged: %s\n", err.msg);
        examine_member(r, &content);
        return;
    }
    /* The log is begun before the first snapshot is made: a snapshot without a log means that
     * the log's files are lost. */
    r->log_sound = content.begun || !r->snapshot[0].exists;
    r->log_first = content.first_index;
    r->log_last = content.first_index + content.count - 1;
    if (r->log_sound) {
        buf_printf(r->out, "log: good, %zu entries starting at %" PRIu64 "\n", content.count,
                   content.first_index);
    } else {
        buf_printf(r->out, "log: missing\n");
    }
    examine_member(r, &content);
    wal_content_clear(&content);
}

/* --- repairing --- */

static enum err_code move_aside(struct repair *r, const char *path, const char *name,
                                struct err *err)
{
    struct os_file_info info;
    if (os_file_stat(path, &info, err) != ERR_OK) {
        return err->code == ERR_NOT_FOUND ? ERR_OK : err->code;
    }
    if (!r->aside_made && os_file_make_dirs(r->aside.z, err) != ERR_OK) {
        return err->code;
    }
    r->aside_made = true;
    struct os_file_path to = os_file_join(r->aside.z, name);
    if (os_file_rename(path, to.z, err) != ERR_OK) {
        return err->code;
    }
    buf_printf(r->out, "  moved %s to %s\n", path, to.z);
    return ERR_OK;
}

static enum err_code move_snapshot(struct repair *r, const struct repair_snapshot *s,
                                   struct err *err)
{
    char name[MANIFEST_ID_BYTES_MAX + 16];
    (void)snprintf(name, sizeof name, "%s.manifest", s->id.z);
    struct os_file_path manifest = os_file_join(r->snapshots.z, name);
    struct os_file_path folder = os_file_join(r->snapshots.z, s->id.z);
    /* Move the manifest first: a manifest must never exist without its checkpoint. */
    if (move_aside(r, manifest.z, name, err) != ERR_OK ||
        os_file_flush_dir(r->snapshots.z, err) != ERR_OK) {
        return err->code;
    }
    return move_aside(r, folder.z, s->id.z, err);
}

/* Move every folder that a start could use as the state, and the file that selects one of them. */
static enum err_code move_states(struct repair *r, struct err *err)
{
    struct os_file_names names = {0};
    if (os_file_list(r->ask->data_dir, &names, err) != ERR_OK) {
        return err->code;
    }
    enum err_code code = ERR_OK;
    for (size_t i = 0; i < names.count && code == ERR_OK; i++) {
        if (strcmp(names.name[i], STATE_NAME) == 0 ||
            os_choice_is_part(STATE_NAME, names.name[i])) {
            struct os_file_path path = os_file_join(r->ask->data_dir, names.name[i]);
            code = move_aside(r, path.z, names.name[i], err);
        }
    }
    os_file_names_clear(&names);
    return code;
}

static enum err_code move_all(struct repair *r, struct err *err)
{
    if (move_aside(r, r->raft.z, "raft", err) != ERR_OK || move_states(r, err) != ERR_OK) {
        return err->code;
    }
    if (r->member.identity_lost && move_aside(r, r->member.identity.z, "identity", err) != ERR_OK) {
        return err->code;
    }
    return move_aside(r, r->view.z, "view.db", err);
}

/* What to move aside, so that a start finds only undamaged data. Loses no acknowledged entry. */
struct plan {
    bool state;
    size_t snapshots; /* number of snapshots, from the newest on */
};

/* Does the log continue this snapshot? */
static bool log_follows(const struct repair *r, const struct repair_snapshot *s)
{
    return s->readable && r->log_first <= s->index + 1;
}

/* Choose the best base for a start: a good snapshot; else the existing state, with a snapshot of
 * which only the manifest is good; else a log that has all entries. */
static bool make_plan(const struct repair *r, struct plan *out)
{
    size_t count = 0;
    *out = (struct plan){.state = r->has_state && !r->state_sound};
    if (!r->log_sound) {
        return false;
    }
    while (count < SNAPSHOTS_KEPT && r->snapshot[count].exists) {
        count++;
    }
    for (int good = 1; good >= 0; good--) {
        for (size_t i = 0; i < count; i++) {
            const struct repair_snapshot *s = &r->snapshot[i];
            if (log_follows(r, s) && (good == 1 ? s->sound : r->state_sound)) {
                out->snapshots = i;
                return true;
            }
        }
    }
    out->snapshots = count;
    return r->log_first <= 1;
}

static bool is_member_lost(const struct repair *r)
{
    return r->member.identity_lost || r->member.ballot_lost;
}

static enum err_code mend_member(struct repair *r, struct err *err)
{
    const struct repair_member *m = &r->member;
    enum err_code code = m->ballot_lost ? move_aside(r, m->ballot.z, "ballot", err)
                                        : move_aside(r, m->identity.z, "identity", err);
    return code == ERR_OK ? repair_member_mend(m, r->ask->data_dir, err) : code;
}

static enum err_code apply_plan(struct repair *r, const struct plan *plan, struct err *err)
{
    if (is_member_lost(r) && mend_member(r, err) != ERR_OK) {
        return err->code;
    }
    if (plan->state && move_states(r, err) != ERR_OK) {
        return err->code;
    }
    for (size_t i = 0; i < plan->snapshots; i++) {
        if (move_snapshot(r, &r->snapshot[i], err) != ERR_OK) {
            return err->code;
        }
    }
    return os_file_flush_dir(r->ask->data_dir, err);
}

static void say_plan(struct repair *r, const struct plan *plan)
{
    static const char *const moved[] = {"", "newest snapshot", "snapshots"};
    static const char *const kept[] = {"the newest snapshot and the log",
                                       "the older snapshot and the log", "the log"};
    static_assert(COUNT_OF(moved) == SNAPSHOTS_KEPT + 1, "a plan moves at most all of them");
    size_t n = plan->snapshots;
    size_t base = n < SNAPSHOTS_KEPT && !r->snapshot[n].exists ? SNAPSHOTS_KEPT : n;
    buf_printf(r->out, "Repair: move the damaged %s%s%s aside; ", plan->state ? "state" : "",
               plan->state && n > 0 ? " and the " : "", moved[n]);
    if (r->state_sound) {
        buf_printf(r->out, "the server takes a new snapshot.\n");
    } else {
        buf_printf(r->out, "the next start rebuilds the state from %s.\n", kept[base]);
    }
    buf_printf(r->out, "Nothing that was acknowledged is lost.\n");
}

static const char *lost_files(const struct repair *r)
{
    return !r->member.ballot_lost     ? "identity"
           : !r->member.identity_lost ? "raft/ballot"
                                      : "identity and raft/ballot";
}

static void say_member(struct repair *r)
{
    buf_printf(r->out,
               "Repair: write %s again. This node is the only member of its cluster.\n"
               "Nothing that was acknowledged is lost.\n",
               lost_files(r));
}

static void say_member_stays_lost(struct repair *r)
{
    buf_printf(r->out,
               "%s cannot be made again: another node may rely on what was lost.\n"
               "Restore from a copy of the directory or, in a cluster, remove the node and let it\n"
               "join again with an empty directory. If neither is possible, a backup helps:\n"
               "corvo repair --data-dir %s --backup FILE --yes\n",
               lost_files(r), r->ask->data_dir);
}

/* The end of the log is lost, and the state has already stored some of it. A member of a cluster
 * may have such a state from a checkpoint. */
static bool is_log_short(const struct repair *r)
{
    return r->log_sound && r->member.only != 0 && r->state_last > r->log_last;
}

static void say_log_short(struct repair *r)
{
    buf_printf(
        r->out,
        "The state has entry %" PRIu64 ", but the log ends with entry %" PRIu64
        ": the end of the log is lost.\n"
        "Restore its files from a copy of the directory, or start once with --durable=false. "
        "Everything up to\n"
        "entry %" PRIu64 " is in the state; everything after it would be lost.\n",
        r->state_last, r->log_last, r->state_last);
}

static bool is_beyond_repair(struct repair *r)
{
    if (r->log_sound && is_member_lost(r) && !repair_member_can_mend(&r->member)) {
        say_member_stays_lost(r);
        return true;
    }
    if (is_log_short(r)) {
        say_log_short(r);
        return true;
    }
    return false;
}

static enum err_code mend(struct repair *r, enum repair_outcome *out_outcome, struct err *err)
{
    struct plan plan;
    bool member = is_member_lost(r);
    if (is_beyond_repair(r)) {
        *out_outcome = REPAIR_LOST;
        return ERR_OK;
    }
    if (!make_plan(r, &plan)) {
        buf_printf(r->out,
                   "Neither snapshot can be used with this log: only a backup helps.\n"
                   "Everything after that backup would be lost. Copy the directory first, then "
                   "run: corvo repair --data-dir %s --backup FILE --yes\n",
                   r->ask->data_dir);
        *out_outcome = REPAIR_LOST;
        return ERR_OK;
    }
    if (!member && !plan.state && plan.snapshots == 0) {
        bool all = !r->snapshot[0].exists || r->snapshot[0].sound;
        buf_printf(r->out, all ? "Nothing is damaged.\n"
                               : "No snapshot is good, but the state and the log are. Start the "
                                 "server; it takes a new snapshot.\n");
        *out_outcome = all ? REPAIR_SOUND : REPAIR_MENDED;
        return ERR_OK;
    }
    if (plan.state || plan.snapshots > 0) {
        say_plan(r, &plan);
    }
    if (member) {
        say_member(r);
    }
    *out_outcome = REPAIR_POSSIBLE;
    if (r->ask->apply) {
        *out_outcome = REPAIR_MENDED;
        return apply_plan(r, &plan, err);
    }
    return ERR_OK;
}

static enum err_code make_empty(struct repair *r, enum repair_outcome *out_outcome, struct err *err)
{
    buf_printf(r->out, "Repair: move all data aside, start the server, then restore the backup.\n"
                       "Everything after that backup is lost to the server; the files are kept.\n");
    *out_outcome = REPAIR_POSSIBLE;
    if (r->ask->apply) {
        *out_outcome = REPAIR_MENDED;
        return move_all(r, err);
    }
    return ERR_OK;
}

static enum err_code examine_and_mend(struct repair *r, enum repair_outcome *out_outcome,
                                      struct err *err)
{
    examine_state(r);
    for (size_t i = 0; i < SNAPSHOTS_KEPT; i++) {
        if (examine_snapshot(r, i, err) != ERR_OK) {
            return err->code;
        }
    }
    examine_log(r);
    return r->ask->empty ? make_empty(r, out_outcome, err) : mend(r, out_outcome, err);
}

enum err_code repair_run(const struct repair_ask *ask, struct buf *out,
                         enum repair_outcome *out_outcome, struct err *err)
{
    struct repair r = {.ask = ask, .out = out};
    struct os_file_info info;
    char name[64];
    size_t len = strlen(ask->data_dir);
    if (len == 0 || len > DISK_IO_DIR_BYTES_MAX) {
        return err_set(err, ERR_VALIDATION, "data-dir: the path has %zu bytes, 1 to %d are allowed",
                       len, DISK_IO_DIR_BYTES_MAX);
    }
    if (os_file_stat(ask->data_dir, &info, err) != ERR_OK) {
        return err->code;
    }
    (void)snprintf(name, sizeof name, "damaged-%" PRId64, (int64_t)(os_clock_wall().ns / NS_PER_S));
    r.raft = os_file_join(ask->data_dir, "raft");
    r.state = os_choice_read(ask->data_dir, STATE_NAME);
    r.view = os_file_join(ask->data_dir, "view.db");
    r.aside = os_file_join(ask->data_dir, name);
    r.log = os_file_join(r.raft.z, "log");
    r.snapshots = os_file_join(r.raft.z, "snapshots");
    if (os_file_stat(r.log.z, &info, err) != ERR_OK) {
        return err_wrap(err, "this is not a data directory");
    }
    ATTR_CLEANUP(os_file_closep) int lock = -1;
    ATTR_CLEANUP(os_file_closep) int raft_lock = -1;
    if (os_file_lock_dir(ask->data_dir, &lock, err) != ERR_OK ||
        os_file_lock_dir(r.raft.z, &raft_lock, err) != ERR_OK) {
        return err->code == ERR_CONFLICT
                   ? err_set(err, ERR_CONFLICT, "a server is using '%s': stop it first",
                             ask->data_dir)
                   : err->code;
    }
    return examine_and_mend(&r, out_outcome, err);
}
