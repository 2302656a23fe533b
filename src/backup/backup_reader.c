#include "backup/backup_reader.h"

#include "base/check.h"
#include "base/crc32c.h"
#include "json/json_scan.h"

enum { KEY_BYTES_MAX = 4096 };

void backup_reader_init(struct backup_reader *r, size_t text_bytes_max)
{
    *r = (struct backup_reader){.state = BACKUP_READER_START};
    buf_init(&r->key, KEY_BYTES_MAX);
    buf_init(&r->text, text_bytes_max);
}

void backup_reader_deinit(struct backup_reader *r)
{
    buf_deinit(&r->key);
    buf_deinit(&r->text);
}

void backup_reader_enter_list(struct backup_reader *r)
{
    r->state = BACKUP_READER_FIRST_ELEMENT;
    r->in_list = true;
    r->index = 0;
}

bool backup_reader_is_key(const struct backup_reader *r, struct str name)
{
    struct json_scan scan = json_scan_from(buf_str(&r->key));
    struct json_value key;
    return json_scan_value(&scan, &key) && json_value_text_eq(key, name);
}

struct json_value backup_reader_value(const struct backup_reader *r)
{
    struct json_scan scan = json_scan_from(buf_str(&r->text));
    struct json_value value;
    bool whole = json_scan_value(&scan, &value);
    CHECK(whole); /* checked before the event */
    return value;
}

static enum backup_reader_event refuse(const struct backup_reader *r, struct err *err)
{
    (void)err_set(err, ERR_PARSE, "invalid JSON at byte %llu", (unsigned long long)r->at);
    return BACKUP_READER_ERROR;
}

/* Prepend the path: "jobs[3]: …", or "meta: …". */
static void wrap(const struct backup_reader *r, struct err *err)
{
    struct str key = buf_str(&r->key);
    struct str name = key.len > 2 ? str_from(key.ptr + 1, key.len - 2) : STR("backup");
    if (r->in_list) {
        (void)err_wrap(err, STR_FMT "[%llu]", STR_ARG(str_at_most(name, 64)),
                       (unsigned long long)r->index);
    } else {
        (void)err_wrap(err, STR_FMT, STR_ARG(str_at_most(name, 64)));
    }
}

/* The value is complete: check that it is JSON. */
static enum backup_reader_event end_value(struct backup_reader *r, struct err *err)
{
    if (json_scan_check(buf_str(&r->text), err) != ERR_OK) {
        wrap(r, err);
        return BACKUP_READER_ERROR;
    }
    r->state = r->in_list ? BACKUP_READER_AFTER_ELEMENT : BACKUP_READER_AFTER_MEMBER;
    return r->in_list ? BACKUP_READER_ELEMENT : BACKUP_READER_MEMBER;
}

static void begin_value(struct backup_reader *r)
{
    r->state = BACKUP_READER_IN_VALUE;
    r->in_string = r->escaped = false;
    r->depth = 0;
    buf_clear(&r->text);
}

