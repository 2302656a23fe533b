/*
 * Slots: in how many lengths of time jobs wait to be due (scheduler.md 9).
 *
 * Jobs are ordered by their due times and kept in no slots; these are counted, because the metrics
 * tell of them. In memory only; nothing is ever decided by it. All zeros is a good beginning.
 */
#pragma once

#include <stdint.h>

struct slots {
    struct slots_one {
        int64_t number; /* due time by length */
        uint32_t jobs;  /* 0: an empty place */
    } * places;
    uint32_t cap; /* a power of two, or 0 */
    uint32_t count;
};

void slots_deinit(struct slots *s);
void slots_add(struct slots *s, int64_t number);
void slots_remove(struct slots *s, int64_t number); /* one that was added */
uint64_t slots_bytes(const struct slots *s);
