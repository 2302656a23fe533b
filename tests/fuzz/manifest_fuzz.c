/*
 * Fuzz: manifests. The paths of an accepted manifest are inside its folder, and it encodes to the
 * same bytes.
 *
 * The checksum would stop the fuzzer, so the bytes are decoded twice: unchanged, and with a valid
 * checksum. The corpus is tests/golden/manifest-1.bin, complete, truncated and modified.
 */
#include "raftlog/manifest.h"

#include <string.h>

#include "base/check.h"
#include "base/crc32c.h"
#include "base/pack.h"
#include "raftlog/members.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Every part of a path inside a folder is a name: not empty, and neither the folder itself nor its
 * parent. */
static void check_path(struct str path)
{
    CHECK(path.len > 0);
    CHECK(memchr(path.ptr, '\0', path.len) == NULL);
    CHECK(path.ptr[path.len - 1] != '/'); /* str_cut shows no empty part at the end */
    while (path.len > 0) {
        struct str part = str_cut(&path, '/');
        CHECK(part.len > 0);
        CHECK(!str_eq(part, STR(".")));
        CHECK(!str_eq(part, STR("..")));
    }
}

static void check_names(const struct manifest *m)
{
    struct str id = m->checkpoint;
    check_path(id);
    CHECK(memchr(id.ptr, '/', id.len) == NULL);
    for (size_t i = 0; i < m->file_count; i++) {
        check_path(m->file[i].name);
    }
}

static void decode(struct str bytes)
{
    struct arena *arena = arena_new(MANIFEST_BYTES_MAX);
    struct manifest m;
    struct raft_configuration members;
    struct buf out;
    struct err err = {0};
    buf_init(&out, MANIFEST_BYTES_MAX);
    if (manifest_decode(bytes, arena, &m, &err) == ERR_OK) {
        check_names(&m);
        manifest_encode(&m, &out);
        CHECK(str_eq(buf_str(&out), bytes));
        if (members_decode(m.members, &members, &err) == ERR_OK) {
            CHECK(members.n > 0);
            raft_configuration_close(&members);
        }
    } else {
        CHECK(err.code == ERR_CORRUPT || err.code == ERR_TOO_LARGE);
        CHECK(err.msg[0] != '\0');
    }
    buf_deinit(&out);
    arena_free(arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct str bytes = str_from(data, size);
    decode(bytes);
    if (size >= sizeof(uint32_t)) {
        struct buf sealed;
        buf_init(&sealed, MANIFEST_BYTES_MAX);
        buf_add(&sealed, data, size - sizeof(uint32_t));
        pack_u32(&sealed, crc32c_update(0, data, size - sizeof(uint32_t)));
        decode(buf_str(&sealed));
        buf_deinit(&sealed);
    }
    return 0;
}
