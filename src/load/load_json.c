/*
 * Reads what the load test needs from JSON, only by the names of the members.
 */
#include "load/load_int.h"

const char *load_json__behind_key(const char *at, const char *end, struct str key)
{
    at = at == end ? NULL : memmem(at, (size_t)(end - at), key.ptr, key.len);
    if (at == NULL) {
        return NULL;
    }
    for (at += key.len; at < end && (*at == ':' || *at == ' '); at++) {
    }
    return at;
}

int64_t load_json__enqueued_at(const char *at, const char *end, int64_t otherwise)
{
    uint64_t v = 0;
    at = load_json__behind_key(at, end, STR("\"t\""));
    if (at == NULL || end - at < LOAD_TIME_DIGITS + 1) {
        return otherwise;
    }
    for (int i = 1; i <= LOAD_TIME_DIGITS; i++) {
        char c = at[i];
        v = v << 4 | (uint64_t)(c <= '9' ? c - '0' : c - 'a' + 10);
    }
    return (int64_t)v;
}
