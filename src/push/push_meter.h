/*
 * Push_meter: metrics of the deliveries of named jobs and of the sender's rounds, for the
 * Scheduled-DB API (scheduler.md 12). Written by the sender's thread, read by any thread.
 */
#pragma once

#include "base/meter.h"
#include "store/store_rows.h"

enum push_meter_type { PUSH_METER_ONCE, PUSH_METER_RECURRING, PUSH_METER_TYPES };

struct push_meter {
    atomic_uint_fast64_t executed[PUSH_METER_TYPES], failed[PUSH_METER_TYPES];
    atomic_uint_fast64_t errors[STORE_TRY_ERROR_COUNT];
    struct meter run[PUSH_METER_TYPES]; /* duration of an attempt, by type of job */
    struct meter call[2];               /* duration of a call: successful, failed */
    struct meter delay;                 /* from the due time to the first attempt */
    struct meter retries;               /* attempts after the first, per finished run */

    /* The sender works in rounds: it scans for jobs that are due, and claims some. The jobs of a
     * round are grouped by their due times into slots of slot_ms. */
    struct meter working, idle;        /* duration of rounds, and of the pauses between them */
    atomic_uint_fast64_t slots;        /* slots with jobs */
    struct meter slot_took, slot_jobs; /* duration of the slot's round; jobs in the slot */
    uint64_t round_began_ns, round_ended_ns; /* used only by the sender's thread */
};

extern const struct meter_scale push_meter_run_scale, push_meter_call_scale, push_meter_delay_scale,
    push_meter_retry_scale, push_meter_work_scale, push_meter_slot_scale, push_meter_jobs_scale;

struct push_sender;
struct push_call;
struct command_push_end;

/* On the sender's thread. */
void push_meter__ended(const struct push_call *c, const struct command_push_end *e);
void push_meter__aborted(const struct push_call *c); /* the job was cancelled or its lease ended */
void push_meter__begin_round(struct push_sender *s);
/* due: the due times of the named jobs claimed in this round, in any order. They get sorted. */
void push_meter__end_round(struct push_sender *s, struct wall *due, size_t count);

/* Any thread; lives as long as the sender. */
const struct push_meter *push_meter(const struct push_sender *s);
