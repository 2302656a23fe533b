/*
 * Batches, for the files of the machine (batches.c).
 */
#pragma once

#include "fsm/machine_int.h"

struct batch *batches__find(const struct machine *m, struct id id);
/* Before anything is made: is there room for one more like rec? If not, r refuses. */
bool batches__have_room(struct machine *m, const struct store_batch *rec, struct result *r);
/* Like one with the callback and the owner of rec, sealed or not. */
struct batch *batches__open(struct machine *m, const struct store_batch *rec);
void batches__join(struct machine *m, struct batch *b);
/* When that ends the batch, r->id is the callback's job at the end of the entry: in the answers to
 * all seals of the entry. */
void batches__seal(struct machine *m, struct batch *b, struct result *r);
/* A member ended; counted once per member. Marks j, which the caller writes afterwards. */
void batches__count(struct machine *m, struct job *j, bool succeeded);
/* The job that the callback of a finished batch has made; none when there is none, or when it is
 * not known. False when there is no such batch in the store. */
bool batches__callback_job(struct machine *m, struct id id, struct id *out_job);
/* Is there such a batch, finished or not? */
bool batches__is_known(struct machine *m, struct id id);
/* From a backup, unless there is one of this id. */
void batches__restore(struct machine *m, struct id id, const struct store_batch *rec);
void batches__write_dirty(struct machine *m);
void batches__load(struct machine *m);
void batches__close(struct machine *m);
