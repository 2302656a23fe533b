/*
 * What other threads ask about the cluster, and ask it to do.
 */
#include <stdlib.h>
#include <string.h>

#include "engine/engine_int.h"
#include "fsm/machine_nodes.h"
#include "os/os_clock.h"

uint64_t engine_cluster_node_id(const struct engine *e)
{
    return atomic_load(&e->cluster.node_id);
}

uint64_t engine_cluster_id(const struct engine *e)
{
    return atomic_load(&e->cluster.cluster_id);
}

bool engine_cluster_is_quarantined(const struct engine *e)
{
    return atomic_load(&e->cluster.hash.quarantined);
}

struct visit {
    struct engine *e;
    uint64_t cluster_id;
    const char *http_url;
    enum err_code code;
    struct err *err;
};

static void run_adopt(void *data)
{
    struct visit *v = data;
    v->code = engine_invite__adopt(v->e, v->cluster_id, v->err);
}

enum err_code engine_cluster_adopt(struct engine *e, uint64_t cluster_id, struct err *err)
{
    struct visit v = {.e = e, .cluster_id = cluster_id, .err = err};
    engine__visit(e, run_adopt, &v);
    return v.code;
}

static void run_announce(void *data)
{
    const struct visit *v = data;
    struct peers *peers = node_members_peers(v->e->node);
    struct raftnet_shake_node self = *peers_self(peers);
    self.http_url = str_from_z(v->http_url);
    peers_set_self(peers, &self);
}

void engine_cluster_announce(struct engine *e, const char *http_url)
{
    engine__visit(e, run_announce, &(struct visit){.e = e, .http_url = http_url});
}

static void run_reload(void *data)
{
    struct visit *v = data;
    v->code = peers_reload_tls(node_members_peers(v->e->node), v->err);
}

enum err_code engine_cluster_reload_tls(struct engine *e, struct err *err)
{
    struct visit v = {.e = e, .err = err};
    engine__visit(e, run_reload, &v);
    return v.code;
}

uint64_t engine_cluster_find(struct engine *e, struct str name)
{
    for (uint32_t i = 0; i < machine_nodes_count(e->machine); i++) {
        const struct store_node *n = machine_nodes_at(e->machine, i);
        if (n->state != STORE_NODE_REMOVED && str_eq(n->name, name)) {
            return n->id;
        }
    }
    /* The node's own record may not be applied yet. */
    return e->leads && str_eq(name, e->cluster.self.name) && machine_nodes_count(e->machine) == 0
               ? atomic_load(&e->cluster.node_id)
               : 0;
}

void engine_cluster_voters(struct engine *e, uint64_t id, unsigned *out_voters, bool *out_votes)
{
    engine_cluster__look(e);
    *out_voters = 0;
    *out_votes = false;
    for (size_t i = 0; i < e->cluster.member_count; i++) {
        const struct node_member *m = &e->cluster.members[i];
        *out_voters += m->role == NODE_VOTER ? 1 : 0;
        *out_votes = *out_votes || (m->id == id && m->role == NODE_VOTER);
    }
}

enum err_code engine_cluster_transfer(struct engine *e, const char *name, struct err *err)
{
    uint64_t id = name == NULL ? 0 : engine_cluster_find(e, str_from_z(name));
    if (name != NULL && id == 0) {
        return err_set(err, ERR_NOT_FOUND, "no such node: \"%s\"", name);
    }
    enum err_code code = node_transfer(e->node, id, engine_cluster__moved, e, err);
    if (code != ERR_NOT_FOUND) {
        return code;
    }
    if (name == NULL) {
        return err_set(err, code, "no other voting node to transfer leadership to");
    }
    bool self = id == atomic_load(&e->cluster.node_id);
    return err_set(err, code, "node \"%s\" %s", name,
                   self ? "is the leader already" : "is not a voting member");
}

static void describe(struct engine *e, const struct store_node *n, struct engine_cluster_node *out)
{
    const struct engine_cluster *c = &e->cluster;
    const struct node_member *m = engine_cluster__member(c, n->id);
    *out = (struct engine_cluster_node){.id = n->id,
                                        .state = n->state,
                                        .wants_vote = n->voter,
                                        .self = n->id == atomic_load(&c->node_id),
                                        .leads = n->id == c->leader_id,
                                        .last_contact_ms = -1};
    engine_cluster__copy(out->name, sizeof out->name, n->name);
    engine_cluster__copy(out->address, sizeof out->address, n->address);
    engine_cluster__copy(out->http_url, sizeof out->http_url, n->http_url);
    engine_cluster__copy(out->version, sizeof out->version, n->version);
    engine_hash__describe(e, out);
    if (m == NULL) {
        return;
    }
    out->in_group = true;
    out->role = m->role;
    out->match_index = m->match_index;
    out->installing = m->installing;
    out->connected = m->net.connected;
    out->queued_bytes = m->net.queued_bytes;
    out->sent_bytes = m->net.sent_bytes;
    out->received_bytes = m->net.received_bytes;
    out->connects = m->net.connects;
    if (m->net.heard.ns != 0) {
        out->last_contact_ms = (os_clock_mono().ns - m->net.heard.ns) / NS_PER_MS;
    }
    engine_cluster__copy(out->error, sizeof out->error, str_from_z(m->net.error));
}

static int by_name(const void *a, const void *b)
{
    const struct engine_cluster_node *x = a;
    const struct engine_cluster_node *y = b;
    return strcmp(x->name, y->name);
}

void engine_cluster_status(struct engine *e, struct engine_cluster_status *out)
{
    const struct engine_cluster *c = &e->cluster;
    memset(out, 0, sizeof *out); /* large */
    out->cluster_id = atomic_load(&c->cluster_id);
    out->node_id = atomic_load(&c->node_id);
    out->removed = c->removed;
    out->elections = c->elections;
    memcpy(out->changes, c->leaders, sizeof out->changes);
    out->change_count = c->leader_pairs;
    engine_hash__status(e, out);
    if (e->node == NULL) {
        return;
    }
    engine_cluster__look(e);
    if (node_members_peers(e->node) != NULL) {
        peers_fetch_status(node_members_peers(e->node), &out->fetch);
        peers_refusals(node_members_peers(e->node), &out->refused);
    }
    for (uint32_t i = 0; i < machine_nodes_count(e->machine); i++) {
        describe(e, machine_nodes_at(e->machine, i), &out->nodes[out->count++]);
    }
    qsort(out->nodes, out->count, sizeof *out->nodes, by_name);
}
