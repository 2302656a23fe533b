#include "base/id.h"

#include <endian.h>

#include "base/check.h"
#include "base/hash.h"

/* clang-format off */
/* The two digits of each ten bits. */
#define PAIRS(d) \
    d "0" d "1" d "2" d "3" d "4" d "5" d "6" d "7" d "8" d "9" d "a" d "b" d "c" d "d" d "e" d "f" \
    d "g" d "h" d "j" d "k" d "m" d "n" d "p" d "q" d "r" d "s" d "t" d "v" d "w" d "x" d "y" d "z"
static const char pairs[] =
    PAIRS("0") PAIRS("1") PAIRS("2") PAIRS("3") PAIRS("4") PAIRS("5") PAIRS("6") PAIRS("7")
    PAIRS("8") PAIRS("9") PAIRS("a") PAIRS("b") PAIRS("c") PAIRS("d") PAIRS("e") PAIRS("f")
    PAIRS("g") PAIRS("h") PAIRS("j") PAIRS("k") PAIRS("m") PAIRS("n") PAIRS("p") PAIRS("q")
    PAIRS("r") PAIRS("s") PAIRS("t") PAIRS("v") PAIRS("w") PAIRS("x") PAIRS("y") PAIRS("z");
#undef PAIRS

/* The value of a digit plus one; 0 for any other character. */
static const uint8_t value_of[256] = {
    ['0'] = 1,  ['1'] = 2,  ['2'] = 3,  ['3'] = 4,  ['4'] = 5,  ['5'] = 6,  ['6'] = 7,  ['7'] = 8,
    ['8'] = 9,  ['9'] = 10, ['a'] = 11, ['b'] = 12, ['c'] = 13, ['d'] = 14, ['e'] = 15, ['f'] = 16,
    ['g'] = 17, ['h'] = 18, ['j'] = 19, ['k'] = 20, ['m'] = 21, ['n'] = 22, ['p'] = 23, ['q'] = 24,
    ['r'] = 25, ['s'] = 26, ['t'] = 27, ['v'] = 28, ['w'] = 29, ['x'] = 30, ['y'] = 31, ['z'] = 32,
};
/* clang-format on */

static uint64_t half_of(struct id id, unsigned half)
{
    uint64_t bits;
    memcpy(&bits, id.b + half * sizeof bits, sizeof bits);
    return be64toh(bits);
}

struct id id_make(struct wall at, uint64_t index, uint32_t number)
{
    uint64_t ms = (uint64_t)(at.ns / NS_PER_MS);
    CHECK(at.ns >= 0);
    CHECK(index < 1ULL << 48);
    const uint64_t halves[] = {htobe64(ms << 16 | index >> 32), htobe64(index << 32 | number)};
    return id_from_bytes(halves);
}

int64_t id_ms(struct id id)
{
    return (int64_t)(half_of(id, 0) >> 16);
}

/* The entry's index, which never decreases, and as many bits of the number as fit. */
uint64_t id_rank(struct id id)
{
    uint64_t index = half_of(id, 0) << 32 | half_of(id, 1) >> 32;
    uint64_t number = half_of(id, 1) & UINT32_MAX;
    return index << 16 | (number < UINT16_MAX ? number : UINT16_MAX);
}

/* Eight ids with neighbouring numbers get hashes that differ only in the last three bits, so
 * they are adjacent; all other bits look random. */
uint64_t id_hash(struct id id)
{
    uint64_t halves[2];
    uint64_t number = id.b[ID_BYTES - 1];
    id.b[ID_BYTES - 1] = (uint8_t)(number & ~7U);
    memcpy(halves, id.b, sizeof halves);
    uint64_t group = hash_u64(halves[0] ^ hash_u64(halves[1]));
    return (group & ~7ULL) | ((group + number) & 7);
}

/* Write the lowest bits as count digits, five bits each; count is even. */
static inline void put_digits(char *out, unsigned count, uint64_t bits)
{
    for (char *at = out + count; at > out; bits >>= 10) {
        at -= 2;
        memcpy(at, pairs + 2 * (bits & 1023), 2);
    }
}

size_t id_format(struct id id, struct str prefix, char *out)
{
    uint64_t high = half_of(id, 0);
    uint64_t low = half_of(id, 1);
    CHECK(prefix.len <= ID_PREFIX_MAX);
    memcpy(out, prefix.ptr, prefix.len);
    /* 26 digits hold 130 bits, so the first one has only the id's top three. Twelve digits, 60
     * bits, fit into a word. */
    char *text = out + prefix.len;
    put_digits(text, 2, high >> 56);
    put_digits(text + 2, 12, high << 4 | low >> 60);
    put_digits(text + 14, 12, low);
    return prefix.len + ID_TEXT_LEN;
}

/* Read digits written by put_digits. After an invalid digit, *seen has a bit above the lowest
 * five. */
static inline uint64_t take_digits(const char *text, unsigned count, uint32_t *seen)
{
    uint64_t bits = 0;
    for (unsigned i = 0; i < count; i++) {
        uint32_t value = value_of[(uint8_t)text[i]] - 1U;
        *seen |= value;
        bits = bits << 5 | value;
    }
    return bits;
}

bool id_parse(struct str s, struct str prefix, struct id *out)
{
    uint32_t seen = 0;
    if (s.len != prefix.len + ID_TEXT_LEN || !str_starts_with(s, prefix)) {
        return false;
    }
    const char *text = s.ptr + prefix.len;
    uint64_t top = take_digits(text, 2, &seen);
    uint64_t middle = take_digits(text + 2, 12, &seen);
    uint64_t low = take_digits(text + 14, 12, &seen);
    if (seen > 31 || top > UINT8_MAX) {
        return false;
    }
    uint64_t high = htobe64(top << 56 | middle >> 4);
    low = htobe64(middle << 60 | low);
    memcpy(out->b, &high, sizeof high);
    memcpy(out->b + sizeof high, &low, sizeof low);
    return true;
}

struct id id_unpack(struct unpack *u)
{
    struct str bytes = unpack_bytes(u, ID_BYTES);
    return bytes.len == ID_BYTES ? id_from_bytes(bytes.ptr) : ID_NONE;
}
