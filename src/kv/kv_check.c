/*
 * Reading all of a store to see whether it can be read. RocksDB has a checksum in every block.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kv/kv_int.h"

enum { CHECK_TEXT_BYTES = 600 };

struct check {
    rocksdb_t *db;
    rocksdb_column_family_handle_t *family[KV_FAMILIES_MAX + 1];
    void (*damage)(void *data, const char *what);
    void *data;
};

/* RocksDB names the table in its message; add what is in it. */
static void tell(const struct check *c, const char *name, const char *msg)
{
    char text[CHECK_TEXT_BYTES];
    const rocksdb_livefiles_t *files = rocksdb_livefiles(c->db);
    int count = rocksdb_livefiles_count(files);
    int found = -1;
    for (int i = 0; i < count; i++) {
        if (strstr(msg, rocksdb_livefiles_name(files, i)) != NULL) {
            found = i;
        }
    }
    if (found >= 0) {
        (void)snprintf(text, sizeof text, "family %s, table %s with %llu entries: %s", name,
                       rocksdb_livefiles_name(files, found) + 1,
                       (unsigned long long)rocksdb_livefiles_entries(files, found), msg);
    } else {
        (void)snprintf(text, sizeof text, "family %s: %s", name, msg);
    }
    c->damage(c->data, text);
    rocksdb_livefiles_destroy(files);
}

static uint64_t read_family(const struct check *c, rocksdb_column_family_handle_t *family,
                            const char *name)
{
    rocksdb_readoptions_t *options = rocksdb_readoptions_create();
    uint64_t keys = 0;
    char *msg = NULL;
    rocksdb_readoptions_set_fill_cache(options, 0);
    rocksdb_iterator_t *it = rocksdb_create_iterator_cf(c->db, options, family);
    for (rocksdb_iter_seek_to_first(it); rocksdb_iter_valid(it) != 0; rocksdb_iter_next(it)) {
        keys++;
    }
    rocksdb_iter_get_error(it, &msg);
    if (msg != NULL) {
        tell(c, name, msg);
        rocksdb_free(msg);
    }
    rocksdb_iter_destroy(it);
    rocksdb_readoptions_destroy(options);
    return keys;
}

void kv_check(const char *path, const struct kv_config *config, uint64_t *out_keys,
              void (*damage)(void *data, const char *what), void *data)
{
    struct check c = {.damage = damage, .data = data};
    rocksdb_options_t *options = rocksdb_options_create();
    const char *names[KV_FAMILIES_MAX + 1];
    const rocksdb_options_t *each[KV_FAMILIES_MAX + 1];
    size_t count = config->family_count;
    char *msg = NULL;
    CHECK(count <= KV_FAMILIES_MAX);
    rocksdb_options_set_info_log_level(options, 3 /* errors */);
    for (size_t i = 0; i <= count; i++) {
        names[i] = i < count ? config->families[i] : "default";
        each[i] = options;
    }
    *out_keys = 0;
    c.db = rocksdb_open_for_read_only_column_families(options, path, (int)count + 1, names, each,
                                                      c.family, 0, &msg);
    if (msg != NULL) {
        damage(data, msg);
        rocksdb_free(msg);
    } else {
        for (size_t i = 0; i < count; i++) {
            *out_keys += read_family(&c, c.family[i], names[i]);
        }
        for (size_t i = 0; i <= count; i++) {
            rocksdb_column_family_handle_destroy(c.family[i]);
        }
        rocksdb_close(c.db);
    }
    rocksdb_options_destroy(options);
}
