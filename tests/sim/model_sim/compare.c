#include "sim/model_sim/compare.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/check.h"
#include "base/limits.h"
#include "sim/model_sim/compare_int.h"
#include "sim/model_sim/trace.h"

enum { MISSES_SHOWN = 20 };

static void show_entry(const struct compare *c)
{
    (void)fprintf(stderr, "  the entry, at %" PRId64 ":\n", c->model->now.ns);
    for (size_t i = 0; i < c->command_count; i++) {
        (void)fprintf(stderr, "    %zu: ", i);
        trace_command(stderr, &c->commands[i]);
        (void)fputc('\n', stderr);
    }
}

void compare_miss(struct compare *c, const char *fmt, ...)
{
    if (c->mismatches++ >= MISSES_SHOWN) {
        return;
    }
    (void)fprintf(stderr, "model: seed %" PRIu64 ", entry %" PRIu64 ": ", c->seed, c->entry);
    va_list args;
    va_start(args, fmt);
    (void)vfprintf(stderr, fmt, args);
    va_end(args);
    (void)fputc('\n', stderr);
    if (c->mismatches == 1) {
        show_entry(c);
    }
}

const char *compare_name(char *out, const char *kind, struct id id)
{
    char text[ID_TEXT_MAX];
    size_t len = id_format(id, STR(""), text);
    (void)snprintf(out, COMPARE_NAME_MAX, "%s %.*s", kind, (int)len, text);
    return out;
}

static size_t kind_size(enum compare_kind kind)
{
    switch (kind) {
    case COMPARE_STR:
    case COMPARE_IDS:
        return 0;
    case COMPARE_ID:
        return ID_BYTES;
    case COMPARE_BOOL:
    case COMPARE_U8:
        return 1;
    case COMPARE_I32:
    case COMPARE_U32:
        return 4;
    case COMPARE_WALL:
    case COMPARE_I64:
    case COMPARE_U64:
        return 8;
    }
    UNREACHABLE("a kind has a size");
}

/* Format a member as text. */
static void show(char *out, enum compare_kind kind, const void *at)
{
    int64_t number = 0;
    memcpy(&number, at, kind_size(kind) <= sizeof number ? kind_size(kind) : 0);
    if (kind == COMPARE_STR) {
        struct str s;
        memcpy(&s, at, sizeof s);
        (void)snprintf(out, COMPARE_NAME_MAX, "'" STR_FMT "'", STR_ARG(s));
    } else if (kind == COMPARE_IDS) {
        struct str s;
        memcpy(&s, at, sizeof s);
        (void)snprintf(out, COMPARE_NAME_MAX, "%zu ids", s.len / ID_BYTES);
    } else if (kind == COMPARE_ID) {
        struct id id;
        memcpy(&id, at, sizeof id);
        (void)compare_name(out, "id", id);
    } else if (kind == COMPARE_I32) {
        (void)snprintf(out, COMPARE_NAME_MAX, "%" PRId32, (int32_t)number);
    } else {
        (void)snprintf(out, COMPARE_NAME_MAX, "%" PRId64, number);
    }
}

void compare_fields(struct compare *c, const char *what, const struct compare_field *fields,
                    size_t count, const void *want, const void *got)
{
    for (size_t i = 0; i < count; i++) {
        const struct compare_field *f = &fields[i];
        const char *w = (const char *)want + f->offset;
        const char *g = (const char *)got + f->offset;
        bool equal;
        if (f->kind == COMPARE_STR || f->kind == COMPARE_IDS) {
            struct str ws, gs;
            memcpy(&ws, w, sizeof ws);
            memcpy(&gs, g, sizeof gs);
            equal = str_eq(ws, gs);
        } else {
            equal = memcmp(w, g, kind_size(f->kind)) == 0;
        }
        if (!equal) {
            char want_text[COMPARE_NAME_MAX], got_text[COMPARE_NAME_MAX];
            show(want_text, f->kind, w);
            show(got_text, f->kind, g);
            compare_miss(c, "%s: %s: model %s, machine %s", what, f->name, want_text, got_text);
        }
    }
}

static void miss_result(struct compare *c, size_t i, const char *why, const struct result *want,
                        const struct result *got)
{
    compare_miss(c, "command %zu: %s", i, why);
    if (c->mismatches > MISSES_SHOWN) {
        return;
    }
    (void)fprintf(stderr, "  command: ");
    trace_command(stderr, &c->commands[i]);
    (void)fprintf(stderr, "\n  model:   ");
    trace_result(stderr, want);
    (void)fprintf(stderr, "\n  machine: ");
    trace_result(stderr, got);
    (void)fputc('\n', stderr);
}

