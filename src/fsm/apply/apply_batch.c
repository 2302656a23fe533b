/*
 * Batch: open a batch that jobs join later, and seal it.
 */
#include "base/limits.h"
#include "fsm/apply/apply_int.h"

void apply_batch_open(struct machine *m, const struct command *c, struct result *r)
{
    const struct command_batch_open *open = &c->batch_open;
    struct store_batch rec = {.callback_queue = open->callback_queue,
                              .callback_payload = open->callback_payload,
                              .owner = open->owner};
    if (!replies__find(m, open->once.key, open->once.hash, r) && batches__have_room(m, &rec, r)) {
        r->id = batches__open(m, ids__new(m), &rec)->id;
        replies__keep(m, open->once.key, open->once.hash, r);
    }
}

void apply_batch_seal(struct machine *m, const struct command *c, struct result *r)
{
    struct batch *b = batches__find(m, c->batch_seal.id);
    if (b != NULL) {
        batches__seal(m, b, r);
        return;
    }
    /* Sealing a finished batch changes nothing and returns the result of the first time. A batch
     * without a record does not exist. */
    if (!batches__callback_job(m, c->batch_seal.id, &r->id)) {
        entry__refuse(m, r, ERR_NOT_FOUND, "batch \"" STR_FMT "\" not found",
                      STR_ARG(entry__id_text(m, c->batch_seal.id, ID_BATCH)));
    }
}

void apply_batch__seal_again(struct machine *m, const struct command *c, struct result *r)
{
    if (c->type == COMMAND_BATCH_SEAL && r->code == ERR_OK && id_is_none(r->id)) {
        (void)batches__callback_job(m, c->batch_seal.id, &r->id);
    }
}
