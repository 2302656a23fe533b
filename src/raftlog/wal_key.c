/*
 * The key of a log: a random number that is in every checksum (segment.h). It is in a file of its
 * own, so that a segment with a damaged header can be distinguished from one that has not begun. It
 * is also in the header of every segment, so that losing the file does no harm.
 */
#include <assert.h>
#include <endian.h>
#include <string.h>

#include "base/buf.h"
#include "base/crc32c.h"
#include "log/log.h"
#include "os/os_clock.h"
#include "raftlog/wal_int.h"

/* Little-endian on disk. */
struct key_file {
    char magic[8];
    uint64_t key;
    uint32_t crc; /* over the whole file with this member zero */
    uint32_t reserved;
};

static_assert(sizeof(struct key_file) == 24, "the key is on disk");

static const char magic[8] = {'C', 'O', 'R', 'V', 'O', 'K', 'E', 'Y'};

static uint32_t file_crc(struct key_file f)
{
    f.crc = 0;
    return crc32c_update(0, &f, sizeof f);
}

static enum err_code store(const char *path, uint64_t key, struct err *err)
{
    struct key_file f = {.key = htole64(key)};
    memcpy(f.magic, magic, sizeof magic);
    f.crc = htole32(file_crc(f));
    return os_file_replace(path, str_from(&f, sizeof f), err);
}

static bool decode(struct str bytes, uint64_t *out_key)
{
    struct key_file f;
    if (bytes.len != sizeof f) {
        return false;
    }
    memcpy(&f, bytes.ptr, sizeof f);
    *out_key = le64toh(f.key);
    return memcmp(f.magic, magic, sizeof magic) == 0 && le32toh(f.crc) == file_crc(f);
}

/* Read a file of at most the size of a segment, and find the key in it. */
static bool read_key(const char *path, bool (*find)(struct str bytes, uint64_t *out_key),
                     uint64_t *out_key)
{
    struct buf bytes;
    struct err err;
    buf_init(&bytes, WAL_SEGMENT_BYTES_MAX);
    bool found = os_file_read(path, &bytes, &err) == ERR_OK && find(buf_str(&bytes), out_key);
    buf_deinit(&bytes);
    return found;
}

/* The key in the header of the first segment that has a valid one. */
static bool search_segments(const char *dir, const struct os_file_names *names, bool *out_any,
                            uint64_t *out_key)
{
    bool found = false;
    *out_any = false;
    for (size_t i = 0; i < names->count && !found; i++) {
        if (strncmp(names->name[i], WAL_FILES_LOG, strlen(WAL_FILES_LOG)) == 0) {
            struct os_file_path segment = os_file_join(dir, names->name[i]);
            *out_any = true;
            found = read_key(segment.z, segment_key, out_key);
        }
    }
    return found;
}

enum err_code wal_key__find(const char *dir, enum wal_key_source *out_source, uint64_t *out_key,
                            struct err *err)
{
    struct os_file_path path = os_file_join(dir, "key");
    if (read_key(path.z, decode, out_key)) {
        *out_source = WAL_KEY_FILE;
        return ERR_OK;
    }
    struct os_file_names names = {0};
    if (os_file_list(dir, &names, err) != ERR_OK) {
        return err->code;
    }
    bool any;
    bool found = search_segments(dir, &names, &any, out_key);
    os_file_names_clear(&names);
    if (any && !found) {
        return err_set(err, ERR_CORRUPT,
                       "'%s' is damaged or missing, and no log segment has a "
                       "valid header",
                       path.z);
    }
    *out_source = found ? WAL_KEY_SEGMENT : WAL_KEY_NONE;
    *out_key = found ? *out_key : 0;
    return ERR_OK;
}

enum err_code wal_key__load(const char *dir, uint64_t *out_key, struct err *err)
{
    struct os_file_path path = os_file_join(dir, "key");
    enum wal_key_source source;
    if (wal_key__find(dir, &source, out_key, err) != ERR_OK) {
        return err->code;
    }
    switch (source) {
    case WAL_KEY_FILE:
        return ERR_OK;
    case WAL_KEY_SEGMENT:
        log_warn("log key restored", LOG_Z("file", path.z));
        break;
    case WAL_KEY_NONE:
        os_clock_random(out_key, sizeof *out_key);
        break;
    }
    return store(path.z, *out_key, err);
}
