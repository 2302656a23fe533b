/*
 * Schedules: create jobs at recurring times.
 *
 * The machine does not evaluate cron expressions, because time zones are data of the node. The
 * leader computes each next run and includes it in the command. The machine fires a schedule only
 * for the run that it expects, so that each run is fired once, whichever node leads.
 */
#include <stdlib.h>

#include "base/check.h"
#include "fsm/apply/apply_int.h"

static struct schedule *find(const struct machine *m, struct id id)
{
    struct map_node *n = map_find(&m->schedules, str_from(id.b, ID_BYTES));
    return n == NULL ? NULL : CONTAINER_OF(n, struct schedule, node);
}

static struct schedule *find_by_name(const struct machine *m, struct str name)
{
    struct map_node *n = map_find(&m->schedule_names, name);
    return n == NULL ? NULL : CONTAINER_OF(n, struct schedule, name_node);
}

static bool due_before(const struct heap_node *a, const struct heap_node *b)
{
    return id_cmp(CONTAINER_OF(a, const struct schedule, due)->id,
                  CONTAINER_OF(b, const struct schedule, due)->id) < 0;
}

static char *own_texts(struct store_schedule *rec)
{
    struct str *texts[] = {&rec->name,    &rec->queue,      &rec->cron, &rec->timezone,
                           &rec->payload, &rec->unique_key, &rec->tags, &rec->push};
    return entry__own_texts(texts, COUNT_OF(texts));
}

static void set_due(struct machine *m, struct schedule *s)
{
    if (s->rec.enabled && s->rec.next_run.ns != 0) {
        heap_set(&m->schedule_due, &s->due, s->rec.next_run.ns);
    } else {
        heap_remove(&m->schedule_due, &s->due);
    }
    CHECK(heap_node_is_in(&s->due) == (s->rec.enabled && s->rec.next_run.ns != 0));
}

/* Set the record of s. Its texts are copied. */
static void set_record(struct machine *m, struct schedule *s, const struct store_schedule *rec)
{
    char *old = s->texts;
    if (old != NULL) {
        map_remove(&m->schedule_names, &s->name_node);
    }
    s->rec = *rec;
    s->texts = own_texts(&s->rec);
    s->name_node.key = s->rec.name;
    map_add(&m->schedule_names, &s->name_node);
    free(old);
    set_due(m, s);
    CHECK(m->schedules.count == m->schedule_names.count);
}

static struct schedule *schedule_new(struct machine *m, struct id id,
                                     const struct store_schedule *rec)
{
    struct schedule *s = calloc(1, sizeof *s);
    CHECK(s != NULL);
    s->id = id;
    s->due = heap_node_out();
    s->node.key = str_from(s->id.b, ID_BYTES);
    map_add(&m->schedules, &s->node);
    set_record(m, s, rec);
    return s;
}

static void schedule_free(struct machine *m, struct schedule *s)
{
    heap_remove(&m->schedule_due, &s->due);
    map_remove(&m->schedules, &s->node);
    map_remove(&m->schedule_names, &s->name_node);
    CHECK(m->schedules.count == m->schedule_names.count);
    free(s->texts);
    free(s);
}

static void write_record(struct machine *m, const struct schedule *s)
{
    buf_clear(&m->store.scratch);
    store_record_encode_schedule(&s->rec, &m->store.scratch);
    store_put(&m->store, STORE_KIND_SCHEDULE, s->node.key, buf_str(&m->store.scratch));
}

static void refuse_unknown(struct machine *m, struct id id, struct result *r)
{
    entry__refuse(m, r, ERR_NOT_FOUND, "schedule \"" STR_FMT "\" not found",
                  STR_ARG(entry__id_text(m, id, ID_SCHEDULE)));
}

/* Do both have the same times? Then a change keeps the current next run, because that of the
 * command may have been fired since the change was prepared. */
static bool runs_alike(const struct store_schedule *a, const struct store_schedule *b)
{
    return a->enabled == b->enabled && str_eq(a->cron, b->cron) && str_eq(a->timezone, b->timezone);
}

void apply_schedule_put(struct machine *m, const struct command *command, struct result *r)
{
    const struct command_schedule_put *c = &command->schedule_put;
    struct schedule *s = id_is_none(c->id) ? NULL : find(m, c->id);
    const struct schedule *namesake = find_by_name(m, c->schedule.name);
    struct store_schedule rec = c->schedule;
    if (s == NULL && !id_is_none(c->id)) {
        refuse_unknown(m, c->id, r);
        return;
    }
    if (namesake != NULL && namesake != s) {
        entry__refuse(m, r, ERR_CONFLICT, "schedule name '" STR_FMT "' already exists",
                      STR_ARG(c->schedule.name));
        return;
    }
    if (s != NULL && s->rec.updated_at.ns != c->expected_updated_at.ns) {
        entry__refuse(m, r, ERR_CONFLICT,
                      "schedule '" STR_FMT "' was changed in the meantime; try again",
                      STR_ARG(s->rec.name));
        return;
    }
    /* Two changes in one entry must have different times. Otherwise the second one could not be
     * refused for being based on the record from before the first. */
    rec.updated_at = m->now;
    if (s != NULL && rec.updated_at.ns <= s->rec.updated_at.ns) {
        rec.updated_at.ns = s->rec.updated_at.ns + 1;
    }
    rec.created_at = s == NULL ? m->now : s->rec.created_at;
    rec.last_run = s == NULL ? WALL_NONE : s->rec.last_run;
    if (s != NULL && runs_alike(&rec, &s->rec)) {
        rec.next_run = s->rec.next_run;
    }
    if (s == NULL) {
        s = schedule_new(m, ids__new(m), &rec);
    } else {
        set_record(m, s, &rec);
    }
    write_record(m, s);
    r->id = s->id;
}

