/*
 * Budget: a limit of bytes shared by many holders.
 *
 * A process has one budget for all memory of requests: bodies, decoded data, answers, streams.
 * Whoever holds memory takes its size from the budget by block, not by allocation, and gives it
 * back when the block is freed. An exhausted budget refuses: the client gets an answer ("come back
 * later"), and the server does not crash. Any thread; each call is one atomic addition.
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
    atomic_size_t peak_bytes; /* peak since the last budget_take_peak, or a little less */
    atomic_uint_fast64_t refused;
};

void budget_init(struct budget *b, size_t limit_bytes);

/* False, without taking anything, if the limit would be exceeded. */
ATTR_NODISCARD bool budget_take(struct budget *b, size_t bytes);

/* Take bytes even beyond the limit: for bytes that are owed and bounded in another way. */
void budget_force(struct budget *b, size_t bytes);
void budget_give(struct budget *b, size_t bytes);

/* Is the budget exhausted? */
bool budget_is_spent(const struct budget *b);

/* The peak since the last call of this function. */
size_t budget_take_peak(struct budget *b);
