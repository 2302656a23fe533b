#include "lib/tmpdir.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/check.h"
#include "base/crc32c.h"

enum { FILE_BYTES_MAX = 256 << 20 };

/* Create the folder below TMPDIR, or below base if TMPDIR is not set. */
static struct tmpdir new_below(const char *base)
{
    struct tmpdir t;
    const char *given = getenv("TMPDIR");
    int n = snprintf(t.path, sizeof t.path, "%s/corvo-test-XXXXXX", given == NULL ? base : given);
    CHECK(n > 0 && (size_t)n < sizeof t.path);
    CHECK(mkdtemp(t.path) != NULL);
    return t;
}

struct tmpdir tmpdir_new(void)
{
    return new_below("/tmp");
}

struct tmpdir tmpdir_new_in_memory(void)
{
    return new_below(access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
}

void tmpdir_remove(struct tmpdir *t)
{
    struct err err;
    if (t->path[0] != '\0') {
        CHECK(os_file_remove_tree(t->path, &err) == ERR_OK);
        t->path[0] = '\0';
    }
}

struct os_file_path tmpdir_path(const struct tmpdir *t, const char *name)
{
    return os_file_join(t->path, name);
}

void tmpdir_write(const char *path, struct str bytes)
{
    FILE *f = fopen(path, "wb");
    CHECK(f != NULL);
    CHECK(bytes.len == 0 || fwrite(bytes.ptr, 1, bytes.len, f) == bytes.len);
    CHECK(fclose(f) == 0);
}

void tmpdir_read(const char *path, struct buf *out)
{
    struct err err;
    buf_init(out, FILE_BYTES_MAX);
    CHECK(os_file_read(path, out, &err) == ERR_OK);
}

/* Create the parent folders of a path. */
static void make_parent(const char *path)
{
    struct os_file_path dir;
    struct err err;
    size_t len = (size_t)(strrchr(path, '/') - path);
    memcpy(dir.z, path, len);
    dir.z[len] = '\0';
    CHECK(os_file_make_dirs(dir.z, &err) == ERR_OK);
}

void tmpdir_copy(const char *from, const char *to)
{
    struct os_file_names names = {0};
    struct err err;
    CHECK(os_file_make_dirs(to, &err) == ERR_OK);
    CHECK(os_file_list_tree(from, &names, &err) == ERR_OK);
    for (size_t i = 0; i < names.count; i++) {
        struct os_file_path source = os_file_join(from, names.name[i]);
        struct os_file_path target = os_file_join(to, names.name[i]);
        struct buf bytes;
        tmpdir_read(source.z, &bytes);
        make_parent(target.z);
        tmpdir_write(target.z, buf_str(&bytes));
        buf_deinit(&bytes);
    }
    os_file_names_clear(&names);
}

void tmpdir_flip_bit(const char *path, uint64_t offset)
{
    struct buf bytes;
    tmpdir_read(path, &bytes);
    CHECK(offset < bytes.len);
    bytes.ptr[offset] = (char)(bytes.ptr[offset] ^ 0x10);
    tmpdir_write(path, buf_str(&bytes));
    buf_deinit(&bytes);
}

size_t tmpdir_count(const char *dir, const char *prefix)
{
    struct os_file_names names = {0};
    struct err err;
    size_t count = 0;
    CHECK(os_file_list(dir, &names, &err) == ERR_OK);
    for (size_t i = 0; i < names.count; i++) {
        count += strncmp(names.name[i], prefix, strlen(prefix)) == 0 ? 1 : 0;
    }
    os_file_names_clear(&names);
    return count;
}

struct os_file_path tmpdir_find(const char *dir, const char *prefix, size_t nth)
{
    struct os_file_names names = {0};
    struct os_file_path path = {0};
    struct err err;
    CHECK(os_file_list(dir, &names, &err) == ERR_OK);
    for (size_t i = 0; i < names.count; i++) {
        if (strncmp(names.name[i], prefix, strlen(prefix)) == 0 && nth-- == 0) {
            path = os_file_join(dir, names.name[i]);
            break;
        }
    }
    os_file_names_clear(&names);
    CHECK(path.z[0] != '\0');
    return path;
}

uint32_t tmpdir_checksum(const char *dir)
{
    struct os_file_names names = {0};
    struct err err;
    uint32_t sum = 0;
    CHECK(os_file_list_tree(dir, &names, &err) == ERR_OK);
    for (size_t i = 0; i < names.count; i++) {
        struct os_file_path path = os_file_join(dir, names.name[i]);
        uint32_t crc = 0;
        uint64_t size = 0;
        CHECK(os_file_checksum(path.z, &crc, &size, &err) == ERR_OK);
        sum = crc32c_update(sum, names.name[i], strlen(names.name[i]) + 1);
        sum = crc32c_update(sum, &size, sizeof size);
        sum = crc32c_update(sum, &crc, sizeof crc);
    }
    os_file_names_clear(&names);
    return sum;
}
