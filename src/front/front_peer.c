#include "front/front_peer.h"

#include "base/buf.h"
#include "base/digits.h"
#include "base/hex.h"
#include "crypto/crypto.h"

enum { MAC_BYTES = CRYPTO_HASH_BYTES, TEXT_MAX = 512 };

#define RETRY STR("retry") /* takes the place of a client's address */

struct front_peer_key front_peer_key_from(uint64_t cluster_id, struct str secret)
{
    struct front_peer_key key = {.is_set = cluster_id != 0, .is_secret = secret.len > 0};
    struct buf text;
    buf_init(&text, SIZE_MAX);
    buf_printf(&text, "corvo forwarding 1\n%llu", (unsigned long long)cluster_id);
    crypto_hmac(secret, buf_str(&text), key.bytes);
    buf_deinit(&text);
    return key;
}

static void put_hex(struct buf *out, const uint8_t *bytes, size_t n)
{
    char *text = buf_reserve(out, 2 * n);
    if (text != NULL) {
        hex_write(text, bytes, n);
        out->len += 2 * n;
    }
}

/* The value without its authentication code. */
static void put_words(struct buf *out, const struct front_peer *p)
{
    buf_printf(out, "1 " STR_FMT " ", STR_ARG(p->address));
    put_hex(out, p->operation.b, ID_BYTES);
    buf_printf(out, " %llu", (unsigned long long)p->since);
}

static void code(const struct front_peer_key *key, struct str words, struct str method,
                 struct str target, uint8_t out[MAC_BYTES])
{
    struct buf text;
    char room[TEXT_MAX];
    buf_init_room(&text, SIZE_MAX, room, sizeof room);
    buf_add_str(&text, words);
    buf_add_char(&text, '\n');
    buf_add_str(&text, method);
    buf_add_char(&text, '\n');
    buf_add_str(&text, target);
    crypto_hmac(str_from(key->bytes, sizeof key->bytes), buf_str(&text), out);
    buf_deinit(&text);
}

struct str front_peer_sign(const struct front_peer_key *key, const struct front_peer *peer,
                           struct str method, struct str target, struct arena *arena)
{
    struct buf value;
    char room[TEXT_MAX];
    uint8_t over[MAC_BYTES];
    buf_init_room(&value, TEXT_MAX, room, sizeof room);
    put_words(&value, peer);
    code(key, buf_str(&value), method, target, over);
    buf_add_char(&value, ' ');
    put_hex(&value, over, sizeof over);
    struct str kept = arena_str(arena, buf_str(&value));
    buf_deinit(&value);
    return kept;
}

/* The words of a value, separated by spaces. */
enum { WORD_VERSION, WORD_ADDRESS, WORD_OPERATION, WORD_SINCE, WORD_CODE, WORDS };

static bool split(struct str value, struct str words[WORDS])
{
    for (unsigned i = 0; i < WORDS; i++) {
        const char *space = value.len == 0 ? NULL : memchr(value.ptr, ' ', value.len);
        size_t len = space == NULL ? value.len : (size_t)(space - value.ptr);
        if ((space == NULL) != (i == WORDS - 1)) {
            return false;
        }
        words[i] = str_from(value.ptr, len);
        value = space == NULL ? STR_EMPTY : str_from_offset(value, len + 1);
    }
    return true;
}

static bool read_value(const struct front_peer_key *key, const struct http_request *req,
                       struct str value, struct front_peer *out)
{
    struct str words[WORDS];
    uint8_t given[MAC_BYTES], over[MAC_BYTES];
    int64_t since;
    if (!key->is_set || !split(value, words) || !str_eq(words[WORD_VERSION], STR("1")) ||
        !hex_read(words[WORD_CODE], given, sizeof given) ||
        !hex_read(words[WORD_OPERATION], out->operation.b, ID_BYTES) ||
        !str_to_i64(words[WORD_SINCE], &since) || since < 0) {
        return false;
    }
    code(key, str_from(value.ptr, (size_t)(words[WORD_CODE].ptr - value.ptr) - 1), req->method_name,
         req->target, over);
    out->address = words[WORD_ADDRESS];
    out->since = (uint64_t)since;
    return crypto_equal(given, over, sizeof over);
}

bool front_peer_read(const struct front_peer_key *key, const struct http_request *req,
                     struct front_peer *out)
{
    struct str value;
    return http_request_known(req, HTTP_KNOWN_X_CORVO_PEER, &value) &&
           read_value(key, req, value, out) && !str_eq(out->address, RETRY);
}

/* A retry token is such a value without a client's address, so that neither can be used as the
 * other. It must be a single word: '_' replaces the spaces. */

struct str front_peer_retry(const struct front_peer_key *key, struct id operation, uint64_t since,
                            const struct http_request *req, struct arena *arena)
{
    struct front_peer peer = {.address = RETRY, .operation = operation, .since = since};
    struct str value = front_peer_sign(key, &peer, req->method_name, req->target, arena);
    char *out = arena_need(arena, value.len + 1, 1);
    for (size_t i = 0; i < value.len; i++) {
        out[i] = (char)(value.ptr[i] == ' ' ? '_' : value.ptr[i]);
    }
    return str_from(out, value.len);
}

bool front_peer_read_retry(const struct front_peer_key *key, const struct http_request *req,
                           struct front_peer *out)
{
    struct str value;
    if (!http_request_known(req, HTTP_KNOWN_X_CORVO_OPERATION, &value)) {
        return false;
    }
    char *spaced = arena_need(req->arena, value.len + 1, 1);
    for (size_t i = 0; i < value.len; i++) {
        spaced[i] = (char)(value.ptr[i] == '_' ? ' ' : value.ptr[i]);
    }
    return read_value(key, req, str_from(spaced, value.len), out) && str_eq(out->address, RETRY);
}
