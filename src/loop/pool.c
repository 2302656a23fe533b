#include "loop/pool.h"

#include <pthread.h>
#include <stdlib.h>

#include "base/check.h"

static void nothing_cb(uv_work_t *job)
{
    (void)job;
}

static void done_cb(uv_work_t *job, int status)
{
    (void)status;
    free(job);
}

void pool_start(uv_loop_t *loop)
{
    uv_work_t *job = calloc(1, sizeof *job);
    CHECK(job != NULL);
    (void)pthread_setname_np(pthread_self(), "pool");
    CHECK(uv_queue_work(loop, job, nothing_cb, done_cb) == 0);
}
