#include "auth/auth_sso.h"

#include "base/limits.h"
#include "core/queue_name.h"
#include "json/json_scan.h"

enum { ROLES_MAX = 64, ROLES_BYTES_MAX = ROLES_MAX * (LIMIT_NAME_BYTES + 1) };

/* A claim as text; empty if it is absent or not a string. */
static struct str claim(struct str claims, struct str name, struct arena *arena)
{
    struct json_value v;
    struct str text;
    struct err ignored;
    if (!json_scan_member(claims, name, &v) || v.type != JSON_TYPE_STRING ||
        json_value_text(v, arena, &text, &ignored) != ERR_OK) {
        return STR_EMPTY;
    }
    return str_trim(text);
}

/* The first of these claims that is not empty. */
static struct str first_claim(struct str claims, const char *const *names, size_t count,
                              struct arena *arena)
{
    struct str text = STR_EMPTY;
    for (size_t i = 0; i < count && text.len == 0; i++) {
        text = claim(claims, str_from_z(names[i]), arena);
    }
    return text;
}
#define FIRST_CLAIM(claims, arena, ...)                                                            \
    first_claim((claims), (const char *const[]){__VA_ARGS__},                                      \
                sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *), (arena))

/* Roles, one per line */

static bool is_role(struct str role)
{
    return role.len > 0 && role.len <= LIMIT_NAME_BYTES && !str_has_control(role);
}

static bool has_line(struct str lines, struct str line)
{
    while (lines.len > 0) {
        if (str_eq_nocase(str_cut(&lines, '\n'), line)) {
            return true;
        }
    }
    return false;
}

static void add_role(struct buf *roles, struct str role)
{
    if (!is_role(role) || has_line(buf_str(roles), role)) {
        return;
    }
    if (roles->len > 0) {
        buf_add_char(roles, '\n');
    }
    buf_add_str(roles, role);
}

/* Call fn for each string of an array, or for a single string; any other value has none. */
static void each_text(struct json_value v, struct arena *arena,
                      void (*fn)(void *data, struct str text), void *data)
{
    struct json_value one;
    struct str text;
    struct err ignored;
    if (v.type == JSON_TYPE_STRING && json_value_text(v, arena, &text, &ignored) == ERR_OK) {
        fn(data, str_trim(text));
    }
    if (v.type != JSON_TYPE_ARRAY) {
        return;
    }
    struct json_scan s = json_scan_from(v.text);
    if (!json_scan_enter_array(&s)) {
        return;
    }
    while (json_scan_next_element(&s) && json_scan_value(&s, &one)) {
        if (one.type == JSON_TYPE_STRING &&
            json_value_text(one, arena, &text, &ignored) == ERR_OK) {
            fn(data, str_trim(text));
        }
    }
}

static void take_role(void *data, struct str role)
{
    add_role(data, role);
}

/* Read an array, or a string that contains an array as JSON. */
static void take_extra_roles(struct str claims, struct arena *arena, struct buf *roles)
{
    struct json_value v;
    struct json_value inner;
    struct str text;
    struct err ignored;
    if (!json_scan_member(claims, STR("corvo_roles"), &v)) {
        return;
    }
    if (v.type == JSON_TYPE_STRING && json_value_text(v, arena, &text, &ignored) == ERR_OK &&
        json_scan_first(text, &inner, &ignored) == ERR_OK && inner.type == JSON_TYPE_ARRAY) {
        v = inner;
    }
    if (v.type == JSON_TYPE_ARRAY) {
        each_text(v, arena, take_role, roles);
    }
}

struct mapping {
    const struct store_sso *settings;
    struct buf *roles;
    struct str first; /* empty: no group was mapped to a role */
};

static void take_group(void *data, struct str group)
{
    struct mapping *m = data;
    struct str rest = m->settings->mappings;
    struct str name;
    struct str role;
    while (store_access_next_mapping(&rest, &name, &role)) {
        if (str_eq(name, group)) {
            m->first = m->first.len == 0 ? role : m->first;
            add_role(m->roles, role);
        }
    }
}

