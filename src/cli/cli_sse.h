/*
 * Cli_sse: parses server-sent events from a stream that arrives in pieces of any size.
 */
#pragma once

#include <stdbool.h>

#include "base/buf.h"
#include "base/str.h"

struct cli_sse_event {
    struct str id; /* empty if the frame had none; the same applies to the type */
    struct str type;
    struct str data;
};

struct cli_sse {
    /* set by the caller: receives each event, which is valid during the call only; false: stop */
    bool (*on_event)(void *data, const struct cli_sse_event *event);
    void *data;

    /* Id of the last frame that had one, with or without data: where to continue. Empty: none yet.
     * It is kept across connections. */
    char position[32];

    /* private */
    struct buf line, id, type, text;
    bool any;      /* the frame has a data line */
    bool after_cr; /* skip a line feed after a carriage return */
};

void cli_sse_init(struct cli_sse *sse, bool (*on_event)(void *, const struct cli_sse_event *),
                  void *data);
void cli_sse_deinit(struct cli_sse *sse);

/* A new connection has started: discard an incomplete frame. */
void cli_sse_restart(struct cli_sse *sse);

/* Parse the next piece of the stream. False if the receiver wants to stop. */
bool cli_sse_feed(struct cli_sse *sse, struct str piece);
