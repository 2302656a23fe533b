/*
 * Engine_taken: notifications about jobs taken from their workers, for the thread that informs the
 * workers (binary/).
 *
 * A job is taken when its run ends without a request from its worker: when it is cancelled, held or
 * deleted while active, or when its lease or the time-out of its iteration ends. Acks and fails of
 * the worker are not reported, and neither are changes of jobs without a worker. This does not
 * depend on the event log.
 *
 * A job is reported after the answers to the commands of the same entry, so a receiver knows of
 * the claim before it gets the report. The job may have been claimed again in that
 * entry: the lease token tells which run ended.
 */
#pragma once

#include "engine/engine.h"

struct engine_taken;

/* One receiver at a time, called on the loop of reply_to. Any thread except the core thread. */
struct engine_taken *
engine_taken_open(struct engine *e, struct mailbox *reply_to,
                  void (*told)(void *data, struct id job, uint64_t lease_token), void *data);
/* Waits for the core thread; nothing is called after this returns. From the thread of reply_to. */
void engine_taken_close(struct engine_taken *t);
