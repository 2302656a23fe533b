/*
 * Puts waiting claims into the same entry as the jobs that they wait for.
 *
 * A waiting worker then gets a new job with one flush and one round trip through the threads,
 * instead of one for the job and one for the claim. The effect of a command is only guessed: a
 * claim that finds no job is parked again at its old place. Effects that are not guessed (chains,
 * batches for several queues, slots released by an ack) wake the claims when they have happened.
 */
#include "engine/engine_follow_int.h"
#include "store/store_job.h"

enum {
    IDS_MAX = 8,  /* jobs of one command: each is read */
    DUE_MAX = 64, /* jobs of one tick */
};

/* Add waiting claims for the job that an action makes claimable. */
static struct engine_op **along_with_job(struct engine *e, struct id id, struct engine_op **last)
{
    struct buf doc;
    struct job j;
    struct err err;
    buf_init(&doc, SIZE_MAX);
    if (engine_read_job(e, id, &doc) &&
        store_job_decode_head(id, buf_str(&doc), &j, &err) == ERR_OK) {
        last = engine_park__send_along(e, map_hash(j.queue), 1, false, last);
    }
    buf_deinit(&doc);
    return last;
}

static struct engine_op **along_with_jobs(struct engine *e, const struct engine_op *op,
                                          struct engine_op **last)
{
    struct arena *a = arena_new(SIZE_MAX);
    struct command c;
    struct err err;
    if (command_decode(buf_str(&op->command), a, &c, &err) != ERR_OK) {
        arena_free(a);
        return last;
    }
    switch ((int)c.jobs.action) {
    case COMMAND_JOB_RETRY:
    case COMMAND_JOB_REQUEUE:
    case COMMAND_JOB_APPROVE:
        for (size_t i = 0; i < c.jobs.count && i < IDS_MAX; i++) {
            last = along_with_job(e, c.jobs.ids[i], last);
        }
        break;
    case COMMAND_JOB_MOVE:
        last =
            engine_park__send_along(e, map_hash(c.jobs.queue), (uint32_t)c.jobs.count, false, last);
        break;
    default:
        break; /* makes no job claimable */
    }
    arena_free(a);
    return last;
}

static struct engine_op **along_with_tick(struct engine *e, struct wall now,
                                          struct engine_op **last)
{
    struct str queues[DUE_MAX];
    uint32_t count = machine_due_queues(e->machine, now, queues, DUE_MAX);
    for (uint32_t i = 0; i < count; i++) {
        last = engine_park__send_along(e, map_hash(queues[i]), 1, false, last);
    }
    return last;
}

struct engine_op *engine_follow__behind(struct engine *e, const struct engine_op *op,
                                        struct wall now)
{
    struct engine_op *list = NULL;
    if (op->feeds_jobs > 0) {
        (void)engine_park__send_along(e, op->feeds, op->feeds_jobs, op->type == COMMAND_QUEUE,
                                      &list);
    } else if (op->type == COMMAND_JOBS) {
        (void)along_with_jobs(e, op, &list);
    } else if (op->type == COMMAND_TICK) {
        (void)along_with_tick(e, now, &list);
    }
    return list;
}
