#include "view/view_jq.h"

#include "base/buf.h"
#include "base/check.h"
#include "base/limits.h"
#include "json/json_scan.h"

/* Parsing: one function per part of the grammar. Each moves *s past its part, or leaves it
 * unchanged. */

static bool is_word_char(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

static void skip_blanks(struct str *s)
{
    while (s->len > 0 && (s->ptr[0] == ' ' || (s->ptr[0] >= '\t' && s->ptr[0] <= '\r'))) {
        *s = str_from_offset(*s, 1);
    }
}

static bool take(struct str *s, struct str token)
{
    if (!str_starts_with(*s, token)) {
        return false;
    }
    *s = str_from_offset(*s, token.len);
    return true;
}

static bool parse_path(struct str *s, struct str *out)
{
    size_t at = 0;
    while (at < s->len && s->ptr[at] == '.') {
        size_t word = ++at;
        while (at < s->len && is_word_char(s->ptr[at])) {
            at++;
        }
        if (at == word) {
            return false;
        }
    }
    if (at == 0) {
        return false;
    }
    *out = str_from(s->ptr + 1, at - 1);
    *s = str_from_offset(*s, at);
    return true;
}

static bool parse_op(struct str *s, enum view_jq_op *out)
{
    static const struct {
        const char *word;
        enum view_jq_op op;
    } ops[] = {/* the longer ones first */
               {"==", VIEW_JQ_EQ}, {"!=", VIEW_JQ_NE}, {">=", VIEW_JQ_GE},
               {"<=", VIEW_JQ_LE}, {">", VIEW_JQ_GT},  {"<", VIEW_JQ_LT}};
    for (size_t i = 0; i < COUNT_OF(ops); i++) {
        if (take(s, str_from_z(ops[i].word))) {
            *out = ops[i].op;
            skip_blanks(s);
            return true;
        }
    }
    return false;
}

/* Parse a JSON literal, which must be the rest of the expression. Only numbers and texts have an
 * order. Other comparisons by order are refused, and not run as a program either, although libjq
 * defines such an order. */
static bool parse_literal(struct str s, struct arena *a, struct view_jq *out, bool *out_refused)
{
    struct json_scan scan = json_scan_from(s);
    struct json_value v;
    struct err err;
    if (!json_scan_value(&scan, &v) || !json_scan_done(&scan)) {
        return false;
    }
    bool equality = out->op == VIEW_JQ_EQ || out->op == VIEW_JQ_NE;
    switch (v.type) {
    case JSON_TYPE_NULL:
        out->kind = VIEW_JQ_NULL;
        *out_refused = !equality;
        return equality;
    case JSON_TYPE_BOOL:
        out->kind = VIEW_JQ_BOOL;
        *out_refused = !equality;
        return equality && json_value_bool(v, &out->truth);
    case JSON_TYPE_NUMBER:
        out->kind = VIEW_JQ_NUMBER;
        out->is_whole = json_value_i64(v, &out->whole);
        return json_value_f64(v, &out->number);
    case JSON_TYPE_STRING:
        out->kind = VIEW_JQ_TEXT;
        return json_value_text(v, a, &out->text, &err) == ERR_OK;
    case JSON_TYPE_ARRAY:
    case JSON_TYPE_OBJECT:
    case JSON_TYPE_COUNT:
    default:
        return false;
    }
}

/* Parse `"text" )` at the end of the expression. Escapes in the text are not decoded. */
static bool parse_argument(struct str s, struct str *out)
{
    skip_blanks(&s);
    if (!take(&s, STR("\""))) {
        return false;
    }
    size_t len = 0;
    while (len < s.len && s.ptr[len] != '"') {
        len++;
    }
    if (len == s.len) {
        return false;
    }
    *out = str_from(s.ptr, len);
    s = str_from_offset(s, len + 1);
    skip_blanks(&s);
    return take(&s, STR(")")) && s.len == 0;
}

static bool parse_filter(struct str s, struct view_jq *out)
{
    skip_blanks(&s);
    if (take(&s, STR("startswith("))) {
        out->kind = VIEW_JQ_STARTS;
        return parse_argument(s, &out->text);
    }
    if (take(&s, STR("contains("))) {
        out->kind = VIEW_JQ_HAS;
        return parse_argument(s, &out->text);
    }
    if (take(&s, STR("length"))) {
        out->kind = VIEW_JQ_LENGTH;
        skip_blanks(&s);
        return parse_op(&s, &out->op) && s.len > 0 && s.ptr[0] != '-' &&
               str_to_i64(s, &out->length);
    }
    return false;
}

enum err_code view_jq_parse(struct str text, struct arena *a, struct view_jq *out, struct err *err)
{
    struct str whole = str_trim(text);
    struct str s = whole;
    struct view_jq jq = {.kind = VIEW_JQ_NULL};
    bool refused = s.len == 0 || s.len > VIEW_JQ_BYTES_MAX || !str_is_utf8(s);
    bool ok = !refused && parse_path(&s, &jq.path);
    if (ok) {
        skip_blanks(&s);
        ok = take(&s, STR("|")) ? parse_filter(s, &jq)
                                : parse_op(&s, &jq.op) && parse_literal(s, a, &jq, &refused);
    }
    if (refused) {
        return err_set(err, ERR_VALIDATION, "unsupported payload_jq expression");
    }
    *out = ok ? jq : (struct view_jq){.kind = VIEW_JQ_PROGRAM, .text = whole};
    return ERR_OK;
}

/* Evaluation */

static bool holds(enum view_jq_op op, int order)
{
    switch (op) {
    case VIEW_JQ_EQ:
        return order == 0;
    case VIEW_JQ_NE:
        return order != 0;
    case VIEW_JQ_GE:
        return order >= 0;
    case VIEW_JQ_LE:
        return order <= 0;
    case VIEW_JQ_GT:
        return order > 0;
    case VIEW_JQ_LT:
        return order < 0;
    }
    UNREACHABLE("an operator that does not exist");
}

/* Find the value at the path, which has at least one word. False if there is none. */
static bool find(struct str path, struct str payload, struct json_value *out)
{
    out->text = payload;
    do {
        if (!json_scan_member(out->text, str_cut(&path, '.'), out)) {
            return false;
        }
    } while (path.len > 0);
    return true;
}

/* Compare integers exactly, other numbers as doubles. */
static bool number_holds(const struct view_jq *jq, struct json_value v)
{
    int64_t a;
    double x;
    if (v.type != JSON_TYPE_NUMBER) {
        return jq->op == VIEW_JQ_NE;
    }
    if (jq->is_whole && json_value_i64(v, &a)) {
        return holds(jq->op, (a > jq->whole) - (a < jq->whole));
    }
    return json_value_f64(v, &x) && holds(jq->op, (x > jq->number) - (x < jq->number));
}

/* Return the value as text: a string decoded, anything else as its JSON. buf holds the text if it
 * had to be decoded. */
static struct str text_of(struct json_value v, struct buf *buf)
{
    if (v.type != JSON_TYPE_STRING) {
        return v.text;
    }
    if (!v.escaped) {
        return str_from(v.text.ptr + 1, v.text.len - 2);
    }
    buf_clear(buf);
    json_value_text_buf(v, buf);
    return buf_str(buf);
}

static bool contains(struct str s, struct str part)
{
    return part.len == 0 || (s.len > 0 && memmem(s.ptr, s.len, part.ptr, part.len) != NULL);
}

static bool any_element_is(struct json_value v, struct str text, struct buf *buf)
{
    struct json_scan scan = json_scan_from(v.text);
    struct json_value key;
    struct json_value element;
    bool object = v.type == JSON_TYPE_OBJECT;
    if (!(object ? json_scan_enter_object(&scan) : json_scan_enter_array(&scan))) {
        return false;
    }
    while ((object ? json_scan_next_key(&scan, &key) : json_scan_next_element(&scan)) &&
           json_scan_value(&scan, &element)) {
        if (str_eq(text_of(element, buf), text)) {
            return true;
        }
    }
    return false;
}

static int64_t characters(struct str s)
{
    int64_t n = 0;
    for (size_t i = 0; i < s.len; i++) {
        n += ((unsigned char)s.ptr[i] & 0xc0) != 0x80;
    }
    return n;
}

static int64_t length_of(struct json_value v, struct buf *buf)
{
    struct json_scan scan = json_scan_from(v.text);
    struct json_value key;
    struct json_value element;
    int64_t n = 0;
    if (v.type == JSON_TYPE_STRING) {
        return characters(text_of(v, buf));
    }
    if (v.type == JSON_TYPE_OBJECT && json_scan_enter_object(&scan)) {
        while (json_scan_next_key(&scan, &key) && json_scan_value(&scan, &element)) {
            n++;
        }
    } else if (v.type == JSON_TYPE_ARRAY && json_scan_enter_array(&scan)) {
        while (json_scan_next_element(&scan) && json_scan_value(&scan, &element)) {
            n++;
        }
    }
    return n;
}

static bool text_holds(const struct view_jq *jq, struct json_value v, struct buf *buf)
{
    if (v.type == JSON_TYPE_NULL) {
        return false;
    }
    struct str text = text_of(v, buf);
    return jq->kind == VIEW_JQ_STARTS ? str_starts_with(text, jq->text)
                                      : holds(jq->op, str_cmp(text, jq->text));
}

static bool has(const struct view_jq *jq, struct json_value v, struct buf *buf)
{
    if (v.type == JSON_TYPE_STRING) {
        return contains(text_of(v, buf), jq->text);
    }
    return (v.type == JSON_TYPE_ARRAY || v.type == JSON_TYPE_OBJECT) &&
           any_element_is(v, jq->text, buf);
}

static bool present_matches(const struct view_jq *jq, struct json_value v, struct buf *buf)
{
    bool truth;
    switch (jq->kind) {
    case VIEW_JQ_NULL:
        return (v.type == JSON_TYPE_NULL) == (jq->op == VIEW_JQ_EQ);
    case VIEW_JQ_BOOL:
        return v.type == JSON_TYPE_BOOL && json_value_bool(v, &truth) &&
               (truth == jq->truth) == (jq->op == VIEW_JQ_EQ);
    case VIEW_JQ_NUMBER:
        return number_holds(jq, v);
    case VIEW_JQ_TEXT:
    case VIEW_JQ_STARTS:
        return text_holds(jq, v, buf);
    case VIEW_JQ_HAS:
        return has(jq, v, buf);
    case VIEW_JQ_LENGTH: {
        int64_t n = length_of(v, buf);
        return holds(jq->op, (n > jq->length) - (n < jq->length));
    }
    case VIEW_JQ_PROGRAM:
        break;
    }
    UNREACHABLE("a kind of expression that is not asked here");
}

bool view_jq_matches(const struct view_jq *jq, struct str payload)
{
    struct json_value v;
    struct buf buf;
    if (!find(jq->path, payload, &v)) {
        return (jq->kind == VIEW_JQ_NULL && jq->op == VIEW_JQ_EQ) ||
               (jq->kind == VIEW_JQ_LENGTH && holds(jq->op, (jq->length < 0) - (jq->length > 0)));
    }
    buf_init(&buf, SIZE_MAX);
    bool match = present_matches(jq, v, &buf);
    buf_deinit(&buf);
    return match;
}
