#include "auth/auth.h"

#include <string.h>

#include "base/check.h"
#include "base/hash.h"
#include "base/hex.h"
#include "crypto/crypto.h"

static const struct {
    const char *word;
    unsigned bit;
} roles[] = {
    {"admin", ROLE_ADMIN},
    {"operator", ROLE_OPERATOR},
    {"worker", ROLE_WORKER},
    {"readonly", ROLE_READONLY},
};

unsigned auth_role(struct str word)
{
    struct str trimmed = str_trim(word);
    for (size_t i = 0; i < COUNT_OF(roles); i++) {
        if (str_eq_nocase(trimmed, str_from_z(roles[i].word))) {
            return roles[i].bit;
        }
    }
    return 0;
}

struct str auth_role_word(unsigned bit)
{
    for (size_t i = 0; i < COUNT_OF(roles); i++) {
        if (roles[i].bit == bit) {
            return str_from_z(roles[i].word);
        }
    }
    return STR_EMPTY;
}

static bool starts_nocase(struct str s, struct str prefix)
{
    return s.len >= prefix.len && str_same_nocase(s.ptr, prefix.ptr, prefix.len);
}

static bool covers(struct str pattern, struct str resource)
{
    struct str below = STR("/*");
    if (str_eq(pattern, STR("*")) || str_eq_nocase(pattern, resource)) {
        return true;
    }
    if (pattern.len == resource.len + below.len && starts_nocase(pattern, resource) &&
        str_eq(str_from_offset(pattern, resource.len), below)) {
        return true;
    }
    if (pattern.len > 0 && pattern.ptr[pattern.len - 1] == '*') {
        pattern.len--;
        return starts_nocase(resource, pattern);
    }
    return false;
}

bool auth_permits(const struct store_permission *p, struct str resource, struct str action)
{
    if (!covers(str_trim(p->resource), resource)) {
        return false;
    }
    for (size_t i = 0; i < p->action_count; i++) {
        struct str granted = str_trim(p->actions[i]);
        if (str_eq(granted, STR("*")) || str_eq_nocase(granted, action) ||
            (str_eq_nocase(granted, STR("write")) && !str_eq(action, STR("read")))) {
            return true;
        }
    }
    return false;
}

/* Actions that are the last segment of a path. */
static const char *const path_actions[] = {"pause",   "resume", "drain", "clear", "retry", "cancel",
                                           "approve", "reject", "hold",  "move",  "replay"};

bool auth_knows_action(struct str word)
{
    static const char *const others[] = {"read", "write", "delete", "*"};
    bool known = false;
    word = str_trim(word);
    for (size_t i = 0; i < COUNT_OF(path_actions); i++) {
        known = known || str_eq_nocase(word, str_from_z(path_actions[i]));
    }
    for (size_t i = 0; i < COUNT_OF(others); i++) {
        known = known || str_eq_nocase(word, str_from_z(others[i]));
    }
    return known;
}

/* Is the segment an action? Only as the last of at least three segments behind the base path. */
static bool is_action(struct str segment)
{
    for (size_t i = 0; i < COUNT_OF(path_actions); i++) {
        if (str_eq(segment, str_from_z(path_actions[i]))) {
            return true;
        }
    }
    return false;
}

struct auth_rule auth_rule_of_route(unsigned allowed, struct str method, struct str pattern)
{
    struct auth_rule rule = {.roles = allowed};
    struct str base = STR("/api/v1/");
    size_t skip = str_starts_with(pattern, base) ? base.len : 1; /* other APIs: no base path */
    struct str rest = str_from_offset(pattern, skip);
    struct str last = STR_EMPTY;
    unsigned count = 0;
    while (rest.len > 0) {
        last = str_cut(&rest, '/');
        if (++count == 1) {
            rule.resource = last;
        }
    }
    if (str_eq(method, STR("GET"))) {
        rule.action = STR("read");
    } else if (count >= 3 && is_action(last)) {
        rule.action = last;
    } else {
        rule.action = str_eq(method, STR("DELETE")) ? STR("delete") : STR("write");
    }
    return rule;
}

