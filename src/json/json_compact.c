#include "json/json_compact.h"

#include "json/json_int.h"

static bool is_space(char c)
{
    return c == ' ' || c == '\n' || c == '\r' || c == '\t';
}

/* Skip the string whose opening quote is at p. */
static const char *string_end(const char *p, const char *end)
{
    p = json__plain_end(p + 1, end);
    while (p < end && *p != '"') {
        size_t len = *p == '\\' ? 2 : 1;
        p = (size_t)(end - p) < len ? end : json__plain_end(p + len, end);
    }
    return p < end ? p + 1 : end;
}

/* The first insignificant space from p on; end if there is none. */
static const char *next_space(const char *p, const char *end)
{
    while (p < end && !is_space(*p)) {
        p = *p == '"' ? string_end(p, end) : p + 1;
    }
    return p;
}

struct str json_compact_in(struct arena *arena, struct str value)
{
    const char *p = value.len == 0 ? "" : value.ptr, *end = p + value.len;
    const char *space = next_space(p, end);
    char *copy = space == end ? NULL : arena_alloc(arena, value.len, 1);
    size_t len = 0;
    if (copy == NULL) {
        return space == end ? value : STR_EMPTY;
    }
    while (p < end) {
        memcpy(copy + len, p, (size_t)(space - p));
        len += (size_t)(space - p);
        for (p = space; p < end && is_space(*p);) {
            p++;
        }
        space = next_space(p, end);
    }
    return str_from(copy, len);
}

void json_compact_add(struct buf *out, struct str value)
{
    const char *p = value.len == 0 ? "" : value.ptr, *end = p + value.len;
    while (p < end) {
        const char *space = next_space(p, end);
        buf_add(out, p, (size_t)(space - p));
        for (p = space; p < end && is_space(*p);) {
            p++;
        }
    }
}
