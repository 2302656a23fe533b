/*
 * Spaces: the quotas of namespaces (unfinished jobs, bytes of their payloads, queues) and their
 * usage.
 *
 * The usage is not stored: it is computed from the queues and jobs, also at start. A space exists
 * while its namespace has a queue or a quota.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "base/check.h"
#include "core/queue_name.h"
#include "fsm/apply/apply_int.h"
#include "fsm/state/spaces_int.h"

struct space *spaces__find(const struct machine *m, struct str name)
{
    struct map_node *n = map_find(&m->spaces, name);
    return n == NULL ? NULL : CONTAINER_OF(n, struct space, node);
}

static struct space *need(struct machine *m, struct str name)
{
    struct space *s = spaces__find(m, name);
    if (s == NULL) {
        s = calloc(1, sizeof *s + name.len);
        CHECK(s != NULL);
        if (name.len > 0) {
            memcpy(s->name, name.ptr, name.len);
        }
        s->node.key = str_from(s->name, name.len);
        map_add(&m->spaces, &s->node);
    }
    return s;
}

static void drop_if_empty(struct machine *m, struct space *s)
{
    if (s->queues == 0 && !s->has_quota) {
        CHECK(s->jobs == 0);
        CHECK(s->payload_bytes == 0);
        map_remove(&m->spaces, &s->node);
        free(s);
    }
}

void spaces__enter(struct machine *m, struct queue *q)
{
    q->space = need(m, queue_name_namespace(q->node.key));
    q->space->queues++;
}

void spaces__leave(struct machine *m, struct queue *q)
{
    CHECK(q->space != NULL);
    CHECK(q->space->queues > 0);
    q->space->queues--;
    drop_if_empty(m, q->space);
}

void spaces__changed(struct machine *m, struct str name, struct str body)
{
    struct store_namespace rec = {0};
    bool is_default = str_eq(name, STR("default"));
    if (body.len > 0 && !store_access_decode_namespace(body, &rec)) {
        check_fatal("the record of a namespace cannot be read");
    }
    struct space *s = need(m, is_default ? STR_EMPTY : name);
    CHECK(!s->has_quota || m->quota_count > 0);
    m->quota_count -= s->has_quota ? 1 : 0;
    s->quota = rec.quota;
    s->has_quota = store_access_has_quota(&rec.quota);
    m->quota_count += s->has_quota ? 1 : 0;
    drop_if_empty(m, s);
}

/* --- checking quotas --- */

static bool is_over(uint64_t max, uint64_t used, uint64_t asked)
{
    return max > 0 && asked > 0 && (used >= max || asked > max - used);
}

static bool fits(struct machine *m, const struct space *s, struct result *r)
{
    const struct store_quota *quota = &s->quota;
    const struct {
        uint64_t max, used, asked;
        const char *what;
    } rows[] = {
        {quota->max_jobs, s->jobs, s->asked.jobs, "jobs that have not ended"},
        {quota->max_payload_bytes, s->payload_bytes, s->asked.payload_bytes, "bytes of payload"},
        {quota->max_queues, s->queues, s->asked.queues, "queues"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        if (is_over(rows[i].max, rows[i].used, rows[i].asked)) {
            struct str name = s->node.key.len == 0 ? STR("default") : s->node.key;
            entry__refuse(m, r, ERR_QUOTA,
                          "namespace \"" STR_FMT "\" may have %" PRIu64 " %s, has %" PRIu64
                          ", and the request needs %" PRIu64 " more",
                          STR_ARG(name), rows[i].max, rows[i].what, rows[i].used, rows[i].asked);
            return false;
        }
    }
    return true;
}

/* Would the command create the queue? True once for each name: `made` has those already counted. */
static bool is_new_queue(struct machine *m, struct map *made, struct str name)
{
    const struct queue *q = queues__find(m, name);
    if ((q != NULL && !q->gone) || map_find(made, name) != NULL) {
        return false;
    }
    struct map_node *n = ENTRY_ARRAY(m, struct map_node, 1);
    *n = (struct map_node){.key = name};
    map_add(made, n);
    return true;
}

/* List the namespaces with a quota in which the command creates jobs, and add up what it needs in
 * each. */
static struct space *add_up(struct machine *m, const struct command_new *jobs, size_t count)
{
    struct space *first = NULL;
    struct map made;
    map_init(&made);
    for (size_t i = 0; i < count; i++) {
        const struct job *j = &jobs[i].job;
        struct space *s = spaces__find(m, queue_name_namespace(j->queue));
        if (s == NULL || !s->has_quota ||
            (j->unique_key.len > 0 && locks__running(m, j->queue, j->unique_key) != NULL)) {
            continue;
        }
        if (s->asked.jobs == 0) {
            s->asked.next = first;
            first = s;
        }
        s->asked.jobs++;
        s->asked.payload_bytes += j->payload.len;
        s->asked.queues += is_new_queue(m, &made, j->queue) ? 1 : 0;
    }
    map_deinit(&made);
    return first;
}

bool spaces__have_room(struct machine *m, const struct command_new *jobs, size_t count,
                       struct result *r)
{
    bool fit = true;
    struct space *s = m->quota_count == 0 ? NULL : add_up(m, jobs, count);
    while (s != NULL) {
        struct space *next = s->asked.next;
        fit = fit && fits(m, s, r);
        s->asked = (struct space_asked){0};
        s = next;
    }
    return fit;
}

/* --- opening and closing --- */

static bool load_quota(void *data, struct str rest, struct str value)
{
    struct store_access_frame frame;
    if (store_access_decode_frame(value, &frame) && rest.len > 1) {
        spaces__changed(data, str_from_offset(rest, 1), frame.body);
    }
    return true;
}

void spaces__load(struct machine *m)
{
    const char kind = STORE_ACCESS_NAMESPACE;
    struct str prefix = str_from(&kind, 1);
    map_init(&m->spaces);
    store_each_from(&m->store, STORE_KIND_ACCESS, prefix, prefix, load_quota, m);
}

static void free_space(struct map_node *n, void *data)
{
    map_remove(data, n);
    free(CONTAINER_OF(n, struct space, node));
}

void spaces__close(struct machine *m)
{
    map_each(&m->spaces, free_space, &m->spaces);
    map_deinit(&m->spaces);
}
