#include "core/queue_scope.h"

static bool has_wildcard(struct str pattern)
{
    return memchr(pattern.ptr, '*', pattern.len) != NULL ||
           memchr(pattern.ptr, '?', pattern.len) != NULL;
}

/* If the rest does not match, only the last star is extended, so the work is bounded by the product
 * of both lengths. */
static bool matches(struct str pattern, struct str name)
{
    size_t p = 0;
    size_t n = 0;
    size_t star = SIZE_MAX;
    size_t star_n = 0;
    while (n < name.len) {
        if (p < pattern.len && pattern.ptr[p] == '*') {
            star = p++;
            star_n = n;
        } else if (p < pattern.len && pattern.ptr[p] == '?') {
            size_t len = str_utf8_len(str_from_offset(name, n));
            n += len == 0 ? 1 : len;
            p++;
        } else if (p < pattern.len && pattern.ptr[p] == name.ptr[n]) {
            p++;
            n++;
        } else if (star != SIZE_MAX) {
            p = star + 1;
            n = ++star_n;
        } else {
            return false;
        }
    }
    while (p < pattern.len && pattern.ptr[p] == '*') {
        p++;
    }
    return p == pattern.len;
}

static bool covers(struct str pattern, struct str name)
{
    if (has_wildcard(pattern)) {
        return matches(pattern, name);
    }
    if (!str_starts_with(name, pattern)) {
        return false;
    }
    return pattern.ptr[pattern.len - 1] == '.' || name.len == pattern.len ||
           name.ptr[pattern.len] == '.';
}

bool queue_scope_has(struct str scope, struct str visible)
{
    bool any = false;
    while (scope.len > 0) {
        struct str pattern = str_trim(str_cut(&scope, ','));
        if (pattern.len > 0 && covers(pattern, visible)) {
            return true;
        }
        any = any || pattern.len > 0;
    }
    return !any;
}
