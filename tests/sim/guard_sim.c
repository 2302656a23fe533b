/*
 * Guard_sim: one scene per guard rule, run twice.
 *
 * With all rules on, the scene's invariants must hold. With the scene's rule off, the defect must
 * appear: only then does the scene test anything. The second run is in a child process, because
 * without the rule libraft may corrupt memory. The defect appears as a violated invariant or, if
 * the row says so, as a crash.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/test.h"
#include "sim/guard_sim/scene.h"

enum { ALL = (1 << GUARD_RULE_COUNT) - 1 };

/* clang-format off */
static const struct row {
    const char *name;
    scene_fn scene;
    unsigned rules;  /* the defect appears if these are off; 0: libraft itself has no defect here */
    unsigned without; /* off in both runs, because another rule would hide this defect */
    bool crashes;
} rows[] = {
    {"lost_write__five_servers_keep_it",                scene_lost_write,                       ALL,                    0, false},
    {"barrier__entries_of_older_terms_are_not_counted", scene_older_term,                       OFF(GUARD_BARRIER),     0, false},
    {"barrier__a_leader_is_ready_when_it_is_applied",   scene_ready_after_barrier,              OFF(GUARD_BARRIER),     0, false},
    {"hold_acks__not_before_the_leader_has_stored_it",  scene_slow_leader_disk,                 OFF(GUARD_HOLD_ACKS),   0, false},
    {"honest__a_longer_log_is_not_a_copy",              scene_longer_log,                       OFF(GUARD_HONEST),      0, false},
    {"late__an_older_leaders_entries_are_not_acked",    scene_late_answer,                      OFF(GUARD_LATE),        0, false},
    {"calm__no_election_while_writing",                 scene_election_while_writing,           OFF(GUARD_CALM),        0, false},
    {"calm__no_timeout_now_while_writing",              scene_timeout_now_while_writing,        OFF(GUARD_CALM),        0, false},
    {"calm__a_snapshot_waits_for_the_writes",           scene_install_while_writing,            OFF(GUARD_CALM),        0, false},
    {"address__nobody_is_not_answered",                 scene_answer_to_nobody,                 OFF(GUARD_ADDRESS),     OFF(GUARD_CALM) | OFF(GUARD_LATE), false},
    {"stored__a_follower_stops_when_a_write_fails",     scene_failed_write,                     OFF(GUARD_STORED),      0, false},
    {"stored__a_leader_stops_when_a_write_fails",       scene_failed_write_of_leader,           OFF(GUARD_STORED),      0, false},
    {"snapshot__has_no_undecided_membership",           scene_undecided_snapshot,               OFF(GUARD_SNAPSHOT),    0, false},
    {"snapshot__nor_after_a_restart",                   scene_undecided_snapshot_after_restart, OFF(GUARD_SNAPSHOT),    0, false},
    {"members__cut_off_by_starting_again",              scene_member_cut,                       OFF(GUARD_MEMBERS),     0, true},
    {"members__cut_off_after_a_restart",                scene_member_cut_after_restart,         OFF(GUARD_MEMBERS),     0, false},
    {"queue__a_stalled_peer_costs_bounded_memory",      scene_stalled_peer,                     OFF(GUARD_QUEUE),       0, false},
    {"chunk__a_probe_is_short",                         scene_long_probe,                       OFF(GUARD_CHUNK),       0, false},
    {"chunk__a_stream_is_cut_and_arrives",              scene_long_stream,                      OFF(GUARD_CHUNK),       0, false},
    {"vote__one_per_term_during_a_transfer",            scene_second_vote,                      OFF(GUARD_VOTE),        0, false},
    {"install__replaces_a_younger_entry",               scene_install_over_younger_entry,       OFF(GUARD_INSTALL),     0, false},
    {"install__decides_the_membership",                 scene_member_replaced_by_snapshot,      OFF(GUARD_INSTALL),     0, false},
    {"pre_vote__the_best_log_wins_with_an_old_term",    scene_old_term_and_best_log,            OFF(GUARD_PRE_VOTE),    0, false},
    {"term__a_group_of_one_begins_a_new_one",           scene_same_term_again,                  OFF(GUARD_TERM),        0, false},
    {"standby__votes_for_who_promoted_it",              scene_promoted_without_knowing,         OFF(GUARD_STANDBY),     0, false},
    {"batch__entries_live_as_long_as_their_message",    scene_shared_memory,                    OFF(GUARD_BATCH),       0, false},
    {"compacted__a_follower_knows_its_own_snapshot",    scene_compacted_follower,               OFF(GUARD_COMPACTED),   0, true},
    {"log__a_follower_without_snapshots_is_bounded",    scene_long_log,                         OFF(GUARD_LOG),         0, false},
    {"transfer__waits_for_the_target",                  scene_transfer_to_a_slow_target,        0,                      0, false},
    {"transfer__is_given_up_when_nobody_takes_it",      scene_transfer_is_given_up,             0,                      0, false},
};
/* clang-format on */

enum outcome { HOLDS, DEFECT, CRASH, BROKEN_SCENE };

static enum outcome play_apart(scene_fn scene, unsigned off)
{
    (void)fflush(stdout);
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        (void)signal(SIGSEGV, SIG_DFL); /* cmocka would catch it and run the other tests */
        (void)signal(SIGABRT, SIG_DFL);
        int null = open("/dev/null", O_WRONLY | O_CLOEXEC);
        (void)dup2(null, STDERR_FILENO); /* sanitizer reports on libraft are expected */
        _exit(scene(off) ? HOLDS : DEFECT);
    }
    int status = 0;
    CHECK(waitpid(child, &status, 0) == child);
    if (WIFEXITED(status) && WEXITSTATUS(status) == HOLDS) {
        return HOLDS;
    }
    if (WIFEXITED(status)) {
        return DEFECT;
    }
    return WTERMSIG(status) == SIGSEGV ? CRASH : BROKEN_SCENE;
}

static void guard__closes_every_defect(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        const struct row *row = &rows[i];
        ROW(row->name);
        assert_true(row->scene(row->without));
        if (row->rules != 0) {
            enum outcome expected = row->crashes ? CRASH : DEFECT;
            enum outcome outcome = play_apart(row->scene, row->without | row->rules);
            if (row->crashes && outcome == DEFECT) {
                outcome = CRASH; /* a sanitizer exits instead of crashing */
            }
            assert_int_equal(outcome, expected);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(guard__closes_every_defect)};
    return cmocka_run_group_tests_name("guard", tests, NULL, NULL);
}