static bool same_numbers(const struct result *want, const struct result *got)
{
    return want->code == got->code && want->next_code == got->next_code &&
           id_eq(want->id, got->id) && want->affected == got->affected &&
           want->missing == got->missing && want->attempt == got->attempt &&
           want->remaining == got->remaining && want->at.ns == got->at.ns &&
           want->more == got->more && id_eq(want->cursor, got->cursor) &&
           id_eq(want->until, got->until) && want->in_done == got->in_done &&
           want->count == got->count;
}

/* Only two results contain a state: those of fail, and of an action on one job. */
static bool says_state(const struct command *command)
{
    return command->type == COMMAND_FAIL ||
           (command->type == COMMAND_JOBS && command->jobs.count == 1);
}

void compare_result(struct compare *c, size_t i, const struct result *want,
                    const struct result *got)
{
    if (!same_numbers(want, got)) {
        miss_result(c, i, "the answers differ", want, got);
        return;
    }
    if (want->code == ERR_OK && says_state(&c->commands[i]) && want->state != got->state) {
        miss_result(c, i, "the states differ", want, got);
    }
    if (want->code != ERR_OK && got->message.len == 0) {
        miss_result(c, i, "a refusal says why", want, got);
    }
    for (uint32_t k = 0; k < want->count; k++) {
        const struct result_item *w = &want->items[k];
        const struct result_item *g = &got->items[k];
        if (!id_eq(w->id, g->id) || w->status != g->status || w->order != g->order) {
            miss_result(c, i, "the items differ", want, got);
            return;
        }
        if (!str_eq(w->doc, g->doc)) {
            compare_job_document(c, w->id, w->doc, g->doc);
        }
    }
}

static const struct compare_field event_fields[] = {
#define FIELD(kind, member)                                                                        \
    {                                                                                              \
#member, COMPARE_##kind, offsetof(struct store_event, member)                              \
    }
    FIELD(U64, seq),       FIELD(WALL, at),
    FIELD(U32, type),      FIELD(ID, job),
    FIELD(STR, queue),     FIELD(STR, text),
    FIELD(STR, text2),     FIELD(U32, attempt),
    FIELD(U32, remaining), FIELD(WALL, next_attempt_at),
#undef FIELD
};

struct event_walk {
    struct compare *c;
    size_t at;
};

static bool compare_event(void *data, const struct store_event *got)
{
    struct event_walk *walk = data;
    const struct model_list *events = &walk->c->model->events;
    if (walk->at == events->count) {
        compare_miss(walk->c, "event %" PRIu64 ": %s, of which the model knows nothing", got->seq,
                     store_event_word(got->type));
        return false;
    }
    const struct store_event *want = events->at[walk->at++];
    char name[COMPARE_NAME_MAX];
    (void)snprintf(name, sizeof name, "event %" PRIu64 " (model %s, machine %s)", want->seq,
                   store_event_word(want->type), store_event_word(got->type));
    compare_fields(walk->c, name, event_fields, COUNT_OF(event_fields), want, got);
    return true;
}

static void compare_events(struct compare *c)
{
    struct event_walk walk = {.c = c};
    store_event_read(machine_store(c->machine), c->model->next_event - c->model->events.count - 1,
                     compare_event, &walk);
    if (walk.at < c->model->events.count) {
        const struct store_event *missing = c->model->events.at[walk.at];
        compare_miss(c, "event %" PRIu64 " (%s) did not happen", missing->seq,
                     store_event_word(missing->type));
    }
}

static bool contains(const struct id *ids, size_t count, struct id id)
{
    for (size_t i = 0; i < count; i++) {
        if (id_eq(ids[i], id)) {
            return true;
        }
    }
    return false;
}

static bool was_removed(const struct model *m, struct id id)
{
    for (size_t i = 0; i < m->removed.count; i++) {
        const struct model_job *j = m->removed.at[i];
        if (id_eq(j->doc.id, id)) {
            return true;
        }
    }
    return false;
}

/* The machine must report every job that was written or removed, and no other. */
static void compare_changed(struct compare *c, const struct id *changed, size_t count)
{
    const struct model *m = c->model;
    char name[COMPARE_NAME_MAX];
    size_t touched = 0;
    for (size_t i = 0; i < m->jobs.count; i++) {
        const struct model_job *j = model_job_at(m, i);
        if (!j->touched) {
            continue;
        }
        touched++;
        if (!contains(changed, count, j->doc.id)) {
            compare_miss(c, "%s: its change was not told", compare_name(name, "job", j->doc.id));
        }
    }
    for (size_t i = 0; i < count; i++) {
        const struct model_job *j = model_find_job(m, changed[i]);
        bool expected = j != NULL ? j->touched : was_removed(m, changed[i]);
        if (!expected) {
            compare_miss(c, "%s: told to have changed", compare_name(name, "job", changed[i]));
        }
        if (contains(changed, i, changed[i])) {
            compare_miss(c, "%s: told twice", compare_name(name, "job", changed[i]));
        }
    }
    if (touched + m->removed.count < count) {
        compare_miss(c, "%zu jobs changed, %zu were told", touched + m->removed.count, count);
    }
}

