/*
 * Audit: writes the audit log: changes and refused requests, from all protocols (http-api.md 18.3).
 *
 * Entries are collected and written with separate commands, one at a time, after the responses they
 * describe; no change waits for them. The number of waiting entries and the number of refusals
 * written per second are limited. Omitted refusals, and entries that could not be written, are
 * counted in the next entry. The last use of keys is recorded in the same way.
 *
 * Any thread may call this.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "auth/auth.h"
#include "base/buf.h"
#include "engine/engine.h"
#include "loop/mailbox.h"
#include "store/store_access.h"

struct audit;

struct audit *audit_new(struct engine *engine, int64_t retention_ms);
void audit_free(struct audit *a); /* waits for pending writes; NULL is allowed */

/* Add an entry. Only the leader can: on other nodes, it is counted as omitted. refused: the request
 * was refused, so the rate limit applies. */
void audit_note(struct audit *a, const struct store_audit *rec, bool refused);

/* May this node, which does not lead, report a refusal to the leader? False if there were too many:
 * then it is counted as omitted. The report contains *left_out, the number of entries omitted
 * before. If it cannot be sent, the caller passes *left_out + 1 to audit_left_out. */
bool audit_may_tell(struct audit *a, uint32_t *left_out);
void audit_left_out(struct audit *a, uint32_t count);

/* The key with this hash was used. */
void audit_used(struct audit *a, const uint8_t hash[AUTH_HASH_BYTES]);

/* The caller's name in the audit log. The text may be in room. */
struct str audit_principal(struct engine *e, const struct auth_caller *who, struct buf *room);

/* A reader of the audit log. Its message arrives when all entries added before it are settled:
 * written, or lost. */
struct audit_reader {
    struct msg msg;          /* deliver is set by the caller */
    struct mailbox *mailbox; /* where to send msg; set by the caller */
    struct audit_reader *next;
    uint64_t until; /* waits until this many entries are settled */
};

/* False: there is nothing to wait for, and no message will arrive. */
bool audit_wait(struct audit *a, struct audit_reader *r);
/* Stop waiting. False: the message is on its way. */
bool audit_wait_end(struct audit *a, struct audit_reader *r);
