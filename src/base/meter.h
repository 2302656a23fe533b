/*
 * Meter: a histogram that any thread can add to, and its text for Prometheus.
 *
 * The bounds are a scale that many meters share. Values are microseconds; if the scale is not of
 * time, plain numbers times a million.
 */
#pragma once

#include <stdatomic.h>
#include <stdint.h>

#include "base/buf.h"

enum { METER_BUCKETS_MAX = 10 };

struct meter_scale {
    unsigned count;
    struct {
        int64_t us;
        const char *text; /* the same in seconds, as printed */
    } bounds[METER_BUCKETS_MAX];
};

struct meter {
    atomic_uint_fast64_t count[METER_BUCKETS_MAX + 1];
    atomic_uint_fast64_t sum_us;
};

void meter_add(struct meter *m, const struct meter_scale *scale, int64_t us);

/* Write "# HELP" and "# TYPE". */
void meter_write_head(struct buf *out, const char *name, const char *type, const char *help);

/* Write the samples. labels are 'a="b"', or empty. The scale is the one used for adding, or the
 * first bounds of it. */
void meter_write(struct buf *out, const char *name, const char *labels, const struct meter *m,
                 const struct meter_scale *scale);

/* Write one sample of a counter or a gauge. */
void meter_write_number(struct buf *out, const char *name, const char *labels, uint64_t value);
