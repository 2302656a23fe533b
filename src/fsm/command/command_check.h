/*
 * Command_check: is a command one that may go into the log?
 *
 * Everything that can be judged without the state is judged here, before the command is replicated:
 * sizes, names, JSON, UTF-8, numbers. The message names the field. What passes cannot make the
 * machine fail; whether it changes anything is the machine's answer.
 *
 * A payload whose maker says that it is JSON (payload_is_json) is not read once more: on the way of
 * one enqueue that would be the most expensive check of all. The same goes for a push target
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
