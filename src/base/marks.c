#include "base/marks.h"

#include <stdlib.h>

#include "base/check.h"

enum { MARKS_FIRST_SLOTS = 16 };

void marks_init(struct marks *m)
{
    *m = (struct marks){.slots = {NULL}};
}

void marks_deinit(struct marks *m)
{
    for (unsigned i = 0; i < MARKS_TABLES; i++) {
        free(m->slots[i]);
    }
    marks_init(m);
}

static unsigned table_of(uint64_t hash)
{
    return (unsigned)(hash >> (64 - MARKS_TABLE_BITS));
}

static uint32_t mark_of(uint64_t hash)
{
    return (uint32_t)hash == 0 ? 1 : (uint32_t)hash;
}

/* The slot of the mark, or the empty slot where it belongs. */
static uint32_t find(const uint32_t *slots, uint32_t mask, uint32_t mark)
{
    uint32_t at = mark & mask;
    while (slots[at] != 0 && slots[at] != mark) {
        at = (at + 1) & mask;
    }
    return at;
}

bool marks_has(const struct marks *m, uint64_t hash)
{
    unsigned table = table_of(hash);
    const uint32_t *slots = m->slots[table];
    return slots != NULL && slots[find(slots, m->slot_count[table] - 1, mark_of(hash))] != 0;
}

static void put(uint32_t *slots, uint32_t mask, uint32_t mark)
{
    uint32_t at = mark & mask;
    while (slots[at] != 0) {
        at = (at + 1) & mask;
    }
    slots[at] = mark;
}

static void grow(struct marks *m, unsigned table)
{
    uint32_t old_count = m->slot_count[table];
    uint32_t count = old_count == 0 ? MARKS_FIRST_SLOTS : old_count * 2;
    uint32_t *slots = calloc(count, sizeof *slots);
    CHECK(slots != NULL);
    for (uint32_t i = 0; i < old_count; i++) {
        if (m->slots[table][i] != 0) {
            put(slots, count - 1, m->slots[table][i]);
        }
    }
    free(m->slots[table]);
    m->slots[table] = slots;
    m->slot_count[table] = count;
}

void marks_add(struct marks *m, uint64_t hash)
{
    unsigned table = table_of(hash);
    if (m->used[table] >= m->slot_count[table] / 4 * 3) {
        grow(m, table);
    }
    put(m->slots[table], m->slot_count[table] - 1, mark_of(hash));
    m->used[table]++;
}

/* Linear probing without tombstones: later slots that may move into the gap do. */
static void close_gap(uint32_t *slots, uint32_t mask, uint32_t gap)
{
    for (uint32_t at = (gap + 1) & mask; slots[at] != 0; at = (at + 1) & mask) {
        uint32_t home = slots[at] & mask;
        if (((at - home) & mask) >= ((at - gap) & mask)) {
            slots[gap] = slots[at];
            gap = at;
        }
    }
    slots[gap] = 0;
}

void marks_remove(struct marks *m, uint64_t hash)
{
    unsigned table = table_of(hash);
    uint32_t *slots = m->slots[table];
    CHECK(slots != NULL);
    uint32_t at = find(slots, m->slot_count[table] - 1, mark_of(hash));
    CHECK(slots[at] != 0);
    close_gap(slots, m->slot_count[table] - 1, at);
    m->used[table]--;
}

uint64_t marks_bytes(const struct marks *m)
{
    uint64_t bytes = 0;
    for (unsigned i = 0; i < MARKS_TABLES; i++) {
        bytes += m->slot_count[i] * sizeof(uint32_t);
    }
    return bytes;
}
