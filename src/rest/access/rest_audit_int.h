/*
 * Which calls get into the audit log, and the list of it (http-api.md 18.3).
 *
 * What was done by the leader for another node is noted by the leader alone. A node that refuses
 * one itself tells the leader, which writes it down. Requests for which there is no route count as
 * refused. A reader of the log waits for what was noted before it.
 */
#pragma once

#include <stdint.h>

struct rest_call;

/* A call ends with this status. */
void rest_audit__note(struct rest_call *c, int status, int64_t took_ns);
