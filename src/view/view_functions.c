/*
 * SQL functions: substrings, tags, and payload_jq, by the rules of the contract. Their arguments
 * are only values of rows and bound parameters.
 */
#include "base/check.h"
#include "core/queue_scope.h"
#include "json/json_scan.h"
#include "view/view_int.h"
#include "view/view_jq.h"

static struct str text_of(sqlite3_value *v)
{
    const unsigned char *text = sqlite3_value_text(v);
    return text == NULL ? STR_EMPTY : str_from(text, (size_t)sqlite3_value_bytes(v));
}

static unsigned char lower(unsigned char c)
{
    return c >= 'A' && c <= 'Z' ? (unsigned char)(c | 0x20) : c;
}

struct str view_functions__lower(struct arena *a, struct str s)
{
    unsigned char *p = arena_need(a, s.len + 1, 1);
    for (size_t i = 0; i < s.len; i++) {
        p[i] = lower((unsigned char)s.ptr[i]);
    }
    return str_from(p, s.len);
}

static unsigned char upper(unsigned char c)
{
    return c >= 'a' && c <= 'z' ? (unsigned char)(c & 0xdf) : c;
}

static bool begins_with(const unsigned char *s, struct str part)
{
    for (size_t n = 0; n < part.len; n++) {
        if (lower(s[n]) != (unsigned char)part.ptr[n]) {
            return false;
        }
    }
    return true;
}

enum { LANES = 16 };
typedef unsigned char lanes __attribute__((vector_size(LANES)));

static lanes load(const unsigned char *p)
{
    lanes v;
    memcpy(&v, p, sizeof v);
    return v;
}

/* Is there a lane with c in a and d in b, each in either case? */
static bool any_pair(lanes a, unsigned char c, lanes b, unsigned char d)
{
    lanes both = (lanes)((a == c) | (a == upper(c))) & (lanes)((b == d) | (b == upper(d)));
    uint64_t words[LANES / sizeof(uint64_t)];
    memcpy(words, &both, sizeof words);
    return (words[0] | words[1]) != 0;
}

/* Does text contain part, which is in lower case? Sixteen positions are checked at a time: the
 * first and the last byte of part must both be in place. */
static bool contains(struct str text, struct str part)
{
    if (part.len == 0 || text.len < part.len || text.ptr == NULL) {
        return part.len == 0;
    }
    const unsigned char *s = (const unsigned char *)text.ptr;
    const unsigned char first = (unsigned char)part.ptr[0];
    const unsigned char last = (unsigned char)part.ptr[part.len - 1];
    const size_t places = text.len - part.len + 1;
    for (size_t i = 0; i < places; i++) {
        while (i + LANES <= places &&
               !any_pair(load(s + i), first, load(s + i + part.len - 1), last)) {
            i += LANES;
        }
        if (i < places && begins_with(s + i, part)) {
            return true;
        }
    }
    return false;
}

/* view_contains(text, part): ignores the case of ASCII letters. */
static void sql_contains(sqlite3_context *ctx, int count, sqlite3_value **values)
{
    CHECK(count == 2);
    sqlite3_result_int(ctx, contains(text_of(values[0]), text_of(values[1])));
}

/* Decoding the escapes of a JSON text for the full text. Escapes occur only in its strings, but the
 * complete text is decoded like a single string, without its first and last character. For words
 * this makes no difference. A text without a backslash stays unchanged. */
static bool has_escapes(struct str text)
{
    return text.len >= 2 && memchr(text.ptr, '\\', text.len) != NULL;
}

static void add_plain(struct buf *out, struct str text)
{
    json_value_text_buf(
        (struct json_value){.type = JSON_TYPE_STRING, .escaped = true, .text = text}, out);
    for (size_t i = 0; i < out->len; i++) {
        if (out->ptr[i] == '\0') {
            out->ptr[i] = ' ';
        }
    }
}

