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

/* The version of an entry says by which bounds it is applied: those decide what it does, so they
 * are for ever, as the commands are. 1: as much as is asked; 2: LIMIT_STEP_BYTES and
 * LIMIT_TICK_JOBS dependents, and what does not fit goes on in later entries; 3: it is counted in
 * the history, and old events go many at once; 4: the same, and commands may have names
 * (operations.c); 5 and 6: as 3 and 4, and the documents of large jobs are written in two parts
 * (store_docs.h); 7 and 8: as 5 and 6, and the history has the age of the oldest pending job. Nodes
 * that read 8 also read claims with the worker's version. 9 and 10: as 7 and 8. Nodes that read 10
 * also read named_put without a name. 11 and 12, and 13 and 14: as the pair before, and what is
 * listed in docs/formats/commands.md. From 3 on there are pairs: the even one is the odd one with
 * names. */
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
    /* What is written. Rules ask for the version they came with, by its name above. */
    COMMAND_ENTRY_VERSION = COMMAND_ENTRY_EXACT,
    COMMAND_ENTRY_NAMED = COMMAND_ENTRY_EXACT_NAMED,
    COMMAND_ENTRY_NEWEST = COMMAND_ENTRY_NAMED, /* that can be read */
};

/* The version of a new entry for nodes that read up to this one, with names or without. */
uint8_t command_entry_version(uint8_t read, bool named);
bool command_entry_has_names(uint8_t version);

/* An entry of the log: the time, and commands. Padded with zeros to a multiple of 8. */
struct command_entry {
    uint8_t version;
    struct wall now;
    bool events; /* the event log is on */
    uint32_t count;
    struct str commands; /* count times: u32 length, bytes */
    /* of the command that command_entry_next gave last */
    struct id name; /* of its operation; none: it has none */
    uint64_t since; /* the operation is in no entry up to this one */
};

/* version is one that command_entry_version gives. */
void command_entry_begin(struct buf *out, uint8_t version, struct wall now, bool events);
void command_entry_add(struct buf *out, struct str command);
/* The same in an entry whose commands may have names. */
void command_entry_add_named(struct buf *out, struct str command, struct id name, uint64_t since);
/* Fill in the count and pad. */
void command_entry_end(struct buf *out, uint32_t count);

/* ERR_CORRUPT when the bytes are no whole entry; what the commands say is not looked at. */
ATTR_NODISCARD enum err_code command_entry_decode(struct str bytes, struct command_entry *out,
                                                  struct err *err);
/* The next command's bytes; false after the last. */
ATTR_NODISCARD bool command_entry_next(struct command_entry *e, struct str *out);
