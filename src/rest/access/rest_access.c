#include "base/hex.h"
#include "base/limits.h"
#include "rest/access/rest_access_int.h"
#include "rest/access/rest_auth_int.h"

struct command_access_item *rest_access__items(struct rest_call *c, size_t count)
{
    return REST_ARRAY(c, struct command_access_item, count);
}

struct str rest_access__keep(struct rest_call *c, struct buf *b)
{
    return rest_call__keep(c, b);
}

void rest_access__submit(struct rest_call *c, struct command_access_item *items, size_t count,
                         void (*on_result)(struct rest_call *c, const struct result *r))
{
    struct command command = {.type = COMMAND_ACCESS, .access = {.items = items, .count = count}};
    rest_call__submit(c, &command, 0, on_result);
}

void rest_access__expect(struct rest_call *c, struct command_access_item *item,
                         const struct store_access_frame *was)
{
    bool compares = engine_cluster_reads(c->rest->config.engine) >= COMMAND_ENTRY_SOUND_NAMED;
    if (was == NULL) {
        item->rule = COMMAND_ACCESS_NEW;
    } else if (compares) {
        item->rule = COMMAND_ACCESS_SAME;
        item->seen = command_access_seen(was->body);
    } else {
        item->rule = COMMAND_ACCESS_THERE;
    }
}

/* Each time, another request has succeeded. The call's memory limits how often. */
bool rest_access__again(struct rest_call *c, const struct result *r)
{
    if (r->code == ERR_CONFLICT) {
        c->route->handle(c);
    }
    return r->code == ERR_CONFLICT;
}

static void reply_word(struct rest_call *c, const struct result *r, const char *word)
{
    if (!rest_call__refused(c, r)) {
        rest_call__reply_status(c, word);
    }
}

void rest_access__reply_ok(struct rest_call *c, const struct result *r)
{
    reply_word(c, r, "ok");
}

void rest_access__reply_deleted(struct rest_call *c, const struct result *r)
{
    reply_word(c, r, "deleted");
}

void rest_access__reply_updated(struct rest_call *c, const struct result *r)
{
    reply_word(c, r, "updated");
}

static struct str key_of(struct rest_call *c, char kind, struct str name)
{
    char *key = rest_call__alloc(c, 1 + name.len);
    key[0] = kind;
    if (name.len > 0) {
        memcpy(key + 1, name.ptr, name.len);
    }
    return str_from(key, 1 + name.len);
}

bool rest_access__read(struct rest_call *c, char kind, struct str name,
                       struct store_access_frame *out)
{
    struct buf bytes;
    buf_init(&bytes, LIMIT_ACCESS_BODY_BYTES + 64);
    bool found = store_get(engine_store(c->rest->config.engine), STORE_KIND_ACCESS,
                           key_of(c, kind, name), &bytes);
    struct str value = rest_call__keep(c, &bytes);
    return found && store_access_decode_frame(value, out);
}

struct walk {
    struct rest_call *call;
    void (*fn)(void *data, struct str name, const struct store_access_frame *f);
    void *data;
};

static bool visit(void *data, struct str rest, struct str value)
{
    const struct walk *w = data;
    struct store_access_frame frame;
    struct str name = arena_str(w->call->arena, str_from_offset(rest, 1));
    struct str kept = arena_str(w->call->arena, value);
    if (name.len + 1 != rest.len || kept.len != value.len) {
        arena_spoil(w->call->arena, ERR_TOO_LARGE);
        return false;
    }
    if (store_access_decode_frame(kept, &frame)) {
        w->fn(w->data, name, &frame);
    }
    return true;
}

void rest_access__each(struct rest_call *c, char kind, struct str prefix,
                       void (*fn)(void *data, struct str name, const struct store_access_frame *f),
                       void *data)
{
    struct walk w = {.call = c, .fn = fn, .data = data};
    struct str key = key_of(c, kind, prefix);
    store_each_from(engine_store(c->rest->config.engine), STORE_KIND_ACCESS, key, key, visit, &w);
}

struct str rest_access__hex(struct rest_call *c, struct str bytes)
{
    char *text = rest_call__alloc(c, 2 * bytes.len);
    hex_write(text, bytes.ptr, bytes.len);
    return str_from(text, 2 * bytes.len);
}

static int hex_value(char c)
{
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
}

bool rest_access__unhex(struct str hex, uint8_t out[AUTH_HASH_BYTES])
{
    if (hex.len != (size_t)2 * AUTH_HASH_BYTES) {
        return false;
    }
    for (size_t i = 0; i < AUTH_HASH_BYTES; i++) {
        int high = hex_value(hex.ptr[2 * i]);
        int low = hex_value(hex.ptr[2 * i + 1]);
        if (high < 0 || low < 0) {
            return false;
        }
        out[i] = (uint8_t)(high * 16 + low);
    }
    return true;
}

struct str rest_access__ns(struct str ns)
{
    return str_eq(ns, STR("default")) ? STR_EMPTY : ns;
}

struct str rest_access__lower(struct rest_call *c, struct str text)
{
    char *lower = rest_call__alloc(c, text.len + 1);
    for (size_t i = 0; i < text.len; i++) {
        char b = text.ptr[i];
        lower[i] = (char)(b >= 'A' && b <= 'Z' ? b + ('a' - 'A') : b);
    }
    return str_from(lower, text.len);
}

bool rest_access__has_feature(struct rest_call *c, const char *feature)
{
    struct str on = c->rest->config.features;
    if (on.len == 0) {
        return true;
    }
    while (on.len > 0) {
        if (str_eq_nocase(str_trim(str_cut(&on, ',')), str_from_z(feature))) {
            return true;
        }
    }
    rest_call__fail(c, ERR_LICENSE, "enterprise feature not enabled: %s", feature);
    return false;
}
