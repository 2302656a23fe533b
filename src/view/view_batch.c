/*
 * Documents that are written together.
 */
#include <stdlib.h>

#include "base/check.h"
#include "store/store_docs.h"
#include "store/store_job.h"
#include "view/view_int.h"

enum { BATCH_BYTES = 8 << 20 };

/* The position of a document in docs. */
struct span {
    size_t from, len;
};

struct view_batch {
    struct buf docs;
    struct span spans[VIEW_BATCH];
    struct view_item items[VIEW_BATCH];
    size_t count;
};

struct view_batch *view_batch__new(void)
{
    struct view_batch *b = calloc(1, sizeof *b);
    CHECK(b != NULL);
    buf_init(&b->docs, SIZE_MAX);
    return b;
}

void view_batch__free(struct view_batch *b)
{
    if (b != NULL) {
        buf_deinit(&b->docs);
        free(b);
    }
}

bool view_batch__is_full(const struct view_batch *b)
{
    return b->count == VIEW_BATCH || b->docs.len >= BATCH_BYTES;
}

size_t view_batch__count(const struct view_batch *b)
{
    return b->count;
}

static void add(struct view_batch *b, struct id id, bool gone, struct span span)
{
    CHECK(b->count < VIEW_BATCH);
    b->items[b->count] = (struct view_item){.gone = gone, .job.id = id};
    b->spans[b->count++] = span;
}

void view_batch__put(struct view_batch *b, struct id id, struct str doc)
{
    struct span span = {b->docs.len, doc.len};
    buf_add_str(&b->docs, doc);
    add(b, id, false, span);
}

void view_batch__remove(struct view_batch *b, struct id id)
{
    add(b, id, true, (struct span){0});
}

struct reading {
    struct view_batch *batch;
    struct span spans[STORE_DOCS_FETCH_MAX]; /* documents that were read; empty: not read */
};

/* Add a document, unless the batch is full. Documents that are left out are read later, one by
 * one. */
static void take_doc(void *data, size_t i, struct str doc)
{
    struct reading *r = data;
    if (r->batch->docs.len >= BATCH_BYTES) {
        return;
    }
    r->spans[i] = (struct span){r->batch->docs.len, doc.len};
    buf_add_str(&r->batch->docs, doc);
}

size_t view_batch__read(struct view_batch *b, struct engine *e, const struct id *ids, size_t count)
{
    struct reading r = {.batch = b};
    struct kv_visitor visitor = {.value = take_doc, .data = &r};
    count = count < STORE_DOCS_FETCH_MAX ? count : STORE_DOCS_FETCH_MAX;
    store_docs_read_some(engine_store(e), ids, count, &visitor);
    size_t n = 0;
    for (; n < count && b->count < VIEW_BATCH; n++) {
        size_t from = b->docs.len;
        if (n > 0 && r.spans[n].len == 0 && from >= BATCH_BYTES) {
            break;
        }
        if (r.spans[n].len > 0) {
            add(b, ids[n], false, r.spans[n]);
        } else if (engine_read_job(e, ids[n], &b->docs)) {
            add(b, ids[n], false, (struct span){from, b->docs.len - from});
        } else {
            view_batch__remove(b, ids[n]);
        }
    }
    return n;
}

/* Decode a document. One that cannot be decoded stops the process. */
static void decode(struct job *j, struct str doc)
{
    struct err err;
    if (store_job_decode(j->id, doc, j, &err) != ERR_OK) {
        check_fatal("a document cannot be read: %s", err.msg);
    }
}

struct view_item *view_batch__take(struct view_batch *b, size_t *out_count)
{
    CHECK(!b->docs.overflow);
    for (size_t i = 0; i < b->count; i++) {
        if (!b->items[i].gone) {
            decode(&b->items[i].job, str_from(b->docs.ptr + b->spans[i].from, b->spans[i].len));
        }
    }
    *out_count = b->count;
    b->count = 0;
    buf_clear(&b->docs);
    return b->items;
}
