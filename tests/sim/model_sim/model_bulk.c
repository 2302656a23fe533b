/*
 * Bulk operations of the model (http-api.md 11): their records and their steps.
 */
#include "base/limits.h"
#include "sim/model_sim/model_int.h"

static struct model_bulk *find(const struct model *m, struct id id)
{
    for (size_t i = 0; i < m->bulks.count; i++) {
        struct model_bulk *b = m->bulks.at[i];
        if (id_eq(b->id, id)) {
            return b;
        }
    }
    return NULL;
}

static bool is_old(const struct model *m, const struct model_bulk *b)
{
    return b->record.finished_at.ns != 0 &&
           wall_add_ms(b->record.finished_at, LIMIT_BULK_KEPT_MS).ns < m->now.ns;
}

static void finish(struct model *m, struct model_bulk *b, enum store_bulk_status status)
{
    b->record.status = status;
    b->record.finished_at = m->now;
}

/* Remove the operation that finished first, to make room for another. */
static void forget_first_ended(struct model *m)
{
    struct model_bulk *first = NULL;
    for (size_t i = 0; i < m->bulks.count; i++) {
        struct model_bulk *b = m->bulks.at[i];
        int64_t ended = b->record.finished_at.ns;
        if (ended != 0 && (first == NULL || ended < first->record.finished_at.ns)) {
            first = b;
        }
    }
    model_list_remove(&m->bulks, first);
}

void model_bulk_put(struct model *m, const struct command_bulk_put *c, struct result *out)
{
    size_t open = 0;
    size_t kept = 0;
    for (size_t i = 0; i < m->bulks.count; i++) {
        const struct model_bulk *b = m->bulks.at[i];
        open += b->record.finished_at.ns == 0 ? 1 : 0;
        kept += is_old(m, b) ? 0 : 1;
    }
    bool crowded = kept >= LIMIT_BULK_KEPT;
    if (open >= LIMIT_BULK_OPEN || (crowded && m->version < COMMAND_ENTRY_STRICT)) {
        model_refuse(out, ERR_BULK);
        return;
    }
    for (size_t i = m->bulks.count; i > 0; i--) {
        if (is_old(m, m->bulks.at[i - 1])) {
            model_list_remove(&m->bulks, m->bulks.at[i - 1]);
        }
    }
    if (crowded) {
        forget_first_ended(m);
    }
    struct model_bulk *b = model_alloc(m, sizeof *b);
    b->id = model_next_id(m);
    b->record = (struct store_bulk){
        .status = STORE_BULK_QUEUED,
        .action = (uint8_t)c->action,
        .reset_attempts = c->reset_attempts,
        .priority = c->priority,
        .lists = (uint32_t)(c->count / LIMIT_BULK_CHUNK + (c->count % LIMIT_BULK_CHUNK > 0)),
        .total = c->total,
        .processed = c->errors,
        .errors = c->errors,
        .created_at = m->now,
        .updated_at = m->now,
        .queue = model_keep(m, c->queue),
        .filter = model_keep(m, c->filter),
        .fit = c->fit,
    };
    b->record.fit.queue = model_keep(m, c->fit.queue);
    if (c->filter.len == 0 && c->count == 0) {
        finish(m, b, STORE_BULK_COMPLETED);
        b->record.total = b->record.processed;
    }
    model_list_add(&m->bulks, b);
    out->id = b->id;
}

/* Return the operation with this id. Refuse the command if the operation does not exist or has
 * finished. */
static struct model_bulk *need(const struct model *m, struct id id, struct result *out)
{
    struct model_bulk *b = find(m, id);
    if (b == NULL || b->record.finished_at.ns != 0) {
        model_refuse(out, b == NULL ? ERR_NOT_FOUND : ERR_CONFLICT);
        return NULL;
    }
    return b;
}

bool model_bulk_may_end(const struct model *m, struct id job)
{
    for (size_t i = 0; i < m->bulks.count && m->version >= COMMAND_ENTRY_SPARING; i++) {
        const struct model_bulk *b = m->bulks.at[i];
        if (b->record.finished_at.ns == 0 && b->record.lists == 0 &&
            command_job_action_ends((enum command_job_action)b->record.action) &&
            id_cmp(job, b->id) < 0) {
            return true;
        }
    }
    return false;
}

void model_bulk_step(struct model *m, const struct command_bulk_step *c, struct result *out)
{
    struct model_bulk *b = need(m, c->id, out);
    if (b == NULL) {
        return;
    }
    struct store_bulk *r = &b->record;
    if (c->step != r->steps) {
        model_refuse(out, ERR_CONFLICT);
        return;
    }
    bool part = m->reach != NULL && m->reach->got->done > 0;
    size_t count = part ? m->reach->got->done : c->count;
    model_action(m,
                 &(struct command_jobs){.action = (enum command_job_action)r->action,
                                        .lenient = true,
                                        .reset_attempts = r->reset_attempts,
                                        .priority = r->priority,
                                        .queue = r->queue,
                                        .fit = r->fit,
                                        .until = r->lists == 0 ? b->id : ID_NONE,
                                        .ids = c->ids,
                                        .count = count},
                 out);
    r->status = STORE_BULK_RUNNING;
    r->steps++;
    r->parts += r->lists > 0 && part ? 1 : 0;
    r->processed += count;
    r->affected += out->affected;
    r->errors += out->missing;
    r->updated_at = m->now;
    r->total = r->total < r->processed ? r->processed : r->total;
    r->cursor = r->lists > 0 ? r->cursor : part ? c->ids[count - 1] : c->cursor;
    if (!part && (r->lists > 0 ? r->steps - r->parts == r->lists : c->last)) {
        finish(m, b, STORE_BULK_COMPLETED);
        r->total = r->processed;
    }
    out->id = b->id;
    out->more = r->finished_at.ns == 0;
}

void model_bulk_end(struct model *m, const struct command_bulk_end *c, struct result *out)
{
    struct model_bulk *b = need(m, c->id, out);
    if (b != NULL) {
        b->record.error = model_keep(m, c->error);
        b->record.updated_at = m->now;
        finish(m, b, c->cancelled ? STORE_BULK_CANCELLED : STORE_BULK_FAILED);
        out->id = b->id;
    }
}
