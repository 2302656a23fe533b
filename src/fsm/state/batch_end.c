/*
 * Batch_end: the end of a batch: its callback job, in the same entry.
 */
#include "base/check.h"
#include "fsm/apply/apply_int.h"
#include "json/json_object.h"
#include "json/json_scan.h"
#include "json/json_write.h"

static void write_results(const struct batch *b, struct str id, struct buf *out)
{
    struct json_write w = json_write_to(out);
    json_write_object(&w);
    json_write_key(&w, STR("batch_id"));
    json_write_str(&w, id);
    json_write_key(&w, STR("total"));
    json_write_u64(&w, b->rec.total);
    json_write_key(&w, STR("succeeded"));
    json_write_u64(&w, b->rec.succeeded);
    json_write_key(&w, STR("failed"));
    json_write_u64(&w, b->rec.failed);
    json_write_end(&w);
    json_write_finish(&w);
}

/* Add the batch's numbers to the callback payload under "batch", unless it has that member. A
 * payload that is not an object is moved to "callback_payload". */
static struct str callback_payload(struct machine *m, const struct batch *b)
{
    struct buf results;
    struct buf out;
    struct str given = b->rec.callback_payload;
    buf_init(&results, 1024);
    buf_init(&out, SIZE_MAX);
    write_results(b, entry__id_text(m, b->id, ID_BATCH), &results);
    struct json_object_pair batch = {.key = STR("batch"), .value = buf_str(&results)};
    struct json_scan scan = json_scan_from(given);
    if (given.len == 0 || json_scan_peek(&scan) == JSON_TYPE_OBJECT) {
        json_object_complete(&out, given, &batch, 1);
    } else {
        struct json_object_pair both[] = {{.key = STR("callback_payload"), .value = given}, batch};
        json_object_override(&out, both, COUNT_OF(both), STR_EMPTY);
    }
    buf_deinit(&results);
    return entry__keep(m, &out);
}

static void finish(struct machine *m, struct batch *b)
{
    CHECK(b->rec.sealed);
    CHECK(b->rec.pending == 0);
    CHECK(b->rec.finished_at.ns == 0);
    b->rec.finished_at = m->now;
    if (b->rec.callback_queue.len > 0) {
        struct job callback = {JOB_DEFAULTS, .queue = b->rec.callback_queue,
                               .payload = callback_payload(m, b)};
        jobs__create(m, &callback);
        b->rec.callback_job = m->entry_version >= COMMAND_ENTRY_STRICT ? callback.id : ID_NONE;
        for (struct batch_seal *s = b->seals; s != NULL; s = s->next) {
            s->result->id = callback.id;
        }
    }
}

void batch_end__write_dirty(struct machine *m)
{
    while (m->dirty_batches != NULL) {
        struct batch *b = m->dirty_batches;
        m->dirty_batches = b->dirty_next;
        CHECK(b->dirty);
        b->dirty = false;
        bool over = b->rec.sealed && b->rec.pending == 0;
        if (over) {
            finish(m, b);
        }
        CHECK(over == (b->rec.finished_at.ns != 0));
        b->seals = NULL;
        buf_clear(&m->store.scratch);
        store_record_encode_batch(&b->rec, &m->store.scratch);
        store_put(&m->store, STORE_KIND_BATCH, b->node.key, buf_str(&m->store.scratch));
        if (over) {
            batches__drop(m, b);
        }
    }
}