/* view_plain(json): the text with decoded escapes, for the full text. */
static void sql_plain(sqlite3_context *ctx, int count, sqlite3_value **values)
{
    struct str text = text_of(values[0]);
    struct buf plain;
    CHECK(count == 1);
    if (!has_escapes(text)) {
        sqlite3_result_value(ctx, values[0]);
        return;
    }
    buf_init(&plain, SIZE_MAX);
    add_plain(&plain, text);
    sqlite3_result_text64(ctx, plain.len == 0 ? "" : plain.ptr, plain.len, SQLITE_TRANSIENT,
                          SQLITE_UTF8);
    buf_deinit(&plain);
}

/* view_contains_plain(json, part): searches the text as written, and with decoded escapes. */
static void sql_contains_plain(sqlite3_context *ctx, int count, sqlite3_value **values)
{
    struct str text = text_of(values[0]);
    struct str part = text_of(values[1]);
    struct buf plain;
    CHECK(count == 2);
    bool found = contains(text, part);
    if (!found && has_escapes(text)) {
        buf_init(&plain, SIZE_MAX);
        add_plain(&plain, text);
        found = contains(buf_str(&plain), part);
        buf_deinit(&plain);
    }
    sqlite3_result_int(ctx, found);
}

/* view_tag(tags, key, value): does the tag have this text, or this JSON? */
static void sql_tag(sqlite3_context *ctx, int count, sqlite3_value **values)
{
    struct json_value v;
    struct str wanted = text_of(values[2]);
    CHECK(count == 3);
    bool there = json_scan_member(text_of(values[0]), text_of(values[1]), &v);
    bool equal = there && (v.type == JSON_TYPE_STRING ? json_value_text_eq(v, wanted)
                                                      : str_eq(v.text, wanted));
    sqlite3_result_int(ctx, equal);
}

/* view_tag_text(tags, key): the tag as text; empty if there is none. */
static void sql_tag_text(sqlite3_context *ctx, int count, sqlite3_value **values)
{
    struct json_value v;
    struct buf text;
    CHECK(count == 2);
    if (!json_scan_member(text_of(values[0]), text_of(values[1]), &v)) {
        sqlite3_result_text(ctx, "", 0, SQLITE_STATIC);
        return;
    }
    buf_init(&text, SIZE_MAX);
    if (v.type == JSON_TYPE_STRING) {
        json_value_text_buf(v, &text);
    } else {
        buf_add_str(&text, v.text);
    }
    sqlite3_result_text64(ctx, text.len == 0 ? "" : text.ptr, text.len, SQLITE_TRANSIENT,
                          SQLITE_UTF8);
    buf_deinit(&text);
}

/* view_in_scope(name, scope): is the visible name of a queue in the scope? */
static void sql_in_scope(sqlite3_context *ctx, int count, sqlite3_value **values)
{
    CHECK(count == 2);
    sqlite3_result_int(ctx, queue_scope_has(text_of(values[1]), text_of(values[0])));
}

/* view_jq(payload, expression): does the payload match? */
static void sql_jq(sqlite3_context *ctx, int count, sqlite3_value **values)
{
    CHECK(count == 2);
    const struct view_jq *jq = sqlite3_value_pointer(values[1], VIEW_JQ_POINTER);
    sqlite3_result_int(ctx, jq != NULL && view_jq_matches(jq, text_of(values[0])));
}

enum err_code view_functions__add(sqlite3 *db, struct err *err)
{
    static const struct {
        const char *name;
        int arguments;
        void (*fn)(sqlite3_context *ctx, int count, sqlite3_value **values);
    } rows[] = {
        {"view_contains", 2, sql_contains},
        {"view_contains_plain", 2, sql_contains_plain},
        {"view_plain", 1, sql_plain},
        {"view_tag", 3, sql_tag},
        {"view_tag_text", 2, sql_tag_text},
        {"view_in_scope", 2, sql_in_scope},
        {"view_jq", 2, sql_jq},
    };
    const int flags = SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_DIRECTONLY;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        if (sqlite3_create_function_v2(db, rows[i].name, rows[i].arguments, flags, NULL, rows[i].fn,
                                       NULL, NULL, NULL) != SQLITE_OK) {
            return view_sql__err(db, "functions", err);
        }
    }
    return ERR_OK;
}
