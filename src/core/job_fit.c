#include "core/job_fit.h"

#include "base/pack.h"

enum { STATES_ALL = (1 << JOB_STATE_COUNT) - 1, PRIORITIES_ALL = (2 << JOB_PRIORITY_NORMAL) - 1 };

bool job_fit_is_any(const struct job_fit *f)
{
    return f->states == 0 && f->priorities == 0 && f->queue.len == 0;
}

bool job_fit_has(const struct job_fit *f, const struct job *j)
{
    return (f->states == 0 || (f->states >> j->state & 1U) != 0) &&
           (f->priorities == 0 ||
            (j->priority <= JOB_PRIORITY_NORMAL && (f->priorities >> j->priority & 1U) != 0)) &&
           (f->queue.len == 0 || str_eq(f->queue, j->queue));
}

void job_fit_pack(const struct job_fit *f, struct buf *out)
{
    pack_varint(out, f->states);
    pack_u8(out, (uint8_t)f->priorities);
    pack_text(out, f->queue);
}

struct job_fit job_fit_unpack(struct unpack *u)
{
    struct job_fit f = {0};
    uint64_t states = unpack_varint(u);
    f.states = (unsigned)(states & STATES_ALL);
    f.priorities = unpack_choice(u, PRIORITIES_ALL);
    f.queue = unpack_text(u);
    u->bad = u->bad || states > STATES_ALL || job_fit_is_any(&f);
    return f;
}
