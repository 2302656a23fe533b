/*
 * Batches of the model (http-api.md 6.7, 7.4).
 */
#include "base/buf.h"
#include "base/check.h"
#include "json/json_object.h"
#include "sim/model_sim/model_int.h"

enum { PAYLOAD_BYTES = 1 << 20 };

struct model_batch *model_batch_create(struct model *m, struct str queue, struct str payload,
                                       const struct store_owner *owner, bool sealed)
{
    struct model_batch *b = model_alloc(m, sizeof *b);
    b->id = model_next_id(m);
    b->record = (struct store_batch){
        .callback_queue = model_keep(m, queue),
        .callback_payload = model_keep(m, payload),
        .owner = {.known = owner->known,
                  .ns = model_keep(m, owner->ns),
                  .scope = model_keep(m, owner->scope)},
        .created_at = m->now,
        .sealed = sealed,
    };
    model_list_add(&m->batches, b);
    model_batch_touch(m, b);
    return b;
}

/* An object keeps its keys and gains "batch". Any other payload becomes "callback_payload" next to
 * "batch". */
static struct str callback_payload(struct model *m, const struct model_batch *b)
{
    struct buf summary, payload;
    buf_init(&summary, PAYLOAD_BYTES);
    buf_init(&payload, PAYLOAD_BYTES);
    struct str id = model_id_text(m, b->id, ID_BATCH);
    buf_printf(&summary,
               "{\"batch_id\":\"" STR_FMT "\",\"total\":%llu,\"succeeded\":%llu,\"failed\":%llu}",
               STR_ARG(id), (unsigned long long)b->record.total,
               (unsigned long long)b->record.succeeded, (unsigned long long)b->record.failed);
    struct str given = b->record.callback_payload;
    struct json_object_pair batch = {.key = STR("batch"), .value = buf_str(&summary)};
    if (given.len == 0 || given.ptr[0] == '{') {
        json_object_complete(&payload, given, &batch, 1);
    } else {
        struct json_object_pair both[] = {{.key = STR("callback_payload"), .value = given}, batch};
        json_object_complete(&payload, STR_EMPTY, both, COUNT_OF(both));
    }
    struct str kept = model_keep(m, buf_str(&payload));
    buf_deinit(&summary);
    buf_deinit(&payload);
    return kept;
}

void model_batch_touch(struct model *m, struct model_batch *b)
{
    if (!b->touched) {
        b->touched = true;
        model_list_add(&m->touched_batches, b);
    }
}

void model_batch_finish(struct model *m, struct model_batch *b)
{
    b->record.finished_at = m->now;
    if (b->record.callback_queue.len > 0) {
        struct model_job *j = model_job_create(m, &(struct job){
                                                      .queue = b->record.callback_queue,
                                                      .payload = callback_payload(m, b),
                                                      .priority = JOB_PRIORITY_NORMAL,
                                                      .backoff = JOB_BACKOFF_EXPONENTIAL,
                                                      .max_retries = 3,
                                                      .retry_base_ms = 5000,
                                                      .retry_max_ms = 600000,
                                                  });
        for (const struct model_seal *s = b->seals; s != NULL; s = s->before) {
            s->result->id = j->doc.id;
        }
        if (m->version >= COMMAND_ENTRY_STRICT) {
            b->record.callback_job = j->doc.id;
        }
    }
}

void model_batch_count_end(struct model *m, struct model_job *j, bool succeeded)
{
    struct model_batch *b = model_find_batch(m, j->doc.batch_id);
    if (b == NULL || j->doc.batch_counted) {
        return;
    }
    j->doc.batch_counted = true;
    b->record.pending--;
    b->record.succeeded += succeeded ? 1 : 0;
    b->record.failed += succeeded ? 0 : 1;
    model_batch_touch(m, b);
}

/* Free: a batch that was purged in this entry can still be sealed in it, which has no effect. */
static struct model_batch *purged_now(const struct model *m, struct id id)
{
    for (size_t i = 0; i < m->purged_batches.count; i++) {
        struct model_batch *b = m->purged_batches.at[i];
        if (id_eq(b->id, id)) {
            return b;
        }
    }
    return NULL;
}

void model_batch_open(struct model *m, const struct command_batch_open *c, struct result *out)
{
    out->id = model_batch_create(m, c->callback_queue, c->callback_payload, &c->owner, false)->id;
}

void model_batch_seal(struct model *m, const struct command_batch_seal *c, struct result *out)
{
    struct model_batch *b = model_find_batch(m, c->id);
    if (b == NULL) {
        b = purged_now(m, c->id);
    }
    if (b == NULL) {
        model_refuse(out, ERR_NOT_FOUND);
    } else if (b->record.finished_at.ns != 0) {
        out->id = b->record.callback_job;
    } else {
        struct model_seal *seal = model_alloc(m, sizeof *seal);
        *seal = (struct model_seal){.result = out, .before = b->seals};
        b->record.sealed = true;
        b->seals = seal;
        model_batch_touch(m, b);
    }
}
