/*
 * Names: jobs with a name, which is unique in its queue, and their share of the queue's capacity
 * (scheduler.md 2.3, 10).
 *
 * Names that clients chose are in the store. In memory, each has only a mark: most names that are
 * looked up are new and need no access to the store. Names that this entry has added or removed are
 * kept in a separate table, because they are not committed yet.
 *
 * A job that was sent without a name has the name derived from its id (base/id_uuid.h), and is
 * found by converting the name back. It is counted with the others of its entry (given.c), and has
 * neither a record nor a mark.
 */
#include "base/check.h"
#include "base/id_uuid.h"
#include "base/limits.h"
#include "core/queue_name.h"
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

static struct named *name_of(struct machine *m, struct str queue, struct str name)
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

void apply_named__load(struct machine *m)
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

static bool find_recorded(struct machine *m, const struct named *n, struct id *out)
{
    return marks_has(&m->names, n->node.hash) && find_marked(m, n, out);
}

/* Find the job of a name that the machine assigned. A UUID that was created by a client hardly ever
 * converts to an id with a time in the past. */
static bool find_given(struct machine *m, struct str queue, struct str name, struct id *out)
{
    ATTR_UNINITIALIZED struct job j;
    return id_uuid_parse(name, out) && id_ms(*out) <= m->now.ns / NS_PER_MS &&
           given__may_have(m, queue, *out) && jobs__glance(m, *out, &j) && str_eq(j.queue, queue) &&
           str_eq(j.name, name);
}

static bool find(struct machine *m, const struct job *j, const struct named *n, struct id *out)
{
    return find_given(m, j->queue, j->name, out) || find_recorded(m, n, out);
}

/* Record that the job now has the name, which was free; or, with ID_NONE, that the name is free. In
 * that case, find must have found it before. */
static void note(struct machine *m, struct named *n, struct id id)
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

void apply_named__forget(struct machine *m, const struct job *j)
{
    struct id id;
    if (j->name.len == 0) {
        return;
    }
    struct named *n = name_of(m, j->queue, j->name);
    if (find_recorded(m, n, &id) && id_eq(id, j->id)) {
        note(m, n, ID_NONE);
    } else if (id_uuid_is(j->name, j->id)) {
        given__remove(m, j->queue, j->id);
    }
}

/* Always adds a record, even if the name is derived from the id: the id may be from another log,
 * whose entries have the same numbers as entries here. */
bool apply_named__take(struct machine *m, const struct job *j)
{
    struct id id;
    if (j->name.len == 0) {
        return true;
    }
    struct named *n = name_of(m, j->queue, j->name);
    if (find(m, j, n, &id)) {
        return false;
    }
    note(m, n, j->id);
    return true;
}

/* Do the queue's unfinished named jobs leave room for another one? If not, sets *item. */
static bool has_room(struct machine *m, const struct command_named_put *p, struct result_item *item)
{
    const struct queue *q = queues__find(m, p->job->job.queue);
    uint64_t bytes = q == NULL ? 0 : q->named_bytes;
    uint64_t count = q == NULL ? 0 : q->named_count;
    if (bytes + p->job->job.counted_bytes > p->bytes_max) {
        *item = (struct result_item){.status = RESULT_NO_BYTES, .order = bytes};
        return false;
    }
    if (count >= p->count_max) {
        *item = (struct result_item){.status = RESULT_NO_PLACE, .order = count};
        return false;
    }
    return true;
}

/* Is the name the id of a job in another queue of the namespace? Then the name would match two
 * jobs. */
static bool is_taken(struct machine *m, const struct job *j)
{
    ATTR_UNINITIALIZED struct job other;
    struct id id;
    enum store_family family;
    return id_parse(j->name, ID_JOB, &id) && jobs__get(m, id, &other, &family) &&
           !str_eq(other.queue, j->queue) &&
           str_eq(queue_name_namespace(other.queue), queue_name_namespace(j->queue));
}

/* Set the id of j and the name derived from it. An id whose name is in use by a client is
 * skipped. */
static bool give_name(struct machine *m, struct job *j)
{
    char *name = entry__alloc(m, ID_UUID_LEN);
    struct id other;
    j->name = str_from(name, ID_UUID_LEN);
    do {
        j->id = ids__new(m);
        if (!id_uuid_put(j->id, name)) {
            return false;
        }
    } while (find_recorded(m, name_of(m, j->queue, j->name), &other));
    return true;
}

static enum result_status status_of(const struct job *j)
{
    return j->state == JOB_SCHEDULED ? RESULT_SCHEDULED : RESULT_PENDING;
}

/* Create a job that was sent without a name. */
static void put_new(struct machine *m, const struct command_named_put *p, struct result *r)
{
    struct job *j = &p->job->job;
    if (!has_room(m, p, &r->items[0]) || !spaces__have_room(m, p->job, 1, r)) {
        return;
    }
    if (!give_name(m, j)) {
        entry__refuse(m, r, ERR_OVERLOADED, "too many jobs at once: try again");
        return;
    }
    jobs__create_as(m, j);
    given__add(m, j->queue, j->id);
    r->items[0] = (struct result_item){.id = j->id, .status = status_of(j)};
}

void apply_named_put(struct machine *m, const struct command *c, struct result *r)
{
    const struct command_named_put *p = &c->named_put;
    struct job *j = &p->job->job;
    ATTR_UNINITIALIZED struct job known;
    struct id id;
    enum store_family family;
    r->items = ENTRY_ARRAY(m, struct result_item, 1);
    r->count = 1;
    if (m->version >= COMMAND_PUSH_GIVES_NAME) {
        put_new(m, p, r);
        return;
    }
    struct named *n = name_of(m, j->queue, j->name);
    if (find(m, j, n, &id) && jobs__get(m, id, &known, &family)) {
        r->items[0] = (struct result_item){.id = id, .status = RESULT_DUPLICATE};
        if (known.definition != j->definition) {
            entry__refuse(m, r, ERR_CONFLICT, "Job already exists");
        } else {
            promises__make(m, id, j->queue);
        }
        return;
    }
    if (is_taken(m, j)) {
        entry__refuse(m, r, ERR_CONFLICT, "Job already exists");
        return;
    }
    if (!has_room(m, p, &r->items[0]) || !spaces__have_room(m, p->job, 1, r)) {
        return;
    }
    jobs__create(m, j);
    note(m, n, j->id);
    r->items[0] = (struct result_item){.id = j->id, .status = status_of(j), .doc_left_out = true};
}

void apply_named_purge(struct machine *m, const struct command *c, struct result *r)
{
    struct wall before = wall_add_ms(m->now, -c->named_purge.retention_ms);
    if (before.ns < 0) {
        return;
    }
    struct id until = id_make(before, 0, 0);
    r->cursor = apply_purge__jobs(m, c->named_purge.cursor, before, until, true, r);
    r->until = until;
    r->more = id_cmp(r->cursor, until) < 0;
}
