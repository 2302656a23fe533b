#include "store/store_body.h"

#include <string.h>

#include "base/check.h"
#include "store/store.h"

struct store_body_key store_body_key_of(struct id id)
{
    struct store_body_key key = {{0}}; /* position 0: a job has only one body */
    memcpy(key.bytes, id.b, ID_BYTES);
    key.bytes[ID_BYTES] = STORE_BODY_KIND;
    return key;
}

struct str store_body_key_str(const struct store_body_key *key)
{
    return str_from(key->bytes, sizeof key->bytes);
}

void store_body_missing(struct id id)
{
    char text[ID_TEXT_MAX];
    size_t len = id_format(id, ID_JOB, text);
    check_fatal("the body of %.*s is missing or belongs to another version", (int)len, text);
}

bool store_body_read(struct kv *kv, const struct kv_view *view, struct id id,
                     const struct store_job_body *known, struct buf *out)
{
    struct store_body_key key = store_body_key_of(id);
    struct err err;
    bool found = false;
    size_t at = out->len;
    if (kv_get(kv, view, STORE_ROWS, store_body_key_str(&key), out, &found, &err) != ERR_OK) {
        check_fatal("the store cannot be read: %s", err.msg);
    }
    return found && store_job_is_body(str_from(out->ptr + at, out->len - at), known);
}

struct str store_body_join(struct id id, struct str stored, struct kv_iter *rows,
                           struct buf *joined)
{
    struct store_job_body known;
    if (!store_job_find_body(stored, &known)) {
        return stored;
    }
    struct store_body_key key = store_body_key_of(id);
    kv_iter_seek(rows, store_body_key_str(&key));
    if (!kv_iter_valid(rows) || !str_eq(kv_iter_key(rows), store_body_key_str(&key)) ||
        !store_job_is_body(kv_iter_value(rows), &known)) {
        store_body_missing(id);
    }
    buf_clear(joined);
    buf_add_str(joined, stored);
    buf_add_str(joined, kv_iter_value(rows));
    CHECK(!joined->overflow);
    return buf_str(joined);
}
