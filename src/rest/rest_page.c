#include <stdlib.h>

#include "base/check.h"
#include "base/hex.h"
#include "base/limits.h"
#include "rest/rest_page_int.h"

enum {
    KEY_BYTES_MAX = 8 + LIMIT_INTERNAL_NAME_BYTES + LIMIT_WORKER_ID_BYTES,
    CURSOR_BYTES_MAX = 2 * KEY_BYTES_MAX,    /* in hexadecimal */
    ROWS_CAP = 2 * (REST_PAGE_ROWS_MAX + 1), /* rows kept before cut() truncates them */
};

struct page_in {
    int64_t limit;
    struct str cursor, prefix;
};

static const struct json_field page_rows[] = {
    JSON_I64(struct page_in, limit, 1, REST_PAGE_ROWS_MAX, JSON_CLAMP,
             "Maximum number of rows. Default and maximum: 1000."),
    JSON_STR(struct page_in, cursor, 0, CURSOR_BYTES_MAX, 0,
             "Value of X-Corvo-Next-Cursor in the previous response."),
    JSON_STR(struct page_in, prefix, 0, LIMIT_NAME_BYTES, 0,
             "Only rows whose name (or ID, if there is no name) has this prefix."),
};
static const struct page_in page_init = {.limit = REST_PAGE_ROWS_MAX};
const struct json_schema rest_page__schema =
    JSON_SCHEMA(struct page_in, page_rows, .init = &page_init);

/* Cursors are keys in hexadecimal, which needs no escaping in a header or a query. */

bool rest_page__read_cursor(struct rest_call *c, struct str text, struct str *out)
{
    size_t n = text.len / 2;
    char *bytes = REST_ARRAY(c, char, n);
    *out = str_from(bytes, n);
    return hex_read(text, bytes, n);
}

struct str rest_page__write_cursor(struct rest_call *c, struct str key)
{
    char *text = REST_ARRAY(c, char, key.len * 2);
    hex_write(text, key.ptr, key.len);
    return str_from(text, key.len * 2);
}

bool rest_page__begin(struct rest_call *c, struct rest_page *out)
{
    const struct page_in *in = c->query;
    *out = (struct rest_page){.call = c, .limit = (size_t)in->limit, .prefix = in->prefix};
    if (!rest_page__read_cursor(c, in->cursor, &out->after)) {
        rest_call__fail(c, ERR_VALIDATION,
                        "invalid cursor: expected the value of X-Corvo-Next-Cursor");
        return false;
    }
    out->rows = REST_ARRAY(c, struct rest_page_row, ROWS_CAP);
    out->cap = 2 * (out->limit + 1);
    return true;
}

static int compare_keys(const void *a, const void *b)
{
    return str_cmp(((const struct rest_page_row *)a)->key, ((const struct rest_page_row *)b)->key);
}

/* Sort the rows, and keep the page and one more row. */
static void cut(struct rest_page *p)
{
    qsort(p->rows, p->count, sizeof *p->rows, compare_keys);
    if (p->count > p->limit) {
        p->count = p->limit + 1;
        p->worst = p->rows[p->limit].key;
    }
}

bool rest_page__wants(const struct rest_page *p, struct str key)
{
    return (p->after.len == 0 || str_cmp(key, p->after) > 0) &&
           (p->worst.len == 0 || str_cmp(key, p->worst) < 0);
}

void rest_page__add(struct rest_page *p, struct str key, void *data)
{
    if (p->count == p->cap) {
        cut(p);
    }
    p->rows[p->count++] =
        (struct rest_page_row){.key = arena_str(p->call->arena, key), .data = data};
}

void rest_page__finish(struct rest_page *p)
{
    cut(p);
    if (p->count > p->limit) {
        p->count = p->limit;
        p->next = rest_page__write_cursor(p->call, p->rows[p->limit - 1].key);
    }
}

void rest_page__reply(const struct rest_page *p, const struct json_write *w)
{
    rest_call__reply_next(p->call, w, p->next);
}

struct str rest_page__time_key(struct rest_call *c, struct wall at, bool newest_first,
                               struct str text)
{
    char *key = REST_ARRAY(c, char, sizeof(uint64_t) + text.len);
    uint64_t ns = (uint64_t)at.ns ^ 1ULL << 63; /* makes signed numbers sort bytewise */
    ns = newest_first ? ~ns : ns;
    for (unsigned i = 0; i < sizeof ns; i++) {
        key[i] = (char)(uint8_t)(ns >> (56 - 8 * i));
    }
    if (text.len > 0) {
        memcpy(key + sizeof ns, text.ptr, text.len);
    }
    return str_from(key, sizeof ns + text.len);
}
