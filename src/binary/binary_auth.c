/*
 * Authentication and authorization, with the rules of the RPC service (rpc.md 8.1). A key is looked
 * up with every frame, so that the connection ends when the key is revoked or has expired.
 */
#include "audit/audit.h"
#include "base/check.h"
#include "base/limits.h"
#include "binary/binary_int.h"
#include "os/os_clock.h"

static void become_admin(struct binary_conn *c)
{
    c->who = (struct auth_caller){.role = STR("admin"), .role_bit = ROLE_ADMIN};
}

/* Remove the next piece from the texts. */
static struct str take(struct str *rest, size_t len)
{
    struct str piece = str_from(rest->ptr, len);
    *rest = str_from_offset(*rest, len);
    return piece;
}

/* The texts of the key are copied into the connection, because the key may change. */
static void become(struct binary_conn *c, const struct auth_key *key,
                   const uint8_t hash[AUTH_HASH_BYTES])
{
    bool has_ns = !str_eq(key->ns, STR("*")) && !str_eq(key->ns, STR("default"));
    struct str ns = has_ns ? key->ns : STR_EMPTY;
    buf_clear(&c->texts);
    buf_add_str(&c->texts, key->role);
    buf_add_str(&c->texts, key->roles);
    buf_add_str(&c->texts, key->scope);
    buf_add_str(&c->texts, ns);
    struct str rest = buf_str(&c->texts);
    c->who = (struct auth_caller){.role_bit = key->role_bit, .has_hash = true};
    c->who.role = take(&rest, key->role.len);
    c->who.roles = take(&rest, key->roles.len);
    c->who.scope = take(&rest, key->scope.len);
    c->who.ns = take(&rest, ns.len);
    memcpy(c->who.hash, hash, AUTH_HASH_BYTES);
}

static bool look_up(struct binary_conn *c, const uint8_t hash[AUTH_HASH_BYTES])
{
    struct auth_key key;
    struct wall now = os_clock_wall();
    arena_reset(c->binary->scratch);
    if (!auth_table_key(c->binary->config.auth, hash, now, c->binary->scratch, &key) ||
        !key.enabled || (key.expires_at.ns != 0 && key.expires_at.ns <= now.ns)) {
        return false;
    }
    become(c, &key, hash);
    if (!key.used_lately && c->binary->config.audit != NULL &&
        auth_table_used(c->binary->config.auth, hash, now)) {
        audit_used(c->binary->config.audit, hash);
    }
    return true;
}

static bool needs_nothing(const struct binary_conn *c)
{
    return c->binary->config.password.len == 0 && !auth_table_is_closed(c->binary->config.auth);
}

/* Without a password and keys, local clients need no credential (http-api.md 3). */
static bool is_open(const struct binary_conn *c)
{
    return needs_nothing(c) && (c->is_local || c->binary->config.open_access);
}

bool binary_auth__is_stranger(const struct binary_conn *c)
{
    return !c->known && !is_open(c);
}

const char binary_auth__denied[] = "the role of this credential does not allow this operation";

struct str binary_auth__why_not(const struct binary_conn *c)
{
    return needs_nothing(c) ? STR("this server has no password and no API key, so it accepts only "
                                  "clients on its "
                                  "own machine; set --admin-password, or use --open-access to "
                                  "accept every client")
                            : STR("unauthenticated: the first frame must be auth");
}

static bool is_right(struct binary_conn *c, struct str token)
{
    struct str password = c->binary->config.password;
    uint8_t hash[AUTH_HASH_BYTES];
    if (password.len > 0 && auth_same(token, password)) {
        become_admin(c);
        return true;
    }
    auth_hash(token, hash);
    return look_up(c, hash);
}

bool binary_auth__admit(struct binary_conn *c, struct str token)
{
    const struct binary_config *config = &c->binary->config;
    c->known = false;
    if (is_open(c)) {
        become_admin(c); /* not known: each frame checks again */
        return true;
    }
    if (config->may_try == NULL || config->may_try(config->data, c->address, token)) {
        c->known = is_right(c, token);
        if (config->tried != NULL) {
            config->tried(config->data, c->address, token, c->known);
        }
    }
    return c->known;
}

bool binary_auth__is_known(struct binary_conn *c)
{
    if (c->known && c->who.has_hash) {
        uint8_t hash[AUTH_HASH_BYTES];
        memcpy(hash, c->who.hash, sizeof hash);
        c->known = look_up(c, hash);
    } else if (!c->known && is_open(c)) {
        become_admin(c);
        return true;
    }
    return c->known;
}

/* The name of a frame: the RPC method with the same rule, if there is one. */
static struct str name_of(uint8_t type)
{
    static const char *const names[] = {
        [BINARY_AUTH] = "Auth", [BINARY_ENQUEUE] = "Enqueue", [BINARY_SUBSCRIBE] = "Fetch",
        [BINARY_ACK] = "Ack",   [BINARY_FAIL] = "Fail",       [BINARY_HEARTBEAT] = "Heartbeat",
        [BINARY_BULK] = "Bulk", [BINARY_PING] = "Ping",
    };
    bool named = type < COUNT_OF(names) && names[type] != NULL;
    return named ? str_from_z(names[type]) : STR("Unknown");
}

bool binary_auth__may(struct binary_conn *c, uint8_t type)
{
    struct auth_rule rule = {ROLES_AO, STR("jobs"), STR("write")}; /* for bulk */
    bool has_method = type == BINARY_ENQUEUE || type == BINARY_SUBSCRIBE || type == BINARY_ACK ||
                      type == BINARY_FAIL || type == BINARY_HEARTBEAT;
    if (has_method && !auth_rule_of_rpc(name_of(type), &rule)) {
        return false;
    }
    return auth_allows(c->binary->config.auth, &c->who, &rule);
}

void binary_auth__refused(struct binary_conn *c, uint8_t type)
{
    if (c->binary->config.audit == NULL) {
        return;
    }
    struct buf room;
    struct buf path;
    buf_init(&room, LIMIT_ACCESS_BODY_BYTES);
    buf_init(&path, LIMIT_NAME_BYTES);
    buf_add_str(&path, STR("/binary/"));
    buf_add_str(&path, name_of(type));
    struct store_audit entry = {.method = STR("BINARY"), .path = buf_str(&path), .status = 401};
    if (c->known) {
        entry.status = 403;
        entry.ns = c->who.ns;
        entry.role = c->who.role;
        entry.principal = audit_principal(c->binary->config.engine, &c->who, &room);
    }
    audit_note(c->binary->config.audit, &entry, true);
    buf_deinit(&path);
    buf_deinit(&room);
}

uint8_t binary_auth__role(const struct binary_conn *c)
{
    return (uint8_t)c->who.role_bit;
}

static struct str keep(struct arena *arena, struct str text)
{
    return text.len == 0
               ? STR_EMPTY
               : str_from(memcpy(arena_need(arena, text.len, 1), text.ptr, text.len), text.len);
}

struct svc_caller binary_auth__caller(const struct binary_conn *c, struct arena *arena)
{
    return (struct svc_caller){.engine = c->binary->config.engine,
                               .ns = keep(arena, c->who.ns),
                               .scope = keep(arena, c->who.scope),
                               .arena = arena};
}
