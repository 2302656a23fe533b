/*
 * The table of operations and states, written from http-api.md 5.2 and not from the table in
 * job_move.c. Operations that do not change the state (move, delete, replay, heartbeat, change of
 * priority) have no column. They are tested with the machine.
 */
#include "core/job_move.h"

#include "lib/test.h"

/* Each target state is a letter. A dot means that the operation is refused. */
static char letter_of(enum job_state s)
{
    static const char letters[JOB_STATE_COUNT + 1] = "SPARHCDX";
    return letters[s];
}

/* clang-format off */
static const struct {
    enum job_move move;
    const char *word;
    /* scheduled, pending, active, retrying, held, completed, dead, cancelled */
    const char *to;
} expected[] = {
    {JOB_MOVE_CLAIM,    "claim",   ".A......"},
    {JOB_MOVE_COMPLETE, "ack",     "..C....."},
    {JOB_MOVE_CONTINUE, "ack",     "..P....."},
    {JOB_MOVE_ACK_HOLD, "ack",     "..H....."},
    {JOB_MOVE_FAIL,     "fail",    "..R....."},
    {JOB_MOVE_EXHAUST,  "fail",    "..D....."},
    {JOB_MOVE_RETRY,    "retry",   "P....PPP"},
    {JOB_MOVE_REQUEUE,  "requeue", "......P."},
    {JOB_MOVE_CANCEL,   "cancel",  "XXXX...."},
    {JOB_MOVE_HOLD,     "hold",    "HHHH...."},
    {JOB_MOVE_APPROVE,  "approve", "....P..."},
    {JOB_MOVE_REJECT,   "reject",  "....D..."},
    {JOB_MOVE_PROMOTE,  "promote", "P..P...."},
    {JOB_MOVE_RECLAIM,  "reclaim", "..P....."},
    {JOB_MOVE_EXPIRE,   "expire",  "DD.DD..."},
    {JOB_MOVE_REARM,    "re-arm",  "..S....."},
};
/* clang-format on */
_Static_assert(COUNT_OF(expected) == JOB_MOVE_COUNT, "every move has its row");

static void grid__meets_every_state_with_every_move(void **state)
{
    (void)state;
    for (size_t row = 0; row < COUNT_OF(expected); row++) {
        for (unsigned from = 0; from < JOB_STATE_COUNT; from++) {
            enum job_state to = JOB_STATE_COUNT;
            bool allowed = job_move_target((enum job_state)from, expected[row].move, &to);
            char got = allowed ? letter_of(to) : '.';
            if (got != expected[row].to[from]) {
                fail_msg("%s of a job that is %s: got '%c', want '%c'", expected[row].word,
                         job_state_name((enum job_state)from), got, expected[row].to[from]);
            }
            /* A refusal does not change the output. */
            assert_true(allowed || to == JOB_STATE_COUNT);
        }
    }
}

static void words__are_those_of_the_operations(void **state)
{
    (void)state;
    for (size_t row = 0; row < COUNT_OF(expected); row++) {
        assert_string_equal(job_move_word(expected[row].move), expected[row].word);
    }
}

TEST_GROUP(job_move, cmocka_unit_test(grid__meets_every_state_with_every_move),
           cmocka_unit_test(words__are_those_of_the_operations));
