#include "json/json_object.h"

#include "json/json_compact.h"
#include "json/json_scan.h"
#include "json/json_write.h"

/* Add the comma between two members of the object whose first member begins at `first`. */
static void add_comma(struct buf *out, size_t first)
{
    if (out->len > first) {
        buf_add_char(out, ',');
    }
}

static void add_pair(struct buf *out, size_t first, struct str key, struct str value)
{
    add_comma(out, first);
    struct json_write w = json_write_to(out);
    json_write_str(&w, key);
    buf_add_char(out, ':');
    json_compact_add(out, value);
}

static bool has_key(const struct json_object_pair *pairs, size_t count, struct json_value key)
{
    for (size_t i = 0; i < count; i++) {
        if (json_value_text_eq(key, pairs[i].key)) {
            return true;
        }
    }
    return false;
}

/* Add the members of object whose keys are not in the pairs. */
static void add_members(struct buf *out, size_t first, struct str object,
                        const struct json_object_pair *pairs, size_t count)
{
    struct json_scan s = json_scan_from(object);
    struct json_value key, value;

    if (!json_scan_enter_object(&s)) {
        return;
    }
    while (json_scan_next_key(&s, &key) && json_scan_value(&s, &value)) {
        if (has_key(pairs, count, key)) {
            continue;
        }
        add_comma(out, first);
        buf_add_str(out, key.text);
        buf_add_char(out, ':');
        json_compact_add(out, value.text);
    }
}

void json_object_override(struct buf *out, const struct json_object_pair *pairs, size_t count,
                          struct str object)
{
    buf_add_char(out, '{');
    const size_t first = out->len;
    for (size_t i = 0; i < count; i++) {
        struct json_value found;
        bool other = json_scan_member(object, pairs[i].key, &found);
        add_pair(out, first, pairs[i].key, other ? found.text : pairs[i].value);
    }
    add_members(out, first, object, pairs, count);
    buf_add_char(out, '}');
}

void json_object_complete(struct buf *out, struct str object, const struct json_object_pair *pairs,
                          size_t count)
{
    buf_add_char(out, '{');
    const size_t first = out->len;
    add_members(out, first, object, NULL, 0);
    for (size_t i = 0; i < count; i++) {
        struct json_value found;
        if (!json_scan_member(object, pairs[i].key, &found)) {
            add_pair(out, first, pairs[i].key, pairs[i].value);
        }
    }
    buf_add_char(out, '}');
}
