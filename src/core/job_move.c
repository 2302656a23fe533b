#include "core/job_move.h"

#include "base/check.h"

/* The next state for each state and move; 0: the move is not allowed. */
#define TO(state) (JOB_##state + 1)
/* clang-format off */
static const uint8_t targets[JOB_STATE_COUNT][JOB_MOVE_COUNT] = {
    [JOB_SCHEDULED] = {
        [JOB_MOVE_PROMOTE]   = TO(PENDING),
        [JOB_MOVE_RETRY]     = TO(PENDING),
        [JOB_MOVE_CANCEL]    = TO(CANCELLED),
        [JOB_MOVE_HOLD]      = TO(HELD),
        [JOB_MOVE_EXPIRE]    = TO(DEAD),
    },
    [JOB_PENDING] = {
        [JOB_MOVE_CLAIM]     = TO(ACTIVE),
        [JOB_MOVE_CANCEL]    = TO(CANCELLED),
        [JOB_MOVE_HOLD]      = TO(HELD),
        [JOB_MOVE_EXPIRE]    = TO(DEAD),
    },
    [JOB_ACTIVE] = {
        [JOB_MOVE_COMPLETE]  = TO(COMPLETED),
        [JOB_MOVE_CONTINUE]  = TO(PENDING),
        [JOB_MOVE_ACK_HOLD]  = TO(HELD),
        [JOB_MOVE_FAIL]      = TO(RETRYING),
        [JOB_MOVE_EXHAUST]   = TO(DEAD),
        [JOB_MOVE_CANCEL]    = TO(CANCELLED),
        [JOB_MOVE_HOLD]      = TO(HELD),
        [JOB_MOVE_RECLAIM]   = TO(PENDING),
        [JOB_MOVE_REARM]     = TO(SCHEDULED),
    },
    [JOB_RETRYING] = {
        [JOB_MOVE_PROMOTE]   = TO(PENDING),
        [JOB_MOVE_CANCEL]    = TO(CANCELLED),
        [JOB_MOVE_HOLD]      = TO(HELD),
        [JOB_MOVE_EXPIRE]    = TO(DEAD),
    },
    [JOB_HELD] = {
        [JOB_MOVE_APPROVE]   = TO(PENDING),
        [JOB_MOVE_REJECT]    = TO(DEAD),
        [JOB_MOVE_EXPIRE]    = TO(DEAD),
    },
    [JOB_COMPLETED] = {
        [JOB_MOVE_RETRY]     = TO(PENDING),
    },
    [JOB_DEAD] = {
        [JOB_MOVE_RETRY]     = TO(PENDING),
        [JOB_MOVE_REQUEUE]   = TO(PENDING),
    },
    [JOB_CANCELLED] = {
        [JOB_MOVE_RETRY]     = TO(PENDING),
    },
};
/* clang-format on */
#undef TO

static const char *const words[JOB_MOVE_COUNT] = {
#define JOB_MOVE_WORD(name, word) [JOB_MOVE_##name] = (word),
    JOB_MOVE_LIST(JOB_MOVE_WORD)
#undef JOB_MOVE_WORD
};

bool job_move_target(enum job_state from, enum job_move move, enum job_state *out)
{
    CHECK(from < JOB_STATE_COUNT);
    CHECK(move < JOB_MOVE_COUNT);
    uint8_t target = targets[from][move];
    if (target == 0) {
        return false;
    }
    CHECK(target <= JOB_STATE_COUNT);
    *out = (enum job_state)(target - 1);
    return true;
}

const char *job_move_word(enum job_move move)
{
    CHECK(move < JOB_MOVE_COUNT);
    return words[move];
}
