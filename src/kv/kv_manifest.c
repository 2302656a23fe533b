#include "kv/kv_manifest.h"

#include <endian.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/crc32c.h"
#include "log/log.h"
#include "os/os_file.h"

/* A record is one part or several, and a part does not cross the end of a block. A part begins with
 * a u32 checksum of its kind and content, a u16 length, and a u8 kind. If a block has no room
 * for that, its rest is blank. */
enum {
    LENGTH_AT = 4,
    KIND_AT = 6,
    HEADER_BYTES = 7,
    SECTOR_BYTES = 512, /* disks with larger sectors write several of these at once */
    NAME_BYTES_MAX = 64,
};

enum part_kind { PART_NONE, PART_WHOLE, PART_FIRST, PART_MIDDLE, PART_LAST };

struct part {
    size_t end;
    unsigned kind;
    bool sound;
};

/* RocksDB stores checksums in a changed form: it also computes checksums of data that contains
 * checksums. */
static uint32_t stored_form(uint32_t crc)
{
    return ((crc >> 15) | (crc << 17)) + UINT32_C(0xa282ead8);
}

static struct part read_part(struct str block, size_t at)
{
    const char *p = block.ptr + at;
    uint32_t crc;
    uint16_t len;
    memcpy(&crc, p, sizeof crc);
    memcpy(&len, p + LENGTH_AT, sizeof len);
    struct part part = {.end = at + HEADER_BYTES + le16toh(len), .kind = (unsigned char)p[KIND_AT]};
    if (part.end > block.len) {
        part.end = block.len;
    } else if (part.kind != PART_NONE) {
        uint32_t found = crc32c_update(0, p + KIND_AT, part.end - at - KIND_AT);
        part.sound = stored_form(found) == le32toh(crc);
    }
    return part;
}

/* Whether a sector that has bytes of the part has only zeros, from the part's begin on. */
static bool lacks_sector(struct str block, size_t at, size_t end)
{
    static const char zeros[SECTOR_BYTES];
    while (at < end) {
        size_t next = at - at % SECTOR_BYTES + SECTOR_BYTES;
        next = next < block.len ? next : block.len;
        if (memcmp(block.ptr + at, zeros, next - at) == 0) {
            return true;
        }
        at = next;
    }
    return false;
}

enum kv_manifest_found kv_manifest__read(struct kv_manifest_walk *walk, struct str block)
{
    size_t at = 0;
    CHECK(block.len <= KV_MANIFEST_BLOCK_BYTES);
    while (block.len - at >= HEADER_BYTES) {
        struct part part = read_part(block, at);
        if (!walk->inside) {
            walk->start = walk->offset + at;
        }
        if (!part.sound) {
            return lacks_sector(block, at, part.end) ? KV_MANIFEST_TORN : KV_MANIFEST_DAMAGED;
        }
        walk->inside = part.kind == PART_FIRST || part.kind == PART_MIDDLE;
        at = part.end;
    }
    walk->offset += block.len;
    return KV_MANIFEST_SOUND;
}

/* Walk to the end of the file, or to the first record that is not sound. */
static enum err_code walk_file(int fd, struct kv_manifest_walk *walk,
                               enum kv_manifest_found *out_found, struct err *err)
{
    char *block = malloc(KV_MANIFEST_BLOCK_BYTES);
    size_t len = 0;
    enum err_code code;
    CHECK(block != NULL);
    do {
        code = os_file_read_at(fd, block, KV_MANIFEST_BLOCK_BYTES, walk->offset, &len, err);
        if (code == ERR_OK) {
            *out_found = kv_manifest__read(walk, str_from(block, len));
        }
    } while (code == ERR_OK && *out_found == KV_MANIFEST_SOUND && len == KV_MANIFEST_BLOCK_BYTES);
    free(block);
    return code;
}

static enum err_code mend_file(const char *path, struct err *err)
{
    ATTR_CLEANUP(os_file_closep) int fd = -1;
    struct os_file_info info;
    struct kv_manifest_walk walk = {0};
    enum kv_manifest_found found = KV_MANIFEST_SOUND;
    if (os_file_open(path, O_RDWR, &fd, err) != ERR_OK ||
        os_file_stat(path, &info, err) != ERR_OK || walk_file(fd, &walk, &found, err) != ERR_OK) {
        return err->code;
    }
    if (found != KV_MANIFEST_TORN) {
        return ERR_OK;
    }
    log_info("store tail cleared", LOG_Z("file", path), LOG_U64("offset", walk.start),
             LOG_U64("bytes", info.size - walk.start));
    return os_file_zero(fd, walk.start, info.size, err);
}

/* Read the name of the list from the file CURRENT. Empty if there is none, or if it is malformed.
 */
static struct str name_of_list(const char *dir, char room[NAME_BYTES_MAX])
{
    struct os_file_path current = os_file_join(dir, "CURRENT");
    struct buf content;
    struct err err;
    buf_init_room(&content, NAME_BYTES_MAX, room, NAME_BYTES_MAX);
    struct str line = STR_EMPTY;
    if (os_file_read(current.z, &content, &err) == ERR_OK) {
        line = buf_str(&content);
    }
    struct str name = str_cut(&line, '\n');
    bool is_list = line.len == 0 && content.len == name.len + 1 &&
                   str_starts_with(name, STR("MANIFEST-")) &&
                   memchr(name.ptr, '/', name.len) == NULL;
    if (is_list) {
        room[name.len] = '\0';
    }
    return is_list ? name : STR_EMPTY;
}

enum err_code kv_manifest__mend(const char *dir, struct err *err)
{
    char name[NAME_BYTES_MAX];
    if (name_of_list(dir, name).len == 0) {
        return ERR_OK; /* RocksDB creates a store, or reports what is wrong */
    }
    struct os_file_path path = os_file_join(dir, name);
    enum err_code code = mend_file(path.z, err);
    return code == ERR_NOT_FOUND ? ERR_OK : code;
}
