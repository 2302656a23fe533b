#include "fsm/state/slots.h"

#include <stdlib.h>

#include "base/check.h"
#include "base/hash.h"

enum { SLOTS_FIRST = 16 };

void slots_deinit(struct slots *s)
{
    free(s->places);
    *s = (struct slots){0};
}

static uint32_t home_of(const struct slots *s, int64_t number)
{
    return (uint32_t)hash_u64((uint64_t)number) & (s->cap - 1);
}

/* The place of the slot, or the empty place where it belongs. */
static uint32_t find(const struct slots *s, int64_t number)
{
    uint32_t at = home_of(s, number);
    while (s->places[at].jobs != 0 && s->places[at].number != number) {
        at = (at + 1) & (s->cap - 1);
    }
    return at;
}

static void grow(struct slots *s)
{
    struct slots old = *s;
    s->cap = old.cap == 0 ? SLOTS_FIRST : old.cap * 2;
    CHECK(s->cap > old.cap);
    s->places = calloc(s->cap, sizeof *s->places);
    CHECK(s->places != NULL);
    for (uint32_t i = 0; i < old.cap; i++) {
        if (old.places[i].jobs != 0) {
            s->places[find(s, old.places[i].number)] = old.places[i];
        }
    }
    free(old.places);
}

void slots_add(struct slots *s, int64_t number)
{
    if (s->count >= s->cap / 4 * 3) {
        grow(s);
    }
    struct slots_one *one = &s->places[find(s, number)];
    s->count += one->jobs == 0 ? 1 : 0;
    one->number = number;
    one->jobs++;
}

/* Linear probing without tombstones: move each place after the gap into it if its hash allows. */
static void close_gap(struct slots *s, uint32_t gap)
{
    uint32_t mask = s->cap - 1;
    for (uint32_t at = (gap + 1) & mask; s->places[at].jobs != 0; at = (at + 1) & mask) {
        if (((at - home_of(s, s->places[at].number)) & mask) >= ((at - gap) & mask)) {
            s->places[gap] = s->places[at];
            gap = at;
        }
    }
    s->places[gap] = (struct slots_one){0};
}

void slots_remove(struct slots *s, int64_t number)
{
    CHECK(s->count > 0);
    uint32_t at = find(s, number);
    CHECK(s->places[at].jobs > 0);
    if (--s->places[at].jobs == 0) {
        close_gap(s, at);
        s->count--;
    }
}

uint64_t slots_bytes(const struct slots *s)
{
    return (uint64_t)s->cap * sizeof *s->places;
}
