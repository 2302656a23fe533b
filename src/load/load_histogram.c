#include "load/load_histogram.h"

#include <math.h>
#include <stddef.h>

/* The first PARTS values have a bucket each; after them, each power of two has PARTS buckets. */
static size_t bucket_of(uint64_t value)
{
    if (value < LOAD_HISTOGRAM_PARTS) {
        return (size_t)value;
    }
    unsigned shift = 63u - (unsigned)__builtin_clzll(value) - LOAD_HISTOGRAM_BITS;
    return (size_t)(shift + 1) * LOAD_HISTOGRAM_PARTS +
           (size_t)((value >> shift) - LOAD_HISTOGRAM_PARTS);
}

/* Return the greatest value of the bucket. */
static uint64_t bucket_end(size_t index)
{
    if (index < LOAD_HISTOGRAM_PARTS) {
        return index;
    }
    unsigned shift = (unsigned)(index / LOAD_HISTOGRAM_PARTS) - 1;
    uint64_t part = index % LOAD_HISTOGRAM_PARTS + LOAD_HISTOGRAM_PARTS;
    return ((part + 1) << shift) - 1;
}

/* Combine two means and sums of squares. Accurate even if the counts differ by much. */
static void join(struct load_histogram *h, uint64_t count, double mean, double squares)
{
    double a = (double)h->count;
    double b = (double)count;
    double apart = mean - h->mean;
    h->mean += apart * b / (a + b);
    h->squares += squares + apart * apart * a * b / (a + b);
    h->count += count;
}

static void widen(struct load_histogram *h, int64_t min, int64_t max)
{
    h->min = h->count == 0 || min < h->min ? min : h->min;
    h->max = h->count == 0 || max > h->max ? max : h->max;
}

void load_histogram_add(struct load_histogram *h, int64_t value, uint64_t times)
{
    if (times == 0) {
        return;
    }
    value = value < 0 ? 0 : value;
    widen(h, value, value);
    join(h, times, (double)value, 0);
    h->bucket[bucket_of((uint64_t)value)] += times;
}

void load_histogram_merge(struct load_histogram *h, const struct load_histogram *other)
{
    if (other->count == 0) {
        return;
    }
    widen(h, other->min, other->max);
    join(h, other->count, other->mean, other->squares);
    for (size_t i = 0; i < LOAD_HISTOGRAM_BUCKETS; i++) {
        h->bucket[i] += other->bucket[i];
    }
}

int64_t load_histogram_at(const struct load_histogram *h, double share)
{
    double wanted = ceil(share * (double)h->count);
    uint64_t seen = 0;
    for (size_t i = 0; i < LOAD_HISTOGRAM_BUCKETS; i++) {
        seen += h->bucket[i];
        if (h->bucket[i] > 0 && (double)seen >= wanted) {
            int64_t end = (int64_t)bucket_end(i);
            end = end > h->max ? h->max : end;
            return end < h->min ? h->min : end;
        }
    }
    return h->max;
}

double load_histogram_stddev(const struct load_histogram *h)
{
    return h->count == 0 ? 0 : sqrt(h->squares / (double)h->count);
}

double load_histogram_cv_pct(const struct load_histogram *h)
{
    return h->mean > 0 ? 100 * load_histogram_stddev(h) / h->mean : 0;
}
