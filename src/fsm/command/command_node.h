/*
 * Command_node: the commands that change the records of the cluster's members. A part of command.h.
 */
#pragma once

#include "base/arena.h"
#include "base/attr.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/unpack.h"
#include "store/store_node.h"

struct command;

/* Make a member known, or change what is known of it. Refused when the name or the address is
 * another member's, and for a number that was removed. */
struct command_node_put {
    struct store_node node; /* a new one is a member; the state of one that is there stays */
};

struct command_node_state {
    uint64_t id;
    enum store_node_state state; /* never back to an earlier one */
};

/* For command.c. */
struct command_limits;
ATTR_NODISCARD enum err_code command_node__check_put(const struct command *c,
                                                     const struct command_limits *limits,
                                                     struct err *err);
void command_node__encode_put(const struct command *c, struct buf *out);
void command_node__decode_put(struct unpack *u, struct arena *a, struct command *c);
void command_node__encode_state(const struct command *c, struct buf *out);
void command_node__decode_state(struct unpack *u, struct arena *a, struct command *c);
