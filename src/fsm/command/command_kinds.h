/*
 * Command_kinds: the words of commands (command.h), and the versions in which they are written.
 *
 * A command is written in the lowest version that can express it, because some members may be
 * unable to read a higher one.
 */
#pragma once

#include "fsm/command/command.h"

/* Acks are written in version 3 only if they contain something that version 2 cannot express. Flags
 * describe it. */
enum { ACK_PLAIN = 2, ACK_WITH_FLAGS = 3 };
enum { ACK_FLAG_NEXT = 1, ACK_FLAG_ANY_COST = 2, ACK_FLAGS = ACK_FLAG_NEXT | ACK_FLAG_ANY_COST };

/* Records with quotas have version 2, so that members that do not know quotas do not accept
 * them. Changes of records that must be the same as when they were read have version 3. */
enum { ACCESS_PLAIN = 1, ACCESS_WITH_QUOTA = 2, ACCESS_OF_SAME = 3 };

/* Bulk operations of callers that may use only some queues have version 2, for the same reason.
 * Those whose filter is checked again by every step have version 3. */
enum { BULK_WITHOUT_SCOPE = 1, BULK_WITH_SCOPE = 2, BULK_WITH_FIT = 3 };
enum { JOBS_WITHOUT_FIT = 2, JOBS_WITH_FIT = 3 };

/* Claims have version 3 only if the worker reports its version, because some members may be unable
 * to read it, and version 4 only if they must not hold jobs. */
enum { CLAIM_PLAIN = 2, CLAIM_WITH_VERSION = 3, CLAIM_NO_HOLD = 4 };

/* A named_put without a name, which the machine will assign, has version 2, for the same reason. */
enum { PUT_WITH_NAME = 1, PUT_WITHOUT_NAME = COMMAND_PUSH_GIVES_NAME };

/* New batches have version 3 only if they have an owner, for the same reason. */
enum { ENQUEUE_PLAIN = 2, ENQUEUE_WITH_OWNER = 3, BATCH_OPEN_WITH_OWNER = 3 };

/* Commands that can have an idempotency key have version 2 only if they have one. */
enum { ONCE_WITHOUT_KEY = 1, ONCE_WITH_KEY = 2 };

/* The version of the command: the one it was read in or, for a new one, the lowest that can express
 * it. */
uint8_t command_kinds_version(const struct command *c);

/* What of an ack only ACK_WITH_FLAGS can express. */
unsigned command_kinds_ack_flags(const struct command_ack *ack);
