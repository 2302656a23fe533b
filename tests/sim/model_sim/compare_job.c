/*
 * Comparison of documents and rows of jobs.
 */
#include <inttypes.h>
#include <stdio.h>

#include "base/buf.h"
#include "sim/model_sim/compare_int.h"
#include "store/store_docs.h"
#include "store/store_job.h"

enum { DOC_BYTES = 1 << 20 };

/* clang-format off */
#define FIELD(kind, member) {#member, COMPARE_##kind, offsetof(struct job, member)}
static const struct compare_field job_fields[] = {
    FIELD(ID, id), FIELD(STR, queue), FIELD(STR, payload), FIELD(U32, state), FIELD(U8, priority),
    FIELD(U32, backoff), FIELD(U32, attempt), FIELD(U32, max_retries), FIELD(I64, retry_base_ms),
    FIELD(I64, retry_max_ms), FIELD(U64, order), FIELD(U64, lease_token), FIELD(U64, version),
    FIELD(U32, ended), FIELD(WALL, fail_ended_at),
    FIELD(WALL, created_at), FIELD(WALL, scheduled_at), FIELD(WALL, expire_at),
    FIELD(WALL, started_at), FIELD(WALL, completed_at), FIELD(WALL, failed_at),
    FIELD(WALL, cancelled_at), FIELD(WALL, lease_expires_at), FIELD(I64, unique_period_s),
    FIELD(STR, unique_key), FIELD(ID, batch_id), FIELD(BOOL, batch_counted), FIELD(STR, worker_id),
    FIELD(STR, hostname), FIELD(STR, tags), FIELD(STR, progress), FIELD(STR, checkpoint),
    FIELD(STR, result), FIELD(STR, parent_id), FIELD(STR, chain_id), FIELD(I32, chain_step),
    FIELD(BOOL, has_chain_step), FIELD(STR, chain_config), FIELD(STR, hold_reason),
    FIELD(ID, schedule_id), FIELD(ID, joined), FIELD(ID, waits_since), FIELD(BOOL, is_agent),
    FIELD(I64, agent.max_iterations),
    FIELD(I64, agent.max_cost_nusd), FIELD(I64, agent.timeout_ms), FIELD(STR, agent.timeout),
    FIELD(I64, agent.iteration), FIELD(I64, agent.total_cost_nusd), FIELD(IDS, waits_for),
    FIELD(U32, error_count), FIELD(U32, iteration_count), FIELD(U32, usage_count),
    FIELD(U32, usage_summed), FIELD(I64, usage_nusd),
};
#undef FIELD

#define FIELD(kind, member) {#member, COMPARE_##kind, offsetof(struct store_error, member)}
static const struct compare_field error_fields[] = {
    FIELD(U64, row), FIELD(U32, attempt), FIELD(WALL, created_at), FIELD(STR, error),
    FIELD(STR, backtrace),
};
#undef FIELD

#define FIELD(kind, member) {#member, COMPARE_##kind, offsetof(struct store_usage, member)}
static const struct compare_field usage_fields[] = {
    FIELD(U64, row), FIELD(U32, attempt), FIELD(U32, phase), FIELD(WALL, created_at),
    FIELD(I64, tokens.input), FIELD(I64, tokens.output), FIELD(I64, tokens.cache_creation),
    FIELD(I64, tokens.cache_read), FIELD(I64, tokens.cost_nusd), FIELD(STR, tokens.model),
    FIELD(STR, tokens.provider),
};
#undef FIELD

#define FIELD(kind, member) {#member, COMPARE_##kind, offsetof(struct store_iteration, member)}
static const struct compare_field iteration_fields[] = {
    FIELD(U64, row), FIELD(I64, iteration), FIELD(U32, status), FIELD(WALL, created_at),
    FIELD(STR, checkpoint), FIELD(STR, hold_reason), FIELD(STR, result),
    FIELD(I64, tokens.input), FIELD(I64, tokens.output), FIELD(I64, tokens.cache_creation),
    FIELD(I64, tokens.cache_read), FIELD(I64, tokens.cost_nusd), FIELD(STR, tokens.model),
    FIELD(STR, tokens.provider),
};
#undef FIELD
/* clang-format on */

