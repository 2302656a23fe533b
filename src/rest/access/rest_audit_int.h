/*
 * The audit log: who changed what, and who was refused (http-api.md 18.3).
 *
 * Entries are gathered and written by commands of their own, one at a time, after the answers they
 * are about; no change waits for them. A reader of the log waits for those that were noted before
 * it. What was done by the leader for another node is noted by the leader alone. What waits is
 * bounded, and so is how many refusals are written in a second, requests for which there is no
 * route among them: those that are left out are counted in the next entry. The same way notes which
 * keys were used.
 */
#pragma once

#include <stdint.h>

#include "engine/engine.h"

struct rest_audit;
struct rest_call;

struct rest_audit *rest_audit__new(struct engine *engine, int64_t retention_ms);
void rest_audit__free(struct rest_audit *a); /* waits for what is under way; NULL is fine */

/* A call ends with this status. */
void rest_audit__note(struct rest_call *c, int status, int64_t took_ns);

/* The key with this hash was used. */
void rest_audit__used(struct rest_audit *a, const uint8_t *hash);
