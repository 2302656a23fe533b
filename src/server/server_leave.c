#include "server/server_leave.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/check.h"
#include "log/log.h"
#include "os/os_clock.h"
#include "os/os_file.h"
#include "server/server_members.h"

enum {
    LEAVE_MS = 10000, /* from the decision until the node is out */
    PAUSE_MS = 20,
};

/* --- leaving --- */

/* Wait until the others have removed this node. */
static bool wait_until_out(struct engine *e, struct engine_cluster_status *members)
{
    const struct timespec pause = {.tv_nsec = PAUSE_MS * NS_PER_MS};
    int64_t until_ns = os_clock_mono().ns + LEAVE_MS * NS_PER_MS;
    bool leads;
    while (server_members_look(e, members, &leads) && !members->removed) {
        if (os_clock_mono().ns > until_ns) {
            return false;
        }
        (void)nanosleep(&pause, NULL);
    }
    return members->removed;
}

static const char *why_not(const struct settings *s, const struct engine_cluster_status *members)
{
    return s->join.len == 0 && s->discover.len == 0
               ? "it could not join again: neither join nor discover is set"
           : !server_members_majority_without(members, members->node_id)
               ? "the other live voters are not a majority of the remaining ones"
               : NULL;
}

static bool leave(const struct settings *s, struct engine *e, struct engine_cluster_status *members)
{
    bool leads;
    struct err err;
    if (!server_members_look(e, members, &leads) || !leads || members->count < 2) {
        return false;
    }
    const char *why = why_not(s, members);
    if (why != NULL) {
        log_warn("cluster not left", LOG_Z("reason", why));
        return false;
    }
    bool decided = server_members_take_out(e, members->node_id, &err) == ERR_OK;
    if (!decided && err.code != ERR_UNKNOWN_OUTCOME) {
        log_warn("cluster not left", LOG_Z("error", err.msg));
        return false;
    }
    bool out = wait_until_out(e, members);
    if (!out && !decided) {
        log_warn("cluster not left", LOG_Z("error", err.msg));
        return false;
    }
    log_info("cluster left", LOG_BOOL("confirmed", out));
    return true;
}

bool server_leave(const struct settings *s, struct engine *e)
{
    if (!s->leave_on_shutdown) {
        return false;
    }
    struct engine_cluster_status *members = calloc(1, sizeof *members);
    CHECK(members != NULL);
    bool left = leave(s, e, members);
    free(members);
    return left;
}

/* --- the data directory --- */

static bool exists(const char *dir, const char *name)
{
    struct os_file_path path = os_file_join(dir, name);
    struct os_file_info info;
    struct err ignored;
    return os_file_stat(path.z, &info, &ignored) == ERR_OK;
}

/* True for the files of a member, except for its identity. Reserve files and unknown files stay. */
static bool is_members(const char *name)
{
    struct str n = str_from_z(name);
    return str_eq(n, STR("raft")) || str_eq(n, STR("quarantined")) || str_eq(n, STR("state")) ||
           str_starts_with(n, STR("state.")) || str_starts_with(n, STR("view.db"));
}

static enum err_code move(const char *data_dir, const char *aside, const char *name,
                          struct err *err)
{
    struct os_file_path from = os_file_join(data_dir, name);
    struct os_file_path to = os_file_join(aside, name);
    return os_file_rename(from.z, to.z, err);
}

/* Create the directory first, so that an interrupted move is recognized. Move the identity last: it
 * marks a move as complete. */
enum err_code server_leave_put_aside(const char *data_dir, struct err *err)
{
    struct os_file_path aside = os_file_join(data_dir, "left");
    struct os_file_names names = {0};
    if (os_file_make_dirs(aside.z, err) != ERR_OK || os_file_flush_dir(data_dir, err) != ERR_OK ||
        os_file_list(data_dir, &names, err) != ERR_OK) {
        return err->code;
    }
    enum err_code code = ERR_OK;
    for (size_t i = 0; i < names.count && code == ERR_OK; i++) {
        code = is_members(names.name[i]) ? move(data_dir, aside.z, names.name[i], err) : ERR_OK;
    }
    os_file_names_clear(&names);
    if (code != ERR_OK || os_file_flush_dir(data_dir, err) != ERR_OK ||
        move(data_dir, aside.z, "identity", err) != ERR_OK ||
        os_file_flush_dir(aside.z, err) != ERR_OK) {
        return err->code;
    }
    return os_file_flush_dir(data_dir, err);
}

enum err_code server_leave_resume(const char *data_dir, bool *out_left, struct err *err)
{
    struct os_file_path aside = os_file_join(data_dir, "left");
    *out_left = exists(data_dir, "left");
    if (!*out_left) {
        return ERR_OK;
    }
    if (!exists(aside.z, "identity") && server_leave_put_aside(data_dir, err) != ERR_OK) {
        return err_wrap(err, "move the data aside after leaving the cluster");
    }
    *out_left = !engine_cluster_has_begun(data_dir);
    return ERR_OK;
}

/* Rename left/ in one step, then delete it. If a part of left/ were missing, the next start would
 * take it for an incomplete move and continue that. */
void server_leave_forget(const char *data_dir)
{
    struct os_file_path aside = os_file_join(data_dir, "left");
    struct os_file_path gone = os_file_join(data_dir, "left.gone");
    struct err err;
    if (exists(data_dir, "left.gone")) {
        os_file_discard(gone.z); /* a deletion that was interrupted */
    }
    if (!exists(data_dir, "left")) {
        return;
    }
    if (os_file_rename(aside.z, gone.z, &err) != ERR_OK ||
        os_file_flush_dir(data_dir, &err) != ERR_OK) {
        log_warn("old data not removed", LOG_Z("error", err.msg));
        return;
    }
    os_file_discard(gone.z);
}
