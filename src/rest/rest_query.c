#include "base/check.h"
#include "core/duration.h"
#include "core/timestamp.h"
#include "rest/rest_query_int.h"

/* The conversion of parameters to a JSON object. */
struct query {
    struct json_write w;
    const struct http_param *params;
    size_t count;
    struct err *err;
};

static bool refuse(struct query *q, const struct json_field *f, const char *expected)
{
    (void)err_set(q->err, ERR_VALIDATION, "invalid %s: expected %s", f->name, expected);
    return false;
}

static bool write_text(struct query *q, const struct json_field *f, struct str text)
{
    if (!str_is_utf8(text)) {
        return refuse(q, f, "UTF-8");
    }
    json_write_str(&q->w, text);
    return true;
}

/* Write the value of a parameter that is not an array; only that of a boolean may be empty. */
static bool write_value(struct query *q, const struct json_field *f, struct str text)
{
    int64_t number;
    if (f->kind == JSON_KIND_I64 && !str_to_i64(str_trim(text), &number)) {
        return (f->flags & JSON_LAX) != 0 || refuse(q, f, "a number");
    }
    json_write_key(&q->w, str_from(f->name, f->name_len));
    bool numeric = f->kind == JSON_KIND_WORD && (f->flags & JSON_OR_NUMBER) != 0 &&
                   str_to_i64(str_trim(text), &number);
    if (f->kind == JSON_KIND_I64 || numeric) {
        json_write_i64(&q->w, number);
        return true;
    }
    if (f->kind == JSON_KIND_BOOL) {
        bool is_true = str_eq(text, STR("true")) || str_eq(text, STR("1"));
        bool is_false = str_eq(text, STR("false")) || str_eq(text, STR("0"));
        json_write_bool(&q->w, is_true);
        return is_true || is_false || refuse(q, f, "true, false, 1 or 0");
    }
    return write_text(q, f, text);
}

static bool write_parts(struct query *q, const struct json_field *f, struct str list)
{
    bool good = true;
    while (list.len > 0 && good) {
        struct str part = str_trim(str_cut(&list, ','));
        good = part.len == 0 || write_text(q, f, part);
    }
    return good;
}

static bool write_array(struct query *q, const struct json_field *f)
{
    bool commas = (f->flags & REST_QUERY_COMMAS) != 0;
    bool good = true;
    bool any = false;
    json_write_key(&q->w, str_from(f->name, f->name_len));
    json_write_array(&q->w);
    for (size_t i = 0; i < q->count && good && !(commas && any); i++) {
        struct str value = q->params[i].value;
        if (str_eq(q->params[i].name, str_from(f->name, f->name_len)) && value.len > 0) {
            good = commas ? write_parts(q, f, value) : write_text(q, f, value);
            any = true;
        }
    }
    if (good) {
        json_write_end(&q->w);
    }
    return good;
}

static bool write_one(struct query *q, const struct json_field *f)
{
    for (size_t i = 0; i < q->count; i++) {
        if (str_eq(q->params[i].name, str_from(f->name, f->name_len))) {
            struct str value = q->params[i].value;
            bool absent = str_trim(value).len == 0 && f->kind != JSON_KIND_BOOL;
            return absent || write_value(q, f, value);
        }
    }
    return true;
}

static bool write_object(struct query *q, const struct json_schema *schema)
{
    bool good = true;
    json_write_object(&q->w);
    for (size_t i = 0; i < schema->count && good; i++) {
        const struct json_field *f = &schema->fields[i];
        good = f->kind == JSON_KIND_STRS ? write_array(q, f) : write_one(q, f);
    }
    if (good) {
        json_write_end(&q->w);
        json_write_finish(&q->w);
    }
    return good;
}

bool rest_query__read(struct rest_call *c, const struct json_schema *schema)
{
    struct err err;
    struct buf json;
    rest_call__buf(c, &json);
    struct query q = {.w = json_write_to(&json), .err = &err};
    q.params = http_request_params(c->req, &q.count);
    bool good = write_object(&q, schema);
    if (good) {
        struct str text = rest_call__keep(c, &json); /* decoded texts point into it */
        c->query = rest_call__alloc(c, schema->size);
        good = json_schema_decode(schema, text, c->arena, c->query, &err) == ERR_OK;
        if (!good && strchr(err.msg, ':') != NULL) { /* not for "q is required" */
            struct err said = err;
            (void)err_set(&err, said.code, "invalid %s", said.msg);
        }
    }
    buf_deinit(&json);
    if (!good) {
        rest_call__fail_err(c, &err);
    }
    return good;
}

bool rest_query__moment(struct str text, struct wall now, struct wall *out)
{
    struct err err;
    int64_t ms = 0;
    if (text.len == 0 || str_eq(text, STR("now"))) {
        *out = now;
        return true;
    }
    if (duration_parse(text, &ms, &err) == ERR_OK && ms >= 0) {
        *out = wall_add_ms(now, -ms);
        return true;
    }
    return timestamp_parse(text, out, &err) == ERR_OK;
}
