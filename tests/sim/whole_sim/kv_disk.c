#include "sim/whole_sim/kv_disk.h"

#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "kv/kv_batch_int.h"
#include "kv/kv_record.h"

struct pair {
    unsigned refs;
    size_t key_len, value_len;
    char bytes[]; /* key, value */
};

/* A sorted family. Shared until it is written to. */
struct table {
    unsigned refs;
    size_t count, cap;
    struct pair **pair;
};

struct image {
    struct table *family[KV_FAMILIES_MAX];
};

/* What a crash leaves of a store. */
struct folder {
    struct folder *next;
    struct image image;
    char path[];
};

struct kv {
    struct kv *next; /* list of open stores */
    unsigned refs;
    struct image image;
    size_t family_count;
    bool crashed, retired;
    char path[];
};

struct kv_view {
    struct image image;
};

struct kv_iter {
    struct table *table;
    size_t at; /* equal to count: at the end */
};

static struct folder *folders;
static struct kv *open_stores;

/* ---- pairs and tables ---- */

static struct str key_of(const struct pair *p)
{
    return str_from(p->bytes, p->key_len);
}

static struct str value_of(const struct pair *p)
{
    return str_from(p->bytes + p->key_len, p->value_len);
}

static struct pair *pair_new(struct str key, struct str value)
{
    struct pair *p = malloc(sizeof *p + key.len + value.len);
    CHECK(p != NULL);
    *p = (struct pair){.refs = 1, .key_len = key.len, .value_len = value.len};
    if (key.len > 0) {
        memcpy(p->bytes, key.ptr, key.len);
    }
    if (value.len > 0) {
        memcpy(p->bytes + key.len, value.ptr, value.len);
    }
    return p;
}

static void pair_unref(struct pair *p)
{
    if (--p->refs == 0) {
        free(p);
    }
}

static struct table *table_new(void)
{
    struct table *t = calloc(1, sizeof *t);
    CHECK(t != NULL);
    t->refs = 1;
    return t;
}

static struct table *table_ref(struct table *t)
{
    t->refs++;
    return t;
}

static void table_unref(struct table *t)
{
    if (t != NULL && --t->refs == 0) {
        for (size_t i = 0; i < t->count; i++) {
            pair_unref(t->pair[i]);
        }
        free(t->pair);
        free(t);
    }
}

/* Return a table that is not shared. */
static struct table *table_own(struct table **t)
{
    struct table *old = *t;
    if (old->refs > 1) {
        struct table *copy = table_new();
        copy->count = old->count;
        copy->cap = old->count + 64;
        copy->pair = malloc(copy->cap * sizeof(struct pair *));
        CHECK(copy->pair != NULL);
        for (size_t i = 0; i < old->count; i++) {
            copy->pair[i] = old->pair[i];
            copy->pair[i]->refs++;
        }
        table_unref(old);
        *t = copy;
    }
    return *t;
}

