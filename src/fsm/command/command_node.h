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

/* Add or change a member. Refused if another member has the name or the address, or if the member
 * with this number was removed. */
struct command_node_put {
    struct store_node node; /* state is ignored: new nodes are members, others keep it */
};

struct command_node_state {
    uint64_t id;
    enum store_node_state state; /* a node never returns to an earlier state */
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
