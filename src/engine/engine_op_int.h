/*
 * Engine_op: a command on its way, for the files that submit it and make entries of it.
 */
#pragma once

#include "engine/engine_int.h"

void engine_op__count_in(struct engine *e, uint64_t ops, uint64_t bytes); /* as pending */
void engine_op__arrive(struct engine *e, struct engine_op *op); /* start counting it as pending */
void engine_op__leave(struct engine *e, struct engine_op *op);  /* stop counting it */
void engine_op__finish(struct engine *e, struct engine_op *op); /* err or result is set */
/* The same for the ops of an entry: those that go to one mailbox return together, with a single
 * wake-up, when post_replies is called. */
void engine_op__finish_together(struct engine *e, struct engine_op *op);
void engine_op__post_replies(struct engine *e);
/* Fail the op: nothing of it happens or, if a step of it was applied, the rest does not. */
void engine_op__fail(struct engine *e, struct engine_op *op, const struct err *why);
void engine_op__refuse(struct engine *e, struct engine_op *op, enum err_code code);
/* The core has seen the cancellation of an op that it may have finished already. */
void engine_op__return_cancel(struct engine_op *op);
