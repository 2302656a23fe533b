/*
 * Rest_audit: which calls get into the audit log, and its list (http-api.md 18.3).
 *
 * A request that the leader handles for another node is recorded by the leader only. A node that
 * refuses a request itself reports that to the leader, which records it. A request without a
 * matching route counts as refused. A reader of the log waits for everything recorded before its
 * request.
 */
#pragma once

#include <stdint.h>

struct rest_call;

/* Record the end of a call in the audit log, if it belongs there. */
void rest_audit__note(struct rest_call *c, int status, int64_t took_ns);
