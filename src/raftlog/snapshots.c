#include "raftlog/snapshots.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/check.h"
#include "log/log.h"
#include "os/os_clock.h"

#define SUFFIX         ".manifest"
#define SUFFIX_DAMAGED ".damaged"

enum { ID_INDEX_DIGITS = 20 };

struct snapshots_id snapshots_new_id(uint64_t index)
{
    struct snapshots_id id;
    uint64_t random_number;
    os_clock_random(&random_number, sizeof random_number);
    int n = snprintf(id.z, sizeof id.z, "%0*" PRIu64 "-%016" PRIx64, ID_INDEX_DIGITS, index,
                     random_number);
    CHECK(n > 0 && (size_t)n < sizeof id.z);
    return id;
}

struct os_file_path snapshots_path(const char *dir, struct str id)
{
    char name[MANIFEST_ID_BYTES_MAX + 1];
    CHECK(manifest_id_is_valid(id));
    memcpy(name, id.ptr, id.len);
    name[id.len] = '\0';
    return os_file_join(dir, name);
}

/* The id in a file name, before the suffix; empty if the name has no valid one. */
static struct str id_before(const char *name, const char *suffix)
{
    size_t len = strlen(name);
    size_t suffix_len = strlen(suffix);
    if (len <= suffix_len || strcmp(name + len - suffix_len, suffix) != 0) {
        return STR_EMPTY;
    }
    struct str id = str_from(name, len - suffix_len);
    return manifest_id_is_valid(id) ? id : STR_EMPTY;
}

static struct str manifest_id(const char *name)
{
    return id_before(name, SUFFIX);
}

/* The ids of the newest manifests, newest first. Views into names. */
struct newest {
    struct str id[SNAPSHOTS_KEPT];
    size_t count;
};

static struct newest find_newest(const struct os_file_names *names)
{
    struct newest newest = {0};
    for (size_t i = names->count; i > 0 && newest.count < SNAPSHOTS_KEPT; i--) {
        struct str id = manifest_id(names->name[i - 1]);
        if (id.len > 0) {
            newest.id[newest.count++] = id;
        }
    }
    return newest;
}

static enum err_code load_file(const char *dir, struct str id, struct buf *out, struct err *err)
{
    char name[MANIFEST_ID_BYTES_MAX + sizeof SUFFIX];
    (void)snprintf(name, sizeof name, STR_FMT SUFFIX, STR_ARG(id));
    struct os_file_path path = os_file_join(dir, name);
    if (os_file_read(path.z, out, err) != ERR_OK) {
        return err->code;
    }
    struct arena *arena = arena_new(MANIFEST_BYTES_MAX);
    struct manifest m;
    enum err_code code = manifest_decode(buf_str(out), arena, &m, err);
    if (code == ERR_OK && !str_eq(m.checkpoint, id)) {
        code = err_set(err, ERR_CORRUPT, "the manifest belongs to another checkpoint");
    }
    arena_free(arena);
    return code == ERR_OK ? ERR_OK : err_wrap(err, "'%s'", path.z);
}

enum err_code snapshots_load_nth(const char *dir, size_t nth, struct buf *out, struct err *err)
{
    struct os_file_names names = {0};
    if (os_file_list(dir, &names, err) != ERR_OK) {
        return err->code;
    }
    struct newest newest = find_newest(&names);
    enum err_code code = nth >= newest.count ? ERR_OK : load_file(dir, newest.id[nth], out, err);
    os_file_names_clear(&names);
    return code;
}

enum err_code snapshots_id_nth(const char *dir, size_t nth, struct snapshots_id *out,
                               struct err *err)
{
    struct os_file_names names = {0};
    if (os_file_list(dir, &names, err) != ERR_OK) {
        return err->code;
    }
    struct newest newest = find_newest(&names);
    *out = (struct snapshots_id){0};
    if (nth < newest.count) {
        memcpy(out->z, newest.id[nth].ptr, newest.id[nth].len);
    }
    os_file_names_clear(&names);
    return ERR_OK;
}

uint64_t snapshots_id_index(const struct snapshots_id *id)
{
    uint64_t index = 0;
    for (size_t i = 0; i < ID_INDEX_DIGITS; i++) {
        char c = id->z[i];
        if (c < '0' || c > '9' || index > (UINT64_MAX - 9) / 10) {
            return 0;
        }
        index = index * 10 + (uint64_t)(c - '0');
    }
    return index;
}

enum err_code snapshots_load(const char *dir, struct buf *out, struct err *err)
{
    return snapshots_load_nth(dir, 0, out, err);
}

uint64_t snapshots_bytes(const struct manifest *m)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < m->file_count; i++) {
        sum += m->file[i].size;
    }
    return sum;
}

