/*
 * Command_check: validates a command before it enters the log.
 *
 * Everything that can be checked without the state is checked here, before the command is
 * replicated: sizes, names, JSON, UTF-8, numbers. The error message names the field. A command that
 * passes cannot make the machine fail; the machine decides whether it has an effect.
 *
 * If the caller states that a payload is valid JSON (payload_is_json), it is not scanned again;
 * that would be the most expensive check of an enqueue. The same is true for a push target
 * (push_is_target).
 */
#pragma once

#include "base/err.h"
#include "fsm/command/command.h"

/* Limits that a server may set. */
struct command_limits {
    size_t payload_bytes; /* of one job; 0: as large as a command may be */
};

ATTR_NODISCARD enum err_code command_check(const struct command *c,
                                           const struct command_limits *limits, struct err *err);
