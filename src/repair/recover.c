#include "repair/recover.h"

#include <inttypes.h>

#include "cluster/disk_io.h"
#include "cluster/identity.h"
#include "cluster/node.h"
#include "os/os_clock.h"
#include "os/os_file.h"
#include "raftlog/members.h"

static void list_members(const struct raft_configuration *members, uint64_t self, struct buf *out)
{
    for (unsigned i = 0; i < members->n; i++) {
        const struct raft_server *s = &members->servers[i];
        buf_printf(out, "  %s %s%s\n", s->address, s->role == RAFT_VOTER ? "votes" : "follows",
                   s->id == self ? ", this node" : "");
    }
}

/* Make the node a group of one, with a new cluster id. */
static enum err_code make_alone(struct disk_io *disk, const char *data_dir, struct identity *me,
                                const char *address, struct err *err)
{
    struct raft_configuration alone;
    raft_configuration_init(&alone);
    if (raft_configuration_add(&alone, me->node, address, RAFT_VOTER) != 0) {
        return err_set(err, ERR_INTERNAL, "cannot create the list of members");
    }
    do {
        os_clock_random(&me->cluster, sizeof me->cluster);
        me->cluster &= INT64_MAX;
    } while (me->cluster == 0);
    me->joined = false;
    /* Store the identity first: a crash in between leaves a node that the others refuse, not a
     * second member. */
    enum err_code code = identity_store(data_dir, me, err);
    if (code == ERR_OK) {
        code = disk_io_recover(disk, &alone, err);
    }
    raft_configuration_close(&alone);
    return code;
}

/* Report the current members and the consequences. ERR_CONFLICT if there is nothing to recover. */
static enum err_code report(struct disk_io *disk, const struct identity *me,
                            const struct raft_configuration *members, const char *address,
                            struct buf *out, struct err *err)
{
    buf_printf(out, "The last entry of this node's log is %" PRIu64 ". Its members:\n",
               disk_io_last_index(disk));
    list_members(members, me->node, out);
    if (address == NULL) {
        return err_set(err, ERR_CONFLICT,
                       "this node is not a member: use the data directory of a node that is");
    }
    if (members->n == 1) {
        return err_set(err, ERR_CONFLICT, "this node is already a cluster of one");
    }
    buf_printf(out,
               "\nThis node becomes a cluster of one. Writes that only the other nodes have are\n"
               "LOST, even if they were acknowledged. Never start the other nodes again with\n"
               "their current data directories. If several nodes survived, use the one with\n"
               "the highest last entry.\n");
    return ERR_OK;
}

/* Make the change if apply is set; otherwise only report what it would do. */
static enum err_code recover(struct disk_io *disk, const char *data_dir, bool apply,
                             struct buf *out, struct err *err)
{
    struct raft_configuration members;
    struct identity me;
    const char *address = NULL;
    if (identity_open(data_dir, true, false, &me, err) != ERR_OK ||
        disk_io_members(disk, &members, err) != ERR_OK) {
        return err->code;
    }
    for (unsigned i = 0; i < members.n; i++) {
        address = members.servers[i].id == me.node ? members.servers[i].address : address;
    }
    enum err_code code = apply ? make_alone(disk, data_dir, &me, address, err)
                               : report(disk, &me, &members, address, out, err);
    raft_configuration_close(&members);
    return code;
}

enum err_code recover_run(const char *data_dir, bool apply, struct buf *out, struct err *err)
{
    struct os_file_path raft = os_file_join(data_dir, "raft");
    const struct node_config usual = node_config_default();
    struct disk_io_config config = {
        .dir = raft.z, .segment_bytes = usual.segment_bytes, .durable = true, .read_only = true};
    struct os_file_info info;
    ATTR_CLEANUP(os_file_closep) int lock = -1;
    if (os_file_stat(raft.z, &info, err) != ERR_OK) {
        return err_wrap(err, "'%s' contains no log", data_dir);
    }
    enum err_code code = os_file_lock_dir(data_dir, &lock, err);
    /* Report first, with the directory opened read-only: opening it for writing already repairs
     * what a crash left unfinished. */
    for (int step = 0; step < (apply ? 2 : 1) && code == ERR_OK; step++) {
        struct disk_io *disk = NULL;
        config.read_only = step == 0;
        code = disk_io_open(&config, &disk, err);
        code = code == ERR_OK ? recover(disk, data_dir, !config.read_only, out, err) : code;
        disk_io_free(disk);
    }
    if (code == ERR_OK && apply) {
        buf_printf(out,
                   "\nDone. Start this node, remove the lost nodes (corvo cluster remove), and\n"
                   "let new nodes join with empty data directories.\n");
    }
    return code;
}
