/*
 * Budget: a limit of bytes shared by many holders.
 *
 * A process has one budget for all memory of requests: bodies, decoded data, responses, streams.
 * Memory is counted by block, not by allocation, until the block is freed. If the budget is
 * exhausted, requests are refused: the client gets an error and can retry, and the server does not
 * crash. Any thread; each call is one atomic addition.
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

/* Count bytes. False, without counting them, if the limit would be exceeded. */
ATTR_NODISCARD bool budget_take(struct budget *b, size_t bytes);

/* Count bytes even beyond the limit: for bytes that must be sent and are bounded in another way. */
void budget_force(struct budget *b, size_t bytes);
void budget_give(struct budget *b, size_t bytes);

/* Is the budget exhausted? */
bool budget_is_spent(const struct budget *b);

/* Return the peak since the last call of this function. */
size_t budget_take_peak(struct budget *b);
