/*
 * Batch: open one that members join later, and seal it.
 */
#include "base/limits.h"
#include "fsm/apply/apply_int.h"

void apply_batch_open(struct machine *m, const struct command *c, struct result *r)
{
    const struct command_batch_open *open = &c->batch_open;
    struct store_batch rec = {.callback_queue = open->callback_queue,
                              .callback_payload = open->callback_payload,
                              .owner = open->owner};
    if (!replies__find(m, open->once.key, open->once.hash, r) &&
        replies__have_room(m, open->once.key, 0, r) && batches__have_room(m, &rec, r)) {
        r->id = batches__open(m, &rec)->id;
        replies__keep(m, open->once.key, open->once.hash, r);
    }
}

void apply_batch_seal(struct machine *m, const struct command *c, struct result *r)
{
    struct batch *b = batches__find(m, c->batch_seal.id);
    struct buf record;
    if (b != NULL) {
        batches__seal(m, b, r);
        return;
    }
    /* Sealing one that is finished changes nothing; one that never was is not found. */
    buf_init(&record, SIZE_MAX);
    if (!store_get(&m->store, STORE_KIND_BATCH, str_from(c->batch_seal.id.b, ID_BYTES), &record)) {
        entry__refuse(m, r, ERR_NOT_FOUND, "batch \"" STR_FMT "\" not found",
                      STR_ARG(entry__id_text(m, c->batch_seal.id, ID_BATCH)));
    }
    buf_deinit(&record);
}