static struct str role_of_groups(struct str claims, const struct store_sso *s, struct arena *arena,
                                 struct buf *roles)
{
    struct mapping m = {.settings = s, .roles = roles};
    struct json_value v;
    struct str name = s->group_claim.len > 0 ? s->group_claim : STR("groups");
    if (json_scan_member(claims, name, &v)) {
        each_text(v, arena, take_group, &m);
    }
    return m.first;
}

/* Common to both sources: set defaults, and refuse invalid values. */
static enum err_code complete(struct auth_identity *id, struct buf *roles, struct arena *arena,
                              struct err *err)
{
    id->name = str_at_most(id->name, LIMIT_NAME_BYTES);
    id->role = id->role.len == 0 ? STR("readonly") : id->role;
    if (str_has_control(id->name) || !is_role(id->role)) {
        return err_set(err, ERR_UNAUTHORIZED, "the name or the role is invalid");
    }
    if (auth_role(id->role) == 0) {
        add_role(roles, id->role);
    }
    if (str_eq(id->ns, STR("default"))) {
        id->ns = STR_EMPTY;
    }
    if (id->ns.len > 0 && !queue_name_is_namespace(id->ns)) {
        return err_set(err, ERR_UNAUTHORIZED, "the namespace is invalid");
    }
    id->roles = arena_str(arena, buf_str(roles));
    if (buf_error(roles) != ERR_OK || id->roles.len != roles->len) {
        return err_set(err, ERR_UNAUTHORIZED, "there are too many roles");
    }
    return ERR_OK;
}

enum err_code auth_sso_from_claims(struct str claims, const struct store_sso *s,
                                   struct arena *arena, struct auth_identity *out, struct err *err)
{
    struct buf roles;
    buf_init(&roles, ROLES_BYTES_MAX);
    *out = (struct auth_identity){
        .name = FIRST_CLAIM(claims, arena, "email", "preferred_username", "sub"),
        .ns = FIRST_CLAIM(claims, arena, "corvo_namespace", "namespace"),
        .role = FIRST_CLAIM(claims, arena, "corvo_role", "role")};
    out->name = out->name.len == 0 ? STR("oidc-user") : out->name;
    take_extra_roles(claims, arena, &roles);
    if (out->role.len == 0) {
        out->role = role_of_groups(claims, s, arena, &roles);
    }
    enum err_code code = complete(out, &roles, arena, err);
    buf_deinit(&roles);
    return code;
}

enum err_code auth_sso_from_headers(const struct auth_sso_headers *h, struct arena *arena,
                                    struct auth_identity *out, struct err *err)
{
    struct buf roles;
    struct str rest = h->roles;
    buf_init(&roles, ROLES_BYTES_MAX);
    *out = (struct auth_identity){
        .name = str_trim(h->subject), .ns = str_trim(h->ns), .role = str_trim(h->role)};
    while (rest.len > 0) {
        add_role(&roles, str_trim(str_cut(&rest, ',')));
    }
    enum err_code code = complete(out, &roles, arena, err);
    buf_deinit(&roles);
    return code;
}

struct auth_caller auth_sso_caller(const struct auth_identity *id)
{
    struct auth_caller who = {.name = id->name,
                              .role = id->role,
                              .role_bit = auth_role(id->role),
                              .roles = id->roles,
                              .ns = id->ns};
    struct str rest = id->roles;
    while (rest.len > 0) {
        who.role_bit |= auth_role(str_cut(&rest, '\n'));
    }
    return who;
}

void auth_sso_proof(const struct store_sso *s, uint8_t out[AUTH_HASH_BYTES])
{
    uint8_t issuer[AUTH_HASH_BYTES];
    auth_hash(s->issuer, issuer); /* fixed length: the concatenation is unambiguous */
    auth_hash_two(str_from(issuer, sizeof issuer), s->client_id, out);
}