enum err_code snapshots_store(const char *dir, struct str manifest, struct err *err)
{
    struct arena *arena = arena_new(MANIFEST_BYTES_MAX);
    struct manifest m;
    char name[MANIFEST_ID_BYTES_MAX + sizeof SUFFIX];
    enum err_code code = manifest_decode(manifest, arena, &m, err);
    if (code == ERR_OK) {
        (void)snprintf(name, sizeof name, STR_FMT SUFFIX, STR_ARG(m.checkpoint));
        struct os_file_path path = os_file_join(dir, name);
        code = os_file_replace(path.z, manifest, err);
        if (code != ERR_OK) {
            os_file_discard(path.z); /* the file may have its final name already */
        }
    }
    arena_free(arena);
    return code;
}

static bool belongs_to(const char *name, const struct newest *newest)
{
    struct str s = str_from_z(name);
    for (size_t i = 0; i < newest->count; i++) {
        struct str id = newest->id[i];
        if (str_eq(s, id) || str_eq(manifest_id(name), id) ||
            str_eq(id_before(name, SUFFIX_DAMAGED), id)) {
            return true;
        }
    }
    return false;
}

void snapshots_prune(const char *dir, bool at_start)
{
    struct os_file_names names = {0};
    struct err err;
    if (os_file_list(dir, &names, &err) != ERR_OK) {
        return; /* failing is harmless: the next snapshot lists the folder again */
    }
    struct newest newest = find_newest(&names);
    /* Remove manifests first: a manifest must never exist without its checkpoint. */
    for (int manifests = 1; manifests >= 0; manifests--) {
        for (size_t i = 0; i < names.count; i++) {
            const char *name = names.name[i];
            bool older = newest.count > 0 && str_cmp(str_from_z(name), newest.id[0]) < 0;
            bool is_manifest = manifest_id(name).len > 0;
            if (is_manifest == (manifests == 1) && !belongs_to(name, &newest) &&
                (at_start || older)) {
                struct os_file_path path = os_file_join(dir, name);
                os_file_discard(path.z);
            }
        }
    }
    os_file_names_clear(&names);
}

/* Find the file in an earlier manifest. It counts only if it is the same inode: checkpoints
 * share unchanged files by hard links. */
static const struct manifest_file *find_same(const char *dir, const struct manifest *earlier,
                                             struct str name, const struct os_file_info *info)
{
    if (earlier == NULL) {
        return NULL;
    }
    for (size_t i = 0; i < earlier->file_count; i++) {
        const struct manifest_file *f = &earlier->file[i];
        if (!str_eq(f->name, name)) {
            continue;
        }
        struct os_file_path folder = snapshots_path(dir, earlier->checkpoint);
        char relative[MANIFEST_NAME_BYTES_MAX + 1];
        (void)snprintf(relative, sizeof relative, STR_FMT, STR_ARG(name));
        struct os_file_path path = os_file_join(folder.z, relative);
        struct os_file_info before;
        struct err err;
        bool same = os_file_stat(path.z, &before, &err) == ERR_OK && before.inode == info->inode &&
                    before.device == info->device && before.size == info->size &&
                    f->size == info->size;
        return same ? f : NULL;
    }
    return NULL;
}

static enum err_code describe_file(const char *dir, const char *folder, const char *name,
                                   const struct manifest *earlier, struct manifest_file *out,
                                   struct err *err)
{
    struct os_file_path path = os_file_join(folder, name);
    struct os_file_info info;
    if (os_file_stat(path.z, &info, err) != ERR_OK) {
        return err->code;
    }
    const struct manifest_file *same = find_same(dir, earlier, str_from_z(name), &info);
    if (same != NULL) {
        out->size = same->size;
        out->crc = same->crc;
        return ERR_OK;
    }
    return os_file_checksum(path.z, &out->crc, &out->size, err);
}

enum err_code snapshots_describe(const char *dir, const struct manifest *earlier,
                                 struct arena *arena, struct manifest *m, struct err *err)
{
    struct os_file_path folder = snapshots_path(dir, m->checkpoint);
    struct os_file_names names = {0};
    if (os_file_list_tree(folder.z, &names, err) != ERR_OK) {
        return err->code;
    }
    enum err_code code = ERR_OK;
    struct manifest_file *file =
        names.count == 0 ? NULL : ARENA_ARRAY(arena, struct manifest_file, names.count);
    for (size_t i = 0; i < names.count && code == ERR_OK; i++) {
        struct str name = str_from_z(names.name[i]);
        if (file == NULL || names.count > MANIFEST_FILES_MAX ||
            name.len > MANIFEST_NAME_BYTES_MAX) {
            code = err_set(err, ERR_TOO_LARGE, "a checkpoint has too many files or too long names");
            break;
        }
        file[i].name = arena_str(arena, name);
        code = describe_file(dir, folder.z, names.name[i], earlier, &file[i], err);
    }
    m->file = file;
    m->file_count = code == ERR_OK ? names.count : 0;
    os_file_names_clear(&names);
    return code;
}

