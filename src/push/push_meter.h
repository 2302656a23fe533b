/*
 * Push_meter: how the deliveries of jobs with names went, for the metrics of the Scheduled-DB face
 * (scheduler.md 12). Written by the sender's thread, read by any.
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
    struct meter retries;               /* tries beyond the first of runs that succeeded */
};

extern const struct meter_scale push_meter_run_scale, push_meter_call_scale, push_meter_delay_scale,
    push_meter_retry_scale;

struct push_sender;
/* Any thread; lives as long as the sender. */
const struct push_meter *push_meter(const struct push_sender *s);