/* Position of the first pair whose key is not less than key. */
static size_t table_seek(const struct table *t, struct str key)
{
    size_t low = 0;
    size_t high = t->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (str_cmp(key_of(t->pair[middle]), key) < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

static bool table_has(const struct table *t, size_t at, struct str key)
{
    return at < t->count && str_cmp(key_of(t->pair[at]), key) == 0;
}

static void table_put(struct table **table, struct str key, struct str value)
{
    struct table *t = table_own(table);
    size_t at = table_seek(t, key);
    if (table_has(t, at, key)) {
        pair_unref(t->pair[at]);
    } else {
        if (t->count == t->cap) {
            t->cap = t->cap * 2 + 64;
            t->pair = realloc(t->pair, t->cap * sizeof(struct pair *));
            CHECK(t->pair != NULL);
        }
        memmove(t->pair + at + 1, t->pair + at, (t->count - at) * sizeof(struct pair *));
        t->count++;
    }
    t->pair[at] = pair_new(key, value);
}

static void table_cut(struct table **table, size_t from, size_t until)
{
    if (from < until) {
        struct table *t = table_own(table);
        for (size_t i = from; i < until; i++) {
            pair_unref(t->pair[i]);
        }
        memmove(t->pair + from, t->pair + until, (t->count - until) * sizeof(struct pair *));
        t->count -= until - from;
    }
}

static void image_release(struct image *image)
{
    for (size_t i = 0; i < KV_FAMILIES_MAX; i++) {
        table_unref(image->family[i]);
        image->family[i] = NULL;
    }
}

static void family_take(struct image *to, const struct image *from, size_t family)
{
    struct table *t = table_ref(from->family[family]);
    table_unref(to->family[family]);
    to->family[family] = t;
}

static void image_take(struct image *to, const struct image *from)
{
    for (size_t i = 0; i < KV_FAMILIES_MAX; i++) {
        family_take(to, from, i);
    }
}

/* ---- folders ---- */

static struct folder *folder_find(const char *path)
{
    struct folder *f = folders;
    while (f != NULL && strcmp(f->path, path) != 0) {
        f = f->next;
    }
    return f;
}

static struct folder *folder_make(const char *path)
{
    struct folder *f = folder_find(path);
    if (f == NULL) {
        f = calloc(1, sizeof *f + strlen(path) + 1);
        CHECK(f != NULL);
        memcpy(f->path, path, strlen(path) + 1);
        for (size_t i = 0; i < KV_FAMILIES_MAX; i++) {
            f->image.family[i] = table_new();
        }
        f->next = folders;
        folders = f;
    }
    return f;
}

static void folder_remove(const char *path)
{
    for (struct folder **at = &folders; *at != NULL; at = &(*at)->next) {
        if (strcmp((*at)->path, path) == 0) {
            struct folder *f = *at;
            *at = f->next;
            image_release(&f->image);
            free(f);
            return;
        }
    }
}

static struct kv *find_open(const char *path)
{
    struct kv *kv = open_stores;
    while (kv != NULL && strcmp(kv->path, path) != 0) {
        kv = kv->next;
    }
    CHECK(kv != NULL);
    return kv;
}

void kv_disk_flush(const char *path, bool whole)
{
    const struct kv *kv = find_open(path);
    struct folder *f = folder_make(path);
    for (size_t i = 0; i < KV_FAMILIES_MAX; i++) {
        if (whole || i % 2 == 0) {
            family_take(&f->image, &kv->image, i);
        }
    }
}

void kv_disk_crash(const char *path)
{
    find_open(path)->crashed = true;
}

bool kv_disk_copy(const char *from, const char *to)
{
    const struct folder *source = folder_find(from);
    if (source != NULL) {
        image_take(&folder_make(to)->image, &source->image);
    }
    return source != NULL;
}

void kv_disk_stale_checkpoint(const char *path, const char *dir)
{
    struct folder *f = folder_make(path);
    image_take(&folder_make(dir)->image, &f->image);
}

void kv_disk_clear(void)
{
    open_stores = NULL;
    while (folders != NULL) {
        folder_remove(folders->path);
    }
}

/* ---- kv.h: the store ---- */

enum err_code kv_open(const char *path, const struct kv_config *config, struct kv **out_kv,
                      struct err *err)
{
    struct kv *kv = calloc(1, sizeof *kv + strlen(path) + 1);
    CHECK(kv != NULL);
    err_clear(err);
    kv->refs = 1;
    kv->family_count = config->family_count;
    memcpy(kv->path, path, strlen(path) + 1);
    image_take(&kv->image, &folder_make(path)->image);
    kv->next = open_stores;
    open_stores = kv;
    *out_kv = kv;
    return ERR_OK;
}

struct kv *kv_hold(struct kv *kv)
{
    kv->refs++;
    return kv;
}

void kv_retire(struct kv *kv)
{
    kv->retired = true;
}

void kv_close(struct kv *kv)
{
    if (kv == NULL || --kv->refs > 0) {
        return;
    }
    if (kv->retired) {
        folder_remove(kv->path);
    } else if (!kv->crashed) {
        kv_disk_flush(kv->path, true);
    }
    struct kv **at = &open_stores;
    while (*at != kv) {
        at = &(*at)->next;
    }
    *at = kv->next;
    image_release(&kv->image);
    free(kv);
}

enum err_code kv_checkpoint(struct kv *kv, const char *dir, struct err *err)
{
    err_clear(err);
    kv_disk_flush(kv->path, true);
    image_take(&folder_make(dir)->image, &kv->image);
    return ERR_OK;
}

bool kv_shrink(struct kv *kv, bool urgent, uint64_t free_bytes)
{
    (void)kv;
    (void)urgent;
    (void)free_bytes;
    return false;
}

void kv_allow_compaction(struct kv *kv, bool allow)
{
    (void)kv;
    (void)allow;
}

void kv_stats(struct kv *kv, struct kv_stats *out)
{
    (void)kv;
    *out = (struct kv_stats){0};
}

/* ---- kv.h: writing ---- */

struct kv_batch *kv_batch_new(struct kv *kv)
{
    return kv_batch__new(kv->family_count);
}

static void write_record(struct kv *kv, const struct kv_record *r)
{
    struct table **t = &kv->image.family[r->family];
    size_t at = table_seek(*t, r->key);
    switch (r->kind) {
    case KV_RECORD_PUT_NEW:
        CHECK(!table_has(*t, at, r->key)); /* the caller guarantees it */
        table_put(t, r->key, r->value);
        break;
    case KV_RECORD_PUT:
        table_put(t, r->key, r->value);
        break;
    case KV_RECORD_DELETE:
        table_cut(t, at, at + table_has(*t, at, r->key));
        break;
    case KV_RECORD_DELETE_RANGE:
        table_cut(t, at, table_seek(*t, r->value));
        break;
    default:
        UNREACHABLE("a record has a kind");
    }
}

enum err_code kv_commit(struct kv *kv, struct kv_batch *b, struct err *err)
{
    const char *at = b->records.ptr;
    err_clear(err);
    while (at != b->records.ptr + b->records.len) {
        struct kv_record r;
        at = kv_record_read(at, &r);
        write_record(kv, &r);
    }
    kv_batch__clear(b);
    return ERR_OK;
}

/* ---- kv.h: reading ---- */

struct kv_view *kv_view_new(struct kv *kv)
{
    struct kv_view *v = calloc(1, sizeof *v);
    CHECK(v != NULL);
    image_take(&v->image, &kv->image);
    return v;
}

void kv_view_free(struct kv_view *v)
{
    if (v != NULL) {
        image_release(&v->image);
        free(v);
    }
}

/* NOLINTNEXTLINE(readability-function-size): the signature is kv.h's */
enum err_code kv_get(struct kv *kv, const struct kv_view *view, unsigned family, struct str key,
                     struct buf *out, bool *out_found, struct err *err)
{
    const struct table *t = (view != NULL ? &view->image : &kv->image)->family[family];
    size_t at = table_seek(t, key);
    err_clear(err);
    *out_found = table_has(t, at, key);
    if (*out_found) {
        buf_add_str(out, value_of(t->pair[at]));
    }
    return out->overflow ? err_set_default(err, ERR_TOO_LARGE) : ERR_OK;
}

/* NOLINTNEXTLINE(readability-function-size): the signature is kv.h's */
enum err_code kv_get_any(struct kv *kv, unsigned families, struct str key, struct buf *out,
                         bool *out_found, struct err *err)
{
    enum err_code code = ERR_OK;
    *out_found = false;
    for (unsigned i = 0; i < kv->family_count && !*out_found && code == ERR_OK; i++) {
        if ((families & 1U << i) != 0) {
            code = kv_get(kv, NULL, i, key, out, out_found, err);
        }
    }
    return code;
}

/* NOLINTNEXTLINE(readability-function-size): the signature is kv.h's */
enum err_code kv_get_near(struct kv *kv, unsigned family, const struct str *keys, size_t count,
                          const struct kv_visitor *visitor, struct err *err)
{
    const struct table *t = kv->image.family[family];
    err_clear(err);
    for (size_t i = 0; i < count; i++) {
        size_t at = table_seek(t, keys[i]);
        if (table_has(t, at, keys[i])) {
            visitor->value(visitor->data, i, value_of(t->pair[at]));
        }
    }
    return ERR_OK;
}

void kv_get_some(struct kv *kv, unsigned family, const struct str *keys, size_t count,
                 const struct kv_visitor *visitor)
{
    struct err err;
    enum err_code code = kv_get_near(kv, family, keys, count, visitor, &err);
    CHECK(code == ERR_OK);
}

struct kv_iter *kv_iter_new(struct kv *kv, const struct kv_view *view, unsigned family,
                            struct str from)
{
    struct kv_iter *it = calloc(1, sizeof *it);
    CHECK(it != NULL);
    it->table = table_ref((view != NULL ? &view->image : &kv->image)->family[family]);
    kv_iter_seek(it, from);
    return it;
}

void kv_iters_new(struct kv *kv, const unsigned *families, size_t count, struct kv_iter **out_its)
{
    for (size_t i = 0; i < count; i++) {
        out_its[i] = kv_iter_new(kv, NULL, families[i], STR_EMPTY);
    }
}

void kv_iter_free(struct kv_iter *it)
{
    if (it != NULL) {
        table_unref(it->table);
        free(it);
    }
}

bool kv_iter_valid(const struct kv_iter *it)
{
    return it->at < it->table->count;
}

void kv_iter_next(struct kv_iter *it)
{
    it->at++;
}

void kv_iter_seek(struct kv_iter *it, struct str key)
{
    it->at = table_seek(it->table, key);
}

void kv_iter_seek_back(struct kv_iter *it, struct str key)
{
    kv_iter_seek(it, key);
    if (!table_has(it->table, it->at, key)) {
        it->at = it->at == 0 ? it->table->count : it->at - 1;
    }
}

struct str kv_iter_key(const struct kv_iter *it)
{
    return key_of(it->table->pair[it->at]);
}

struct str kv_iter_value(const struct kv_iter *it)
{
    return value_of(it->table->pair[it->at]);
}

enum err_code kv_iter_error(const struct kv_iter *it, struct err *err)
{
    (void)it;
    err_clear(err);
    return ERR_OK;
}

/* ---- kv.h: checks of closed stores, which the simulation does not use ---- */

void kv_check(const char *path, const struct kv_config *config, uint64_t *out_keys,
              void (*damage)(void *data, const char *what), void *data)
{
    (void)path;
    (void)config;
    (void)out_keys;
    (void)damage;
    (void)data;
    UNREACHABLE("the simulation checks no store from outside");
}

/* NOLINTNEXTLINE(readability-function-size): the signature is kv.h's */
enum err_code kv_check_each(const char *path, const struct kv_config *config, unsigned family,
                            bool (*fn)(void *data, struct str key, struct str value), void *data,
                            struct err *err)
{
    (void)path;
    (void)config;
    (void)family;
    (void)fn;
    (void)data;
    return err_set_default(err, ERR_INTERNAL);
}
