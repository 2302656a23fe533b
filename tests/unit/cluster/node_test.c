#include "cluster/node.h"

#include <string.h>

#include "base/check.h"
#include "base/fault.h"
#include "cluster/node_int.h"
#include "lib/expect.h"
#include "lib/test.h"
#include "unit/cluster/node_rig.h"

/* --- entries --- */

static void node__applies_what_is_proposed_in_order(void **state)
{
    struct node_rig *r = *state;
    node_rig_open(r);
    assert_int_equal(node_depth(r->node), 1);
    struct node_rig_proposal a[20];
    for (size_t i = 0; i < COUNT_OF(a); i++) {
        node_rig_start(r, &a[i], 64);
    }
    while (!a[COUNT_OF(a) - 1].done) {
        (void)uv_run(&r->loop, UV_RUN_ONCE);
    }
    for (size_t i = 0; i < COUNT_OF(a); i++) {
        assert_true(a[i].done);
        assert_int_equal(a[i].p.err.code, ERR_OK);
        assert_int_equal(a[i].p.index, a[0].p.index + i);
    }
    assert_int_equal(r->toy.state.count, COUNT_OF(a));
    struct node_status s = node_rig_status(r);
    assert_string_equal(s.role, "Leader");
    assert_true(s.leads);
    assert_true(s.durable);
    assert_false(s.low_space);
    assert_true(s.term > 0);
    assert_int_equal(s.leader_id, 1);
    assert_int_equal(s.applied_index, a[COUNT_OF(a) - 1].p.index);
    assert_int_equal(s.commit_index, s.last_index);
    assert_true(s.flush_count > 0);
    assert_true(s.log_bytes > COUNT_OF(a) * 64);
    node_rig_close(r);
    assert_int_equal(r->toy.leads_changes, 2);
}

static void node__hands_over_only_what_the_state_lacks(void **state)
{
    struct node_rig *r = *state;
    node_rig_open(r);
    for (unsigned i = 0; i < 30; i++) {
        assert_int_equal(node_rig_propose(r, 8 + 8 * i), ERR_OK);
    }
    uint64_t hash = r->toy.state.hash;
    node_rig_close(r);
    node_rig_open(r); /* the state is complete */
    assert_int_equal(r->toy.applies, 0);
    assert_int_equal(r->toy.state.hash, hash);
    node_rig_close(r);
    node_rig_lose_state(r);
    node_rig_open(r);
    assert_int_equal(r->toy.applies, 30);
    assert_int_equal(r->toy.state.hash, hash);
    assert_int_equal(node_rig_propose(r, 8), ERR_OK);
    assert_int_equal(r->toy.state.count, 31);
}

static void node__does_not_flush_when_it_need_not_be_durable(void **state)
{
    struct node_rig *r = *state;
    r->config.durable = false;
    r->config.segment_bytes = 1 << 20;
    node_rig_open(r);
    for (unsigned i = 0; i < 10; i++) {
        assert_int_equal(node_rig_propose(r, 64), ERR_OK);
    }
    assert_int_equal(node_rig_status(r).flush_count, 0);
    assert_false(node_rig_status(r).durable);
}

static void propose__is_refused_while_nobody_leads(void **state)
{
    struct node_rig *r = *state;
    struct err err;
    r->config.bootstrap = false; /* it waits to be added to a group */
    assert_int_equal(node_rig_try_open(r, &err), ERR_OK);
    assert_false(node_leads(r->node));
    assert_int_equal(node_rig_propose(r, 8), ERR_LEADER_UNAVAILABLE);
    assert_string_equal(node_rig_status(r).role, "Follower");
    node_rig_close(r);
    assert_int_equal(r->toy.leads_changes, 0);
    /* An empty node may still found a group. After that, it does not need the setting. */
    r->config.bootstrap = true;
    node_rig_open(r);
    node_rig_close(r);
    r->config.bootstrap = false;
    node_rig_open(r);
}

static bool space_is_back(struct node_rig *r)
{
    return !node_rig_status(r).low_space;
}

static void propose__is_refused_while_space_is_low(void **state)
{
    struct node_rig *r = *state;
    r->config.free_bytes_min = 4096;
    fault_arm(FAULT_DISK_SPACE_LOW, 1);
    node_rig_open(r); /* a new leader's own entry is written all the same */
    assert_true(node_rig_status(r).low_space);
    struct node_rig_proposal a;
    node_rig_start(r, &a, 8);
    while (!a.done) {
        (void)uv_run(&r->loop, UV_RUN_ONCE);
    }
    assert_int_equal(a.p.err.code, ERR_NO_SPACE);
    assert_non_null(strstr(a.p.err.msg, "4096"));
    fault_reset();
    while (!space_is_back(r)) {
        (void)uv_run(&r->loop, UV_RUN_ONCE);
    }
    assert_int_equal(node_rig_propose(r, 8), ERR_OK);
}

