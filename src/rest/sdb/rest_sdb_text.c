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

/* The same for an IPv6 address, "[fe80::1]" or "fe80::1": hexadecimal digits and at least two
 * colons. */
static size_t v6_len(struct str s)
{
    bool bracket = s.len > 0 && s.ptr[0] == '[';
    size_t at = bracket ? 1 : 0;
    size_t colons = 0;
    size_t digits = 0;
    bool twice = false;
    while (at < s.len && (isxdigit((unsigned char)s.ptr[at]) || s.ptr[at] == ':')) {
        twice |= s.ptr[at] == ':' && at > 0 && s.ptr[at - 1] == ':';
        colons += s.ptr[at] == ':' ? 1 : 0;
        digits += s.ptr[at] == ':' ? 0 : 1;
        at++;
    }
    if (colons < 2 || (!twice && colons != 7) || (digits == 0 && colons != 2)) {
        return 0;
    }
    if (bracket) {
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
