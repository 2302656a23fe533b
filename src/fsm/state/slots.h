/*
 * Slots: counts the time slots in which jobs wait to become due (scheduler.md 9).
 *
 * Jobs are ordered by due time, not stored in slots. The slots are counted only for the metrics. In
 * memory only; no decision depends on them. A zeroed struct is valid.
 */
#pragma once

#include <stdint.h>

struct slots {
    struct slots_one {
        int64_t number; /* due time divided by the slot length */
        uint32_t jobs;  /* 0: the place is empty */
    } * places;
    uint32_t cap; /* a power of two, or 0 */
    uint32_t count;
};

void slots_deinit(struct slots *s);
void slots_add(struct slots *s, int64_t number);
void slots_remove(struct slots *s, int64_t number); /* must have been added */
uint64_t slots_bytes(const struct slots *s);
