/*
 * Given: the jobs to which the machine gave names, by queue and by the entry that made them.
 *
 * One record for all jobs that an entry has made in a queue, instead of one for each name. What an
 * entry changes is noted here and written at its end.
 */
#include "base/check.h"
#include "base/limits.h"
#include "fsm/apply/apply_int.h"
#include "store/store_given.h"

enum { RECORD_BYTES = 1 + 3 * 4 };

struct given {
    struct map_node node; /* among givens */
    struct given *next;   /* among those of the entry, in the order in which it came to them */
    struct store_given rec;
    bool stored; /* there is a committed record */
    bool changed;
    struct str record; /* the key, of which the node's is what follows the kind */
    char text[];
};

/* Does it have the jobs that the id's entry has made in the queue? */
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

/* Of the jobs that the id's entry has made in the queue; none are left when it is new. */
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

/* It is to be written; what that costs counts from now on. */
static void change(struct machine *m, struct given *g)
{
    if (!g->changed) {
        g->changed = true;
        *m->given_end = g;
        m->given_end = &g->next;
        m->extra_bytes += g->record.len + RECORD_BYTES;
    }
}

/* It was made by this entry, so that nothing is stored with it. */
void given__add(struct machine *m, struct str queue, struct id id)
{
    struct given *g = need(m, queue, id, true);
    uint32_t number = store_given_number(id);
    if (g->rec.left == 0) {
        g->rec.first = number;
    }
    CHECK(!g->stored);
    CHECK(g->rec.left == 0 || number > g->rec.last); /* as ids__new counts */
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
    if (m->givens.count > 0) { /* they were in the arena */
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
