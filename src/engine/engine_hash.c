/*
 * Hashes of the state: every member sends the others its hash at certain indexes, and compares
 * theirs with its own.
 *
 * The indexes are multiples of a few powers of two. The small powers give frequent points while
 * there is little load; for the large ones, all members have the same last point even under high
 * load. A member that finds that a majority has a different state isolates itself: it neither votes
 * nor serves requests until an operator rebuilds it.
 */
#include <inttypes.h>
#include <stdio.h>

#include "base/check.h"
#include "cluster/peers.h"
#include "engine/engine_cluster.h"
#include "engine/engine_int.h"
#include "log/log.h"
#include "os/os_clock.h"
#include "os/os_file.h"

enum { TELL_EVERY_MS = 1000 };

static const uint64_t steps[ENGINE_HASH_LEVELS] = {16, 1024, 65536};

/* Find the hash of this node's state at an index. False if it is no longer kept. */
static bool find_point(const struct engine_hash *h, uint64_t index, uint64_t *out)
{
    for (size_t level = 0; level < ENGINE_HASH_LEVELS; level++) {
        const struct engine_hash_point *p =
            &h->points[level][index / steps[level] % ENGINE_HASH_POINTS];
        if (p->index == index && index != 0) {
            *out = p->hash;
            return true;
        }
    }
    return false;
}

static struct engine_hash_peer *peer_of(struct engine_hash *h, uint64_t id)
{
    for (size_t i = 0; i < h->peer_count; i++) {
        if (h->peers[i].id == id) {
            return &h->peers[i];
        }
    }
    if (h->peer_count == COUNT_OF(h->peers)) {
        return NULL;
    }
    struct engine_hash_peer *p = &h->peers[h->peer_count++];
    *p = (struct engine_hash_peer){.id = id};
    return p;
}

static struct os_file_path mark_path(const struct engine *e)
{
    return os_file_join(e->config.data_dir, "quarantined");
}

/* Mark the data directory as diverged, because a restart does not repair the state. */
static void mark(const struct engine *e, uint64_t index)
{
    struct os_file_path path = mark_path(e);
    char text[64];
    struct err err;
    (void)snprintf(text, sizeof text, "state differs at %" PRIu64 "\n", index);
    if (os_file_replace(path.z, str_from_z(text), &err) != ERR_OK) {
        log_error("quarantine not recorded", LOG_Z("error", err.msg));
    }
}

static void fall_silent(struct engine *e)
{
    atomic_store(&e->cluster.hash.quarantined, true);
    if (node_members_peers(e->node) != NULL) {
        peers_set_silent(node_members_peers(e->node), true);
    }
}

static void quarantine(struct engine *e, uint64_t index)
{
    if (atomic_load(&e->cluster.hash.quarantined)) {
        return;
    }
    fall_silent(e);
    mark(e, index);
    log_error("state differs from the majority", LOG_U64("index", index),
              LOG_Z("meaning", "this node no longer votes or serves requests"),
              LOG_Z("remedy", "keep its data directory for analysis, remove the node from the "
                              "cluster and let it join again with an empty directory"));
}

void engine_hash__start(struct engine *e)
{
    struct os_file_path path = mark_path(e);
    struct os_file_info info;
    struct err err;
    if (os_file_stat(path.z, &info, &err) == ERR_OK) {
        fall_silent(e);
        log_error(
            "state differs from the majority",
            LOG_Z("meaning", "found before this start: this node does not vote or serve requests"),
            LOG_Z("remedy", "keep its data directory for analysis, remove the node from "
                            "the cluster and let it join again with an empty directory"));
    }
}

static bool is_voter(const struct engine *e, uint64_t id)
{
    for (size_t i = 0; i < e->cluster.member_count; i++) {
        const struct node_member *m = &e->cluster.members[i];
        if (m->id == id) {
            return m->role == NODE_VOTER;
        }
    }
    return false;
}

/* Quarantine this node if a majority of the voters reported this other hash for the index. */
static void judge(struct engine *e, const struct engine_hash_point *theirs)
{
    struct engine_hash *h = &e->cluster.hash;
    unsigned against = 0;
    unsigned voters = 0;
    e->cluster.member_count =
        node_members(e->node, e->cluster.members, COUNT_OF(e->cluster.members));
    for (size_t i = 0; i < h->peer_count; i++) {
        const struct engine_hash_point *p = &h->peers[i].differs;
        bool same = p->index == theirs->index && p->hash == theirs->hash;
        against += same && is_voter(e, h->peers[i].id) ? 1 : 0;
    }
    for (size_t i = 0; i < e->cluster.member_count; i++) {
        voters += e->cluster.members[i].role == NODE_VOTER ? 1 : 0;
    }
    if (against > voters / 2) {
        quarantine(e, theirs->index);
    }
}

