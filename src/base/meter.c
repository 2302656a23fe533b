#include "base/meter.h"

#include <inttypes.h>

void meter_add(struct meter *m, const struct meter_scale *scale, int64_t us)
{
    unsigned i = 0;
    us = us < 0 ? 0 : us;
    while (i < scale->count && us > scale->bounds[i].us) {
        i++;
    }
    (void)atomic_fetch_add_explicit(&m->count[i], 1, memory_order_relaxed);
    (void)atomic_fetch_add_explicit(&m->sum_us, (uint64_t)us, memory_order_relaxed);
}

void meter_write_head(struct buf *out, const char *name, const char *type, const char *help)
{
    buf_printf(out, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

void meter_write(struct buf *out, const char *name, const char *labels, const struct meter *m,
                 const struct meter_scale *scale)
{
    const char *comma = *labels == '\0' ? "" : ",";
    uint64_t below = 0;
    for (unsigned i = 0; i <= scale->count; i++) {
        below += atomic_load_explicit(&m->count[i], memory_order_relaxed);
        for (unsigned more = i + 1; i == scale->count && more <= METER_BUCKETS_MAX; more++) {
            below += atomic_load_explicit(&m->count[more], memory_order_relaxed);
        }
        buf_printf(out, "%s_bucket{%s%sle=\"%s\"} %" PRIu64 "\n", name, labels, comma,
                   i < scale->count ? scale->bounds[i].text : "+Inf", below);
    }
    uint64_t sum = atomic_load_explicit(&m->sum_us, memory_order_relaxed);
    const char *open = *labels == '\0' ? "" : "{";
    const char *close = *labels == '\0' ? "" : "}";
    buf_printf(out, "%s_sum%s%s%s %" PRIu64 ".%06" PRIu64 "\n", name, open, labels, close,
               sum / 1000000, sum % 1000000);
    buf_printf(out, "%s_count%s%s%s %" PRIu64 "\n", name, open, labels, close, below);
}

void meter_write_number(struct buf *out, const char *name, const char *labels, uint64_t value)
{
    const char *open = *labels == '\0' ? "" : "{";
    const char *close = *labels == '\0' ? "" : "}";
    buf_printf(out, "%s%s%s%s %" PRIu64 "\n", name, open, labels, close, value);
}