static void compare_decoded(struct compare *c, const struct job *want, struct str doc)
{
    char name[COMPARE_NAME_MAX];
    (void)compare_name(name, "job", want->id);
    struct job got;
    struct err err;
    if (store_job_decode(want->id, doc, &got, &err) != ERR_OK) {
        compare_miss(c, "%s: %s", name, err.msg);
        return;
    }
    compare_fields(c, name, job_fields, COUNT_OF(job_fields), want, &got);
}

/* Is got a document in two parts with the same content as want? */
static bool is_in_two_parts(struct id id, struct str want, struct str got)
{
    struct store_job_body body;
    struct job j;
    struct err err;
    struct buf whole;
    if (!store_job_find_body(got, &body) || store_job_decode(id, got, &j, &err) != ERR_OK) {
        return false;
    }
    buf_init(&whole, DOC_BYTES);
    store_job_encode(&j, &whole);
    bool same = str_eq(buf_str(&whole), want);
    buf_deinit(&whole);
    return same;
}

void compare_job_document(struct compare *c, struct id id, struct str want, struct str got)
{
    struct job expected;
    struct err err;
    if (is_in_two_parts(id, want, got)) {
        return;
    }
    if (store_job_decode(id, want, &expected, &err) != ERR_OK) {
        compare_miss(c, "the model's document: %s", err.msg);
        return;
    }
    unsigned before = c->mismatches;
    compare_decoded(c, &expected, got);
    if (c->mismatches == before) {
        compare_miss(c, "a claimed document has other bytes, though all members are equal");
    }
}

void compare_job(struct compare *c, const struct model_job *want)
{
    struct buf doc;
    buf_init(&doc, DOC_BYTES);
    if (store_docs_read(machine_store(c->machine), want->doc.id, &doc)) {
        compare_decoded(c, &want->doc, buf_str(&doc));
    } else {
        char name[COMPARE_NAME_MAX];
        compare_miss(c, "%s: has no document", compare_name(name, "job", want->doc.id));
    }
    buf_deinit(&doc);
}

/* A walk over the machine's rows and the model's rows in parallel. */
struct rows_walk {
    struct compare *c;
    const char *name;
    const struct model_error *error;
    const struct model_usage *usage;
    const struct model_iteration *iteration;
};

static void compare_error(void *data, const struct store_error *got)
{
    struct rows_walk *w = data;
    if (w->error == NULL) {
        compare_miss(w->c, "%s: has error %" PRIu64 " too many", w->name, got->row);
        return;
    }
    compare_fields(w->c, w->name, error_fields, COUNT_OF(error_fields), &w->error->row, got);
    w->error = w->error->next;
}

static void compare_usage(void *data, const struct store_usage *got)
{
    struct rows_walk *w = data;
    if (w->usage == NULL) {
        compare_miss(w->c, "%s: has usage %" PRIu64 " too many", w->name, got->row);
        return;
    }
    compare_fields(w->c, w->name, usage_fields, COUNT_OF(usage_fields), &w->usage->row, got);
    w->usage = w->usage->next;
}

static void compare_iteration(void *data, const struct store_iteration *got)
{
    struct rows_walk *w = data;
    if (w->iteration == NULL) {
        compare_miss(w->c, "%s: has iteration %" PRIu64 " too many", w->name, got->row);
        return;
    }
    compare_fields(w->c, w->name, iteration_fields, COUNT_OF(iteration_fields), &w->iteration->row,
                   got);
    w->iteration = w->iteration->next;
}

void compare_job_rows(struct compare *c, const struct model_job *want)
{
    if (want->errors == NULL && want->usages == NULL && want->iterations == NULL) {
        return; /* extra rows change the count of all rows, which is compared */
    }
    char name[COMPARE_NAME_MAX];
    struct rows_walk w = {
        .c = c,
        .name = compare_name(name, "rows of job", want->doc.id),
        .error = want->errors,
        .usage = want->usages,
        .iteration = want->iterations,
    };
    struct store *s = machine_store(c->machine);
    store_rows_each_error(s, want->doc.id, compare_error, &w);
    store_rows_each_usage(s, want->doc.id, compare_usage, &w);
    store_rows_each_iteration(s, want->doc.id, compare_iteration, &w);
    if (w.error != NULL || w.usage != NULL || w.iteration != NULL) {
        compare_miss(c, "%s: some are missing", name);
    }
}
