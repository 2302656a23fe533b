#include "raftlog/ballot.h"

#include <assert.h>
#include <endian.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>

#include "base/buf.h"
#include "base/crc32c.h"
#include "base/fault.h"
#include "log/log.h"
#include "os/os_file.h"

enum {
    BALLOT_VERSION = 1,
    COPY_COUNT = 2,
    COPY_BYTES = 4096, /* far enough apart that one write cannot tear both */
    FILE_BYTES = COPY_COUNT * COPY_BYTES,
};

/* Little-endian on disk. */
struct copy {
    char magic[8];
    uint32_t format;
    uint32_t crc; /* over the whole copy with this member zero */
    uint64_t version;
    uint64_t term;
    uint64_t vote;
};

static_assert(sizeof(struct copy) == 40, "the ballot is on disk");
static_assert(offsetof(struct copy, crc) == 12, "the ballot is on disk");
static_assert(offsetof(struct copy, vote) == 32, "the ballot is on disk");

static const char magic[8] = {'C', 'O', 'R', 'V', 'O', 'B', 'A', 'L'};

static uint32_t copy_crc(struct copy c)
{
    c.crc = 0;
    return crc32c_update(0, &c, sizeof c);
}

static struct copy encode(const struct ballot *b)
{
    struct copy c = {.format = htole32(BALLOT_VERSION),
                     .version = htole64(b->version),
                     .term = htole64(b->term),
                     .vote = htole64(b->vote)};
    memcpy(c.magic, magic, sizeof magic);
    c.crc = htole32(copy_crc(c));
    return c;
}

static bool decode(struct str file, unsigned number, struct ballot *out)
{
    struct copy c;
    size_t at = (size_t)number * COPY_BYTES;
    if (file.len < at + sizeof c) {
        return false;
    }
    memcpy(&c, file.ptr + at, sizeof c);
    if (memcmp(c.magic, magic, sizeof magic) != 0 || le32toh(c.format) != BALLOT_VERSION ||
        le32toh(c.crc) != copy_crc(c)) {
        return false;
    }
    *out = (struct ballot){
        .version = le64toh(c.version), .term = le64toh(c.term), .vote = le64toh(c.vote)};
    return true;
}

static enum err_code create(const char *path, struct err *err)
{
    char file[FILE_BYTES] = {0};
    struct copy c = encode(&(struct ballot){0});
    for (unsigned i = 0; i < COPY_COUNT; i++) {
        memcpy(file + (size_t)i * COPY_BYTES, &c, sizeof c);
    }
    return os_file_replace(path, str_from(file, sizeof file), err);
}

static enum err_code write_copies(int fd, const struct ballot *b, struct err *err)
{
    struct copy c = encode(b);
    const struct iovec iov = {.iov_base = &c, .iov_len = sizeof c};
    for (unsigned i = 0; i < COPY_COUNT; i++) {
        if (os_file_write_at(fd, &iov, 1, (uint64_t)i * COPY_BYTES, err) != ERR_OK ||
            os_file_flush(fd, err) != ERR_OK) {
            return err->code;
        }
    }
    return ERR_OK;
}

/* Choose the valid copy with the higher version. False if neither is valid. */
static bool choose(struct str file, struct ballot *out, bool *out_equal)
{
    struct ballot copy[COPY_COUNT] = {0};
    bool first = decode(file, 0, &copy[0]);
    bool second = decode(file, 1, &copy[1]);
    *out = second && (!first || copy[1].version > copy[0].version) ? copy[1] : copy[0];
    *out_equal = first && second && copy[0].version == copy[1].version;
    return first || second;
}

static enum err_code read_copies(const char *path, struct ballot *out, bool *out_equal,
                                 struct err *err)
{
    struct buf file;
    buf_init(&file, FILE_BYTES + 1);
    enum err_code code = os_file_read(path, &file, err);
    bool valid = code == ERR_OK && choose(buf_str(&file), out, out_equal);
    buf_deinit(&file);
    if (code != ERR_OK) {
        return code;
    }
    if (!valid) {
        return err_set(err, ERR_CORRUPT, "'%s' is damaged: neither copy is valid", path);
    }
    return ERR_OK;
}

static enum err_code load(const char *path, int fd, struct ballot *out, struct err *err)
{
    bool equal = false;
    if (read_copies(path, out, &equal, err) != ERR_OK) {
        return err->code;
    }
    if (!equal) {
        log_warn("ballot repaired", LOG_Z("file", path), LOG_U64("term", out->term));
        if (write_copies(fd, out, err) != ERR_OK) {
            return err_wrap(err, "repair '%s'", path);
        }
    }
    return ERR_OK;
}

enum err_code ballot_open(const char *path, int *out_fd, struct ballot *out, struct err *err)
{
    ATTR_CLEANUP(os_file_closep) int fd = -1;
    struct ballot b = {0};
    enum err_code code = os_file_open(path, O_WRONLY, &fd, err);
    if (code == ERR_NOT_FOUND) {
        code = create(path, err);
        code = code == ERR_OK ? os_file_open(path, O_WRONLY, &fd, err) : code;
    }
    if (code != ERR_OK || load(path, fd, &b, err) != ERR_OK) {
        return err->code;
    }
    *out_fd = fd;
    fd = -1;
    *out = b;
    return ERR_OK;
}

enum err_code ballot_inspect(const char *path, struct ballot *out, struct err *err)
{
    bool equal;
    *out = (struct ballot){0};
    enum err_code code = read_copies(path, out, &equal, err);
    return code == ERR_NOT_FOUND ? ERR_OK : code;
}

enum err_code ballot_store(int fd, struct ballot *b, struct err *err)
{
    if (FAULT(DISK_META_WRITE)) {
        return err_set(err, ERR_IO, "store the ballot: a test said so");
    }
    b->version++;
    return write_copies(fd, b, err) == ERR_OK ? ERR_OK : err_wrap(err, "store the ballot");
}
