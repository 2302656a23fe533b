/*
 * Names for jobs that are sent without one: UUIDs of version 4.
 *
 * The first six bytes are random once for each thread and count up from there: names that are given
 * one after the other lie beside each other in the store, which costs it a third of what names
 * everywhere cost. The other 74 bits are random each time, so that nobody knows a name from others.
 */
#include <endian.h>
#include <string.h>

#include "base/digits.h"
#include "os/os_clock.h"
#include "rest/sdb/rest_sdb_int.h"

enum { COUNTED_BYTES = 6, CHANCE_BYTES = 16 - COUNTED_BYTES, CHANCES = 24, TEXT_BYTES = 36 };

static _Thread_local struct {
    bool begun;
    uint64_t next;
    uint8_t chances[CHANCES][CHANCE_BYTES]; /* asking for them one by one is a system call each */
    unsigned left;
} source;

static void take_bytes(uint8_t out[static 16])
{
    if (!source.begun) {
        os_clock_random(&source.next, sizeof source.next);
        source.begun = true;
    }
    if (source.left == 0) {
        os_clock_random(source.chances, sizeof source.chances);
        source.left = CHANCES;
    }
    uint64_t counted = htobe64(source.next++ << 8 * (8 - COUNTED_BYTES));
    memcpy(out, &counted, COUNTED_BYTES);
    memcpy(out + COUNTED_BYTES, source.chances[--source.left], CHANCE_BYTES);
}

struct str rest_sdb_id__new(struct rest_call *c)
{
    ATTR_UNINITIALIZED uint8_t b[16];
    uint32_t words[4];
    char *text = arena_alloc(c->arena, TEXT_BYTES, 1);
    if (text == NULL) {
        return STR_EMPTY;
    }
    take_bytes(b);
    b[6] = (uint8_t)((b[6] & 0x0f) | 0x40);
    b[8] = (uint8_t)((b[8] & 0x3f) | 0x80);
    memcpy(words, b, sizeof b);
    /* Eight digits each; the two in the middle are cut in halves by a dash. */
    digits_put_hex_word(text, be32toh(words[0]));
    digits_put_hex_word(text + 9, be32toh(words[1]));
    memmove(text + 14, text + 13, 4);
    digits_put_hex_word(text + 19, be32toh(words[2]));
    memmove(text + 24, text + 23, 4);
    digits_put_hex_word(text + 28, be32toh(words[3]));
    text[8] = text[13] = text[18] = text[23] = '-';
    return str_from(text, TEXT_BYTES);
}
