/*
 * Command_entry: a log entry, which contains many commands (docs/formats/commands.md). A part of
 * command.h.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/id.h"
#include "base/str.h"

/* The version of an entry determines its effect, on every node and forever.
 * docs/formats/commands.md lists all rules. From 3 on, versions come in pairs: the even one is the
 * odd one whose commands can have names (operations.c).
 *
 *  1       applies everything at once
 *  2       stops at LIMIT_STEP_BYTES and LIMIT_TICK_JOBS dependents; later entries do the rest
 *  3, 4    also counted in the history; old events are removed many at a time
 *  5, 6    documents of large jobs are written in two parts (store_docs.h)
 *  7, 8    the history has the age of the oldest pending job. Nodes that read 8 also read claims
 *          with the worker's version
 *  9, 10   the same. Nodes that read 10 also read named_put without a name
 *  11 to 18  the rules listed in docs/formats/commands.md
 */
enum {
    COMMAND_ENTRY_WHOLE = 3,
    COMMAND_ENTRY_WHOLE_NAMED = 4,
    COMMAND_ENTRY_SPLIT = 5,
    COMMAND_ENTRY_SPLIT_NAMED = 6,
    COMMAND_ENTRY_AGED = 7,
    COMMAND_ENTRY_AGED_NAMED = 8,
    COMMAND_ENTRY_PUT = 9,
    COMMAND_ENTRY_PUT_NAMED = 10,
    COMMAND_ENTRY_STRICT = 11,
    COMMAND_ENTRY_STRICT_NAMED = 12,
    COMMAND_ENTRY_EXACT = 13,
    COMMAND_ENTRY_EXACT_NAMED = 14,
    COMMAND_ENTRY_SPARING = 15,
    COMMAND_ENTRY_SPARING_NAMED = 16,
    COMMAND_ENTRY_SOUND = 17,
    COMMAND_ENTRY_SOUND_NAMED = 18,
    /* The version that is written. A rule tests for the version that introduced it, by the names
     * above. */
    COMMAND_ENTRY_VERSION = COMMAND_ENTRY_SOUND,
    COMMAND_ENTRY_NAMED = COMMAND_ENTRY_SOUND_NAMED,
    COMMAND_ENTRY_NEWEST = COMMAND_ENTRY_NAMED, /* that this program can read */
};

/* The version to write if all nodes can read versions up to `read`. */
uint8_t command_entry_version(uint8_t read, bool named);
bool command_entry_has_names(uint8_t version);

/* A log entry: the time and the commands. Padded with zeros to a multiple of 8 bytes. */
struct command_entry {
    uint8_t version;
    struct wall now;
    bool events; /* the event log is on */
    uint32_t count;
    struct str commands; /* count times: u32 length, bytes */
    /* of the command that command_entry_next returned last: */
    struct id name; /* none: the command has no name */
    uint64_t since; /* no entry up to this index contains the name */
};

/* Begin an entry. version must be a result of command_entry_version. */
void command_entry_begin(struct buf *out, uint8_t version, struct wall now, bool events);
void command_entry_add(struct buf *out, struct str command);
/* The same for an entry whose commands can have names. */
void command_entry_add_named(struct buf *out, struct str command, struct id name, uint64_t since);
/* Fill in the count and pad. */
void command_entry_end(struct buf *out, uint32_t count);

/* ERR_CORRUPT if the bytes are not a complete entry. The commands in it are not decoded. */
ATTR_NODISCARD enum err_code command_entry_decode(struct str bytes, struct command_entry *out,
                                                  struct err *err);
/* The next command's bytes; false after the last. */
ATTR_NODISCARD bool command_entry_next(struct command_entry *e, struct str *out);
