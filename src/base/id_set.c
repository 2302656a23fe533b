#include "base/id_set.h"

#include <stdlib.h>

#include "base/check.h"

enum { FIRST_PLACES = 1024 };

static struct id_set_slot *slot_for(const struct id_set *s, struct id id, uint32_t hash)
{
    uint32_t mask = s->cap * 2 - 1;
    uint32_t at = hash & mask;
    while (s->slots[at].place != 0 &&
           (s->slots[at].hash != hash || !id_eq(s->ids[s->slots[at].place - 1], id))) {
        at = (at + 1) & mask;
    }
    return &s->slots[at];
}

/* The id must not be in the set, and there must be room. */
static void append(struct id_set *s, struct id_set_slot *slot, struct id id, uint32_t hash,
                   uint64_t number)
{
    CHECK(slot->place == 0);
    CHECK(id_set_count(s) < s->cap);
    uint32_t place = (uint32_t)(s->next++ & (s->cap - 1));
    s->ids[place] = id;
    s->numbers[place] = number;
    *slot = (struct id_set_slot){.place = place + 1, .hash = hash};
}

void id_set_clear(struct id_set *s)
{
    free(s->ids);
    free(s->numbers);
    free(s->slots);
    *s = (struct id_set){0};
}

static void grow(struct id_set *s)
{
    struct id_set bigger = {.cap = s->cap == 0 ? FIRST_PLACES : s->cap * 2};
    bigger.ids = malloc(bigger.cap * sizeof *bigger.ids);
    bigger.numbers = malloc(bigger.cap * sizeof *bigger.numbers);
    bigger.slots = calloc((size_t)bigger.cap * 2, sizeof *bigger.slots);
    CHECK(bigger.ids != NULL);
    CHECK(bigger.numbers != NULL);
    CHECK(bigger.slots != NULL);
    for (uint64_t n = s->first; n < s->next; n++) {
        struct id id = s->ids[n & (s->cap - 1)];
        uint32_t hash = (uint32_t)id_hash(id);
        append(&bigger, slot_for(&bigger, id, hash), id, hash, s->numbers[n & (s->cap - 1)]);
    }
    CHECK(id_set_count(&bigger) == id_set_count(s));
    id_set_clear(s);
    *s = bigger;
}

bool id_set_add(struct id_set *s, struct id id, uint64_t number)
{
    uint32_t hash = (uint32_t)id_hash(id);
    if (id_set_is_full(s)) {
        grow(s);
    }
    struct id_set_slot *slot = slot_for(s, id, hash);
    if (slot->place != 0) {
        return false;
    }
    append(s, slot, id, hash, number);
    return true;
}

bool id_set_find(const struct id_set *s, struct id id, uint64_t *out_number)
{
    if (id_set_count(s) == 0) {
        return false;
    }
    const struct id_set_slot *slot = slot_for(s, id, (uint32_t)id_hash(id));
    if (slot->place == 0) {
        return false;
    }
    *out_number = s->numbers[slot->place - 1];
    return true;
}

uint64_t id_set_oldest(const struct id_set *s)
{
    CHECK(id_set_count(s) > 0);
    return s->numbers[s->first & (s->cap - 1)];
}

/* Linear probing without tombstones: later slots that may move into the gap do. */
static void close_gap(struct id_set *s, uint32_t gap)
{
    uint32_t mask = s->cap * 2 - 1;
    for (uint32_t at = (gap + 1) & mask; s->slots[at].place != 0; at = (at + 1) & mask) {
        uint32_t home = s->slots[at].hash & mask;
        if (((at - home) & mask) >= ((at - gap) & mask)) {
            s->slots[gap] = s->slots[at];
            gap = at;
        }
    }
    s->slots[gap].place = 0;
}

bool id_set_take(struct id_set *s, struct id *out)
{
    if (id_set_count(s) == 0) {
        return false;
    }
    *out = s->ids[s->first & (s->cap - 1)];
    const struct id_set_slot *slot = slot_for(s, *out, (uint32_t)id_hash(*out));
    CHECK(slot->place == (s->first & (s->cap - 1)) + 1);
    close_gap(s, (uint32_t)(slot - s->slots));
    s->first++;
    return true;
}
