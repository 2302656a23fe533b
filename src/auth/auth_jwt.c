#include "auth/auth_jwt.h"

#include <string.h>

#include "base/base64url.h"
#include "base/limits.h"
#include "json/json_scan.h"

enum { KEY_ID_BYTES_MAX = 512, PARTS = 3 };

static enum err_code refuse(struct err *err, const char *why)
{
    return err_set(err, ERR_UNAUTHORIZED, "%s", why);
}

bool auth_jwt_has_shape(struct str token)
{
    size_t dots = 0;
    for (size_t i = 0; i < token.len; i++) {
        dots += token.ptr[i] == '.' ? 1 : 0;
    }
    return dots == PARTS - 1 && token.ptr[0] == 'e'; /* "{" in base64 begins with 'e' */
}

static bool decode_part(struct str part, struct arena *arena, struct str *out)
{
    size_t len;
    uint8_t *bytes = arena_alloc(arena, base64url_room(part.len), 1);
    if (bytes == NULL || !base64url_decode(part, bytes, &len)) {
        return false;
    }
    *out = str_from(bytes, len);
    return true;
}

static bool is_object(struct str text)
{
    struct err ignored;
    struct json_scan s = json_scan_from(text);
    return json_scan_peek(&s) == JSON_TYPE_OBJECT && json_scan_check(text, &ignored) == ERR_OK;
}

static bool has_member(struct str object, struct str name)
{
    struct json_value v;
    return json_scan_member(object, name, &v);
}

static enum err_code read_header(struct str header, struct arena *arena, struct auth_jwt *out,
                                 struct err *err)
{
    struct json_value v;
    struct str alg;
    if (has_member(header, STR("crit"))) {
        return refuse(err, "the token requires extensions that are not supported");
    }
    if (!json_scan_member(header, STR("alg"), &v) || v.type != JSON_TYPE_STRING ||
        json_value_text(v, arena, &alg, err) != ERR_OK || !auth_alg_of(alg, &out->alg)) {
        return refuse(err, "the token's algorithm is not RS256, ES256 or EdDSA");
    }
    if (json_scan_member(header, STR("kid"), &v)) {
        if (v.type != JSON_TYPE_STRING || json_value_text_len(v) > KEY_ID_BYTES_MAX ||
            json_value_text(v, arena, &out->key_id, err) != ERR_OK) {
            return refuse(err, "the token's key id is invalid or too long");
        }
    }
    return ERR_OK;
}

enum err_code auth_jwt_parse(struct str token, struct arena *arena, struct auth_jwt *out,
                             struct err *err)
{
    struct str rest = token;
    struct str part[PARTS];
    struct str header;
    *out = (struct auth_jwt){.key_id = STR_EMPTY};
    if (token.len > AUTH_JWT_BYTES_MAX) {
        return refuse(err, "the token is too large");
    }
    if (!auth_jwt_has_shape(token)) {
        return refuse(err, "the token is not a signed JWT");
    }
    for (size_t i = 0; i < PARTS; i++) {
        part[i] = str_cut(&rest, '.');
    }
    out->text = str_from(token.ptr, part[0].len + 1 + part[1].len);
    if (!decode_part(part[0], arena, &header) || !decode_part(part[1], arena, &out->claims) ||
        !decode_part(part[2], arena, &out->signature)) {
        return refuse(err, "the token is not valid base64url");
    }
    if (!is_object(header) || !is_object(out->claims)) {
        return refuse(err, "the token is not valid JSON");
    }
    return read_header(header, arena, out, err);
}

enum err_code auth_jwt_verify(const struct auth_jwt *t, const struct auth_jwks *keys,
                              struct err *err)
{
    if (!auth_jwks_has(keys, t->alg, t->key_id)) {
        return err_set(err, ERR_NOT_FOUND, "the token's key is not one of the provider's keys");
    }
    return auth_jwks_verify(keys, t->alg, t->key_id, t->text, t->signature)
               ? ERR_OK
               : refuse(err, "the token's signature is wrong");
}

/* Claims */

static bool says(struct str claims, struct str name, struct str wanted)
{
    struct json_value v;
    return json_scan_member(claims, name, &v) && v.type == JSON_TYPE_STRING &&
           json_value_text_eq(v, wanted);
}

/* The audience may be one string or an array. */
static bool is_audience(struct str claims, struct str wanted)
{
    struct json_value v;
    struct json_value one;
    if (!json_scan_member(claims, STR("aud"), &v) || v.type != JSON_TYPE_ARRAY) {
        return says(claims, STR("aud"), wanted);
    }
    struct json_scan s = json_scan_from(v.text);
    bool found = false;
    if (json_scan_enter_array(&s)) {
        while (json_scan_next_element(&s) && json_scan_value(&s, &one)) {
            found |= one.type == JSON_TYPE_STRING && json_value_text_eq(one, wanted);
        }
    }
    return found;
}

/* Seconds since 1970. A fraction is allowed, and dropped. */
static bool read_time(struct str claims, struct str name, int64_t *out_s)
{
    struct json_value v;
    double real;
    if (!json_scan_member(claims, name, &v)) {
        return false;
    }
    if (json_value_i64(v, out_s)) {
        return true;
    }
    if (!json_value_f64(v, &real) || real < -1e12 || real > 1e12) {
        return false;
    }
    *out_s = (int64_t)real;
    return true;
}

/* Is the claim's time in the future? An invalid time counts as future. */
static bool is_later(struct str claims, struct str name, int64_t now_s)
{
    int64_t at_s;
    return has_member(claims, name) &&
           (!read_time(claims, name, &at_s) || at_s > now_s + AUTH_JWT_SKEW_S);
}

enum err_code auth_jwt_check(struct auth_jwt *t, const struct auth_jwt_rule *rule, struct err *err)
{
    enum { FAR_S = 1 << 30 }; /* treated as never: avoids overflow */
    int64_t now_s = rule->now.ns / NS_PER_S;
    int64_t expires_s;
    if (rule->issuer.len == 0 || !says(t->claims, STR("iss"), rule->issuer)) {
        return refuse(err, "the token's issuer does not match");
    }
    if (rule->audience.len == 0 || !is_audience(t->claims, rule->audience)) {
        return refuse(err, "the token is for another audience");
    }
    if (!read_time(t->claims, STR("exp"), &expires_s)) {
        return refuse(err, "the token has no expiry time");
    }
    if (expires_s <= now_s - AUTH_JWT_SKEW_S) {
        return refuse(err, "the token has expired");
    }
    if (is_later(t->claims, STR("nbf"), now_s) || is_later(t->claims, STR("iat"), now_s)) {
        return refuse(err, "the token is not valid yet");
    }
    if (rule->nonce.len > 0 && !says(t->claims, STR("nonce"), rule->nonce)) {
        return refuse(err, "the token belongs to another sign-in");
    }
    expires_s = expires_s > now_s + FAR_S ? now_s + FAR_S : expires_s;
    t->expires_at.ns = (expires_s + AUTH_JWT_SKEW_S) * NS_PER_S;
    return ERR_OK;
}
