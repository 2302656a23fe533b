/*
 * Engine_push: notifications about jobs that the server delivers itself, for the thread that does
 * so (push/).
 *
 * However many jobs become pending, there is one notification; the receiver then reads them
 * (machine_each_push_line). A delivery that must be aborted, because its job was cancelled, held,
 * removed or counted as lost, is reported by its id. A delivery of a named job that is counted as
 * lost, on whichever node it was made, is reported for the log.
 */
#pragma once

#include "engine/engine.h"

struct engine_push;

struct engine_push_told {
    void (*ready)(void *data);
    void (*gone)(void *data, struct id job);
    void (*lost)(void *data, struct str name, uint32_t attempt, bool last); /* last: none is left */
    void *data;
};

/* One receiver at a time, called on the loop of reply_to. Any thread except the core thread. */
struct engine_push *engine_push_open(struct engine *e, struct mailbox *reply_to,
                                     const struct engine_push_told *told);
/* Waits for the core thread; nothing is called after this returns. From the thread of reply_to. */
void engine_push_close(struct engine_push *p);
