#include "engine/engine_invite.h"

#include "base/check.h"
#include "cluster/identity.h"
#include "engine/engine_int.h"
#include "log/log.h"

/* --- accepting an invitation --- */

enum err_code engine_invite__adopt(struct engine *e, uint64_t cluster_id, struct err *err)
{
    struct peers *peers = node_members_peers(e->node);
    uint64_t have = atomic_load(&e->cluster.cluster_id);
    const struct identity me = {
        .node = atomic_load(&e->cluster.node_id), .cluster = cluster_id, .joined = true};
    if (have != 0 && have != cluster_id) {
        return err_set(err, ERR_CONFLICT,
                       "this data directory belongs to a different cluster than the one to join");
    }
    if (identity_store(e->config.data_dir, &me, err) != ERR_OK) {
        return err->code;
    }
    if (have == 0) {
        struct raftnet_shake_node self = *peers_self(peers);
        self.cluster = cluster_id;
        peers_set_self(peers, &self);
        atomic_store(&e->cluster.cluster_id, cluster_id);
    }
    return ERR_OK;
}

bool engine_invite__adopt_hook(void *data, uint64_t cluster_id, struct err *err)
{
    struct engine *e = data;
    bool belongs = atomic_load(&e->cluster.cluster_id) == cluster_id;
    if (belongs && !e->leads) {
        return true; /* repeated invitation, or already a member */
    }
    if (belongs || !e->config.cluster.invitable || e->node == NULL) {
        (void)err_set(err, ERR_FORBIDDEN,
                      belongs ? "the node leads a cluster"
                              : "the node does not wait for an invitation: it was started to join "
                                "a cluster by itself");
        return false;
    }
    if (engine_invite__adopt(e, cluster_id, err) != ERR_OK) {
        log_error("invitation not accepted", LOG_Z("error", err->msg));
        return false;
    }
    return true;
}

/* --- inviting --- */

static void deliver_done(struct msg *m)
{
    struct engine_invite *i = CONTAINER_OF(m, struct engine_invite, msg);
    i->done(i);
}

static void answer(struct engine_invite *i)
{
    i->msg.deliver = deliver_done;
    bool posted = mailbox_post(i->reply_to, &i->msg);
    CHECK(posted);
}

static void invited(struct peers_invite *net)
{
    struct engine_invite *i = CONTAINER_OF(net, struct engine_invite, net);
    i->err = net->err;
    i->id = net->id;
    i->voter = net->voter;
    if (i->err.code == ERR_OK && i->id > INT64_MAX) {
        (void)err_set(&i->err, ERR_CORRUPT, "the node has an invalid number");
    }
    answer(i);
}

static void deliver_invite(struct msg *m)
{
    struct engine_invite *i = CONTAINER_OF(m, struct engine_invite, msg);
    struct engine *e = i->engine;
    struct peers *peers = e->node == NULL ? NULL : node_members_peers(e->node);
    err_clear(&i->err);
    i->net =
        (struct peers_invite){.address = i->address, .name = str_from_z(i->name), .done = invited};
    if (!e->leads || e->stopping || peers == NULL) {
        (void)err_set_default(&i->err, ERR_LEADER_UNAVAILABLE);
        answer(i);
    } else if (peers_invite(peers, &i->net, &i->err) != ERR_OK) {
        answer(i);
    }
}

bool engine_invite_send(struct engine *e, struct engine_invite *i)
{
    i->engine = e;
    i->msg.deliver = deliver_invite;
    return mailbox_post(&e->box, &i->msg);
}
