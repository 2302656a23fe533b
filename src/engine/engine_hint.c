#include "engine/engine_hint.h"

#include <stddef.h>

#include "base/attr.h"

/* score = 1 + 8 · backlog / limit, as in the contract */
enum { SCORE_BASE = 1, SCORE_FULL = 8 };

static const struct {
    uint64_t below; /* exclusive upper limit of the score */
    uint32_t ms_min, ms_max;
} rows[] = {{5, 1, 2}, {8, 2, 3}, {12, 5, 7}, {UINT64_MAX, 10, 12}};

uint32_t engine_hint_ms(uint64_t backlog, uint64_t limit, uint64_t random_number)
{
    size_t i = 0;
    while (i < COUNT_OF(rows) - 1 && SCORE_FULL * backlog >= (rows[i].below - SCORE_BASE) * limit) {
        i++;
    }
    return rows[i].ms_min + (uint32_t)(random_number % (rows[i].ms_max - rows[i].ms_min + 1));
}
