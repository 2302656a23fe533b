/*
 * Load_histogram: how long things took, in bounded memory whatever their number.
 *
 * Buckets grow with the value: each power of two is cut into LOAD_HISTOGRAM_PARTS equal parts, so
 * that a value is known to better than one in so many, everywhere from nanoseconds to years. The
 * least, the greatest, the mean and the deviation are kept beside the buckets and are exact. Pure:
 * a value, for one thread; those of several threads are added up.
 */
#pragma once

#include <stdint.h>

enum {
    LOAD_HISTOGRAM_BITS = 7,
    LOAD_HISTOGRAM_PARTS = 1 << LOAD_HISTOGRAM_BITS,
    LOAD_HISTOGRAM_BUCKETS = (64 - LOAD_HISTOGRAM_BITS) * LOAD_HISTOGRAM_PARTS,
};

/* All zeros is an empty one. */
struct load_histogram {
    uint64_t count;
    int64_t min, max; /* 0 when empty */
    double mean;
    double squares; /* sum of the squared distances from the mean */
    uint64_t bucket[LOAD_HISTOGRAM_BUCKETS];
};

/* Add the value so many times. Less than zero counts as zero. */
void load_histogram_add(struct load_histogram *h, int64_t value, uint64_t times);

/* Add everything that is in other. */
void load_histogram_merge(struct load_histogram *h, const struct load_histogram *other);

/* The least value such that the share (0 to 1) of all values is not greater: the upper end of its
 * bucket, held between the least and the greatest value. 0 when empty. */
int64_t load_histogram_at(const struct load_histogram *h, double share);

/* Standard deviation (of the whole population), and the same as a percentage of the mean. */
double load_histogram_stddev(const struct load_histogram *h);
double load_histogram_cv_pct(const struct load_histogram *h);
