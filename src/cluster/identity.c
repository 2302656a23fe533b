#include "cluster/identity.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/str.h"
#include "os/os_clock.h"
#include "os/os_file.h"

enum { FILE_BYTES_MAX = 4096, DIGITS = 16 };

/* Not 0, and small enough for a signed 64-bit integer. */
static uint64_t new_number(void)
{
    uint64_t v = 0;
    do {
        os_clock_random(&v, sizeof v);
        v &= INT64_MAX;
    } while (v <= IDENTITY_OLD_NODE);
    return v;
}

static bool take_line(struct str *rest, struct str word, uint64_t *out)
{
    struct str line = str_cut(rest, '\n');
    if (line.len != word.len + DIGITS || !str_starts_with(line, word)) {
        return false;
    }
    *out = 0;
    for (size_t i = word.len; i < line.len; i++) {
        char c = line.ptr[i];
        bool digit = c >= '0' && c <= '9';
        if (!digit && (c < 'a' || c > 'f')) {
            return false;
        }
        *out = *out << 4 | (uint64_t)(digit ? c - '0' : c - 'a' + 10);
    }
    return true;
}

static enum err_code parse(struct str text, const char *path, struct identity *out, struct err *err)
{
    static const struct str joined = {.ptr = "joined\n", .len = 7};
    struct str head = str_cut(&text, '\n');
    bool sound = str_eq(head, STR("corvo identity 1")) &&
                 take_line(&text, STR("node "), &out->node) &&
                 take_line(&text, STR("cluster "), &out->cluster);
    out->joined = str_eq(text, joined);
    if (!sound || (text.len != 0 && !out->joined) || out->node == 0 || out->node > INT64_MAX) {
        return err_set(err, ERR_CORRUPT, "'%s' is damaged", path);
    }
    return ERR_OK;
}

enum err_code identity_store(const char *dir, const struct identity *identity, struct err *err)
{
    struct os_file_path path = os_file_join(dir, "identity");
    struct buf text;
    buf_init(&text, FILE_BYTES_MAX);
    buf_printf(&text, "corvo identity 1\nnode %016" PRIx64 "\ncluster %016" PRIx64 "\n%s",
               identity->node, identity->cluster, identity->joined ? "joined\n" : "");
    enum err_code code = os_file_replace(path.z, buf_str(&text), err);
    buf_deinit(&text);
    return code == ERR_OK ? os_file_flush_dir(dir, err) : code;
}

static enum err_code load(const char *path, struct identity *out, struct err *err)
{
    struct buf text;
    buf_init(&text, FILE_BYTES_MAX);
    enum err_code code = os_file_read(path, &text, err);
    code = code == ERR_OK ? parse(buf_str(&text), path, out, err) : code;
    buf_deinit(&text);
    return code;
}

enum err_code identity_inspect(const char *dir, struct identity *out, struct err *err)
{
    struct os_file_path path = os_file_join(dir, "identity");
    *out = (struct identity){0};
    return load(path.z, out, err);
}

bool identity_has_cluster(const char *dir)
{
    struct identity found;
    struct err ignored;
    return identity_inspect(dir, &found, &ignored) == ERR_OK && found.cluster != 0;
}

enum err_code identity_open(const char *dir, bool has_log, bool founds, struct identity *out,
                            struct err *err)
{
    struct os_file_path path = os_file_join(dir, "identity");
    struct os_file_info info;
    *out = (struct identity){0};
    enum err_code seen = os_file_stat(path.z, &info, err);
    if (seen != ERR_OK && seen != ERR_NOT_FOUND) {
        return seen;
    }
    if (seen == ERR_OK) {
        enum err_code code = load(path.z, out, err);
        if (code != ERR_OK || out->cluster != 0 || !founds) {
            return code;
        }
        out->cluster = new_number(); /* it was prepared to join a cluster, but now creates one */
        return identity_store(dir, out, err);
    }
    out->node = has_log ? IDENTITY_OLD_NODE : new_number();
    out->cluster = has_log || founds ? new_number() : 0;
    out->assumed = has_log;
    return has_log ? ERR_OK : identity_store(dir, out, err);
}
