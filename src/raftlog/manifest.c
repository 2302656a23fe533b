#include "raftlog/manifest.h"

#include <string.h>

#include "base/check.h"
#include "base/crc32c.h"
#include "base/pack.h"
#include "base/unpack.h"

static const struct str magic = {.ptr = "CORVOMAN", .len = 8};

enum { CRC_BYTES = 4, FILE_BYTES_MIN = 1 + 1 + 8 + 4 };

bool manifest_id_is_valid(struct str id)
{
    if (id.len == 0 || id.len > MANIFEST_ID_BYTES_MAX) {
        return false;
    }
    for (size_t i = 0; i < id.len; i++) {
        char c = id.ptr[i];
        bool fine = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                    (c == '-' && i > 0);
        if (!fine) {
            return false;
        }
    }
    return true;
}

/* A relative path without "..": a manifest may come from another node. */
static bool name_is_valid(struct str name)
{
    if (name.len == 0 || name.len > MANIFEST_NAME_BYTES_MAX || str_has_control(name)) {
        return false;
    }
    size_t part = 0;
    for (size_t i = 0; i <= name.len; i++) {
        if (i < name.len && name.ptr[i] != '/') {
            continue;
        }
        struct str s = str_from(name.ptr + part, i - part);
        if (s.len == 0 || str_eq(s, STR(".")) || str_eq(s, STR(".."))) {
            return false;
        }
        part = i + 1;
    }
    return true;
}

void manifest_encode(const struct manifest *m, struct buf *out)
{
    CHECK(m->index > 0);
    CHECK(m->term > 0);
    CHECK(m->members_index <= m->index);
    CHECK(manifest_id_is_valid(m->checkpoint));
    CHECK(m->file_count <= MANIFEST_FILES_MAX);
    size_t start = out->len;
    buf_add_str(out, magic);
    pack_u32(out, MANIFEST_VERSION);
    pack_u64(out, m->index);
    pack_u64(out, m->term);
    pack_u64(out, m->members_index);
    pack_text(out, m->members);
    pack_text(out, m->checkpoint);
    pack_varint(out, m->file_count);
    for (size_t i = 0; i < m->file_count; i++) {
        const struct manifest_file *f = &m->file[i];
        CHECK(name_is_valid(f->name));
        CHECK(i == 0 || str_cmp(m->file[i - 1].name, f->name) < 0);
        pack_text(out, f->name);
        pack_u64(out, f->size);
        pack_u32(out, f->crc);
    }
    CHECK(!out->overflow);
    pack_u32(out, crc32c_update(0, out->ptr + start, out->len - start));
}

static enum err_code damaged(struct err *err, const char *what)
{
    return err_set(err, ERR_CORRUPT, "the manifest is damaged: %s", what);
}

static bool decode_files(struct unpack *u, size_t count, struct manifest_file *file)
{
    for (size_t i = 0; i < count; i++) {
        file[i].name = unpack_text(u);
        file[i].size = unpack_u64(u);
        file[i].crc = unpack_u32(u);
        if (u->bad || !name_is_valid(file[i].name) ||
            (i > 0 && str_cmp(file[i - 1].name, file[i].name) >= 0)) {
            return false;
        }
    }
    return true;
}

/* Strip the checksum; false if it is wrong. */
static bool check_crc(struct str bytes, struct str *out)
{
    if (bytes.len < CRC_BYTES || bytes.len > MANIFEST_BYTES_MAX) {
        return false;
    }
    struct str body = str_from(bytes.ptr, bytes.len - CRC_BYTES);
    struct unpack tail = unpack_from(str_from_offset(bytes, body.len));
    *out = body;
    return unpack_u32(&tail) == crc32c_update(0, body.ptr, body.len);
}

enum err_code manifest_decode(struct str bytes, struct arena *arena, struct manifest *out,
                              struct err *err)
{
    struct str body;
    if (!check_crc(bytes, &body)) {
        return damaged(err, "wrong checksum");
    }
    struct unpack u = unpack_from(body);
    if (!str_eq(unpack_bytes(&u, magic.len), magic)) {
        return damaged(err, "not a manifest");
    }
    uint32_t version = unpack_u32(&u);
    if (version != MANIFEST_VERSION) {
        return err_set(err, ERR_CORRUPT, "the manifest has format %u; this program supports %d",
                       version, MANIFEST_VERSION);
    }
    struct manifest m = {0};
    m.index = unpack_u64(&u);
    m.term = unpack_u64(&u);
    m.members_index = unpack_u64(&u);
    m.members = unpack_text(&u);
    m.checkpoint = unpack_text(&u);
    uint64_t count = unpack_varint(&u);
    if (u.bad || m.index == 0 || m.term == 0 || m.members_index > m.index ||
        !manifest_id_is_valid(m.checkpoint)) {
        return damaged(err, "impossible values");
    }
    /* Each file takes some bytes, so the count cannot make us allocate more than was read. */
    if (count > MANIFEST_FILES_MAX || count > unpack_left(&u) / FILE_BYTES_MIN) {
        return damaged(err, "more files than fit");
    }
    struct manifest_file *file =
        count == 0 ? NULL : ARENA_ARRAY(arena, struct manifest_file, (size_t)count);
    if (count > 0 && file == NULL) {
        return err_set(err, ERR_TOO_LARGE, "the manifest lists %zu files", (size_t)count);
    }
    if (!decode_files(&u, (size_t)count, file) || !unpack_done(&u)) {
        return damaged(err, "the list of files");
    }
    m.file = file;
    m.file_count = (size_t)count;
    *out = m;
    return ERR_OK;
}
