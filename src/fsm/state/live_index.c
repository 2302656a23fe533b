#include "fsm/state/live_index.h"

#include <assert.h>
#include <stdlib.h>

#include "base/check.h"

enum { CHUNK_SHIFT = 14, CHUNK_RECORDS = 1 << CHUNK_SHIFT, TABLE_FIRST = 64 };

static_assert(sizeof(struct live_job) <= 80, "a waiting job may cost 120 bytes with its slots");

void live_index_init(struct live_index *t)
{
    *t = (struct live_index){.free_first = LIVE_NONE};
}

void live_index_deinit(struct live_index *t)
{
    for (uint32_t i = 0; i < t->chunk_count; i++) {
        free(t->chunks[i]);
    }
    free(t->chunks);
    for (unsigned i = 0; i < LIVE_INDEX_TABLES; i++) {
        free(t->slots[i]);
    }
    live_index_init(t);
}

struct live_job *live_index_at(const struct live_index *t, uint32_t number)
{
    CHECK(number < t->used);
    return &t->chunks[number >> CHUNK_SHIFT][number & (CHUNK_RECORDS - 1)];
}

static unsigned table_of(uint64_t hash)
{
    return (unsigned)(hash >> (64 - LIVE_INDEX_BITS));
}

static struct live_slot *slot_for(const struct live_index *t, struct id id, uint64_t hash)
{
    unsigned table = table_of(hash);
    struct live_slot *slots = t->slots[table];
    uint32_t mask = t->slot_count[table] - 1;
    if (slots == NULL) {
        return NULL;
    }
    uint32_t at = (uint32_t)hash & mask;
    while (slots[at].number != LIVE_NONE && (slots[at].hash != (uint32_t)hash ||
                                             !id_eq(live_index_at(t, slots[at].number)->id, id))) {
        at = (at + 1) & mask;
    }
    return &slots[at];
}

struct live_job *live_index_find(const struct live_index *t, struct id id)
{
    const struct live_slot *slot = slot_for(t, id, id_hash(id));
    return slot == NULL || slot->number == LIVE_NONE ? NULL : live_index_at(t, slot->number);
}

static void table_grow(struct live_index *t, unsigned table)
{
    uint32_t old_count = t->slot_count[table];
    struct live_slot *old = t->slots[table];
    uint32_t count = old_count == 0 ? TABLE_FIRST : old_count * 2;
    struct live_slot *slots = malloc(count * sizeof *slots);
    CHECK(slots != NULL);
    memset(slots, 0xff, count * sizeof *slots); /* LIVE_NONE everywhere */
    for (uint32_t i = 0; i < old_count; i++) {
        if (old[i].number != LIVE_NONE) {
            uint32_t at = old[i].hash & (count - 1);
            while (slots[at].number != LIVE_NONE) {
                at = (at + 1) & (count - 1);
            }
            slots[at] = old[i];
        }
    }
    free(old);
    t->slots[table] = slots;
    t->slot_count[table] = count;
}

static uint32_t take_record(struct live_index *t)
{
    if (t->free_first != LIVE_NONE) {
        uint32_t number = t->free_first;
        t->free_first = live_index_at(t, number)->next;
        return number;
    }
    if (t->used == t->chunk_count * CHUNK_RECORDS) {
        CHECK(t->chunk_count < UINT32_MAX / CHUNK_RECORDS - 1);
        t->chunks = realloc(t->chunks, (t->chunk_count + 1) * sizeof(struct live_job *));
        CHECK(t->chunks != NULL);
        t->chunks[t->chunk_count] = malloc(CHUNK_RECORDS * sizeof(struct live_job));
        CHECK(t->chunks[t->chunk_count] != NULL);
        t->chunk_count++;
    }
    return t->used++;
}

struct live_job *live_index_add(struct live_index *t, struct id id)
{
    uint64_t hash = id_hash(id);
    unsigned table = table_of(hash);
    if (t->slot_used[table] >= t->slot_count[table] / 4 * 3) {
        table_grow(t, table);
    }
    struct live_slot *slot = slot_for(t, id, hash);
    CHECK(slot != NULL);
    CHECK(slot->number == LIVE_NONE);
    *slot = (struct live_slot){.number = take_record(t), .hash = (uint32_t)hash};
    t->slot_used[table]++;
    t->count++;
    struct live_job *l = live_index_at(t, slot->number);
    *l = (struct live_job){.id = id,
                           .number = slot->number,
                           .next = LIVE_NONE,
                           .prev = LIVE_NONE,
                           .due = heap_node_out(),
                           .expiry = heap_node_out()};
    return l;
}