static void compare_count(struct compare *c, const char *what, size_t want, size_t got)
{
    if (want != got) {
        compare_miss(c, "%s: model %zu, machine %zu", what, want, got);
    }
}

static void compare_due(struct compare *c)
{
    struct model *m = c->model;
    int64_t want = model_next_tick(m).ns;
    int64_t got = machine_next_tick(c->machine).ns;
    if (want != got) {
        compare_miss(c, "next tick: model %" PRId64 ", machine %" PRId64, want, got);
    }
    for (size_t i = 0; i < m->workers.count; i++) {
        const struct model_worker *w = m->workers.at[i];
        struct str queues[] = {STR("q0"), STR("nobody")};
        struct command_claim claim = {
            .ns = w->ns, .worker_id = w->id, .queues = queues, .queue_count = 1 + i % 2};
        if (model_worker_is_stale(m, &claim) !=
            machine_worker_is_stale(c->machine, &claim, m->now)) {
            compare_miss(c, "worker " STR_FMT ": is stale for one only", STR_ARG(w->id));
        }
    }
    for (size_t i = 0; i < m->queues.count; i++) {
        const struct model_queue *q = m->queues.at[i];
        struct wall want_until, got_until;
        compare_count(c, "claimable jobs", model_claimable_count(m, q->name, m->now),
                      machine_claimable_count(c->machine, q->name, m->now));
        bool want_yes = model_claimable(m, q->name, m->now, &want_until);
        bool got_yes = machine_claimable(c->machine, q->name, m->now, &got_until);
        if (want_yes != got_yes || want_until.ns != got_until.ns) {
            compare_miss(c,
                         "queue " STR_FMT ": claimable: model %d until %" PRId64
                         ", machine %d until %" PRId64,
                         STR_ARG(q->name), want_yes ? 1 : 0, want_until.ns, got_yes ? 1 : 0,
                         got_until.ns);
        }
    }
}

void compare_entry(struct compare *c, const struct id *changed, size_t changed_count)
{
    compare_events(c);
    compare_changed(c, changed, changed_count);
    for (size_t i = 0; i < c->model->jobs.count; i++) {
        if (model_job_at(c->model, i)->touched) {
            compare_job(c, model_job_at(c->model, i));
        }
    }
    compare_records_queues(c);
    compare_due(c);
}

/* Count the keys of a family. */
static size_t keys(struct compare *c, enum store_family family)
{
    size_t count = 0;
    struct kv_iter *it = kv_iter_new(machine_store(c->machine)->kv, NULL, family, STR_EMPTY);
    for (; kv_iter_valid(it); kv_iter_next(it)) {
        count++;
    }
    kv_iter_free(it);
    return count;
}

void compare_all(struct compare *c)
{
    const struct model *m = c->model;
    size_t live = 0, done = 0, rows = 0;
    for (size_t i = 0; i < m->jobs.count; i++) {
        const struct model_job *j = model_job_at(m, i);
        compare_job(c, j);
        compare_job_rows(c, j);
        bool over = job_state_is_terminal(j->doc.state);
        done += over ? 1 : 0;
        live += over ? 0 : 1;
        uint32_t errors =
            j->doc.error_count < LIMIT_JOB_ERRORS ? j->doc.error_count : (uint32_t)LIMIT_JOB_ERRORS;
        rows += errors + j->doc.usage_count + j->doc.iteration_count + (j->has_body ? 1 : 0);
    }
    compare_count(c, "live documents", live, keys(c, STORE_LIVE));
    compare_count(c, "live jobs in memory", live, (size_t)machine_live_count(c->machine));
    compare_count(c, "documents of jobs that are over", done, keys(c, STORE_DONE));
    compare_count(c, "rows and bodies", rows, keys(c, STORE_ROWS));
    compare_records_queues(c);
    compare_records_batches(c);
    compare_records_schedules(c);
    compare_records_workers(c);
    compare_records_webhooks(c);
    compare_records_policies(c);
    compare_records_locks(c);
    compare_records_replies(c);
    compare_records_tallies(c);
    compare_bulk_records(c);
    compare_due(c);
}
