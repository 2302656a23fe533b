/*
 * Names: the names of jobs, each unique in its queue (scheduler.md 2.3).
 *
 * Names that clients chose are in the store. In memory, each has only a mark: most names that are
 * looked up are new and need no access to the store. Names that this entry has added or removed are
 * kept in a separate table, because they are not committed yet.
 *
 * A job that was sent without a name has the name derived from its id (base/id_uuid.h), and is
 * found by converting the name back. It is counted with the others of its entry (given.c), and has
 * neither a record nor a mark.
 */
#include "base/id_uuid.h"
#include "fsm/apply/apply_int.h"

/* A name in a queue, in the entry's memory: a search key or, after a change by this entry, the new
 * owner of the name. */
struct named {
    struct map_node node; /* in fresh_names */
    struct id id;         /* of its job; none: removed */
    struct named *next;   /* in fresh_named */
    struct str record;    /* the key of the record; node.key is the part after the kind */
    char text[];
};

struct named *names__key(struct machine *m, struct str queue, struct str name)
{
    size_t len = 1 + queue.len + 1 + name.len;
    struct named *n = entry__alloc(m, sizeof *n + len);
    n->text[0] = STORE_KIND_NAME;
    memcpy(n->text + 1, queue.ptr, queue.len);
    n->text[1 + queue.len] = '\0';
    memcpy(n->text + 1 + queue.len + 1, name.ptr, name.len);
    n->record = str_from(n->text, len);
    n->node.key = str_from(n->text + 1, len - 1);
    n->node.hash = map_hash(n->node.key);
    return n;
}

static void load_name(void *data, struct str key, struct str value)
{
    struct machine *m = data;
    (void)value;
    marks_add(&m->names, map_hash(key));
}

void names__load(struct machine *m)
{
    store_each(&m->store, STORE_KIND_NAME, load_name, m);
}

/* Move the changed names into the map. Few entries look up a name that they have changed, so this
 * is done only then. */
static void settle_fresh(struct machine *m)
{
    while (m->fresh_named != NULL) {
        struct named *n = m->fresh_named;
        struct map_node *known = map_find_hashed(&m->fresh_names, n->node.hash, n->node.key);
        m->fresh_named = n->next;
        if (known == NULL) {
            map_add_hashed(&m->fresh_names, &n->node);
        } else { /* this entry has changed it before */
            CONTAINER_OF(known, struct named, node)->id = n->id;
        }
    }
}

/* Find the job of a name that has a mark. False if there is none. */
static bool find_marked(struct machine *m, const struct named *n, struct id *out)
{
    settle_fresh(m);
    struct map_node *fresh = map_find_hashed(&m->fresh_names, n->node.hash, n->node.key);
    if (fresh != NULL) {
        *out = CONTAINER_OF(fresh, struct named, node)->id;
        return !id_is_none(*out);
    }
    struct buf value;
    buf_init(&value, ID_BYTES);
    bool found =
        store_get(&m->store, STORE_KIND_NAME, n->node.key, &value) && value.len == ID_BYTES;
    if (found) {
        *out = id_from_bytes(value.ptr);
    }
    buf_deinit(&value);
    return found;
}

bool names__find_recorded(struct machine *m, const struct named *n, struct id *out)
{
    return marks_has(&m->names, n->node.hash) && find_marked(m, n, out);
}

/* Find the job of a name that the machine assigned. A UUID that was created by a client hardly ever
 * converts to an id with a time in the past. */
static bool find_given(struct machine *m, struct str queue, struct str name, struct id *out)
{
    ATTR_UNINITIALIZED struct job j;
    return id_uuid_parse(name, out) && id_ms(*out) <= m->now.ns / NS_PER_MS &&
           given__may_have(m, queue, *out) && job_read__glance(m, *out, &j) &&
           str_eq(j.queue, queue) && str_eq(j.name, name);
}

bool names__find(struct machine *m, const struct job *j, const struct named *n, struct id *out)
{
    return find_given(m, j->queue, j->name, out) || names__find_recorded(m, n, out);
}

void names__note(struct machine *m, struct named *n, struct id id)
{
    n->id = id;
    n->next = m->fresh_named;
    m->fresh_named = n;
    if (id_is_none(id)) {
        settle_fresh(m); /* before the name can be added again */
        marks_remove(&m->names, n->node.hash);
        store_delete(&m->store, STORE_KIND_NAME, n->node.key);
    } else {
        marks_add(&m->names, n->node.hash);
        store_put_key(&m->store, n->record, str_from(id.b, ID_BYTES));
    }
}

void names__forget(struct machine *m, const struct job *j)
{
    struct id id;
    if (j->name.len == 0) {
        return;
    }
    struct named *n = names__key(m, j->queue, j->name);
    if (names__find_recorded(m, n, &id) && id_eq(id, j->id)) {
        names__note(m, n, ID_NONE);
    } else if (id_uuid_is(j->name, j->id)) {
        given__remove(m, j->queue, j->id);
    }
}

/* Always adds a record, even if the name is derived from the id: the id may be from another log,
 * whose entries have the same numbers as entries here. */
bool names__take(struct machine *m, const struct job *j)
{
    struct id id;
    if (j->name.len == 0) {
        return true;
    }
    struct named *n = names__key(m, j->queue, j->name);
    if (names__find(m, j, n, &id)) {
        return false;
    }
    names__note(m, n, j->id);
    return true;
}
