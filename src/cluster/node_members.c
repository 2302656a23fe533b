/*
 * Members: lists and changes the members. A leader without contact to a majority steps down.
 *
 * libraft checks for a majority once per election timeout, and counts every voter that sent
 * anything within it: an isolated leader continues for up to two timeouts. This file checks more
 * often how long ago each voter last sent something. If there is no majority, it makes libraft
 * check at once.
 */
#include "cluster/node_members.h"

#include "base/check.h"
#include "cluster/node_int.h"
#include "log/log.h"
#include "os/os_clock.h"
#include "raftlog/members.h"

/* The value of PROGRESS__SNAPSHOT in raft. */
enum { PROGRESS_SNAPSHOT = 2 };

enum { LOOKS_PER_ELECTION = 10 };

static enum node_member_role role_of(int role)
{
    return role == RAFT_VOTER ? NODE_VOTER : role == RAFT_STANDBY ? NODE_STANDBY : NODE_SPARE;
}

size_t node_members(struct node *n, struct node_member *out, size_t max)
{
    const struct raft *r = &n->raft;
    size_t count = 0;
    if (n->closing) {
        return 0;
    }
    for (unsigned i = 0; i < r->configuration.n && count < max; i++) {
        const struct raft_server *s = &r->configuration.servers[i];
        struct node_member *m = &out[count++];
        *m = (struct node_member){
            .id = s->id, .address = s->address, .role = role_of(s->role), .self = s->id == r->id};
        if (r->state == RAFT_LEADER && !m->self) {
            m->match_index = r->leader_state.progress[i].match_index;
            m->installing = r->leader_state.progress[i].state == PROGRESS_SNAPSHOT;
        }
        if (n->peers != NULL) {
            peers_stats(n->peers, s->id, &m->net);
        }
    }
    return count;
}

bool node_members_may_change(const struct node *n)
{
    const struct raft *r = &n->raft;
    return node__leads(n) && !n->changing && !transfer_is_on(&n->transfer) &&
           r->configuration_uncommitted_index == 0 && r->leader_state.change == NULL &&
           r->leader_state.promotee_id == 0;
}

static void changed_cb(struct raft_change *change, int status)
{
    struct node *n = change->data;
    n->changing = false;
    if (status != 0) {
        log_warn("members not changed", LOG_Z("error", raft_strerror(status)));
    }
}

static enum err_code check_change(struct node *n, struct err *err)
{
    if (!node__leads(n)) {
        return err_set_default(err, ERR_LEADER_UNAVAILABLE);
    }
    return node_members_may_change(n)
               ? ERR_OK
               : err_set(err, ERR_CONFLICT, "another membership change is in progress");
}

static enum err_code begun(struct node *n, int rc, struct err *err)
{
    n->changing = rc == 0;
    return rc == 0
               ? ERR_OK
               : err_set(err, ERR_VALIDATION, "%s: %s", raft_strerror(rc), raft_errmsg(&n->raft));
}

enum err_code node_members_add(struct node *n, uint64_t id, const char *address, struct err *err)
{
    if (check_change(n, err) != ERR_OK) {
        return err->code;
    }
    n->change.data = n;
    return begun(n, raft_add(&n->raft, &n->change, id, address, changed_cb), err);
}

enum err_code node_members_assign(struct node *n, uint64_t id, enum node_member_role role,
                                  struct err *err)
{
    if (check_change(n, err) != ERR_OK) {
        return err->code;
    }
    int to = role == NODE_VOTER ? RAFT_VOTER : role == NODE_STANDBY ? RAFT_STANDBY : RAFT_SPARE;
    n->change.data = n;
    return begun(n, raft_assign(&n->raft, &n->change, id, to, changed_cb), err);
}

enum err_code node_members_remove(struct node *n, uint64_t id, struct err *err)
{
    if (check_change(n, err) != ERR_OK) {
        return err->code;
    }
    n->change.data = n;
    return begun(n, raft_remove(&n->raft, &n->change, id, changed_cb), err);
}

struct peers *node_members_peers(struct node *n)
{
    return n->peers;
}

/* --- a lost leader --- */

/* When a process dies, its connections close, and all peers notice at once. Raft would still
 * wait for at least an election timeout. This skips the wait except for two heartbeats: a live
 * leader sends something within that time, which restarts the timer. The random part of the
 * timeout is kept, so that two followers do not become candidates in step. */
void node_members_lost(struct node *n, uint64_t id)
{
    struct raft *r = &n->raft;
    unsigned kept = 2 * r->heartbeat_timeout;
    if (n->closing || r->state != RAFT_FOLLOWER || r->follower_state.current_leader.id != id ||
        kept >= r->election_timeout) {
        return;
    }
    raft_time start = r->io->time(r->io) - (r->election_timeout - kept);
    if (start < r->election_timer_start) {
        r->election_timer_start = start;
    }
}

/* --- a leader without a majority --- */

/* Did the voter send anything within the last election timeout? */
static bool is_heard(struct node *n, const struct raft_server *s, int64_t now_ns)
{
    struct raftnet_peer_stats stats;
    peers_stats(n->peers, s->id, &stats);
    return stats.heard.ns != 0 &&
           now_ns - stats.heard.ns < (int64_t)n->raft.election_timeout * NS_PER_MS;
}

void node_members__look(struct node *n)
{
    struct raft *r = &n->raft;
    raft_time now = r->io->time(r->io);
    if (n->peers == NULL || n->closing || r->state != RAFT_LEADER || !guard_ready(&n->guard) ||
        now - n->looked_at < r->election_timeout / LOOKS_PER_ELECTION) {
        return;
    }
    n->looked_at = now;
    unsigned voters = members_voter_count(&r->configuration);
    unsigned heard = 0;
    int64_t now_ns = os_clock_mono().ns;
    for (unsigned i = 0; i < r->configuration.n; i++) {
        const struct raft_server *s = &r->configuration.servers[i];
        if (s->role == RAFT_VOTER) {
            heard += s->id == r->id || is_heard(n, s, now_ns) ? 1 : 0;
        }
    }
    if (heard > voters / 2 || now - r->election_timer_start < r->heartbeat_timeout) {
        return;
    }
    log_warn("majority lost", LOG_U64("voters", voters), LOG_U64("heard", heard));
    for (unsigned i = 0; i < r->configuration.n; i++) {
        const struct raft_server *s = &r->configuration.servers[i];
        if (s->id != r->id && !is_heard(n, s, now_ns)) {
            r->leader_state.progress[i].recent_recv = false;
        }
    }
    r->election_timer_start = now - r->election_timeout; /* the next tick checks, and steps down */
}
