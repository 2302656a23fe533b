/*
 * Reads all of a store to find damage. RocksDB has a checksum in every block.
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

/* Report an error. RocksDB's message names the table; add what the table contains. */
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

/* Open the store for reading; on failure *out_msg has the reason. */
static void open_store(struct check *c, const char *path, const struct kv_config *config,
                       rocksdb_options_t *options, char **out_msg)
{
    const char *names[KV_FAMILIES_MAX + 1];
    const rocksdb_options_t *each[KV_FAMILIES_MAX + 1];
    size_t count = config->family_count;
    CHECK(count <= KV_FAMILIES_MAX);
    rocksdb_options_set_info_log_level(options, 3 /* errors */);
    for (size_t i = 0; i <= count; i++) {
        names[i] = i < count ? config->families[i] : "default";
        each[i] = options;
    }
    c->db = rocksdb_open_for_read_only_column_families(options, path, (int)count + 1, names, each,
                                                       c->family, 0, out_msg);
}

static void close_store(struct check *c, const struct kv_config *config)
{
    for (size_t i = 0; i <= config->family_count; i++) {
        rocksdb_column_family_handle_destroy(c->family[i]);
    }
    rocksdb_close(c->db);
}

void kv_check(const char *path, const struct kv_config *config, uint64_t *out_keys,
              void (*damage)(void *data, const char *what), void *data)
{
    struct check c = {.damage = damage, .data = data};
    rocksdb_options_t *options = rocksdb_options_create();
    char *msg = NULL;
    *out_keys = 0;
    open_store(&c, path, config, options, &msg);
    if (msg != NULL) {
        damage(data, msg);
        rocksdb_free(msg);
    } else {
        for (size_t i = 0; i < config->family_count; i++) {
            *out_keys += read_family(&c, c.family[i], config->families[i]);
        }
        close_store(&c, config);
    }
    rocksdb_options_destroy(options);
}

static bool is_family(const struct kv_config *config, const char *name)
{
    bool known = strcmp(name, "default") == 0;
    for (size_t i = 0; i < config->family_count; i++) {
        known = known || strcmp(name, config->families[i]) == 0;
    }
    return known;
}

static enum err_code check_families(const char *path, const struct kv_config *config,
                                    const rocksdb_options_t *options, struct err *err)
{
    char *msg = NULL;
    size_t count = 0;
    enum err_code code = ERR_OK;
    char **names = rocksdb_list_column_families(options, path, &count, &msg);
    if (msg != NULL) {
        code = kv__err(err, msg, "list the families");
    }
    for (size_t i = 0; i < count; i++) {
        if (!is_family(config, names[i])) {
            code = err_set(err, ERR_CORRUPT, "it has the unknown family '%s'", names[i]);
        }
    }
    rocksdb_list_column_families_destroy(names, count); /* after an error, too */
    return code;
}

static enum err_code walk(const struct check *c, unsigned family,
                          bool (*fn)(void *data, struct str key, struct str value), void *data,
                          struct err *err)
{
    rocksdb_readoptions_t *options = rocksdb_readoptions_create();
    char *msg = NULL;
    bool more = true;
    rocksdb_readoptions_set_fill_cache(options, 0);
    rocksdb_iterator_t *it = rocksdb_create_iterator_cf(c->db, options, c->family[family]);
    for (rocksdb_iter_seek_to_first(it); more && rocksdb_iter_valid(it) != 0;
         rocksdb_iter_next(it)) {
        size_t key_len;
        size_t value_len;
        const char *key = rocksdb_iter_key(it, &key_len);
        const char *value = rocksdb_iter_value(it, &value_len);
        more = fn(data, str_from(key, key_len), str_from(value, value_len));
    }
    rocksdb_iter_get_error(it, &msg);
    rocksdb_iter_destroy(it);
    rocksdb_readoptions_destroy(options);
    return msg == NULL ? ERR_OK : kv__err(err, msg, "read");
}

enum err_code kv_check_each(const char *path, const struct kv_config *config, unsigned family,
                            bool (*fn)(void *data, struct str key, struct str value), void *data,
                            struct err *err)
{
    struct check c = {0};
    rocksdb_options_t *options = rocksdb_options_create();
    char *msg = NULL;
    CHECK(family < config->family_count);
    enum err_code code = check_families(path, config, options, err);
    if (code == ERR_OK) {
        open_store(&c, path, config, options, &msg);
        code = msg == NULL ? walk(&c, family, fn, data, err) : kv__err(err, msg, "open");
        if (c.db != NULL) {
            close_store(&c, config);
        }
    }
    rocksdb_options_destroy(options);
    return code;
}