static void compare(struct engine *e, struct engine_hash_peer *p,
                    const struct engine_hash_point *theirs)
{
    struct engine_hash *h = &e->cluster.hash;
    uint64_t ours = 0;
    if (!find_point(h, theirs->index, &ours)) {
        return;
    }
    h->compared_total++;
    p->compared_index = theirs->index;
    if (ours == theirs->hash) {
        return;
    }
    h->differed_total++;
    p->differs = *theirs;
    log_error("state differs from another member", LOG_U64("peer", p->id),
              LOG_U64("index", theirs->index), LOG_U64("ours", ours),
              LOG_U64("theirs", theirs->hash));
    judge(e, theirs);
}

void engine_hash__heard(struct engine *e, uint64_t id, uint64_t index, uint64_t hash)
{
    struct engine_hash_point theirs = {.index = index, .hash = hash};
    struct engine_hash_peer *p = peer_of(&e->cluster.hash, id);
    if (p == NULL) {
        return;
    }
    if (index > machine_applied_index(e->machine)) {
        p->ahead = theirs; /* compared once this node has applied the entry */
    } else if (index != p->compared_index) {
        compare(e, p, &theirs);
    }
}

void engine_hash__applied(struct engine *e, uint64_t index)
{
    struct engine_hash *h = &e->cluster.hash;
    if (index % steps[0] != 0) {
        return;
    }
    struct engine_hash_point now = {.index = index, .hash = machine_state_hash(e->machine)};
    for (size_t level = 0; level < ENGINE_HASH_LEVELS; level++) {
        if (index % steps[level] == 0) {
            h->points[level][index / steps[level] % ENGINE_HASH_POINTS] = now;
            h->last[level] = now;
        }
    }
    for (size_t i = 0; i < h->peer_count; i++) {
        struct engine_hash_point theirs = h->peers[i].ahead;
        if (theirs.index != 0 && theirs.index <= index) {
            h->peers[i].ahead = (struct engine_hash_point){0};
            compare(e, &h->peers[i], &theirs);
        }
    }
}

void engine_hash__tell(struct engine *e)
{
    struct engine_hash *h = &e->cluster.hash;
    int64_t now_ms = os_clock_mono().ns / NS_PER_MS;
    if (e->node == NULL || node_members_peers(e->node) == NULL || now_ms < h->tell_ms) {
        return;
    }
    h->tell_ms = now_ms + TELL_EVERY_MS;
    e->cluster.member_count =
        node_members(e->node, e->cluster.members, COUNT_OF(e->cluster.members));
    for (size_t level = 0; level < ENGINE_HASH_LEVELS; level++) {
        if (h->last[level].index == h->told[level]) {
            continue;
        }
        h->told[level] = h->last[level].index;
        for (size_t i = 0; i < e->cluster.member_count; i++) {
            const struct node_member *m = &e->cluster.members[i];
            if (!m->self) {
                peers_send_hash(node_members_peers(e->node), m->id, m->address,
                                h->last[level].index, h->last[level].hash);
            }
        }
    }
}

void engine_hash__describe(struct engine *e, struct engine_cluster_node *out)
{
    const struct engine_hash *h = &e->cluster.hash;
    for (size_t i = 0; i < h->peer_count; i++) {
        if (h->peers[i].id == out->id) {
            out->hash_index = h->peers[i].compared_index;
            out->hash_differs = h->peers[i].differs.index != 0;
        }
    }
}

void engine_hash__status(struct engine *e, struct engine_cluster_status *out)
{
    const struct engine_hash *h = &e->cluster.hash;
    out->quarantined = atomic_load(&h->quarantined);
    out->hash_compared_total = h->compared_total;
    out->hash_differed_total = h->differed_total;
    /* No such index since the start: use the current state. */
    bool none = h->last[0].index == 0;
    out->hash_index = none ? machine_applied_index(e->machine) : h->last[0].index;
    out->hash = none ? machine_state_hash(e->machine) : h->last[0].hash;
}
