/*
 * Decoded manifests of snapshots, together with the memory that they point into.
 */
#include "base/check.h"
#include "cluster/disk_io_int.h"
#include "raftlog/manifest.h"
#include "raftlog/members.h"

enum err_code disk_manifest__decode(struct disk_io_manifest *m, struct err *err)
{
    if (m->arena == NULL) {
        m->arena = arena_new(MANIFEST_BYTES_MAX);
    }
    arena_reset(m->arena);
    if (m->bytes.len == 0) {
        return ERR_OK;
    }
    struct raft_configuration members;
    if (manifest_decode(buf_str(&m->bytes), m->arena, &m->m, err) != ERR_OK ||
        members_decode(m->m.members, &members, err) != ERR_OK) {
        return err->code;
    }
    raft_configuration_close(&members);
    return ERR_OK;
}

void disk_manifest__clear(struct disk_io_manifest *m)
{
    buf_deinit(&m->bytes);
    arena_free(m->arena);
    m->arena = NULL;
}

struct disk_io_older disk_manifest__older(const struct disk_io_manifest *m)
{
    struct disk_io_older older = {0};
    if (m->bytes.len > 0) {
        older.index = m->m.index;
        older.bytes = snapshots_bytes(&m->m);
    }
    return older;
}
