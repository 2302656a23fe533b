/*
 * Engine_taken: word of jobs that were taken from the worker that had them, for whoever tells
 * workers on a thread of its own (binary/).
 *
 * A job is taken when it is cancelled, held or deleted while it is active, when its lease ends or
 * its time for an iteration does: whatever ends its run without its worker having asked. What the
 * worker itself does (ack, fail) is not told, nor is what becomes of jobs that nobody has. Whether
 * the event log is on does not matter.
 *
 * Told after the answers to the commands of the same entry, so that whoever hears that a job was
 * taken has heard before that it was claimed. It may have been claimed again in that entry: the
 * lease token says which run is over.
 */
#pragma once

#include "engine/engine.h"

struct engine_taken;

/* One at a time. told comes on the loop of reply_to. From any other thread than the core's. */
struct engine_taken *
engine_taken_open(struct engine *e, struct mailbox *reply_to,
                  void (*told)(void *data, struct id job, uint64_t lease_token), void *data);
/* From the thread of reply_to. Waits for the core thread; nothing is told after it returned. */
void engine_taken_close(struct engine_taken *t);
