/*
 * Budget: how many bytes many holders may have together.
 *
 * A process has one for everything that requests can claim: bodies, what they are decoded into,
 * answers, streams. Whoever holds memory takes its size from the budget by block, not by
 * allocation, and gives it back when the block is freed. A budget that is spent refuses: that is an
 * answer ("come back later"), never a crash. Any thread; each call is one atomic addition.
 *
 * A NULL budget has no limit and counts nothing.
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"

struct budget {
    size_t limit_bytes;
    atomic_size_t used_bytes;
    atomic_size_t peak_bytes; /* the most since it was last looked at, or a little less */
    atomic_uint_fast64_t refused;
};

void budget_init(struct budget *b, size_t limit_bytes);

/* False, and nothing taken, when it would be more than the limit. */
ATTR_NODISCARD bool budget_take(struct budget *b, size_t bytes);

/* Take it even past the limit: for bytes that are owed and bounded otherwise. */
void budget_force(struct budget *b, size_t bytes);
void budget_give(struct budget *b, size_t bytes);

/* Is nothing left? */
bool budget_is_spent(const struct budget *b);

/* The most that was used since the last call of this function. */
size_t budget_take_peak(struct budget *b);
