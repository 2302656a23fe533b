#include "fsm/live.h"

#include <assert.h>
#include <stdlib.h>

#include "base/check.h"

enum { CHUNK_SHIFT = 14, CHUNK_RECORDS = 1 << CHUNK_SHIFT, TABLE_COUNT = 256, TABLE_FIRST = 64 };

static_assert(sizeof(struct live) <= 80, "a waiting job may cost 120 bytes with its slots");

void live_init(struct live_table *t)
{
    *t = (struct live_table){.free_first = LIVE_NONE};
}

void live_deinit(struct live_table *t)
{
    for (uint32_t i = 0; i < t->chunk_count; i++) {
        free(t->chunks[i]);
    }
    free(t->chunks);
    for (unsigned i = 0; i < TABLE_COUNT; i++) {
        free(t->slots[i]);
    }
    live_init(t);
}

struct live *live_at(const struct live_table *t, uint32_t number)
{
    CHECK(number < t->used);
    return &t->chunks[number >> CHUNK_SHIFT][number & (CHUNK_RECORDS - 1)];
}

/* A record does not know its number: it is found through the table, where its id leads. */
static uint32_t *slot_for(const struct live_table *t, struct id id)
{
    uint64_t hash = id_hash(id);
    unsigned table = (unsigned)(hash >> 56);
    uint32_t mask = t->slot_count[table] - 1;
    if (t->slot_count[table] == 0) {
        return NULL;
    }
    uint32_t at = (uint32_t)hash & mask;
    while (t->slots[table][at] != LIVE_NONE && !id_eq(live_at(t, t->slots[table][at])->id, id)) {
        at = (at + 1) & mask;
    }
    return &t->slots[table][at];
}

struct live *live_find(const struct live_table *t, struct id id)
{
    const uint32_t *slot = slot_for(t, id);
    return slot == NULL || *slot == LIVE_NONE ? NULL : live_at(t, *slot);
}

uint32_t live_number(const struct live_table *t, const struct live *l)
{
    const uint32_t *slot = slot_for(t, l->id);
    CHECK(slot != NULL);
    CHECK(*slot != LIVE_NONE);
    return *slot;
}

static void table_grow(struct live_table *t, unsigned table)
{
    uint32_t old_count = t->slot_count[table];
    uint32_t *old = t->slots[table];
    uint32_t count = old_count == 0 ? TABLE_FIRST : old_count * 2;
    t->slots[table] = malloc(count * sizeof(uint32_t));
    CHECK(t->slots[table] != NULL);
    memset(t->slots[table], 0xff, count * sizeof(uint32_t)); /* LIVE_NONE everywhere */
    t->slot_count[table] = count;
    for (uint32_t i = 0; i < old_count; i++) {
        if (old[i] != LIVE_NONE) {
            *slot_for(t, live_at(t, old[i])->id) = old[i];
        }
    }
    free(old);
}

static uint32_t take_record(struct live_table *t)
{
    if (t->free_first != LIVE_NONE) {
        uint32_t number = t->free_first;
        t->free_first = live_at(t, number)->next;
        return number;
    }
    if (t->used == t->chunk_count * CHUNK_RECORDS) {
        CHECK(t->chunk_count < UINT32_MAX / CHUNK_RECORDS - 1);
        t->chunks = realloc(t->chunks, (t->chunk_count + 1) * sizeof(struct live *));
        CHECK(t->chunks != NULL);
        t->chunks[t->chunk_count] = malloc(CHUNK_RECORDS * sizeof(struct live));
        CHECK(t->chunks[t->chunk_count] != NULL);
        t->chunk_count++;
    }
    return t->used++;
}

struct live *live_add(struct live_table *t, struct id id)
{
    unsigned table = (unsigned)(id_hash(id) >> 56);
    if (t->slot_used[table] >= t->slot_count[table] / 4 * 3) {
        table_grow(t, table);
    }
    uint32_t *slot = slot_for(t, id);
    CHECK(slot != NULL);
    CHECK(*slot == LIVE_NONE);
    *slot = take_record(t);
    t->slot_used[table]++;
    t->count++;
    struct live *l = live_at(t, *slot);
    *l = (struct live){.id = id,
                       .next = LIVE_NONE,
                       .prev = LIVE_NONE,
                       .due = heap_node_out(),
                       .expiry = heap_node_out()};
    return l;
}

/* Linear probing without marks: what stands behind the gap and may move into it does. */
static void close_gap(struct live_table *t, unsigned table, uint32_t gap)
{
    uint32_t mask = t->slot_count[table] - 1;
    uint32_t *slots = t->slots[table];
    uint32_t at = gap;
    for (;;) {
        at = (at + 1) & mask;
        if (slots[at] == LIVE_NONE) {
            break;
        }
        uint32_t home = (uint32_t)id_hash(live_at(t, slots[at])->id) & mask;
        if (((at - home) & mask) >= ((at - gap) & mask)) {
            slots[gap] = slots[at];
            gap = at;
        }
    }
    slots[gap] = LIVE_NONE;
}

void live_remove(struct live_table *t, struct live *l)
{
    CHECK(!l->in_line);
    CHECK(!heap_node_is_in(&l->due));
    CHECK(!heap_node_is_in(&l->expiry));
    unsigned table = (unsigned)(id_hash(l->id) >> 56);
    uint32_t *slot = slot_for(t, l->id);
    CHECK(slot != NULL);
    CHECK(*slot != LIVE_NONE);
    uint32_t number = *slot;
    close_gap(t, table, (uint32_t)(slot - t->slots[table]));
    t->slot_used[table]--;
    t->count--;
    l->next = t->free_first;
    t->free_first = number;
}

uint64_t live_bytes(const struct live_table *t)
{
    uint64_t bytes = (uint64_t)t->chunk_count * CHUNK_RECORDS * sizeof(struct live);
    for (unsigned i = 0; i < TABLE_COUNT; i++) {
        bytes += t->slot_count[i] * sizeof(uint32_t);
    }
    return bytes;
}

bool live_due_before(const struct heap_node *a, const struct heap_node *b)
{
    return id_cmp(CONTAINER_OF(a, const struct live, due)->id,
                  CONTAINER_OF(b, const struct live, due)->id) < 0;
}

bool live_expiry_before(const struct heap_node *a, const struct heap_node *b)
{
    return id_cmp(CONTAINER_OF(a, const struct live, expiry)->id,
                  CONTAINER_OF(b, const struct live, expiry)->id) < 0;
}

void live_line_add(const struct live_table *t, struct live_line *line, struct live *l)
{
    uint32_t number = live_number(t, l);
    CHECK(!l->in_line);
    l->in_line = true;
    l->prev = line->last;
    l->next = LIVE_NONE;
    if (line->last == LIVE_NONE) {
        line->first = number;
    } else {
        live_at(t, line->last)->next = number;
    }
    line->last = number;
    line->count++;
}

void live_line_remove(const struct live_table *t, struct live_line *line, struct live *l)
{
    CHECK(l->in_line);
    CHECK(line->count > 0);
    *(l->prev == LIVE_NONE ? &line->first : &live_at(t, l->prev)->next) = l->next;
    *(l->next == LIVE_NONE ? &line->last : &live_at(t, l->next)->prev) = l->prev;
    l->in_line = false;
    l->next = l->prev = LIVE_NONE;
    line->count--;
}
