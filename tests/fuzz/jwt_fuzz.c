/*
 * Fuzz: tokens, key sets and claims from any bytes. The first byte selects the type of the rest.
 */
#include <stdint.h>
#include <stdlib.h>

#include "auth/auth_jwt.h"
#include "auth/auth_sso.h"
#include "base/base64url.h"
#include "base/check.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { ARENA_BYTES = 4 << 20 };

static void try_token(struct str text, struct arena *arena)
{
    struct auth_jwks *keys = NULL;
    struct auth_jwt token;
    struct err err;
    struct auth_jwt_rule rule = {
        .issuer = STR("i"), .audience = STR("a"), .now = {.ns = 1700000000 * NS_PER_S}};
    if (auth_jwt_parse(text, arena, &token, &err) != ERR_OK) {
        CHECK(err.code == ERR_UNAUTHORIZED);
        return;
    }
    CHECK(text.len <= AUTH_JWT_BYTES_MAX);
    CHECK(auth_jwks_parse(STR("{\"keys\":[]}"), &keys, &err) == ERR_OK);
    CHECK(auth_jwt_verify(&token, keys, &err) == ERR_NOT_FOUND);
    (void)!auth_jwt_check(&token, &rule, &err);
    auth_jwks_free(keys);
}

/* The input is a header and claims as JSON, separated by a line break, so that the fuzzer quickly
 * reaches the checks. */
static void try_json(struct str text, struct arena *arena)
{
    struct str header = str_cut(&text, '\n');
    char *room = malloc(header.len * 2 + text.len * 2 + 32);
    CHECK(room != NULL);
    size_t len = base64url_encode(header, room).len;
    room[len++] = '.';
    len += base64url_encode(text, room + len).len;
    room[len++] = '.';
    try_token(str_from(room, len), arena);
    free(room);
}

static void try_keys(struct str text)
{
    struct auth_jwks *keys = NULL;
    struct err err;
    if (auth_jwks_parse(text, &keys, &err) == ERR_OK) {
        CHECK(auth_jwks_count(keys) <= AUTH_JWKS_MAX);
        for (unsigned i = 0; i < AUTH_ALG_COUNT; i++) {
            CHECK(!auth_jwks_verify(keys, (enum auth_alg)i, STR_EMPTY, STR("text"), STR("wrong")));
        }
        auth_jwks_free(keys);
    }
}

static void try_claims(struct str text, struct arena *arena)
{
    struct store_sso settings = {.mappings = STR("\x01g\x05"
                                                 "admin")};
    struct auth_identity id;
    struct err err;
    if (auth_sso_from_claims(text, &settings, arena, &id, &err) == ERR_OK) {
        CHECK(id.name.len > 0 && id.role.len > 0);
        CHECK(memchr(id.role.ptr, '\n', id.role.len) == NULL);
        (void)auth_sso_caller(&id);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0) {
        return 0;
    }
    struct arena *arena = arena_new(ARENA_BYTES);
    struct str rest = str_from(data + 1, size - 1);
    switch (data[0] & 3) {
    case 0:
        try_token(rest, arena);
        break;
    case 1:
        try_json(rest, arena);
        break;
    case 2:
        try_keys(rest);
        break;
    default:
        try_claims(rest, arena);
        break;
    }
    arena_free(arena);
    return 0;
}
