#include "store/store_access.h"

#include "base/pack.h"

enum { FRAME_VERSION = 1, AUDIT_VERSION = 1, SSO_VERSION = 1 };

void store_access_encode_frame(const struct store_access_frame *f, struct buf *out)
{
    pack_u8(out, FRAME_VERSION);
    pack_i64(out, f->created_at.ns);
    pack_i64(out, f->updated_at.ns);
    buf_add_str(out, f->body);
}

bool store_access_decode_frame(struct str value, struct store_access_frame *out)
{
    struct unpack u = unpack_from(value);
    bool known = unpack_u8(&u) == FRAME_VERSION;
    out->created_at.ns = unpack_i64(&u);
    out->updated_at.ns = unpack_i64(&u);
    out->body = unpack_bytes(&u, unpack_left(&u));
    return known && !u.bad;
}

void store_access_encode_key(const struct store_key *k, struct buf *out)
{
    pack_u8(out, k->enabled ? 1 : 0);
    pack_i64(out, k->expires_at.ns);
    pack_text(out, k->name);
    pack_text(out, k->ns);
    pack_text(out, k->role);
    pack_text(out, k->scope);
}

bool store_access_decode_key(struct str body, struct store_key *out)
{
    struct unpack u = unpack_from(body);
    out->enabled = unpack_bool(&u);
    out->expires_at.ns = unpack_i64(&u);
    out->name = unpack_text(&u);
    out->ns = unpack_text(&u);
    out->role = unpack_text(&u);
    out->scope = unpack_text(&u);
    return unpack_done(&u);
}

void store_access_add_permission(const struct store_permission *p, struct buf *out)
{
    pack_text(out, p->resource);
    pack_varint(out, p->action_count);
    for (size_t i = 0; i < p->action_count; i++) {
        pack_text(out, p->actions[i]);
    }
}

bool store_access_next_permission(struct str *rest, struct store_permission *out)
{
    struct unpack u = unpack_from(*rest);
    if (rest->len == 0) {
        return false;
    }
    out->resource = unpack_text(&u);
    uint64_t count = unpack_varint(&u);
    if (count > STORE_ACCESS_ACTIONS_MAX) {
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        out->actions[i] = unpack_text(&u);
    }
    out->action_count = (size_t)count;
    *rest = unpack_bytes(&u, unpack_left(&u));
    return !u.bad;
}

void store_access_encode_role(const struct store_role *r, struct buf *out)
{
    pack_text(out, r->name);
    buf_add_str(out, r->permissions);
}

bool store_access_decode_role(struct str body, struct store_role *out)
{
    struct unpack u = unpack_from(body);
    struct store_permission p;
    out->name = unpack_text(&u);
    out->permissions = unpack_bytes(&u, unpack_left(&u));
    struct str rest = out->permissions;
    while (!u.bad && rest.len > 0) {
        if (!store_access_next_permission(&rest, &p)) {
            return false;
        }
    }
    return !u.bad;
}

static void pack_real(struct buf *out, double v)
{
    uint64_t bits;
    memcpy(&bits, &v, sizeof bits);
    pack_u64(out, bits);
}

static double unpack_real(struct unpack *u)
{
    uint64_t bits = unpack_u64(u);
    double v;
    memcpy(&v, &bits, sizeof v);
    return v;
}

void store_access_encode_namespace(const struct store_namespace *n, struct buf *out)
{
    pack_real(out, n->read_rps);
    pack_real(out, n->read_burst);
    pack_real(out, n->write_rps);
    pack_real(out, n->write_burst);
    if (store_access_has_quota(&n->quota)) {
        pack_u64(out, n->quota.max_jobs);
        pack_u64(out, n->quota.max_payload_bytes);
        pack_u64(out, n->quota.max_queues);
    }
}

bool store_access_decode_namespace(struct str body, struct store_namespace *out)
{
    struct unpack u = unpack_from(body);
    out->read_rps = unpack_real(&u);
    out->read_burst = unpack_real(&u);
    out->write_rps = unpack_real(&u);
    out->write_burst = unpack_real(&u);
    out->quota = (struct store_quota){0};
    if (body.len == STORE_NAMESPACE_BYTES_PLAIN) {
        return unpack_done(&u);
    }
    out->quota.max_jobs = unpack_u64(&u);
    out->quota.max_payload_bytes = unpack_u64(&u);
    out->quota.max_queues = unpack_u64(&u);
    return unpack_done(&u) && store_access_has_quota(&out->quota);
}

