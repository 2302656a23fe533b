/*
 * Backup_reader: splits a backup into its members and elements while its bytes arrive.
 *
 * A backup is one JSON object of any size, whose arrays contain elements of bounded size. The
 * reader accepts the bytes in pieces of any size, and reports their content in order. It keeps one
 * element in memory, never the whole backup. Every text that it reports has been checked to be
 * JSON.
 *
 *     while ((event = backup_reader_next(&r, &in, &err)) != BACKUP_READER_MORE) { … }
 *
 * Pure: no files, no server. One thread at a time.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"
#include "json/json_value.h"

enum backup_reader_event {
    BACKUP_READER_MORE,     /* the input is consumed */
    BACKUP_READER_MEMBER,   /* a member that is not an array: key and text are set */
    BACKUP_READER_LIST,     /* an array begins: key is set */
    BACKUP_READER_ELEMENT,  /* an element of the array: text is set */
    BACKUP_READER_LIST_END, /* the array is complete */
    BACKUP_READER_ERROR     /* err is set; the reader cannot be used any more */
};

enum backup_reader_state {
    BACKUP_READER_START,
    BACKUP_READER_FIRST_KEY, /* or the end of the object */
    BACKUP_READER_KEY,
    BACKUP_READER_IN_KEY,
    BACKUP_READER_COLON,
    BACKUP_READER_VALUE,
    BACKUP_READER_AFTER_MEMBER,
    BACKUP_READER_FIRST_ELEMENT, /* or the end of the array */
    BACKUP_READER_NEXT_ELEMENT,
    BACKUP_READER_AFTER_ELEMENT,
    BACKUP_READER_IN_VALUE, /* text grows until the value is complete */
    BACKUP_READER_TAIL
};

struct backup_reader {
    /* data of the last event; valid until the next call */
    struct buf key;  /* with its quotes */
    struct buf text; /* one JSON value */
    uint64_t at;     /* bytes read so far; at the start of a list, up to and including its '[' */
    uint32_t crc;    /* crc32c of the bytes before the key */
    uint64_t index;  /* of the element in its list */

    /* internal */
    enum backup_reader_state state;
    bool in_list, in_string, escaped;
    unsigned depth;
    uint32_t running_crc;
};

/* text_bytes_max limits each text. */
void backup_reader_init(struct backup_reader *r, size_t text_bytes_max);
void backup_reader_deinit(struct backup_reader *r);

/* Begin after the '[' of a list instead of at the start; ends with its BACKUP_READER_LIST_END. */
void backup_reader_enter_list(struct backup_reader *r);

/* Read until the next event; *in keeps the bytes that were not needed. */
ATTR_NODISCARD enum backup_reader_event backup_reader_next(struct backup_reader *r, struct str *in,
                                                           struct err *err);

/* The input has ended: ERR_PARSE unless the object is complete. */
ATTR_NODISCARD enum err_code backup_reader_finish(const struct backup_reader *r, struct err *err);

/* Is the key this name? */
bool backup_reader_is_key(const struct backup_reader *r, struct str name);

/* The text as a JSON value. */
struct json_value backup_reader_value(const struct backup_reader *r);
