#include "kv/kv_record.h"

#include <endian.h>

#include "base/check.h"

struct head {
    uint8_t kind;
    uint8_t family;
    uint16_t key_len;
    uint32_t value_len;
};
_Static_assert(sizeof(struct head) == 8, "a head has no gaps");

void kv_record_add(struct buf *out, const struct kv_record *r)
{
    CHECK(r->key.len <= UINT16_MAX && r->value.len <= UINT32_MAX);
    struct head h = {.kind = (uint8_t)r->kind,
                     .family = (uint8_t)r->family,
                     .key_len = htole16((uint16_t)r->key.len),
                     .value_len = htole32((uint32_t)r->value.len)};
    char *room = buf_reserve(out, sizeof h + r->key.len + r->value.len);
    CHECK(room != NULL);
    memcpy(room, &h, sizeof h);
    room += sizeof h;
    if (r->key.len > 0) {
        memcpy(room, r->key.ptr, r->key.len);
        room += r->key.len;
    }
    if (r->value.len > 0) {
        memcpy(room, r->value.ptr, r->value.len);
    }
    out->len += sizeof h + r->key.len + r->value.len;
}

const char *kv_record_read(const char *at, struct kv_record *out)
{
    struct head h;
    memcpy(&h, at, sizeof h);
    out->kind = (enum kv_record_kind)h.kind;
    out->family = h.family;
    out->key = str_from(at + sizeof h, le16toh(h.key_len));
    out->value = str_from(out->key.ptr + out->key.len, le32toh(h.value_len));
    return out->value.ptr + out->value.len;
}
