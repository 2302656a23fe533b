#include "base/id.h"

#include "base/check.h"
#include "base/hash.h"

static const char digits[] = "0123456789abcdefghjkmnpqrstvwxyz";

struct id id_make(struct wall at, uint64_t index, uint32_t number)
{
    struct id id;
    uint64_t ms = (uint64_t)(at.ns / NS_PER_MS);
    CHECK(at.ns >= 0);
    CHECK(index < 1ULL << 48);
    for (unsigned i = 0; i < 6; i++) {
        id.b[i] = (uint8_t)(ms >> (40 - 8 * i));
        id.b[6 + i] = (uint8_t)(index >> (40 - 8 * i));
    }
    for (unsigned i = 0; i < 4; i++) {
        id.b[12 + i] = (uint8_t)(number >> (24 - 8 * i));
    }
    return id;
}

uint64_t id_hash(struct id id)
{
    uint64_t halves[2];
    memcpy(halves, id.b, sizeof halves);
    return hash_u64(halves[0] ^ hash_u64(halves[1]));
}

size_t id_format(struct id id, struct str prefix, char *out)
{
    uint64_t high = 0;
    uint64_t low = 0;
    CHECK(prefix.len <= ID_PREFIX_MAX);
    for (unsigned i = 0; i < 8; i++) {
        high = high << 8 | id.b[i];
        low = low << 8 | id.b[8 + i];
    }
    for (size_t i = 0; i < prefix.len; i++) {
        out[i] = prefix.ptr[i];
    }
    /* From the last digit on: five bits at a time. 26 digits hold 130 bits, so the first one has
     * only the id's top three. */
    for (size_t i = ID_TEXT_LEN; i-- > 0;) {
        out[prefix.len + i] = digits[low & 31];
        low = low >> 5 | high << 59;
        high >>= 5;
    }
    return prefix.len + ID_TEXT_LEN;
}

bool id_parse(struct str s, struct str prefix, struct id *out)
{
    struct id id = ID_NONE;
    if (s.len != prefix.len + ID_TEXT_LEN || !str_starts_with(s, prefix)) {
        return false;
    }
    for (unsigned i = 0; i < ID_TEXT_LEN; i++) {
        const char *found = strchr(digits, s.ptr[prefix.len + i]);
        if (found == NULL || *found == '\0') {
            return false;
        }
        unsigned value = (unsigned)(found - digits);
        for (unsigned bit = 0; bit < 5; bit++) {
            int at = (int)(i * 5 + bit) - 2;
            unsigned set = (value >> (4 - bit)) & 1U;
            if (at < 0 && set != 0) {
                return false;
            }
            if (at >= 0) {
                id.b[at / 8] = (uint8_t)(id.b[at / 8] | set << (7 - at % 8));
            }
        }
    }
    *out = id;
    return true;
}
