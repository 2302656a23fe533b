#include "load/load_windows.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/clock.h"

void load_windows_deinit(struct load_windows *w)
{
    free(w->done);
    *w = (struct load_windows){0};
}

static void reach(struct load_windows *w, size_t count)
{
    if (count > w->capacity) {
        size_t capacity = count < 64 ? 64 : count * 2;
        w->done = realloc(w->done, capacity * sizeof *w->done);
        CHECK(w->done != NULL);
        memset(w->done + w->capacity, 0, (capacity - w->capacity) * sizeof *w->done);
        w->capacity = capacity;
    }
    w->count = count > w->count ? count : w->count;
}

void load_windows_add(struct load_windows *w, int64_t at_ns, uint64_t amount)
{
    int64_t second = at_ns < 0 ? 0 : at_ns / NS_PER_S;
    size_t index = second < LOAD_WINDOWS_MAX ? (size_t)second : LOAD_WINDOWS_MAX - 1;
    if (index >= w->count) {
        reach(w, index + 1);
    }
    w->done[index] += amount;
}

void load_windows_merge(struct load_windows *w, const struct load_windows *other)
{
    if (other->count > 0) {
        reach(w, other->count);
    }
    for (size_t i = 0; i < other->count; i++) {
        w->done[i] += other->done[i];
    }
}

struct load_spread load_windows_spread(const struct load_windows *w, int64_t took_ns)
{
    int64_t whole = took_ns / NS_PER_S;
    struct load_spread s = {0};
    double sum = 0;
    double squares = 0;
    if (whole < 2 || whole > LOAD_WINDOWS_MAX) {
        return s;
    }
    s.windows = (size_t)whole;
    for (size_t i = 0; i < s.windows; i++) {
        sum += i < w->count ? (double)w->done[i] : 0;
    }
    s.mean = sum / (double)s.windows;
    for (size_t i = 0; i < s.windows; i++) {
        double apart = (i < w->count ? (double)w->done[i] : 0) - s.mean;
        squares += apart * apart;
    }
    s.stddev = sqrt(squares / (double)s.windows);
    s.cv_pct = s.mean > 0 ? 100 * s.stddev / s.mean : 0;
    return s;
}
