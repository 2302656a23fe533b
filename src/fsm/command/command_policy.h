/*
 * Command_policy: the commands that change approval policies (http-api.md 17.4). A part of
 * command.h.
 */
#pragma once

#include "base/arena.h"
#include "base/buf.h"
#include "base/id.h"
#include "base/unpack.h"
#include "store/store_record.h"

struct command;

/* Always creates a new policy. */
struct command_policy_put {
    struct store_policy policy; /* the machine sets created_at */
};

struct command_policy_delete {
    struct id id;
};

/* For command.c. */
void command_policy__encode_put(const struct command *c, struct buf *out);
void command_policy__decode_put(struct unpack *u, struct arena *a, struct command *c);
void command_policy__encode_delete(const struct command *c, struct buf *out);
void command_policy__decode_delete(struct unpack *u, struct arena *a, struct command *c);