void store_access_encode_session(const struct store_session *s, struct buf *out)
{
    pack_u8(out, (uint8_t)s->how);
    pack_i64(out, s->expires_at.ns);
    pack_text(out, s->proof);
    pack_text(out, s->name);
    pack_text(out, s->ns);
    pack_text(out, s->role);
    pack_text(out, s->address);
    pack_text(out, s->agent);
    if (s->how == STORE_SESSION_SSO) {
        pack_text(out, s->roles);
    }
}

bool store_access_decode_session(struct str body, struct store_session *out)
{
    struct unpack u = unpack_from(body);
    out->how = (char)unpack_u8(&u);
    out->expires_at.ns = unpack_i64(&u);
    out->proof = unpack_text(&u);
    out->name = unpack_text(&u);
    out->ns = unpack_text(&u);
    out->role = unpack_text(&u);
    out->address = unpack_text(&u);
    out->agent = unpack_text(&u);
    out->roles = out->how == STORE_SESSION_SSO ? unpack_text(&u) : STR_EMPTY;
    return unpack_done(&u) && out->proof.len == STORE_ACCESS_HASH_BYTES &&
           (out->how == STORE_SESSION_PASSWORD || out->how == STORE_SESSION_KEY ||
            out->how == STORE_SESSION_SSO);
}

void store_access_add_mapping(struct str group, struct str role, struct buf *out)
{
    pack_text(out, group);
    pack_text(out, role);
}

bool store_access_next_mapping(struct str *rest, struct str *out_group, struct str *out_role)
{
    struct unpack u = unpack_from(*rest);
    if (rest->len == 0) {
        return false;
    }
    *out_group = unpack_text(&u);
    *out_role = unpack_text(&u);
    *rest = unpack_bytes(&u, unpack_left(&u));
    return !u.bad;
}

void store_access_encode_sso(const struct store_sso *s, struct buf *out)
{
    pack_u8(out, SSO_VERSION);
    pack_u8(out, (uint8_t)s->provider);
    pack_u8(out, s->headers_enabled ? 1 : 0);
    pack_text(out, s->issuer);
    pack_text(out, s->client_id);
    pack_text(out, s->client_secret);
    pack_text(out, s->group_claim);
    buf_add_str(out, s->mappings);
}

bool store_access_decode_sso(struct str body, struct store_sso *out)
{
    struct unpack u = unpack_from(body);
    struct str group;
    struct str role;
    bool known = unpack_u8(&u) == SSO_VERSION;
    out->provider = (char)unpack_u8(&u);
    out->headers_enabled = unpack_bool(&u);
    out->issuer = unpack_text(&u);
    out->client_id = unpack_text(&u);
    out->client_secret = unpack_text(&u);
    out->group_claim = unpack_text(&u);
    out->mappings = unpack_bytes(&u, unpack_left(&u));
    struct str rest = out->mappings;
    while (!u.bad && rest.len > 0) {
        if (!store_access_next_mapping(&rest, &group, &role)) {
            return false;
        }
    }
    return known && !u.bad &&
           (out->provider == STORE_SSO_NONE || out->provider == STORE_SSO_OIDC ||
            out->provider == STORE_SSO_HEADERS);
}

void store_access_encode_org(const struct store_org *o, struct buf *out)
{
    pack_text(out, o->name);
}

bool store_access_decode_org(struct str body, struct store_org *out)
{
    struct unpack u = unpack_from(body);
    out->name = unpack_text(&u);
    return unpack_done(&u);
}

void store_access_encode_member(const struct store_member *m, struct buf *out)
{
    pack_text(out, m->name);
    pack_text(out, m->email);
    pack_text(out, m->role);
}

void store_access_encode_marker(const struct store_marker *m, struct buf *out)
{
    pack_i64(out, m->at.ns);
    pack_text(out, m->ns);
    pack_text(out, m->queue);
    pack_text(out, m->text);
    pack_text(out, m->by);
}

bool store_access_decode_marker(struct str body, struct store_marker *out)
{
    struct unpack u = unpack_from(body);
    out->at.ns = unpack_i64(&u);
    out->ns = unpack_text(&u);
    out->queue = unpack_text(&u);
    out->text = unpack_text(&u);
    out->by = unpack_text(&u);
    return unpack_done(&u);
}

bool store_access_decode_member(struct str body, struct store_member *out)
{
    struct unpack u = unpack_from(body);
    out->name = unpack_text(&u);
    out->email = unpack_text(&u);
    out->role = unpack_text(&u);
    return unpack_done(&u);
}

void store_access_encode_org_key(const struct store_org_key *k, struct buf *out)
{
    pack_text(out, k->id);
    pack_text(out, k->name);
    pack_text(out, k->prefix);
}

