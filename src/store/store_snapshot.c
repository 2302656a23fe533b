#include "store/store_snapshot.h"

#include <stdlib.h>

#include "base/check.h"
#include "store/store_body.h"

struct store_snapshot {
    struct kv *kv; /* held */
    struct kv_view *view;
    struct kv_iter *walk;
    enum store_family walk_family;
    struct kv_iter *bodies; /* over the rows, used together with walk */
    struct buf joined;
    struct buf value;
    struct buf key;
};

struct store_snapshot *store_snapshot_new(struct store *s)
{
    struct store_snapshot *sn = calloc(1, sizeof *sn);
    CHECK(sn != NULL);
    sn->kv = store_hold(s);
    sn->view = kv_view_new(sn->kv);
    buf_init(&sn->joined, SIZE_MAX);
    buf_init(&sn->value, SIZE_MAX);
    buf_init(&sn->key, SIZE_MAX);
    return sn;
}

static void end_walk(struct store_snapshot *sn)
{
    if (sn->walk != NULL) {
        store_end_walk(sn->walk);
        store_end_walk(sn->bodies);
        sn->walk = sn->bodies = NULL;
    }
}

void store_snapshot_free(struct store_snapshot *sn)
{
    if (sn != NULL) {
        end_walk(sn);
        kv_view_free(sn->view);
        kv_close(sn->kv);
        buf_deinit(&sn->joined);
        buf_deinit(&sn->value);
        buf_deinit(&sn->key);
        free(sn);
    }
}

bool store_snapshot_next(struct store_snapshot *sn, enum store_family family, struct id *out_id,
                         struct str *out_doc)
{
    if (sn->walk == NULL || sn->walk_family != family) {
        end_walk(sn);
        sn->walk = kv_iter_new(sn->kv, sn->view, family, STR_EMPTY);
        sn->bodies = kv_iter_new(sn->kv, sn->view, STORE_ROWS, STR_EMPTY);
        sn->walk_family = family;
    } else if (kv_iter_valid(sn->walk)) {
        kv_iter_next(sn->walk);
    }
    if (!kv_iter_valid(sn->walk)) {
        return false;
    }
    struct str key = kv_iter_key(sn->walk);
    CHECK(key.len == ID_BYTES);
    memcpy(out_id->b, key.ptr, ID_BYTES);
    *out_doc = store_body_join(*out_id, kv_iter_value(sn->walk), sn->bodies, &sn->joined);
    return true;
}

/* Read the value of a key as of the snapshot. */
static bool get(struct store_snapshot *sn, enum store_family family, struct str key,
                struct str *out)
{
    struct err err;
    bool found;
    buf_clear(&sn->value);
    if (kv_get(sn->kv, sn->view, family, key, &sn->value, &found, &err) != ERR_OK) {
        check_fatal("the store cannot be read: %s", err.msg);
    }
    *out = buf_str(&sn->value);
    return found;
}

bool store_snapshot_get(struct store_snapshot *sn, enum store_family family, struct id id,
                        struct str *out_doc)
{
    struct store_job_body body;
    if (!get(sn, family, str_from(id.b, ID_BYTES), out_doc)) {
        return false;
    }
    if (store_job_find_body(*out_doc, &body)) {
        if (!store_body_read(sn->kv, sn->view, id, &body, &sn->value)) {
            store_body_missing(id);
        }
        *out_doc = buf_str(&sn->value);
    }
    return true;
}

static struct str key_of(struct store_snapshot *sn, char kind, struct str rest)
{
    buf_clear(&sn->key);
    buf_add_char(&sn->key, kind);
    buf_add_str(&sn->key, rest);
    return buf_str(&sn->key);
}

bool store_snapshot_record(struct store_snapshot *sn, char kind, struct str rest,
                           struct str *out_value)
{
    return get(sn, STORE_META, key_of(sn, kind, rest), out_value);
}

void store_snapshot_each(struct store_snapshot *sn, char kind,
                         void (*fn)(void *data, struct str rest, struct str value), void *data)
{
    struct kv_iter *it = kv_iter_new(sn->kv, sn->view, STORE_META, key_of(sn, kind, STR_EMPTY));
    for (; kv_iter_valid(it); kv_iter_next(it)) {
        struct str key = kv_iter_key(it);
        if (key.ptr[0] != kind) {
            break;
        }
        fn(data, str_from_offset(key, 1), kv_iter_value(it));
    }
    store_end_walk(it);
}

void store_snapshot_each_from(struct store_snapshot *sn, char kind, struct str from,
                              bool (*fn)(void *data, struct str rest, struct str value), void *data)
{
    struct kv_iter *it = kv_iter_new(sn->kv, sn->view, STORE_META, key_of(sn, kind, from));
    bool more = true;
    for (; more && kv_iter_valid(it); kv_iter_next(it)) {
        struct str key = kv_iter_key(it);
        if (key.ptr[0] != kind) {
            break;
        }
        more = fn(data, str_from_offset(key, 1), kv_iter_value(it));
    }
    store_end_walk(it);
}

void store_snapshot_each_row(struct store_snapshot *sn, struct id job,
                             const struct store_rows_visitor *visitor)
{
    struct str prefix = str_from(job.b, ID_BYTES);
    struct kv_iter *it = kv_iter_new(sn->kv, sn->view, STORE_ROWS, prefix);
    for (; kv_iter_valid(it) && str_starts_with(kv_iter_key(it), prefix); kv_iter_next(it)) {
        store_rows_visit(kv_iter_key(it), kv_iter_value(it), visitor);
    }
    store_end_walk(it);
}
