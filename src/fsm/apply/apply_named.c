/*
 * Names: jobs that their makers have given a name, unique in its queue, and a share of what the
 * queue may hold (scheduler.md 2.3, 10).
 *
 * The names are in the store, and in memory only a mark of each: most names that are looked for are
 * new, and the store is not asked for those. What this entry has put and removed is seen before it
 * is committed through a small map beside it.
 */
#include "base/check.h"
#include "base/limits.h"
#include "core/queue_name.h"
#include "fsm/apply/apply_int.h"

/* A name that this entry has changed; in its memory. */
struct fresh_name {
    struct map_node node;
    struct id id; /* none: removed */
};

/* A name, with its queue, as it is looked for. */
struct key {
    struct str text;
    uint64_t hash;
};

static struct key key_of(struct machine *m, struct str queue, struct str name)
{
    char *key = entry__alloc(m, queue.len + 1 + name.len);
    memcpy(key, queue.ptr, queue.len);
    key[queue.len] = '\0';
    memcpy(key + queue.len + 1, name.ptr, name.len);
    struct str text = str_from(key, queue.len + 1 + name.len);
    return (struct key){.text = text, .hash = map_hash(text)};
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

static bool find(struct machine *m, struct key key, struct id *out)
{
    if (!marks_has(&m->names, key.hash)) {
        return false;
    }
    struct map_node *fresh = map_find_hashed(&m->fresh_names, key.hash, key.text);
    if (fresh != NULL) {
        *out = CONTAINER_OF(fresh, struct fresh_name, node)->id;
        return !id_is_none(*out);
    }
    struct buf value;
    buf_init(&value, ID_BYTES);
    bool found = store_get(&m->store, STORE_KIND_NAME, key.text, &value) && value.len == ID_BYTES;
    if (found) {
        *out = id_from_bytes(value.ptr);
    }
    buf_deinit(&value);
    return found;
}

/* The name of the job, which no job has; or of none any more, which find found. */
static void note(struct machine *m, struct key key, struct id id)
{
    struct map_node *fresh = map_find_hashed(&m->fresh_names, key.hash, key.text);
    struct fresh_name *f = NULL;
    if (fresh != NULL) {
        f = CONTAINER_OF(fresh, struct fresh_name, node);
    } else {
        f = ENTRY_ARRAY(m, struct fresh_name, 1);
        f->node.key = key.text;
        f->node.hash = key.hash;
        map_add_hashed(&m->fresh_names, &f->node);
    }
    f->id = id;
    if (id_is_none(id)) {
        marks_remove(&m->names, key.hash);
        store_delete(&m->store, STORE_KIND_NAME, key.text);
    } else {
        marks_add(&m->names, key.hash);
        store_put(&m->store, STORE_KIND_NAME, key.text, str_from(id.b, ID_BYTES));
    }
}

void apply_named__forget(struct machine *m, const struct job *j)
{
    struct id id;
    if (j->name.len == 0) {
        return;
    }
    struct key key = key_of(m, j->queue, j->name);
    if (find(m, key, &id) && id_eq(id, j->id)) {
        note(m, key, ID_NONE);
    }
}

bool apply_named__take(struct machine *m, const struct job *j)
{
    struct id id;
    if (j->name.len == 0) {
        return true;
    }
    struct key key = key_of(m, j->queue, j->name);
    if (find(m, key, &id)) {
        return false;
    }
    note(m, key, j->id);
    return true;
}

/* What the queue holds of jobs with names that are not over. */
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

/* Is the name the id of a job of another queue, of the same namespace? Two jobs would answer to
 * it. */
static bool is_taken(struct machine *m, const struct job *j)
{
    ATTR_UNINITIALIZED struct job other;
    struct id id;
    enum store_family family;
    return id_parse(j->name, ID_JOB, &id) && jobs__get(m, id, &other, &family) &&
           !str_eq(other.queue, j->queue) &&
           str_eq(queue_name_namespace(other.queue), queue_name_namespace(j->queue));
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
    struct key key = key_of(m, j->queue, j->name);
    if (find(m, key, &id) && jobs__get(m, id, &known, &family)) {
        r->items[0] = (struct result_item){.id = id, .status = RESULT_DUPLICATE};
        if (known.definition != j->definition) {
            entry__refuse(m, r, ERR_CONFLICT, "Job already exists");
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
    note(m, key, j->id);
    r->items[0] = (struct result_item){.id = j->id,
                                       .status = j->state == JOB_SCHEDULED ? RESULT_SCHEDULED
                                                                           : RESULT_PENDING,
                                       .doc_left_out = true};
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