void apply_schedule_delete(struct machine *m, const struct command *c, struct result *r)
{
    struct id id = c->schedule_delete.id;
    struct schedule *s = find(m, id);
    if (s == NULL) {
        refuse_unknown(m, id, r);
        return;
    }
    store_delete(&m->store, STORE_KIND_SCHEDULE, s->node.key);
    schedule_free(m, s);
}

/* Create the job of one run. If another job holds the unique key, the result has the id of that
 * job. */
static void run(struct machine *m, const struct schedule *s, struct result *r)
{
    struct job j = {JOB_DEFAULTS,
                    .queue = s->rec.queue,
                    .payload = s->rec.payload,
                    .unique_key = s->rec.unique_key,
                    .tags = s->rec.tags,
                    .push = s->rec.push,
                    .schedule_id = s->id};
    j.priority = s->rec.priority;
    j.max_retries = s->rec.max_retries;
    const struct lock *taken =
        j.unique_key.len == 0 ? NULL : locks__running(m, j.queue, j.unique_key);
    if (taken != NULL) {
        promises__make(m, taken->job, j.queue);
        r->id = taken->job;
        return;
    }
    jobs__create(m, &j);
    if (j.unique_key.len > 0) {
        locks__take(m, &j);
    }
    r->id = j.id;
    r->affected = 1;
}

/* Run once per idempotency key. The stored reply has an item if a job was created. */
static void run_once(struct machine *m, const struct command_once *once, const struct schedule *s,
                     struct result *r)
{
    if (replies__find(m, once->key, once->hash, r)) {
        r->affected = r->count;
        r->count = 0;
        return;
    }
    run(m, s, r);
    struct result_item job = {.id = r->id, .status = RESULT_PENDING};
    struct result kept = {.id = r->id, .items = &job, .count = r->affected};
    replies__keep(m, once->key, once->hash, &kept);
}

void apply_schedule_fire(struct machine *m, const struct command *command, struct result *r)
{
    const struct command_schedule_fire *c = &command->schedule_fire;
    struct schedule *s = find(m, c->id);
    if (s == NULL) {
        refuse_unknown(m, c->id, r);
        return;
    }
    if (c->manual) {
        run_once(m, &c->once, s, r);
        return;
    }
    if (!s->rec.enabled || s->rec.next_run.ns != c->expected_next.ns) {
        return; /* the run was already fired, or the schedule was changed */
    }
    run(m, s, r);
    s->rec.last_run = s->rec.next_run;
    s->rec.next_run = c->next;
    set_due(m, s);
    write_record(m, s);
}

static struct machine_due_schedule describe(const struct heap_node *n)
{
    const struct schedule *s = CONTAINER_OF(n, const struct schedule, due);
    return (struct machine_due_schedule){
        .id = s->id, .next_run = s->rec.next_run, .cron = s->rec.cron, .timezone = s->rec.timezone};
}

bool apply_schedule__first(const struct machine *m, struct machine_due_schedule *out)
{
    const struct heap_node *first = heap_first(&m->schedule_due);
    if (first == NULL) {
        return false;
    }
    *out = describe(first);
    return true;
}

static int compare_due(const void *a, const void *b)
{
    const struct machine_due_schedule *x = a;
    const struct machine_due_schedule *y = b;
    int by_time = (x->next_run.ns > y->next_run.ns) - (x->next_run.ns < y->next_run.ns);
    return by_time != 0 ? by_time : id_cmp(x->id, y->id);
}

uint32_t apply_schedule__due(const struct machine *m, struct wall now,
                             struct machine_due_schedule *out, uint32_t max)
{
    struct heap_node **nodes = malloc(max * sizeof(struct heap_node *));
    CHECK(nodes != NULL);
    uint32_t count = heap_until(&m->schedule_due, now.ns, nodes, max);
    for (uint32_t i = 0; i < count; i++) {
        out[i] = describe(nodes[i]);
    }
    free(nodes);
    if (count > 1) {
        qsort(out, count, sizeof *out, compare_due);
    }
    return count;
}

bool apply_schedule__restore(struct machine *m, struct id id, const struct store_schedule *rec)
{
    if (find(m, id) != NULL) {
        return true;
    }
    if (find_by_name(m, rec->name) != NULL) {
        return false;
    }
    write_record(m, schedule_new(m, id, rec));
    return true;
}

static void load_schedule(void *data, struct str rest, struct str value)
{
    struct machine *m = data;
    struct store_schedule rec;
    if (rest.len != ID_BYTES || !store_record_decode_schedule(value, &rec)) {
        check_fatal("the record of a schedule cannot be read");
    }
    (void)schedule_new(m, id_from_bytes(rest.ptr), &rec);
}

void apply_schedule__load(struct machine *m)
{
    heap_init(&m->schedule_due, due_before);
    store_each(&m->store, STORE_KIND_SCHEDULE, load_schedule, m);
}

static void free_each(struct map_node *n, void *data)
{
    schedule_free(data, CONTAINER_OF(n, struct schedule, node));
}

void apply_schedule__close(struct machine *m)
{
    map_each(&m->schedules, free_each, m);
    heap_deinit(&m->schedule_due);
    map_deinit(&m->schedules);
    map_deinit(&m->schedule_names);
}