bool auth_rule_of_rpc(struct str method, struct auth_rule *out)
{
    static const struct {
        const char *method;
        unsigned roles;
        const char *resource;
        const char *action;
    } rows[] = {
        {"Enqueue", ROLES_AOW, "enqueue", "write"},
        {"Fetch", ROLES_AOW, "fetch", "write"},
        {"FetchBatch", ROLES_AOW, "fetch", "write"},
        {"Ack", ROLES_AOW, "ack", "write"},
        {"AckBatch", ROLES_AOW, "ack", "write"},
        {"Fail", ROLES_AOW, "fail", "write"},
        {"Heartbeat", ROLES_AOW, "heartbeat", "write"},
        {"StreamLifecycle", ROLES_AOW, "fetch", "write"},
        {"Subscribe", ROLES_AOR, "events", "read"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        if (str_eq(method, str_from_z(rows[i].method))) {
            *out = (struct auth_rule){.roles = rows[i].roles,
                                      .resource = str_from_z(rows[i].resource),
                                      .action = str_from_z(rows[i].action)};
            return true;
        }
    }
    return false;
}

/* The latest hashes of this thread. The same few secrets come with every request, and hashing
 * one takes a tenth of the time of a small request. */
enum { RECENT_COUNT = 32, RECENT_BYTES_MAX = 128 };
struct recent {
    size_t len; /* 0: unused */
    char secret[RECENT_BYTES_MAX];
    uint8_t hash[AUTH_HASH_BYTES];
};
static _Thread_local struct recent recent[RECENT_COUNT];

/* Secrets are random, so a few of their bytes are enough as a hash. */
static struct recent *recent_at(struct str secret)
{
    uint64_t last = 0;
    size_t len = secret.len < sizeof last ? secret.len : sizeof last;
    if (len > 0) {
        memcpy(&last, secret.ptr + secret.len - len, len);
    }
    return &recent[hash_u64(last) % RECENT_COUNT];
}

void auth_digest(struct str secret, uint8_t out[AUTH_HASH_BYTES])
{
    crypto_hash(secret, out);
}

void auth_hash(struct str secret, uint8_t out[AUTH_HASH_BYTES])
{
    struct recent *r = recent_at(secret);
    if (r->len > 0 && r->len == secret.len && crypto_equal(r->secret, secret.ptr, secret.len)) {
        memcpy(out, r->hash, AUTH_HASH_BYTES);
        return;
    }
    auth_digest(secret, out);
    if (secret.len > 0 && secret.len <= RECENT_BYTES_MAX) {
        r->len = secret.len;
        memcpy(r->secret, secret.ptr, secret.len);
        memcpy(r->hash, out, AUTH_HASH_BYTES);
    }
}

void auth_hash_two(struct str a, struct str b, uint8_t out[AUTH_HASH_BYTES])
{
    crypto_hash_two(a, b, out);
}

bool auth_matches(struct str shown, const uint8_t hash[AUTH_HASH_BYTES])
{
    uint8_t x[AUTH_HASH_BYTES];
    auth_hash(shown, x);
    return crypto_equal(x, hash, sizeof x);
}

bool auth_same(struct str shown, struct str secret)
{
    uint8_t hash[AUTH_HASH_BYTES];
    auth_digest(secret, hash);
    return auth_matches(shown, hash);
}

void auth_new_secret(struct str prefix, char out[AUTH_SECRET_BYTES])
{
    uint8_t random[(AUTH_SECRET_BYTES - 3) / 2];
    CHECK(prefix.len == 3);
    crypto_random(random, sizeof random);
    memcpy(out, prefix.ptr, 3);
    hex_write(out + 3, random, sizeof random);
    crypto_wipe(random, sizeof random);
}
