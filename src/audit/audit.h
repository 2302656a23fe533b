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
void audit_free(struct audit *a); /* waits for what is under way; NULL is fine */

/* Write an entry down. Only the leader can: elsewhere it is counted as left out. */
void audit_note(struct audit *a, const struct store_audit *rec, bool refused);

/* A node that does not lead tells the leader of a refusal. False: not of this one, there were too
 * many. The caller passes on how many were left out before, or gives them back when it could not.
 */
bool audit_may_tell(struct audit *a, uint32_t *left_out);
void audit_left_out(struct audit *a, uint32_t count);

/* The key with this hash was used. */
void audit_used(struct audit *a, const uint8_t hash[AUTH_HASH_BYTES]);

/* What the log calls somebody; the text may be in room. */
struct str audit_principal(struct engine *e, const struct auth_caller *who, struct buf *room);

/* A reader that waits for what was noted before it: its message arrives when all of that is
 * written. */
struct audit_reader {
    struct msg msg;          /* the caller sets deliver */
    struct mailbox *mailbox; /* and where to */
    struct audit_reader *next;
    uint64_t until; /* so many entries */
};

/* False: there is nothing to wait for, and no message will come. */
bool audit_wait(struct audit *a, struct audit_reader *r);
/* Wait no longer. False: the message is under way. */
bool audit_wait_end(struct audit *a, struct audit_reader *r);
