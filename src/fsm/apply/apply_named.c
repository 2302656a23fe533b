/*
 * Named: enqueue jobs with a name, which is unique in its queue (scheduler.md 2.3, 10), and remove
 * those that ended long enough ago.
 */
#include "base/id_uuid.h"
#include "core/queue_name.h"
#include "fsm/apply/apply_int.h"

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
    return id_parse(j->name, ID_JOB, &id) && job_read__get(m, id, &other, &family) &&
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
    } while (names__find_recorded(m, names__key(m, j->queue, j->name), &other));
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
    struct named *n = names__key(m, j->queue, j->name);
    if (names__find(m, j, n, &id) && job_read__get(m, id, &known, &family)) {
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
    names__note(m, n, j->id);
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
