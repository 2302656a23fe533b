/*
 * Batches, for the files of the machine (batches.c, batch_end.c).
 */
#pragma once

#include "fsm/machine_int.h"

struct batch *batches__find(const struct machine *m, struct id id);
/* Is there room for one more batch like rec? If not, refuse. Call this before changing anything. */
bool batches__have_room(struct machine *m, const struct store_batch *rec, struct result *r);
/* Open a batch with a new id and the callback and the owner of rec, sealed or not. */
struct batch *batches__open(struct machine *m, struct id id, const struct store_batch *rec);
void batches__join(struct machine *m, struct batch *b);
/* If this ends the batch, r->id becomes the id of the callback job at the end of the entry. So do
 * the results of all other seals of the batch in this entry. */
void batches__seal(struct machine *m, struct batch *b, struct result *r);
/* Count the end of a job of a batch, once. Marks j as counted; the caller writes j afterwards. */
void batches__count(struct machine *m, struct job *j, bool succeeded);
/* The callback job of a finished batch; none if there is none or it is unknown. False if the batch
 * is not stored. */
bool batches__callback_job(struct machine *m, struct id id, struct id *out_job);
/* Does the batch exist, finished or not? */
bool batches__is_known(struct machine *m, struct id id);
/* Restore from a backup, unless the id exists. */
void batches__restore(struct machine *m, struct id id, const struct store_batch *rec);
void batches__drop(struct machine *m, struct batch *b); /* from memory */
void batches__load(struct machine *m);
void batches__close(struct machine *m);

/* At the end of an entry: finish the batches that have ended, and write those that changed. */
void batch_end__write_dirty(struct machine *m);