static enum err_code verify_file(const char *dir, const struct manifest *m, size_t i,
                                 struct err *err)
{
    const struct manifest_file *f = &m->file[i];
    struct os_file_path folder = snapshots_path(dir, m->checkpoint);
    char name[MANIFEST_NAME_BYTES_MAX + 1];
    (void)snprintf(name, sizeof name, STR_FMT, STR_ARG(f->name));
    struct os_file_path path = os_file_join(folder.z, name);
    uint32_t crc = 0;
    uint64_t size = 0;
    enum err_code code = os_file_checksum(path.z, &crc, &size, err);
    if (code != ERR_OK && code != ERR_NOT_FOUND) {
        return code;
    }
    if (code == ERR_NOT_FOUND || size != f->size || crc != f->crc) {
        return err_set(err, ERR_CORRUPT, "checkpoint file '%s' is %s", path.z,
                       code == ERR_NOT_FOUND ? "missing" : "damaged");
    }
    return ERR_OK;
}

enum err_code snapshots_verify(const char *dir, const struct manifest *m, struct err *err)
{
    for (size_t i = 0; i < m->file_count; i++) {
        if (verify_file(dir, m, i, err) != ERR_OK) {
            return err->code;
        }
    }
    return ERR_OK;
}

static struct os_file_path mark_path(const char *dir, struct str id)
{
    char name[MANIFEST_ID_BYTES_MAX + sizeof SUFFIX_DAMAGED];
    (void)snprintf(name, sizeof name, STR_FMT SUFFIX_DAMAGED, STR_ARG(id));
    return os_file_join(dir, name);
}

bool snapshots_is_damaged(const char *dir, struct str id)
{
    struct os_file_path path = mark_path(dir, id);
    struct os_file_info info;
    struct err err;
    return os_file_stat(path.z, &info, &err) == ERR_OK;
}

static void mark(const char *dir, struct str id)
{
    struct os_file_path path = mark_path(dir, id);
    struct err err;
    if (!snapshots_is_damaged(dir, id) && os_file_replace(path.z, STR_EMPTY, &err) != ERR_OK) {
        log_warn("snapshot not marked", LOG_Z("error", err.msg));
    }
}

/* Is this still the newest snapshot? If not, its files may be missing because of a removal. */
static bool is_newest(const char *dir, struct str id)
{
    struct os_file_names names = {0};
    struct err err;
    if (os_file_list(dir, &names, &err) != ERR_OK) {
        return false;
    }
    struct newest newest = find_newest(&names);
    bool is = newest.count > 0 && str_eq(newest.id[0], id);
    os_file_names_clear(&names);
    return is;
}

static enum err_code check_some(const char *dir, const struct manifest *m,
                                struct snapshots_cursor *c, uint64_t bytes, struct err *err)
{
    uint64_t done = 0;
    if (!str_eq(str_from_z(c->id.z), m->checkpoint)) {
        *c = (struct snapshots_cursor){0};
        (void)snprintf(c->id.z, sizeof c->id.z, STR_FMT, STR_ARG(m->checkpoint));
    }
    for (; c->file < m->file_count && done < bytes; c->file++) {
        if (verify_file(dir, m, c->file, err) != ERR_OK) {
            return err->code;
        }
        done += m->file[c->file].size;
    }
    if (c->file >= m->file_count) {
        c->file = 0;
        c->rounds++;
    }
    return ERR_OK;
}

enum err_code snapshots_check(const char *dir, struct snapshots_cursor *c, uint64_t bytes,
                              struct err *err)
{
    struct arena *arena = arena_new(MANIFEST_BYTES_MAX);
    struct buf text;
    struct manifest m;
    buf_init(&text, MANIFEST_BYTES_MAX);
    enum err_code code = snapshots_load(dir, &text, err);
    if (code == ERR_OK && text.len > 0) {
        code = manifest_decode(buf_str(&text), arena, &m, err);
        code = code == ERR_OK ? check_some(dir, &m, c, bytes, err) : code;
        if (code == ERR_CORRUPT && !is_newest(dir, m.checkpoint)) {
            code = ERR_OK;
        }
        if (code == ERR_CORRUPT) {
            mark(dir, m.checkpoint);
        }
    }
    buf_deinit(&text);
    arena_free(arena);
    return code;
}
