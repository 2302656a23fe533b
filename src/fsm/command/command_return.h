/*
 * Command_return: returns jobs that were claimed for a worker that disconnected before it received
 * them. A part of command.h.
 */
#pragma once

#include "base/arena.h"
#include "base/buf.h"
#include "base/id.h"
#include "base/unpack.h"

struct command;

struct command_return_item {
    struct id id;
    uint64_t lease_token; /* of the claim that is returned */
    uint64_t order;       /* the job's place in line before that claim */
};

struct command_return {
    struct command_return_item *items;
    size_t count;
};

/* For command.c. */
void command_return__encode(const struct command *c, struct buf *out);
void command_return__decode(struct unpack *u, struct arena *a, struct command *c);
