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

enum { COUNTED_BYTES = 6, CHANCE_BYTES = 16 - COUNTED_BYTES, CHANCES = 24 };

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
    uint8_t b[16];
    char digits[32];
    char text[36];
    take_bytes(b);
    b[6] = (uint8_t)((b[6] & 0x0f) | 0x40);
    b[8] = (uint8_t)((b[8] & 0x3f) | 0x80);
    for (size_t i = 0; i < sizeof b; i += sizeof(uint32_t)) {
        uint32_t word;
        memcpy(&word, b + i, sizeof word);
        digits_put_hex_word(digits + 2 * i, be32toh(word));
    }
    memcpy(text, digits, 8);
    text[8] = text[13] = text[18] = text[23] = '-';
    memcpy(text + 9, digits + 8, 4);
    memcpy(text + 14, digits + 12, 4);
    memcpy(text + 19, digits + 16, 4);
    memcpy(text + 24, digits + 20, 12);
    return arena_str(c->arena, str_from(text, sizeof text));
}
