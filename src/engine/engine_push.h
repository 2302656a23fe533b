/*
 * Engine_push: word of jobs that the server itself delivers, for whoever does that on a thread of
 * its own (push/).
 *
 * However many jobs come into line, it hears once, and looks (machine_each_push_line). Of each
 * delivery that is not wanted any more, because the job was cancelled, held or removed, or taken
 * for lost, it hears by its id.
 */
#pragma once

#include "engine/engine.h"

struct engine_push;

struct engine_push_told {
    void (*ready)(void *data);
    void (*gone)(void *data, struct id job);
    void *data;
};

/* One at a time. Told on the loop of reply_to. From any other thread than the core's. */
struct engine_push *engine_push_open(struct engine *e, struct mailbox *reply_to,
                                     const struct engine_push_told *told);
/* From the thread of reply_to. Waits for the core thread; nothing is told after it returned. */
void engine_push_close(struct engine_push *p);
