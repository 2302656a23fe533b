/*
 * Load_windows: the work done in each second of a run.
 *
 * One number for the whole run hides a server that sometimes stops; the deviation between seconds
 * reveals it. Pure: a value, for one thread; those of several threads are merged.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

enum { LOAD_WINDOWS_MAX = 24 * 3600 }; /* anything later is counted in the last second */

/* All zeros: empty. */
struct load_windows {
    uint64_t *done; /* per second since the start */
    size_t count;
    size_t capacity;
};

void load_windows_deinit(struct load_windows *w);

/* Add an amount of work done at_ns after the start. */
void load_windows_add(struct load_windows *w, int64_t at_ns, uint64_t amount);
void load_windows_merge(struct load_windows *w, const struct load_windows *other);

struct load_spread {
    size_t windows; /* whole seconds included; with fewer than two there is no spread */
    double mean;    /* per second */
    double stddev;
    double cv_pct; /* stddev as a percentage of the mean */
};

/* Compute the spread over the whole seconds of a run of took_ns. The last, partial second is left
 * out. */
struct load_spread load_windows_spread(const struct load_windows *w, int64_t took_ns);
