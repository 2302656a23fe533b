#include "raftnet/raftnet_frame.h"

#include <string.h>

#include "base/check.h"
#include "base/crc32c.h"
#include "base/pack.h"

/* "CRVP" */
#define MAGIC 0x50565243U

enum { CRC_AT = 12, CRC_BYTES = 4 };

void raftnet_frame_begin(struct buf *out)
{
    static const char room[RAFTNET_FRAME_HEAD_BYTES];
    CHECK(out->len == 0);
    buf_add(out, room, sizeof room);
}

static uint32_t checksum(const char *frame, size_t len)
{
    static const char zeros[CRC_BYTES];
    uint32_t crc = crc32c_update(0, frame, CRC_AT);
    crc = crc32c_update(crc, zeros, sizeof zeros);
    return crc32c_update(crc, frame + CRC_AT + CRC_BYTES, len - CRC_AT - CRC_BYTES);
}

void raftnet_frame_end(struct buf *out, uint8_t kind, uint16_t group, uint64_t cluster)
{
    char room[RAFTNET_FRAME_HEAD_BYTES];
    struct buf head;
    CHECK(!out->overflow);
    CHECK(out->len >= RAFTNET_FRAME_HEAD_BYTES);
    CHECK(out->len - RAFTNET_FRAME_HEAD_BYTES <= RAFTNET_FRAME_BODY_BYTES_MAX);
    buf_init_room(&head, sizeof room, room, sizeof room);
    pack_u32(&head, MAGIC);
    pack_u8(&head, RAFTNET_FRAME_VERSION);
    pack_u8(&head, kind);
    pack_u16(&head, group);
    pack_u32(&head, (uint32_t)(out->len - RAFTNET_FRAME_HEAD_BYTES));
    pack_u32(&head, 0);
    pack_u64(&head, cluster);
    memcpy(out->ptr, room, sizeof room);
    uint32_t crc = htole32(checksum(out->ptr, out->len));
    memcpy(out->ptr + CRC_AT, &crc, sizeof crc);
    buf_deinit(&head);
}

enum raftnet_frame_read raftnet_frame_read(struct str bytes, size_t body_max,
                                           struct raftnet_frame *out, size_t *out_bytes)
{
    struct unpack u = unpack_from(bytes);
    *out_bytes = 0;
    if (bytes.len < RAFTNET_FRAME_HEAD_BYTES) {
        return RAFTNET_FRAME_MORE;
    }
    uint32_t magic = unpack_u32(&u);
    uint8_t version = unpack_u8(&u);
    *out = (struct raftnet_frame){.kind = unpack_u8(&u)};
    out->group = unpack_u16(&u);
    uint32_t len = unpack_u32(&u);
    uint32_t crc = unpack_u32(&u);
    out->cluster = unpack_u64(&u);
    if (magic != MAGIC || version != RAFTNET_FRAME_VERSION) {
        return RAFTNET_FRAME_FOREIGN;
    }
    if (len > body_max) {
        return RAFTNET_FRAME_LONG;
    }
    *out_bytes = RAFTNET_FRAME_HEAD_BYTES + (size_t)len;
    if (bytes.len < *out_bytes) {
        return RAFTNET_FRAME_MORE;
    }
    out->body = unpack_bytes(&u, len);
    return checksum(bytes.ptr, *out_bytes) == crc ? RAFTNET_FRAME_WHOLE : RAFTNET_FRAME_DAMAGED;
}
