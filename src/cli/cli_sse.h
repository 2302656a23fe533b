/*
 * Cli_sse: parses server-sent events from a stream that arrives in pieces of any size.
 */
#pragma once

#include <stdbool.h>

#include "base/buf.h"
#include "base/str.h"

struct cli_sse_event {
    struct str id; /* empty when the frame had none; likewise the type */
    struct str type;
    struct str data;
};

struct cli_sse {
    /* set by the caller: gets each event, which is good until it returns; false: enough */
    bool (*on_event)(void *data, const struct cli_sse_event *event);
    void *data;

    /* Of the last frame that had an id, with data or without: where to continue. Empty: nowhere. It
     * stays when the connection is a new one. */
    char position[32];

    /* private */
    struct buf line, id, type, text;
    bool any;      /* the frame has a data line */
    bool after_cr; /* a line feed now belongs to the line before */
};

void cli_sse_init(struct cli_sse *sse, bool (*on_event)(void *, const struct cli_sse_event *),
                  void *data);
void cli_sse_deinit(struct cli_sse *sse);

/* The connection is a new one: forget half of a frame. */
void cli_sse_restart(struct cli_sse *sse);

/* The next piece of the stream. False when the receiver has had enough. */
bool cli_sse_feed(struct cli_sse *sse, struct str piece);
