/*
 * Given: the jobs to which the machine gave names, per queue and per entry that created them.
 *
 * There is one record for all such jobs that an entry created in a queue, instead of one for each
 * name. The changes of an entry are collected here and written at its end.
 */
#include "base/check.h"
#include "base/limits.h"
#include "fsm/apply/apply_int.h"
#include "store/store_given.h"

enum { RECORD_BYTES = 1 + 3 * 4 };

struct given {
    struct map_node node; /* in machine.givens */
    struct given *next;   /* in the list of changed ones, in the order of their first change */
    struct store_given rec;
    bool stored; /* a committed record exists */
    bool changed;
    struct str record; /* the whole key; node.key is the part after the kind */
    char text[];
};

/* Is this the record of the queue and of the entry that created the id? */
static bool is_of(const struct given *g, struct str queue, struct id id)
{
    struct str key = g->node.key;
    return key.len == queue.len + 1 + STORE_GIVEN_ENTRY_BYTES &&
           memcmp(key.ptr + queue.len + 1, id.b, STORE_GIVEN_ENTRY_BYTES) == 0 &&
           memcmp(key.ptr, queue.ptr, queue.len) == 0;
}

static bool read_stored(struct machine *m, struct str key, struct store_given *out)
{
    struct buf value;
    buf_init(&value, SIZE_MAX);
    bool found = store_get(&m->store, STORE_KIND_GIVEN, key, &value);
    if (found && !store_given_decode(buf_str(&value), out)) {
        check_fatal("the record of named jobs of an entry cannot be read");
    }
    buf_deinit(&value);
    return found;
}

/* Find or create the record of the queue and of the entry that created the id. is_new: the current
 * entry created it, so nothing is stored yet. */
static struct given *need(struct machine *m, struct str queue, struct id id, bool is_new)
{
    if (m->last_given != NULL && is_of(m->last_given, queue, id)) {
        return m->last_given;
    }
    size_t len = 1 + queue.len + 1 + STORE_GIVEN_ENTRY_BYTES;
    struct given *g = entry__alloc(m, sizeof *g + len);
    g->text[0] = STORE_KIND_GIVEN;
    memcpy(g->text + 1, queue.ptr, queue.len);
    g->text[1 + queue.len] = '\0';
    memcpy(g->text + 1 + queue.len + 1, id.b, STORE_GIVEN_ENTRY_BYTES);
    g->record = str_from(g->text, len);
    g->node.key = str_from(g->text + 1, len - 1);
    struct map_node *known = map_find(&m->givens, g->node.key);
    if (known != NULL) {
        m->last_given = CONTAINER_OF(known, struct given, node);
        return m->last_given;
    }
    g->rec = (struct store_given){.left = 0};
    g->stored = !is_new && read_stored(m, g->node.key, &g->rec);
    g->changed = false;
    g->next = NULL;
    map_add(&m->givens, &g->node);
    m->last_given = g;
    return g;
}

/* Mark the record to be written at the end of the entry. The cost of the write counts from now
 * on. */
static void change(struct machine *m, struct given *g)
{
    if (!g->changed) {
        g->changed = true;
        *m->given_end = g;
        m->given_end = &g->next;
        m->extra_bytes += g->record.len + RECORD_BYTES;
    }
}

/* The current entry created the id, so nothing is stored yet. */
void given__add(struct machine *m, struct str queue, struct id id)
{
    struct given *g = need(m, queue, id, true);
    uint32_t number = store_given_number(id);
    if (g->rec.left == 0) {
        g->rec.first = number;
    }
    CHECK(!g->stored);
    CHECK(g->rec.left == 0 || number > g->rec.last); /* ids__new counts up */
    g->rec.last = number;
    g->rec.left++;
    change(m, g);
}

bool given__may_have(struct machine *m, struct str queue, struct id id)
{
    const struct given *g = need(m, queue, id, false);
    uint32_t number = store_given_number(id);
    return g->rec.left > 0 && number >= g->rec.first && number <= g->rec.last;
}

void given__remove(struct machine *m, struct str queue, struct id id)
{
    if (given__may_have(m, queue, id)) {
        struct given *g = need(m, queue, id, false);
        g->rec.left--;
        change(m, g);
    }
}

void given__begin(struct machine *m)
{
    if (m->givens.count > 0) { /* the records were in the arena */
        map_deinit(&m->givens);
        map_init(&m->givens);
    }
    m->last_given = m->first_given = NULL;
    m->given_end = &m->first_given;
}

void given__write(struct machine *m)
{
    for (struct given *g = m->first_given; g != NULL; g = g->next) {
        struct buf value;
        buf_init(&value, SIZE_MAX);
        if (g->rec.left > 0) {
            store_given_encode(&g->rec, &value);
            store_put_key(&m->store, g->record, buf_str(&value));
        } else if (g->stored) {
            store_delete(&m->store, STORE_KIND_GIVEN, g->node.key);
        }
        buf_deinit(&value);
    }
}
