#include "cluster/node_members.h"

#include "cluster/node_int.h"
#include "lib/test.h"

enum { LEADER = 7, OTHER = 8, NOW = 100000 };

static raft_time now(struct raft_io *io)
{
    (void)io;
    return NOW;
}

/* When the connection to the leader breaks, a follower waits for only two more heartbeats and the
 * random part of the timeout. */
static void lost__shortens_the_wait_for_the_leader_only(void **state)
{
    static const struct {
        const char *name;
        unsigned short raft_state;
        raft_id lost;
        unsigned heartbeat_ms;
        raft_time heard, want;
    } rows[] = {
        {"the leader", RAFT_FOLLOWER, LEADER, 100, NOW - 30, NOW - 800},
        {"the leader, long silent", RAFT_FOLLOWER, LEADER, 100, NOW - 900, NOW - 900},
        {"another", RAFT_FOLLOWER, OTHER, 100, NOW - 30, NOW - 30},
        {"heartbeats are too rare", RAFT_FOLLOWER, LEADER, 500, NOW - 30, NOW - 30},
        {"this node leads", RAFT_LEADER, LEADER, 100, NOW - 30, NOW - 30},
        {"this node stands itself", RAFT_CANDIDATE, LEADER, 100, NOW - 30, NOW - 30},
    };
    (void)state;
    for (unsigned i = 0; i < COUNT_OF(rows); i++) {
        ROW(rows[i].name);
        struct raft_io io = {.time = now};
        struct node n = {.raft = {.io = &io,
                                  .state = rows[i].raft_state,
                                  .election_timeout = 1000,
                                  .heartbeat_timeout = rows[i].heartbeat_ms,
                                  .election_timer_start = rows[i].heard}};
        if (n.raft.state == RAFT_FOLLOWER) {
            n.raft.follower_state.current_leader.id = LEADER;
        }
        node_members_lost(&n, rows[i].lost);
        assert_int_equal(n.raft.election_timer_start, rows[i].want);
    }
}

TEST_GROUP(node_members, cmocka_unit_test(lost__shortens_the_wait_for_the_leader_only));