static void close__ends_what_is_under_way(void **state)
{
    struct node_rig *r = *state;
    node_rig_open(r);
    struct node_rig_proposal a[8];
    for (size_t i = 0; i < COUNT_OF(a); i++) {
        node_rig_start(r, &a[i], 64);
    }
    node_rig_begin_close(r);
    struct node_rig_proposal late;
    node_rig_start(r, &late, 64);
    assert_string_equal(node_rig_status(r).role, "Shutdown");
    CHECK(uv_run(&r->loop, UV_RUN_DEFAULT) == 0);
    assert_true(r->closed);
    for (size_t i = 0; i < COUNT_OF(a); i++) {
        assert_true(a[i].done);
        assert_int_equal(a[i].p.err.code, ERR_UNKNOWN_OUTCOME);
        assert_non_null(strstr(a[i].p.err.msg, "may or may not have happened: log entry "));
    }
    assert_true(late.done);
    assert_int_equal(late.p.err.code, ERR_STOPPING);
    node_rig_open(r); /* an unknown outcome: here the entries were stored */
    assert_int_equal(r->toy.state.count, COUNT_OF(a));
}

/* --- transfer of leadership --- */

struct handover {
    bool over, moved;
};

static void handed_over(void *data, bool moved)
{
    struct handover *h = data;
    assert_false(h->over);
    *h = (struct handover){.over = true, .moved = moved};
}

static void transfer__needs_another_voter(void **state)
{
    struct node_rig *r = *state;
    struct handover h = {0};
    struct err err;
    node_rig_open(r);
    assert_int_equal(node_transfer(r->node, 0, handed_over, &h, &err), ERR_NOT_FOUND);
    assert_int_equal(node_transfer(r->node, 1, handed_over, &h, &err), ERR_NOT_FOUND);
    assert_int_equal(node_transfer(r->node, 2, handed_over, &h, &err), ERR_NOT_FOUND);
    assert_int_equal(node_rig_propose(r, 64), ERR_OK);
    assert_false(h.over);
}

static void transfer__refuses_proposals_until_it_is_given_up(void **state)
{
    struct node_rig *r = *state;
    struct handover h = {0};
    struct err err;
    node_rig_open(r);
    node_rig_add_voter(r);
    assert_int_equal(node_transfer(r->node, 0, handed_over, &h, &err), ERR_OK);
    assert_false(h.over);
    assert_int_equal(node_transfer(r->node, 2, handed_over, &h, &err), ERR_CONFLICT);
    assert_int_equal(node_rig_propose(r, 64), ERR_LEADER_UNAVAILABLE);
    while (!h.over) {
        (void)uv_run(&r->loop, UV_RUN_ONCE);
    }
    assert_false(h.moved);
}

static void transfer__does_not_keep_a_node_from_closing(void **state)
{
    struct node_rig *r = *state;
    struct handover h = {0};
    struct err err;
    node_rig_open(r);
    node_rig_add_voter(r);
    assert_int_equal(node_transfer(r->node, 2, handed_over, &h, &err), ERR_OK);
    node_rig_close(r);
    assert_false(h.over);
}

/* --- when Raft must not continue --- */

static struct node_rig *cut_rig;

enum { CUT_ENTRIES = 20 };

static void cut_under_way(void)
{
    static struct node_rig_proposal under_way[CUT_ENTRIES];
    struct node_rig *r = cut_rig;
    CHECK(uv_loop_fork(&r->loop) == 0);
    node_rig_open(r);
    for (unsigned i = 0; i < CUT_ENTRIES; i++) {
        node_rig_start(r, &under_way[i], 4096);
    }
    r->node->guard.hooks.fatal(r->node, GUARD_MEMBERS,
                               "a membership change was truncated from the log");
    (void)uv_run(&r->loop, UV_RUN_DEFAULT);
}

/* Entries that are being written reach the disk before the process ends. */
static void fatal__lets_what_is_under_way_reach_the_disk(void **state)
{
    struct node_rig *r = *state;
    cut_rig = r;
    expect_abort(cut_under_way);
    node_rig_open(r); /* it becomes leader, so all entries in the log are applied */
    assert_int_equal(r->toy.state.count, CUT_ENTRIES);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, node_rig_setup, node_rig_teardown)

TEST_GROUP(node, TEST(node__applies_what_is_proposed_in_order),
           TEST(node__hands_over_only_what_the_state_lacks),
           TEST(node__does_not_flush_when_it_need_not_be_durable),
           TEST(propose__is_refused_while_nobody_leads),
           TEST(propose__is_refused_while_space_is_low), TEST(close__ends_what_is_under_way),
           TEST(transfer__needs_another_voter),
           TEST(transfer__refuses_proposals_until_it_is_given_up),
           TEST(transfer__does_not_keep_a_node_from_closing),
           TEST(fatal__lets_what_is_under_way_reach_the_disk));
