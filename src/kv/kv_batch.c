#include <stdlib.h>

#include "base/check.h"
#include "kv/kv_batch_int.h"
#include "kv/kv_record.h"

struct kv_batch *kv_batch__new(size_t family_count)
{
    struct kv_batch *b = calloc(1, sizeof *b);
    CHECK(b != NULL);
    b->family_count = family_count;
    /* The caller has limited the size of an entry; a commit cannot be refused here. */
    buf_init(&b->records, SIZE_MAX);
    return b;
}

void kv_batch_free(struct kv_batch *b)
{
    if (b != NULL) {
        buf_deinit(&b->records);
        free(b);
    }
}

void kv_batch__clear(struct kv_batch *b)
{
    buf_clear(&b->records);
    b->count = 0;
}

static void add(struct kv_batch *b, struct kv_record r)
{
    CHECK(r.family < b->family_count);
    kv_record_add(&b->records, &r);
    b->count++;
}

void kv_put(struct kv_batch *b, unsigned family, struct str key, struct str value)
{
    add(b, (struct kv_record){KV_RECORD_PUT, family, key, value});
}

void kv_put_new(struct kv_batch *b, unsigned family, struct str key, struct str value)
{
    add(b, (struct kv_record){KV_RECORD_PUT_NEW, family, key, value});
}

void kv_delete(struct kv_batch *b, unsigned family, struct str key)
{
    add(b, (struct kv_record){KV_RECORD_DELETE, family, key, STR_EMPTY});
}

void kv_delete_range(struct kv_batch *b, unsigned family, struct str from, struct str until)
{
    add(b, (struct kv_record){KV_RECORD_DELETE_RANGE, family, from, until});
}

size_t kv_batch_count(const struct kv_batch *b)
{
    return b->count;
}

struct str kv_batch_bytes(const struct kv_batch *b)
{
    return buf_str(&b->records);
}
