#include "engine/engine_times.h"

#include "base/attr.h"
#include "base/check.h"
#include "base/clock.h"

/* clang-format off */
static const struct {
    int64_t ns;
    const char *text;
    const char *seconds;
} bounds[] = {
    { 50 * NS_PER_US, "50µs",  "0.00005"},
    {100 * NS_PER_US, "100µs", "0.0001"},
    {200 * NS_PER_US, "200µs", "0.0002"},
    {500 * NS_PER_US, "500µs", "0.0005"},
    {  1 * NS_PER_MS, "1ms",   "0.001"},
    {  2 * NS_PER_MS, "2ms",   "0.002"},
    {  5 * NS_PER_MS, "5ms",   "0.005"},
    { 10 * NS_PER_MS, "10ms",  "0.01"},
    { 20 * NS_PER_MS, "20ms",  "0.02"},
    { 50 * NS_PER_MS, "50ms",  "0.05"},
    {100 * NS_PER_MS, "100ms", "0.1"},
    {200 * NS_PER_MS, "200ms", "0.2"},
    {500 * NS_PER_MS, "500ms", "0.5"},
    {  1 * NS_PER_S,  "1s",    "1"},
    {INT64_MAX,       "+Inf",  "+Inf"},
};
/* clang-format on */
_Static_assert(COUNT_OF(bounds) == ENGINE_TIMES_BUCKETS, "a bound for each bucket");

const char *engine_times_bound_text(unsigned i)
{
    CHECK(i < ENGINE_TIMES_BUCKETS);
    return bounds[i].text;
}

const char *engine_times_bound_seconds(unsigned i)
{
    CHECK(i < ENGINE_TIMES_BUCKETS);
    return bounds[i].seconds;
}

void engine_times_add(struct engine_times *t, int64_t ns)
{
    unsigned i = 0;
    while (ns > bounds[i].ns) {
        i++;
    }
    t->count[i]++;
    t->sum_ns += ns > 0 ? (uint64_t)ns : 0;
}

uint64_t engine_times_count(const struct engine_times *t)
{
    uint64_t n = 0;
    for (unsigned i = 0; i < ENGINE_TIMES_BUCKETS; i++) {
        n += t->count[i];
    }
    return n;
}

int64_t engine_times_rank_ns(const struct engine_times *t, uint64_t rank)
{
    unsigned last = ENGINE_TIMES_BUCKETS - 2;
    unsigned i = 0;
    CHECK(rank > 0);
    for (uint64_t below = t->count[0]; below < rank && i < last; below += t->count[i]) {
        i++;
    }
    return bounds[i].ns;
}
