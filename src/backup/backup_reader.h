/*
 * Backup_reader: a backup, cut into its members and elements while its bytes arrive.
 *
 * A backup is one JSON object of any size, whose arrays hold elements of bounded size. The reader
 * takes the bytes in pieces, however they were cut, and reports what they hold in order. It keeps
 * one element in memory, never the whole. Every text that it reports has been checked to be JSON.
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
    BACKUP_READER_MORE,     /* the input is used up */
    BACKUP_READER_MEMBER,   /* a member that is not an array: key and text */
    BACKUP_READER_LIST,     /* an array begins: key */
    BACKUP_READER_ELEMENT,  /* an element of it: text */
    BACKUP_READER_LIST_END, /* the array is complete */
    BACKUP_READER_ERROR     /* see err; the reader is of no more use */
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
    BACKUP_READER_IN_VALUE, /* text grows until the value is whole */
    BACKUP_READER_TAIL
};

struct backup_reader {
    /* what the last event was about; valid until the next call */
    struct buf key;  /* with its quotes */
    struct buf text; /* one JSON value */
    uint64_t at;     /* bytes read so far; behind the '[' when a list begins */
    uint32_t crc;    /* crc32c of the bytes in front of the key */
    uint64_t index;  /* of the element in its list */

    /* private */
    enum backup_reader_state state;
    bool in_list, in_string, escaped;
    unsigned depth;
    uint32_t running_crc;
};

/* Texts may have text_bytes_max bytes each. */
void backup_reader_init(struct backup_reader *r, size_t text_bytes_max);
void backup_reader_deinit(struct backup_reader *r);

/* Begin behind the '[' of a list instead of at the beginning; ends with its BACKUP_READER_LIST_END.
 */
void backup_reader_enter_list(struct backup_reader *r);

/* Read on in *in, which is left with what was not needed for the event. */
ATTR_NODISCARD enum backup_reader_event backup_reader_next(struct backup_reader *r, struct str *in,
                                                           struct err *err);

/* There are no more bytes: ERR_PARSE unless the object is complete. */
ATTR_NODISCARD enum err_code backup_reader_finish(const struct backup_reader *r, struct err *err);

/* The key is this name. */
bool backup_reader_is_key(const struct backup_reader *r, struct str name);

/* The text as a value, which was checked. */
struct json_value backup_reader_value(const struct backup_reader *r);
