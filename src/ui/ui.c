#include "ui/ui.h"

#include "base/check.h"
#include "ui/ui_table_int.h"

const char ui_policy[] =
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

bool ui_is_built(void)
{
    return ui_table_built;
}

/* Remove the part before the first separator, and the separator, from *rest. */
static struct str cut(struct str *rest, char separator)
{
    const char *at = rest->len == 0 ? NULL : memchr(rest->ptr, separator, rest->len);
    size_t len = at == NULL ? rest->len : (size_t)(at - rest->ptr);
    struct str part = str_from(rest->ptr, len);
    *rest = str_from_offset(*rest, at == NULL ? len : len + 1);
    return part;
}

/* A backslash may be part of a queue's name, but some clients treat it as a separator, so it counts
 * as one here, too. */
static bool is_strange(struct str path)
{
    if (str_has_control(path)) {
        return true;
    }
    while (path.len > 0) {
        struct str segment = cut(&path, '/');
        while (segment.len > 0) {
            struct str part = cut(&segment, '\\');
            if (str_eq(part, STR(".")) || str_eq(part, STR(".."))) {
                return true;
            }
        }
    }
    return false;
}

static const struct ui_asset *look_up(struct str path)
{
    size_t low = 0;
    size_t high = ui_table_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = str_cmp(path, ui_table_rows[middle].path);
        if (order == 0) {
            return &ui_table_rows[middle];
        }
        if (order < 0) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    return NULL;
}

const struct ui_asset *ui_find(struct str path)
{
    if (is_strange(path)) {
        return NULL;
    }
    const struct ui_asset *found = look_up(path);
    if (found == NULL) {
        found = look_up(STR("index.html"));
        CHECK(found != NULL);
    }
    return found;
}

bool ui_is_immutable(const struct ui_asset *asset)
{
    return str_starts_with(asset->path, STR("assets/"));
}

/* Is the weight in the parameters of a coding zero ("q=0", "q=0.000")? */
static bool is_refused(struct str parameters)
{
    while (parameters.len > 0) {
        struct str value = str_trim(cut(&parameters, ';'));
        struct str name = str_trim(cut(&value, '='));
        if (!str_eq_nocase(name, STR("q"))) {
            continue;
        }
        value = str_trim(value);
        for (size_t i = 0; i < value.len; i++) {
            if (value.ptr[i] >= '1' && value.ptr[i] <= '9') {
                return false;
            }
        }
        return true;
    }
    return false;
}

/* Is the coding accepted? An entry with its name takes precedence over "*". */
static bool accepts(struct str header, struct str coding)
{
    bool any = false;
    while (header.len > 0) {
        struct str parameters = cut(&header, ',');
        struct str name = str_trim(cut(&parameters, ';'));
        if (str_eq_nocase(name, coding)) {
            return !is_refused(parameters);
        }
        if (str_eq(name, STR("*"))) {
            any = !is_refused(parameters);
        }
    }
    return any;
}

struct ui_body ui_encode(const struct ui_asset *asset, struct str accept_encoding)
{
    if (asset->brotli.len > 0 && accepts(accept_encoding, STR("br"))) {
        return (struct ui_body){.bytes = asset->brotli, .encoding = STR("br")};
    }
    if (asset->gzip.len > 0 && accepts(accept_encoding, STR("gzip"))) {
        return (struct ui_body){.bytes = asset->gzip, .encoding = STR("gzip")};
    }
    return (struct ui_body){.bytes = asset->plain};
}

static struct str opaque_tag(struct str etag)
{
    return str_starts_with(etag, STR("W/")) ? str_from_offset(etag, 2) : etag;
}

bool ui_is_known(const struct ui_asset *asset, struct str if_none_match)
{
    while (if_none_match.len > 0) {
        struct str tag = str_trim(cut(&if_none_match, ','));
        if (str_eq(tag, STR("*")) || str_eq(opaque_tag(tag), opaque_tag(asset->etag))) {
            return true;
        }
    }
    return false;
}
