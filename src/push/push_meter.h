/*
 * Push_meter: how the deliveries of jobs with names went, and the rounds of the sender, for the
 * metrics of the Scheduled-DB face (scheduler.md 12). Written by the sender's thread, read by any.
 */
#pragma once

#include "base/meter.h"
#include "store/store_rows.h"

enum push_meter_type { PUSH_METER_ONCE, PUSH_METER_RECURRING, PUSH_METER_TYPES };

struct push_meter {
    atomic_uint_fast64_t executed[PUSH_METER_TYPES], failed[PUSH_METER_TYPES];
    atomic_uint_fast64_t errors[STORE_TRY_ERROR_COUNT];
    struct meter run[PUSH_METER_TYPES]; /* duration of a try, by kind of job */
    struct meter call[2];               /* of a call, by success and failure */
    struct meter delay;                 /* from the due time to the call */
    struct meter retries;               /* tries beyond the first, of runs that are over */

    /* The sender works in rounds: it looks for jobs that are due, and claims some. A slot is a
     * length of time that jobs of one round were due in. */
    struct meter working, idle;              /* rounds, and the time between them */
    atomic_uint_fast64_t slots;              /* that had jobs */
    struct meter slot_took, slot_jobs;       /* the round that had it; jobs of it */
    uint64_t round_began_ns, round_ended_ns; /* of the sender's thread alone */
};

extern const struct meter_scale push_meter_run_scale, push_meter_call_scale, push_meter_delay_scale,
    push_meter_retry_scale, push_meter_work_scale, push_meter_slot_scale, push_meter_jobs_scale;

struct push_sender;
struct push_call;
struct command_push_end;

/* On the sender's thread. */
void push_meter__ended(const struct push_call *c, const struct command_push_end *e);
void push_meter__aborted(const struct push_call *c); /* nobody wants it any more */
void push_meter__begin_round(struct push_sender *s);
/* The due times of the named jobs that it claimed, in any order. */
void push_meter__end_round(struct push_sender *s, struct wall *due, size_t count);

/* Any thread; lives as long as the sender. */
const struct push_meter *push_meter(const struct push_sender *s);
