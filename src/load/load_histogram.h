/*
 * Load_histogram: a histogram of durations in bounded memory.
 *
 * Buckets grow with the value: each power of two is divided into LOAD_HISTOGRAM_PARTS equal parts,
 * so the relative error is less than 1 / LOAD_HISTOGRAM_PARTS, from nanoseconds to years. Minimum,
 * maximum, mean and deviation are kept separately and are exact. Pure: a value, for one thread;
 * those of several threads are merged.
 */
#pragma once

#include <stdint.h>

enum {
    LOAD_HISTOGRAM_BITS = 7,
    LOAD_HISTOGRAM_PARTS = 1 << LOAD_HISTOGRAM_BITS,
    LOAD_HISTOGRAM_BUCKETS = (64 - LOAD_HISTOGRAM_BITS) * LOAD_HISTOGRAM_PARTS,
};

/* A histogram of zeros is empty. */
struct load_histogram {
    uint64_t count;
    int64_t min, max; /* 0 if empty */
    double mean;
    double squares; /* sum of the squared distances from the mean */
    uint64_t bucket[LOAD_HISTOGRAM_BUCKETS];
};

/* Add the value `times` times. A negative value counts as 0. */
void load_histogram_add(struct load_histogram *h, int64_t value, uint64_t times);

/* Add the content of other. */
void load_histogram_merge(struct load_histogram *h, const struct load_histogram *other);

/* Return the smallest value such that the share (0 to 1) of all values is not greater: the upper
 * end of its bucket, limited to the minimum and maximum. 0 if empty. */
int64_t load_histogram_at(const struct load_histogram *h, double share);

/* Standard deviation (of the whole population), absolute and as a percentage of the mean. */
double load_histogram_stddev(const struct load_histogram *h);
double load_histogram_cv_pct(const struct load_histogram *h);
