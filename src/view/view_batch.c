/*
 * Documents that are written together.
 */
#include <stdlib.h>

#include "base/check.h"
#include "store/store_job.h"
#include "view/view_int.h"

enum { BATCH_BYTES = 8 << 20 };

struct view_batch {
    struct buf docs;
    size_t ends[VIEW_BATCH]; /* of the documents */
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

/* Its document, if it is not gone, is at the end of docs. */
static void add(struct view_batch *b, struct id id, bool gone)
{
    CHECK(b->count < VIEW_BATCH);
    b->items[b->count] = (struct view_item){.gone = gone, .job.id = id};
    b->ends[b->count++] = b->docs.len;
}

void view_batch__put(struct view_batch *b, struct id id, struct str doc)
{
    buf_add_str(&b->docs, doc);
    add(b, id, false);
}

void view_batch__remove(struct view_batch *b, struct id id)
{
    add(b, id, true);
}

void view_batch__read(struct view_batch *b, struct engine *e, struct id id)
{
    add(b, id, !engine_read_job(e, id, &b->docs));
}

/* A document that cannot be decoded stops the process, as everywhere. */
static void decode(struct job *j, struct str doc)
{
    struct err err;
    if (store_job_decode(j->id, doc, j, &err) != ERR_OK) {
        check_fatal("a document cannot be read: %s", err.msg);
    }
}

struct view_item *view_batch__take(struct view_batch *b, size_t *out_count)
{
    size_t from = 0;
    CHECK(!b->docs.overflow);
    for (size_t i = 0; i < b->count; i++) {
        if (!b->items[i].gone) {
            decode(&b->items[i].job, str_from(b->docs.ptr + from, b->ends[i] - from));
        }
        from = b->ends[i];
    }
    *out_count = b->count;
    b->count = 0;
    buf_clear(&b->docs);
    return b->items;
}