/* The length of a string including its quote; the length of in if the end has not arrived. */
static size_t string_len(struct backup_reader *r, struct str in)
{
    size_t i = 0;
    while (i < in.len) {
        char c = in.ptr[i++];
        if (r->escaped) {
            r->escaped = false;
        } else if (c == '\\') {
            r->escaped = true;
        } else if (c == '"') {
            r->in_string = false;
            break;
        }
    }
    return i;
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static bool ends_scalar(char c)
{
    return c == ',' || c == '}' || c == ']' || is_blank(c);
}

/* The number of bytes of in that belong to the current value, and whether they complete it. */
static size_t value_len(struct backup_reader *r, struct str in, bool *out_whole)
{
    size_t i = 0;
    *out_whole = false;
    while (i < in.len && !*out_whole) {
        if (r->in_string) {
            i += string_len(r, str_from_offset(in, i));
            *out_whole = !r->in_string && r->depth == 0;
            continue;
        }
        char c = in.ptr[i];
        if (r->depth == 0 && ends_scalar(c) && (r->text.len > 0 || i > 0)) {
            *out_whole = true;
            break; /* the byte follows the value */
        }
        i++;
        if (c == '"') {
            r->in_string = true;
        } else if (c == '{' || c == '[') {
            r->depth++;
        } else if ((c == '}' || c == ']') && r->depth > 0) {
            *out_whole = --r->depth == 0;
        }
    }
    return i;
}

/* Consume n bytes of the input. */
static void take(struct backup_reader *r, struct str *in, size_t n)
{
    r->running_crc = crc32c_update(r->running_crc, in->ptr, n);
    r->at += n;
    *in = str_from_offset(*in, n);
}

static enum backup_reader_event in_value(struct backup_reader *r, struct str *in, struct err *err)
{
    bool whole;
    size_t n = value_len(r, *in, &whole);
    buf_add(&r->text, in->ptr, n);
    take(r, in, n);
    if (r->text.overflow) {
        (void)err_set(err, ERR_TOO_LARGE, "larger than %zu bytes", r->text.limit_bytes);
        wrap(r, err);
        return BACKUP_READER_ERROR;
    }
    return whole ? end_value(r, err) : BACKUP_READER_MORE;
}

static enum backup_reader_event in_key(struct backup_reader *r, struct str *in, struct err *err)
{
    size_t n = string_len(r, *in);
    buf_add(&r->key, in->ptr, n);
    take(r, in, n);
    if (r->key.overflow) {
        return refuse(r, err);
    }
    if (!r->in_string) {
        if (json_scan_check(buf_str(&r->key), err) != ERR_OK) {
            return BACKUP_READER_ERROR;
        }
        r->state = BACKUP_READER_COLON;
    }
    return BACKUP_READER_MORE;
}

/* Bytes between values are processed one by one. Blanks are skipped before the functions below. */

static enum backup_reader_event begin(struct backup_reader *r, char c, struct err *err)
{
    if (c == '{') {
        r->state = BACKUP_READER_FIRST_KEY;
        return BACKUP_READER_MORE;
    }
    if (c != '\0' && strchr("[\"-0123456789tfn", c) != NULL) {
        (void)err_set(err, ERR_VALIDATION, "a backup must be a JSON object");
        return BACKUP_READER_ERROR;
    }
    return refuse(r, err);
}

static enum backup_reader_event begin_key(struct backup_reader *r, char c, struct err *err)
{
    if (c == '"') {
        r->crc = r->running_crc;
        r->state = BACKUP_READER_IN_KEY;
        r->in_string = true;
        r->escaped = false;
        buf_clear(&r->key);
        buf_add_char(&r->key, c);
        return BACKUP_READER_MORE;
    }
    if (c == '}' && r->state == BACKUP_READER_FIRST_KEY) {
        r->state = BACKUP_READER_TAIL;
        return BACKUP_READER_MORE;
    }
    return refuse(r, err);
}

static enum backup_reader_event begin_list(struct backup_reader *r)
{
    r->in_list = true;
    r->index = 0;
    r->state = BACKUP_READER_FIRST_ELEMENT;
    return BACKUP_READER_LIST;
}

static enum backup_reader_event end_list(struct backup_reader *r)
{
    r->in_list = false;
    r->state = BACKUP_READER_AFTER_MEMBER;
    return BACKUP_READER_LIST_END;
}

/* Handle the separator after a key, a member or an element. */
static enum backup_reader_event separate(struct backup_reader *r, char c, struct err *err)
{
    if (r->state == BACKUP_READER_COLON && c == ':') {
        r->state = BACKUP_READER_VALUE;
    } else if (r->state == BACKUP_READER_AFTER_MEMBER && (c == ',' || c == '}')) {
        r->state = c == ',' ? BACKUP_READER_KEY : BACKUP_READER_TAIL;
    } else if (r->state == BACKUP_READER_AFTER_ELEMENT && c == ',') {
        r->index++;
        r->state = BACKUP_READER_NEXT_ELEMENT;
    } else if (r->state == BACKUP_READER_AFTER_ELEMENT && c == ']') {
        return end_list(r);
    } else {
        return refuse(r, err); /* only blanks may follow the object */
    }
    return BACKUP_READER_MORE;
}

/* Does a value begin with this byte? The byte is not consumed here. */
static bool begins_value(const struct backup_reader *r, char c)
{
    return (r->state == BACKUP_READER_VALUE && c != '[') ||
           (r->state == BACKUP_READER_FIRST_ELEMENT && c != ']') ||
           r->state == BACKUP_READER_NEXT_ELEMENT;
}

static enum backup_reader_event between(struct backup_reader *r, struct str *in, struct err *err)
{
    char c = in->ptr[0];
    enum backup_reader_event event;
    if (begins_value(r, c)) {
        begin_value(r);
        return BACKUP_READER_MORE;
    }
    switch ((int)r->state) {
    case BACKUP_READER_START:
        event = begin(r, c, err);
        break;
    case BACKUP_READER_FIRST_KEY:
    case BACKUP_READER_KEY:
        event = begin_key(r, c, err);
        break;
    case BACKUP_READER_VALUE:
        event = begin_list(r);
        break;
    case BACKUP_READER_FIRST_ELEMENT:
        event = end_list(r);
        break;
    default:
        event = separate(r, c, err);
    }
    take(r, in, 1);
    return event;
}

enum backup_reader_event backup_reader_next(struct backup_reader *r, struct str *in,
                                            struct err *err)
{
    enum backup_reader_event event = BACKUP_READER_MORE;
    while (in->len > 0 && event == BACKUP_READER_MORE) {
        if (r->state == BACKUP_READER_IN_VALUE) {
            event = in_value(r, in, err);
        } else if (r->state == BACKUP_READER_IN_KEY) {
            event = in_key(r, in, err);
        } else if (is_blank(in->ptr[0])) {
            take(r, in, 1);
        } else {
            event = between(r, in, err);
        }
    }
    return event;
}

enum err_code backup_reader_finish(const struct backup_reader *r, struct err *err)
{
    return r->state == BACKUP_READER_TAIL
               ? ERR_OK
               : err_set(err, ERR_PARSE,
                         "invalid JSON: the backup ends after %llu bytes, "
                         "before it is complete",
                         (unsigned long long)r->at);
}
