#include "json/json_compact.h"

#include <stdbool.h>

#include "json/json_int.h"

static bool is_space(char c)
{
    return c == ' ' || c == '\n' || c == '\r' || c == '\t';
}

/* Past the string whose opening quote is at p. */
static const char *string_end(const char *p, const char *end)
{
    p = json__plain_end(p + 1, end);
    while (p < end && *p != '"') {
        size_t len = *p == '\\' ? 2 : 1;
        p = (size_t)(end - p) < len ? end : json__plain_end(p + len, end);
    }
    return p < end ? p + 1 : end;
}

void json_compact_add(struct buf *out, struct str value)
{
    const char *p = value.len == 0 ? "" : value.ptr, *end = p + value.len;
    const char *run = p; /* where the bytes that are not copied yet begin */

    while (p < end) {
        if (*p == '"') {
            p = string_end(p, end);
        } else if (is_space(*p)) {
            buf_add(out, run, (size_t)(p - run));
            while (p < end && is_space(*p)) {
                p++;
            }
            run = p;
        } else {
            p++;
        }
    }
    buf_add(out, run, (size_t)(p - run));
}
