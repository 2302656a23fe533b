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

/* Alone from now on, with a number of its own. */
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
    /* The identity first: half-way, it is a node that the others refuse, and not one of two. */
    enum err_code code = identity_store(data_dir, me, err);
    if (code == ERR_OK) {
        code = disk_io_recover(disk, &alone, err);
    }
    raft_configuration_close(&alone);
    return code;
}

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
    buf_printf(out, "The last entry of this node's log is %" PRIu64 ". Its members:\n",
               disk_io_last_index(disk));
    list_members(&members, me.node, out);
    enum err_code code = ERR_OK;
    if (address == NULL) {
        code = err_set(err, ERR_CONFLICT,
                       "this node is not a member: use the data directory of a node that is");
    } else if (members.n == 1) {
        code = err_set(err, ERR_CONFLICT, "this node is already a cluster of one");
    } else {
        buf_printf(
            out, "\nThis node becomes a cluster of one. Writes that only the other nodes have are\n"
                 "LOST, even if they were acknowledged. Never start the other nodes again with\n"
                 "their current data directories. If several nodes survived, use the one with\n"
                 "the highest last entry.\n");
        code = apply ? make_alone(disk, data_dir, &me, address, err) : ERR_OK;
    }
    if (code == ERR_OK && apply) {
        buf_printf(out,
                   "\nDone. Start this node, remove the lost nodes (corvo cluster remove), and\n"
                   "let new nodes join with empty data directories.\n");
    }
    raft_configuration_close(&members);
    return code;
}

enum err_code recover_run(const char *data_dir, bool apply, struct buf *out, struct err *err)
{
    struct os_file_path raft = os_file_join(data_dir, "raft");
    const struct node_config usual = node_config_default();
    const struct disk_io_config config = {
        .dir = raft.z, .segment_bytes = usual.segment_bytes, .durable = true};
    struct os_file_info info;
    struct disk_io *disk = NULL;
    if (os_file_stat(raft.z, &info, err) != ERR_OK) {
        return err_wrap(err, "'%s' contains no log", data_dir);
    }
    if (disk_io_open(&config, &disk, err) != ERR_OK) {
        return err->code;
    }
    enum err_code code = recover(disk, data_dir, apply, out, err);
    disk_io_free(disk);
    return code;
}
