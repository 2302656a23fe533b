#include "http/http_target.h"

#include <string.h>

static int hex_value(char c)
{
    if (c >= '0' && c <= '9') {
        return c - '0';
    }
    if (c >= 'a' && c <= 'f') {
        return c - 'a' + 10;
    }
    if (c >= 'A' && c <= 'F') {
        return c - 'A' + 10;
    }
    return -1;
}

/* The byte encoded by "%xx" at the start of s, or -1. */
static int encoded_byte(struct str s)
{
    int high = s.len >= 3 ? hex_value(s.ptr[1]) : -1;
    int low = s.len >= 3 ? hex_value(s.ptr[2]) : -1;
    return high < 0 || low < 0 ? -1 : high * 16 + low;
}

bool http_target_decode(struct arena *arena, struct str s, struct str *out)
{
    if (s.len == 0 || memchr(s.ptr, '%', s.len) == NULL) {
        *out = s;
        return true;
    }
    char *copy = arena_alloc(arena, s.len, 1);
    if (copy == NULL) {
        return false;
    }
    size_t n = 0;
    for (size_t i = 0; i < s.len; i++) {
        if (s.ptr[i] != '%') {
            copy[n++] = s.ptr[i];
            continue;
        }
        int byte = encoded_byte(str_from_offset(s, i));
        if (byte <= 0) {
            return false;
        }
        copy[n++] = (char)byte;
        i += 2;
    }
    *out = str_from(copy, n);
    return true;
}

static bool has_scheme(struct str target, struct str scheme)
{
    return target.len >= scheme.len && str_eq_nocase(str_from(target.ptr, scheme.len), scheme);
}

/* "http://host/path" becomes "/path": the authority is in the Host header. */
static bool strip_authority(struct str *target)
{
    size_t scheme = has_scheme(*target, STR("http://"))    ? 7
                    : has_scheme(*target, STR("https://")) ? 8
                                                           : 0;
    struct str rest = str_from_offset(*target, scheme);
    size_t end = 0;
    while (end < rest.len && rest.ptr[end] != '/' && rest.ptr[end] != '?') {
        end++;
    }
    *target = str_from_offset(rest, end);
    return scheme > 0 && end > 0;
}

bool http_target_split(struct str target, struct http_target *out)
{
    if (str_eq(target, STR("*"))) {
        *out = (struct http_target){.path_raw = target};
        return true;
    }
    if (target.len == 0) {
        return false;
    }
    if (target.ptr[0] != '/' && !strip_authority(&target)) {
        return false;
    }
    const char *mark = target.len == 0 ? NULL : memchr(target.ptr, '?', target.len);
    size_t path_len = mark == NULL ? target.len : (size_t)(mark - target.ptr);
    out->path_raw = path_len == 0 ? STR("/") : str_from(target.ptr, path_len);
    out->query = mark == NULL ? STR_EMPTY : str_from_offset(target, path_len + 1);
    return true;
}

/* Decode one name or value of a query. Never fails; the result is never longer. */
static struct str param_decode(char *out, struct str s)
{
    size_t n = 0;
    for (size_t i = 0; i < s.len; i++) {
        int byte = s.ptr[i] == '%' ? encoded_byte(str_from_offset(s, i)) : -1;
        if (byte >= 0) {
            out[n++] = (char)byte;
            i += 2;
        } else {
            out[n++] = (char)(s.ptr[i] == '+' ? ' ' : s.ptr[i]);
        }
    }
    return str_from(out, n);
}

const struct http_param *http_target_params(struct arena *arena, struct str query,
                                            size_t *out_count)
{
    *out_count = 0;
    size_t count = query.len == 0 ? 0 : 1;
    for (size_t i = 0; i < query.len && count < HTTP_TARGET_PARAMS_MAX; i++) {
        count += query.ptr[i] == '&';
    }
    struct http_param *params = ARENA_ARRAY(arena, struct http_param, count + 1);
    char *room = arena_alloc(arena, query.len + 1, 1);
    if (params == NULL || room == NULL) {
        return NULL;
    }
    size_t n = 0;
    while (query.len > 0 && n < count) {
        const char *amp = memchr(query.ptr, '&', query.len);
        struct str pair = str_from(query.ptr, amp == NULL ? query.len : (size_t)(amp - query.ptr));
        query = str_from_offset(query, amp == NULL ? pair.len : pair.len + 1);
        if (pair.len == 0) {
            continue;
        }
        const char *equals = memchr(pair.ptr, '=', pair.len);
        size_t name_len = equals == NULL ? pair.len : (size_t)(equals - pair.ptr);
        struct str value = equals == NULL ? STR_EMPTY : str_from_offset(pair, name_len + 1);
        params[n].name = param_decode(room, str_from(pair.ptr, name_len));
        room += params[n].name.len;
        params[n].value = param_decode(room, value);
        room += params[n].value.len;
        n++;
    }
    *out_count = n;
    return params;
}
