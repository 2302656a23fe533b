#include "core/job_move.h"

#include "base/check.h"

/* clang-format off */
static const struct {
    enum job_state from;
    enum job_move move;
    enum job_state to;
} moves[] = {
    {JOB_SCHEDULED, JOB_MOVE_PROMOTE,  JOB_PENDING},
    {JOB_SCHEDULED, JOB_MOVE_RETRY,    JOB_PENDING},
    {JOB_SCHEDULED, JOB_MOVE_CANCEL,   JOB_CANCELLED},
    {JOB_SCHEDULED, JOB_MOVE_HOLD,     JOB_HELD},
    {JOB_SCHEDULED, JOB_MOVE_EXPIRE,   JOB_DEAD},

    {JOB_PENDING,   JOB_MOVE_CLAIM,    JOB_ACTIVE},
    {JOB_PENDING,   JOB_MOVE_CANCEL,   JOB_CANCELLED},
    {JOB_PENDING,   JOB_MOVE_HOLD,     JOB_HELD},
    {JOB_PENDING,   JOB_MOVE_EXPIRE,   JOB_DEAD},

    {JOB_ACTIVE,    JOB_MOVE_COMPLETE, JOB_COMPLETED},
    {JOB_ACTIVE,    JOB_MOVE_CONTINUE, JOB_PENDING},
    {JOB_ACTIVE,    JOB_MOVE_ACK_HOLD, JOB_HELD},
    {JOB_ACTIVE,    JOB_MOVE_FAIL,     JOB_RETRYING},
    {JOB_ACTIVE,    JOB_MOVE_EXHAUST,  JOB_DEAD},
    {JOB_ACTIVE,    JOB_MOVE_CANCEL,   JOB_CANCELLED},
    {JOB_ACTIVE,    JOB_MOVE_HOLD,     JOB_HELD},
    {JOB_ACTIVE,    JOB_MOVE_RECLAIM,  JOB_PENDING},

    {JOB_RETRYING,  JOB_MOVE_PROMOTE,  JOB_PENDING},
    {JOB_RETRYING,  JOB_MOVE_CANCEL,   JOB_CANCELLED},
    {JOB_RETRYING,  JOB_MOVE_HOLD,     JOB_HELD},
    {JOB_RETRYING,  JOB_MOVE_EXPIRE,   JOB_DEAD},

    {JOB_HELD,      JOB_MOVE_APPROVE,  JOB_PENDING},
    {JOB_HELD,      JOB_MOVE_REJECT,   JOB_DEAD},
    {JOB_HELD,      JOB_MOVE_EXPIRE,   JOB_DEAD},

    {JOB_COMPLETED, JOB_MOVE_RETRY,    JOB_PENDING},
    {JOB_DEAD,      JOB_MOVE_RETRY,    JOB_PENDING},
    {JOB_DEAD,      JOB_MOVE_REQUEUE,  JOB_PENDING},
    {JOB_CANCELLED, JOB_MOVE_RETRY,    JOB_PENDING},
};
/* clang-format on */

static const char *const words[JOB_MOVE_COUNT] = {
#define JOB_MOVE_WORD(name, word) [JOB_MOVE_##name] = (word),
    JOB_MOVE_LIST(JOB_MOVE_WORD)
#undef JOB_MOVE_WORD
};

bool job_move_target(enum job_state from, enum job_move move, enum job_state *out)
{
    CHECK(from < JOB_STATE_COUNT);
    CHECK(move < JOB_MOVE_COUNT);
    for (size_t i = 0; i < COUNT_OF(moves); i++) {
        if (moves[i].from == from && moves[i].move == move) {
            *out = moves[i].to;
            return true;
        }
    }
    return false;
}

const char *job_move_word(enum job_move move)
{
    CHECK(move < JOB_MOVE_COUNT);
    return words[move];
}
