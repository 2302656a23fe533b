#include "discover/discover_message.h"

#include <stdio.h>
#include <string.h>

#include "base/pack.h"
#include "crypto/crypto.h"

enum { MAC_BYTES = CRYPTO_HASH_BYTES, HEAD_BYTES = 4 + 8 + 1, COUNT_AT = 12, COUNT_MAX = 255 };

static const char magic[] = "CVG1";

static void mac(const struct discover_message_key *key, struct str text,
                uint8_t out[static MAC_BYTES])
{
    crypto_hmac(str_from(key->bytes, sizeof key->bytes), text, out);
}

struct discover_message_key discover_message_key(struct str secret)
{
    struct discover_message_key key = {0};
    crypto_hmac(secret, STR("corvo gossip 1"), key.bytes);
    return key;
}

static void pack_member(struct buf *b, const struct discover_member *m)
{
    pack_text(b, str_from_z(m->node_id));
    pack_text(b, str_from_z(m->url));
    pack_text(b, str_from_z(m->gossip));
    pack_u64(b, m->started_ms);
    pack_u64(b, m->beats);
    pack_u8(b, m->left ? 1 : 0);
}

size_t discover_message_write(const struct discover_message_key *key, int64_t now_ms,
                              const struct discover_member *const *rows, size_t count,
                              uint8_t out[static DISCOVER_MESSAGE_BYTES_MAX])
{
    struct buf b;
    uint8_t code[MAC_BYTES];
    uint8_t written = 0;
    buf_init(&b, DISCOVER_MESSAGE_BYTES_MAX - MAC_BYTES);
    buf_add(&b, magic, sizeof magic - 1);
    pack_i64(&b, now_ms);
    pack_u8(&b, 0);
    for (size_t i = 0; i < count && written < COUNT_MAX; i++) {
        size_t before = b.len;
        pack_member(&b, rows[i]);
        if (b.overflow) {
            b.len = before;
            b.overflow = false;
            break;
        }
        written++;
    }
    b.ptr[COUNT_AT] = (char)written;
    mac(key, buf_str(&b), code);
    memcpy(out, b.ptr, b.len);
    memcpy(out + b.len, code, MAC_BYTES);
    size_t len = b.len + MAC_BYTES;
    buf_deinit(&b);
    return len;
}

static void take_text(struct unpack *u, char *out, size_t size)
{
    struct str text = unpack_text(u);
    u->bad |= text.len >= size || str_has_control(text) || !str_is_utf8(text);
    if (!u->bad) {
        (void)snprintf(out, size, STR_FMT, STR_ARG(text));
    }
}

static void take_member(struct unpack *u, struct discover_member *out)
{
    *out = (struct discover_member){.beats = 0};
    take_text(u, out->node_id, sizeof out->node_id);
    take_text(u, out->url, sizeof out->url);
    take_text(u, out->gossip, sizeof out->gossip);
    out->started_ms = unpack_u64(u);
    out->beats = unpack_u64(u);
    uint8_t left = unpack_u8(u);
    out->left = left == 1;
    u->bad |= left > 1 || out->node_id[0] == '\0';
}

enum discover_message_fault discover_message_read(const struct discover_message_key *key,
                                                  int64_t now_ms, struct str bytes,
                                                  struct discover_member *out, size_t cap,
                                                  size_t *out_count)
{
    uint8_t code[MAC_BYTES];
    if (bytes.len < HEAD_BYTES + MAC_BYTES || bytes.len > DISCOVER_MESSAGE_BYTES_MAX ||
        memcmp(bytes.ptr, magic, sizeof magic - 1) != 0) {
        return DISCOVER_MESSAGE_FOREIGN;
    }
    struct str text = str_from(bytes.ptr, bytes.len - MAC_BYTES);
    mac(key, text, code);
    if (!crypto_equal(code, bytes.ptr + text.len, MAC_BYTES)) {
        return DISCOVER_MESSAGE_FOREIGN;
    }
    struct unpack u = unpack_from(str_from_offset(text, sizeof magic - 1));
    int64_t sent_ms = unpack_i64(&u);
    size_t count = unpack_u8(&u);
    if (sent_ms > now_ms + DISCOVER_MESSAGE_SKEW_MS ||
        sent_ms < now_ms - DISCOVER_MESSAGE_SKEW_MS) {
        return DISCOVER_MESSAGE_OLD;
    }
    if (count > cap) {
        return DISCOVER_MESSAGE_DAMAGED;
    }
    for (size_t i = 0; i < count && !u.bad; i++) {
        take_member(&u, &out[i]);
    }
    if (u.bad || unpack_left(&u) != 0) {
        return DISCOVER_MESSAGE_DAMAGED;
    }
    *out_count = count;
    return DISCOVER_MESSAGE_FINE;
}
