#include "store/store_walk.h"

#include <stdlib.h>

#include "base/check.h"
#include "store/store_body.h"

enum { WALK_LIVE, WALK_DONE, WALK_ROWS, FAMILIES };

struct store_walk {
    struct kv_iter *its[FAMILIES];
    struct kv_iter *given; /* the iterator of the returned document */
    struct buf joined;
};

struct store_walk *store_walk_new(struct store *s)
{
    static const unsigned families[FAMILIES] = {STORE_LIVE, STORE_DONE, STORE_ROWS};
    struct store_walk *w = calloc(1, sizeof *w);
    CHECK(w != NULL);
    buf_init(&w->joined, SIZE_MAX);
    struct kv *kv = store_hold(s);
    kv_iters_new(kv, families, FAMILIES, w->its);
    kv_close(kv); /* the iterators hold it now */
    return w;
}

void store_walk_free(struct store_walk *w)
{
    if (w != NULL) {
        for (size_t i = 0; i < FAMILIES; i++) {
            store_end_walk(w->its[i]);
        }
        buf_deinit(&w->joined);
        free(w);
    }
}

static struct kv_iter *lower(struct kv_iter *a, struct kv_iter *b)
{
    if (!kv_iter_valid(a) || !kv_iter_valid(b)) {
        return kv_iter_valid(a) ? a : b;
    }
    return str_cmp(kv_iter_key(a), kv_iter_key(b)) <= 0 ? a : b;
}

bool store_walk_next(struct store_walk *w, struct id *out_id, struct str *out_doc)
{
    if (w->given != NULL) {
        kv_iter_next(w->given);
    }
    struct kv_iter *it = lower(w->its[WALK_LIVE], w->its[WALK_DONE]);
    w->given = NULL;
    if (!kv_iter_valid(it)) {
        return false;
    }
    struct str key = kv_iter_key(it);
    CHECK(key.len == ID_BYTES);
    memcpy(out_id->b, key.ptr, ID_BYTES);
    *out_doc = store_body_join(*out_id, kv_iter_value(it), w->its[WALK_ROWS], &w->joined);
    w->given = it;
    return true;
}
