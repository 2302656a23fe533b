#include "base/budget.h"

#include "base/check.h"

void budget_init(struct budget *b, size_t limit_bytes)
{
    b->limit_bytes = limit_bytes;
    atomic_init(&b->used_bytes, 0);
    atomic_init(&b->peak_bytes, 0);
    atomic_init(&b->refused, 0);
}

/* Races with other threads are acceptable: the peak is only for statistics and trimming. */
static void note_peak(struct budget *b, size_t used)
{
    if (used > atomic_load_explicit(&b->peak_bytes, memory_order_relaxed)) {
        atomic_store_explicit(&b->peak_bytes, used, memory_order_relaxed);
    }
}

bool budget_take(struct budget *b, size_t bytes)
{
    if (b == NULL) {
        return true;
    }
    size_t before = atomic_fetch_add_explicit(&b->used_bytes, bytes, memory_order_relaxed);
    if (before > b->limit_bytes || bytes > b->limit_bytes - before) {
        budget_give(b, bytes);
        atomic_fetch_add_explicit(&b->refused, 1, memory_order_relaxed);
        return false;
    }
    note_peak(b, before + bytes);
    return true;
}

void budget_force(struct budget *b, size_t bytes)
{
    if (b != NULL) {
        note_peak(b,
                  atomic_fetch_add_explicit(&b->used_bytes, bytes, memory_order_relaxed) + bytes);
    }
}

void budget_give(struct budget *b, size_t bytes)
{
    if (b != NULL) {
        size_t before = atomic_fetch_sub_explicit(&b->used_bytes, bytes, memory_order_relaxed);
        CHECK(before >= bytes);
    }
}

bool budget_is_spent(const struct budget *b)
{
    return b != NULL &&
           atomic_load_explicit(&b->used_bytes, memory_order_relaxed) >= b->limit_bytes;
}

size_t budget_take_peak(struct budget *b)
{
    size_t used = atomic_load_explicit(&b->used_bytes, memory_order_relaxed);
    return atomic_exchange_explicit(&b->peak_bytes, used, memory_order_relaxed);
}