/* Linear probing without tombstones: move each slot after the gap into it if its hash allows. */
static void close_gap(struct live_index *t, unsigned table, uint32_t gap)
{
    uint32_t mask = t->slot_count[table] - 1;
    struct live_slot *slots = t->slots[table];
    for (uint32_t at = (gap + 1) & mask; slots[at].number != LIVE_NONE; at = (at + 1) & mask) {
        uint32_t home = slots[at].hash & mask;
        if (((at - home) & mask) >= ((at - gap) & mask)) {
            slots[gap] = slots[at];
            gap = at;
        }
    }
    slots[gap].number = LIVE_NONE;
}

void live_index_remove(struct live_index *t, struct live_job *l)
{
    CHECK(!l->in_line);
    CHECK(!heap_node_is_in(&l->due));
    CHECK(!heap_node_is_in(&l->expiry));
    uint64_t hash = id_hash(l->id);
    unsigned table = table_of(hash);
    struct live_slot *slot = slot_for(t, l->id, hash);
    CHECK(slot != NULL);
    CHECK(slot->number == l->number);
    close_gap(t, table, (uint32_t)(slot - t->slots[table]));
    t->slot_used[table]--;
    t->count--;
    l->next = t->free_first;
    t->free_first = l->number;
}

uint64_t live_index_bytes(const struct live_index *t)
{
    uint64_t bytes = (uint64_t)t->chunk_count * CHUNK_RECORDS * sizeof(struct live_job);
    for (unsigned i = 0; i < LIVE_INDEX_TABLES; i++) {
        bytes += t->slot_count[i] * sizeof(struct live_slot);
    }
    return bytes;
}

bool live_index_due_before(const struct heap_node *a, const struct heap_node *b)
{
    return id_cmp(CONTAINER_OF(a, const struct live_job, due)->id,
                  CONTAINER_OF(b, const struct live_job, due)->id) < 0;
}

bool live_index_expiry_before(const struct heap_node *a, const struct heap_node *b)
{
    return id_cmp(CONTAINER_OF(a, const struct live_job, expiry)->id,
                  CONTAINER_OF(b, const struct live_job, expiry)->id) < 0;
}

uint64_t live_index_due_rank(const struct heap_node *n)
{
    return id_rank(CONTAINER_OF(n, const struct live_job, due)->id);
}

uint64_t live_index_expiry_rank(const struct heap_node *n)
{
    return id_rank(CONTAINER_OF(n, const struct live_job, expiry)->id);
}

void live_index_line_add(const struct live_index *t, struct live_line *line, struct live_job *l)
{
    CHECK(!l->in_line);
    l->in_line = true;
    l->prev = line->last;
    l->next = LIVE_NONE;
    if (line->last == LIVE_NONE) {
        line->first = l->number;
    } else {
        live_index_at(t, line->last)->next = l->number;
    }
    line->last = l->number;
    line->count++;
}

void live_index_line_insert(const struct live_index *t, struct live_line *line, struct live_job *l,
                            struct live_job *next)
{
    CHECK(!l->in_line);
    CHECK(next->in_line);
    l->in_line = true;
    l->next = next->number;
    l->prev = next->prev;
    *(next->prev == LIVE_NONE ? &line->first : &live_index_at(t, next->prev)->next) = l->number;
    next->prev = l->number;
    line->count++;
}

void live_index_line_remove(const struct live_index *t, struct live_line *line, struct live_job *l)
{
    CHECK(l->in_line);
    CHECK(line->count > 0);
    *(l->prev == LIVE_NONE ? &line->first : &live_index_at(t, l->prev)->next) = l->next;
    *(l->next == LIVE_NONE ? &line->last : &live_index_at(t, l->next)->prev) = l->prev;
    l->in_line = false;
    l->next = l->prev = LIVE_NONE;
    line->count--;
}
