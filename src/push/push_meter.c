#include "push/push_meter.h"

#include <stdlib.h>

#include "push/push_int.h"

const struct meter_scale push_meter_run_scale = {.count = 9,
                                                 .bounds = {{10000, "0.01"},
                                                            {100000, "0.1"},
                                                            {500000, "0.5"},
                                                            {1000000, "1"},
                                                            {5000000, "5"},
                                                            {10000000, "10"},
                                                            {30000000, "30"},
                                                            {60000000, "60"},
                                                            {300000000, "300"}}};
const struct meter_scale push_meter_call_scale = {.count = 7,
                                                  .bounds = {{100000, "0.1"},
                                                             {500000, "0.5"},
                                                             {1000000, "1"},
                                                             {5000000, "5"},
                                                             {10000000, "10"},
                                                             {30000000, "30"},
                                                             {60000000, "60"}}};
const struct meter_scale push_meter_delay_scale = {.count = 8,
                                                   .bounds = {{1000, "0.001"},
                                                              {10000, "0.01"},
                                                              {50000, "0.05"},
                                                              {100000, "0.1"},
                                                              {500000, "0.5"},
                                                              {1000000, "1"},
                                                              {5000000, "5"},
                                                              {60000000, "60"}}};
const struct meter_scale push_meter_retry_scale = {.count = 6,
                                                   .bounds = {{0, "0"},
                                                              {1000000, "1"},
                                                              {2000000, "2"},
                                                              {3000000, "3"},
                                                              {5000000, "5"},
                                                              {10000000, "10"}}};

const struct meter_scale push_meter_work_scale = {.count = 7,
                                                  .bounds = {{1000, "0.001"},
                                                             {10000, "0.01"},
                                                             {100000, "0.1"},
                                                             {1000000, "1"},
                                                             {5000000, "5"},
                                                             {10000000, "10"},
                                                             {30000000, "30"}}};
const struct meter_scale push_meter_slot_scale = {.count = 7,
                                                  .bounds = {{1000, "0.001"},
                                                             {10000, "0.01"},
                                                             {100000, "0.1"},
                                                             {500000, "0.5"},
                                                             {1000000, "1"},
                                                             {5000000, "5"},
                                                             {10000000, "10"}}};
const struct meter_scale push_meter_jobs_scale = {.count = 7,
                                                  .bounds = {{1000000, "1"},
                                                             {2000000, "2"},
                                                             {5000000, "5"},
                                                             {10000000, "10"},
                                                             {20000000, "20"},
                                                             {50000000, "50"},
                                                             {100000000, "100"}}};

void push_meter__ended(const struct push_call *c, const struct command_push_end *e)
{
    struct push_meter *m = &c->sender->meter;
    bool ok = e->outcome == JOB_OUTCOME_COMPLETED;
    unsigned type = c->job.cron.len > 0 ? PUSH_METER_RECURRING : PUSH_METER_ONCE;
    int64_t took_us = (e->ended_at.ns - e->started_at.ns) / NS_PER_US;
    if (c->job.name.len == 0 || e->outcome == JOB_OUTCOME_NONE) {
        return;
    }
    (void)atomic_fetch_add(ok ? &m->executed[type] : &m->failed[type], 1);
    (void)atomic_fetch_add(&m->errors[e->error_type], 1);
    meter_add(&m->run[type], &push_meter_run_scale, took_us);
    if (c->target.url.len > 0) {
        meter_add(&m->call[ok ? 0 : 1], &push_meter_call_scale, took_us);
    }
    if (c->job.attempt == 1) {
        meter_add(&m->delay, &push_meter_delay_scale,
                  (e->started_at.ns - c->job.due_at.ns) / NS_PER_US);
    }
    if (ok || job_attempts_remaining(&c->job) == 0) {
        meter_add(&m->retries, &push_meter_retry_scale, (c->job.attempt - 1) * 1000000LL);
    }
}

/* An abort counts as a timeout if the lease has ended, otherwise as a cancellation. */
void push_meter__aborted(const struct push_call *c)
{
    struct push_sender *s = c->sender;
    bool lost = engine_time(s->config.engine).ns > c->job.lease_expires_at.ns;
    if (c->job.name.len > 0) {
        (void)atomic_fetch_add(
            &s->meter.errors[lost ? STORE_TRY_ERROR_TIMEOUT : STORE_TRY_ERROR_CANCELLED], 1);
    }
}

void push_meter__begin_round(struct push_sender *s)
{
    struct push_meter *m = &s->meter;
    m->round_began_ns = uv_hrtime();
    if (m->round_ended_ns != 0) {
        meter_add(&m->idle, &push_meter_call_scale,
                  (int64_t)(m->round_began_ns - m->round_ended_ns) / NS_PER_US);
    }
}

static int by_time(const void *a, const void *b)
{
    const struct wall *x = a;
    const struct wall *y = b;
    return (x->ns > y->ns) - (x->ns < y->ns);
}

void push_meter__end_round(struct push_sender *s, struct wall *due, size_t count)
{
    struct push_meter *m = &s->meter;
    const int64_t gap_ns = s->config.slot_ms * NS_PER_MS;
    m->round_ended_ns = uv_hrtime();
    int64_t took_us = (int64_t)(m->round_ended_ns - m->round_began_ns) / NS_PER_US;
    meter_add(&m->working, &push_meter_work_scale, took_us);
    if (count > 1) {
        qsort(due, count, sizeof *due, by_time);
    }
    for (size_t i = 0, jobs = 0; i < count; i++) {
        jobs++;
        if (i + 1 == count || due[i + 1].ns / gap_ns != due[i].ns / gap_ns) {
            (void)atomic_fetch_add(&m->slots, 1);
            meter_add(&m->slot_took, &push_meter_slot_scale, took_us);
            meter_add(&m->slot_jobs, &push_meter_jobs_scale, (int64_t)jobs * 1000000);
            jobs = 0;
        }
    }
}

const struct push_meter *push_meter(const struct push_sender *s)
{
    return &s->meter;
}
