/*
 * Cli_relay: what a worker writes to standard error: the output of its programs and its own notes.
 *
 * A reader may stop reading: a pager, a full pipe, a terminal after Ctrl-S. The worker must not
 * wait for it, because without heartbeats the leases of its jobs end. The text is kept and written
 * when the descriptor is writable. While much text is kept, the owner stops reading from its
 * programs, which then wait as they would in a pipeline. If nobody can read any more, the text is
 * dropped.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"

struct cli_relay {
    int fd;
    size_t piece_bytes; /* a writable descriptor accepts this much without waiting */
    struct buf text;
    size_t written; /* bytes of the text */
    bool dead;      /* a write has failed */
};

void cli_relay_init(struct cli_relay *r, int fd, bool is_terminal);
void cli_relay_deinit(struct cli_relay *r);

/* Write the text, or keep what cannot be written now. */
void cli_relay_add(struct cli_relay *r, struct str text);
void cli_relay_note(struct cli_relay *r, const char *fmt, ...) ATTR_PRINTF(2, 3);

/* Write what is kept, as far as possible without waiting. */
void cli_relay_turn(struct cli_relay *r);

/* True if there is kept text: wait for the descriptor to become writable. */
bool cli_relay_any(const struct cli_relay *r);

/* True if the programs should not be read for now. */
bool cli_relay_is_full(const struct cli_relay *r);

/* Wait until everything is written, until the other descriptor is readable, or for this long. */
void cli_relay_finish(struct cli_relay *r, int wake_fd, int64_t patience_ms);