bool store_access_decode_org_key(struct str body, struct store_org_key *out)
{
    struct unpack u = unpack_from(body);
    out->id = unpack_text(&u);
    out->name = unpack_text(&u);
    out->prefix = unpack_text(&u);
    return unpack_done(&u);
}

void store_access_encode_budget(const struct store_budget *b, struct buf *out)
{
    pack_u8(out, b->has_daily ? 1 : 0);
    pack_u8(out, b->has_per_job ? 1 : 0);
    pack_u8(out, (uint8_t)b->on_exceed);
    pack_i64(out, b->daily_nusd);
    pack_i64(out, b->per_job_nusd);
    pack_text(out, b->id);
    pack_text(out, b->ns);
    pack_text(out, b->target);
}

bool store_access_decode_budget(struct str body, struct store_budget *out)
{
    struct unpack u = unpack_from(body);
    out->has_daily = unpack_bool(&u);
    out->has_per_job = unpack_bool(&u);
    uint8_t action = unpack_u8(&u);
    out->on_exceed = (enum store_budget_action)action;
    out->daily_nusd = unpack_i64(&u);
    out->per_job_nusd = unpack_i64(&u);
    out->id = unpack_text(&u);
    out->ns = unpack_text(&u);
    out->target = unpack_text(&u);
    return unpack_done(&u) && action <= STORE_BUDGET_REJECT && out->daily_nusd >= 0 &&
           out->per_job_nusd >= 0;
}

static bool is_hash(struct str name)
{
    return name.len == STORE_ACCESS_HASH_BYTES;
}

bool store_access_is_valid(char kind, struct str name, struct str body)
{
    switch (kind) {
    case STORE_ACCESS_ASSIGNMENT:
        return name.len > STORE_ACCESS_HASH_BYTES && body.len == 0;
    case STORE_ACCESS_BUDGET:
        return name.len > 1 && store_access_decode_budget(body, &(struct store_budget){0});
    case STORE_ACCESS_ORG_KEY:
        return is_hash(name) && store_access_decode_org_key(body, &(struct store_org_key){0});
    case STORE_ACCESS_KEY:
        return is_hash(name) && store_access_decode_key(body, &(struct store_key){0});
    case STORE_ACCESS_MARKER:
        return name.len > 1 && store_access_decode_marker(body, &(struct store_marker){0});
    case STORE_ACCESS_MEMBER:
        return name.len > 0 && store_access_decode_member(body, &(struct store_member){0});
    case STORE_ACCESS_NAMESPACE:
        return name.len > 0 && store_access_decode_namespace(body, &(struct store_namespace){0});
    case STORE_ACCESS_ORG:
        return name.len == 0 && store_access_decode_org(body, &(struct store_org){0});
    case STORE_ACCESS_ROLE:
        return name.len > 0 && store_access_decode_role(body, &(struct store_role){0});
    case STORE_ACCESS_SESSION:
        return is_hash(name) && store_access_decode_session(body, &(struct store_session){0});
    case STORE_ACCESS_SSO:
        return name.len == 0 && store_access_decode_sso(body, &(struct store_sso){0});
    case STORE_ACCESS_SEEN:
        return is_hash(name) && body.len == 0;
    default:
        return false;
    }
}

void store_access_encode_audit(const struct store_audit *e, struct buf *out)
{
    pack_u8(out, AUDIT_VERSION);
    pack_i64(out, e->at.ns);
    pack_u32(out, e->status);
    pack_u32(out, e->duration_ms);
    pack_u32(out, e->suppressed);
    pack_text(out, e->ns);
    pack_text(out, e->principal);
    pack_text(out, e->role);
    pack_text(out, e->method);
    pack_text(out, e->path);
    pack_text(out, e->query);
}

void store_access_unpack_audit(struct unpack *u, struct store_audit *out)
{
    if (unpack_u8(u) != AUDIT_VERSION) {
        u->bad = true;
    }
    out->at.ns = unpack_i64(u);
    out->status = unpack_u32(u);
    out->duration_ms = unpack_u32(u);
    out->suppressed = unpack_u32(u);
    out->ns = unpack_text(u);
    out->principal = unpack_text(u);
    out->role = unpack_text(u);
    out->method = unpack_text(u);
    out->path = unpack_text(u);
    out->query = unpack_text(u);
}

bool store_access_decode_audit(struct str value, struct store_audit *out)
{
    struct unpack u = unpack_from(value);
    store_access_unpack_audit(&u, out);
    return unpack_done(&u);
}
