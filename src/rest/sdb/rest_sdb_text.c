/*
 * Removes internal details from error messages (scheduler.md 2.11).
 */
#include <ctype.h>
#include <string.h>

#include "base/check.h"
#include "rest/sdb/rest_sdb_int.h"

enum { TEXT_BYTES_MAX = 1024 };

static bool is_word(char c)
{
    return isalnum((unsigned char)c) || c == '_' || c == '-';
}

/* Length of an IPv4 address at the beginning, such as "10.0.0.1"; 0 if there is none. */
static size_t v4_len(struct str s)
{
    size_t at = 0;
    for (unsigned part = 0; part < 4; part++) {
        size_t digits = 0;
        while (at < s.len && isdigit((unsigned char)s.ptr[at]) && digits < 3) {
            at++;
            digits++;
        }
        if (digits == 0 || (part < 3 && (at == s.len || s.ptr[at++] != '.'))) {
            return 0;
        }
    }
    bool goes_on = at < s.len &&
                   (isalnum((unsigned char)s.ptr[at]) ||
                    (s.ptr[at] == '.' && at + 1 < s.len && isdigit((unsigned char)s.ptr[at + 1])));
    return goes_on ? 0 : at;
}

/* The same for the zone of an IPv6 address, such as "%eth0". */
static size_t zone_len(struct str s)
{
    size_t at = s.len > 0 && s.ptr[0] == '%' ? 1 : 0;
    while (at > 0 && at < s.len && is_word(s.ptr[at])) {
        at++;
    }
    return at;
}

/* The same for an IPv6 address without a zone: hexadecimal digits and at least two colons. It may
 * end with an IPv4 address, as in "::ffff:10.0.0.1". */
static size_t groups_len(struct str s)
{
    size_t at = 0;
    size_t group = 0; /* start of the last group */
    size_t colons = 0;
    bool twice = false;
    for (; at < s.len && (isxdigit((unsigned char)s.ptr[at]) || s.ptr[at] == ':'); at++) {
        if (s.ptr[at] == ':') {
            twice |= colons > 0 && group == at;
            colons++;
            group = at + 1;
        }
    }
    size_t v4 = colons > 0 ? v4_len(str_from_offset(s, group)) : 0;
    size_t colons_of_all = v4 > 0 ? 6 : 7;
    if (colons < 2 || (!twice && colons != colons_of_all) || (at == colons && colons != 2)) {
        return 0;
    }
    return v4 > 0 ? group + v4 : at;
}

/* The same for an IPv6 address, "[fe80::1]" or "fe80::1", perhaps with a zone. */
static size_t v6_len(struct str s)
{
    size_t begin = s.len > 0 && s.ptr[0] == '[' ? 1 : 0;
    size_t len = groups_len(str_from_offset(s, begin));
    size_t at = begin + len;
    if (len == 0) {
        return 0;
    }
    at += zone_len(str_from_offset(s, at));
    if (begin > 0) {
        return at < s.len && s.ptr[at] == ']' ? at + 1 : 0;
    }
    return at < s.len && is_word(s.ptr[at]) ? 0 : at;
}

/* The same for a path, such as "/var/x/y.db". */
static size_t path_len(struct str s)
{
    static const char *const ends[] = {".db", ".log", ".tmp", ".snap", ".dat", ".bin"};
    size_t at = 0;
    if (s.len == 0 || s.ptr[0] != '/') {
        return 0;
    }
    while (at < s.len && (is_word(s.ptr[at]) || s.ptr[at] == '/' || s.ptr[at] == '.')) {
        at++;
    }
    for (size_t i = 0; i < COUNT_OF(ends); i++) {
        size_t len = strlen(ends[i]);
        if (at > len && memcmp(s.ptr + at - len, ends[i], len) == 0) {
            return at;
        }
    }
    return 0;
}

/* The same for a Raft message, such as "raft: peer node-2 …", up to the end of the phrase. */
static size_t raft_len(struct str s)
{
    static const struct str begins[] = {{.ptr = "raft:", .len = 5}, {.ptr = "Raft:", .len = 5}};
    for (size_t i = 0; i < COUNT_OF(begins); i++) {
        if (str_starts_with(s, begins[i])) {
            size_t at = 0;
            while (at < s.len && s.ptr[at] != ';' && s.ptr[at] != '\n') {
                at++;
            }
            struct str phrase = str_from(s.ptr, at);
            bool names = memmem(phrase.ptr, at, "peer", 4) != NULL ||
                         memmem(phrase.ptr, at, "node", 4) != NULL ||
                         memmem(phrase.ptr, at, "leader", 6) != NULL;
            return names ? at : 0;
        }
    }
    return 0;
}

void rest_sdb_text__sanitize(struct str text, struct buf *out)
{
    static const struct {
        size_t (*len)(struct str s);
        const char *instead;
    } rules[] = {
        {raft_len, "[raft error]"}, {path_len, "[path]"}, {v6_len, "[addr]"}, {v4_len, "[addr]"}};
    static const struct {
        const char *text, *instead;
    } words[] = {{".svc.cluster.local", ""}, {"scheduled-db", "[service]"}};
    char before = ' ';
    while (text.len > 0) {
        size_t len = 0;
        const char *instead = "";
        for (size_t i = 0; i < COUNT_OF(words) && len == 0; i++) {
            if (str_starts_with(text, str_from_z(words[i].text))) {
                len = strlen(words[i].text);
                instead = words[i].instead;
            }
        }
        for (size_t i = 0; i < COUNT_OF(rules) && len == 0 && !is_word(before) && before != '.';
             i++) {
            len = rules[i].len(text);
            instead = rules[i].instead;
        }
        if (len == 0) {
            before = text.ptr[0];
            buf_add_char(out, before);
            len = 1;
        } else {
            before = ' ';
            buf_add_str(out, str_from_z(instead));
        }
        text = str_from_offset(text, len);
    }
}

void rest_sdb_text__fail(struct rest_call *c, enum err_code code, struct str text)
{
    struct buf b;
    buf_init(&b, TEXT_BYTES_MAX);
    rest_sdb_text__sanitize(str_at_most(text, TEXT_BYTES_MAX / 2), &b);
    rest_call__fail(c, code, STR_FMT, STR_ARG(buf_str(&b)));
    buf_deinit(&b);
}
