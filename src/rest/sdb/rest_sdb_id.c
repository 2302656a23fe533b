/*
 * Names for jobs without one, while a member of the cluster cannot read commands without names:
 * UUIDs of version 4. Otherwise the state machine derives the names from the ids.
 *
 * The first six bytes start at a random number for each thread and count up. Consecutive names are
 * therefore adjacent in the store, at a third of the cost of random ones. The other 74 bits are
 * random, so that names cannot be guessed.
 */
#include <endian.h>
#include <string.h>

#include "base/id_uuid.h"
#include "os/os_clock.h"
#include "rest/sdb/rest_sdb_int.h"

enum { COUNTED_BYTES = 6, CHANCE_BYTES = 16 - COUNTED_BYTES, CHANCES = 24 };

static _Thread_local struct {
    bool begun;
    uint64_t next;
    uint8_t chances[CHANCES][CHANCE_BYTES]; /* fetched together to save system calls */
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

void rest_sdb_id__new(char out[static ID_UUID_LEN])
{
    ATTR_UNINITIALIZED uint8_t b[16];
    uint64_t words[2];
    take_bytes(b);
    memcpy(words, b, sizeof b);
    id_uuid_format(be64toh(words[0]), be64toh(words[1]), out);
}
