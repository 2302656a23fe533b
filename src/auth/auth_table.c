#include "auth/auth_table.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "auth/auth.h"
#include "auth/auth_sso.h"
#include "auth/auth_texts.h"
#include "base/buf.h"
#include "base/check.h"
#include "base/limits.h"
#include "base/map.h"
#include "crypto/crypto.h"

/* Keys: an array of pieces whose addresses never change, and an open-addressing hash table of
 * indexes into it. */
enum { PIECE = 1024, SLOTS_FIRST = 64, NONE = UINT32_MAX };
enum {
    KEY_ENABLED = 1,
    KEY_ORG = 2,
    KEY_IS = 4,        /* the key exists; otherwise there are only roles for it */
    KEY_ROLE_SHIFT = 8 /* from here on: the bit of a built-in role */
};
enum { USED_EVERY_S = 60 };
#define DEFAULT_NS STR("default")

struct key {
    uint8_t hash[AUTH_HASH_BYTES];
    int64_t expires_ns;
    uint32_t ns, role, scope, roles; /* text numbers; 0: default namespace, built-in role, none */
    _Atomic uint32_t used_s;         /* last recorded use */
    uint32_t flags;                  /* in a free place: index of the next free place */
};

struct session {
    struct map_node node; /* by hash */
    struct auth_session rec;
    uint8_t hash[AUTH_HASH_BYTES];
    char bytes[]; /* texts */
};

/* A role or a namespace. */
struct named {
    struct map_node node;
    struct str value;
    char bytes[]; /* name, value */
};

struct auth_table {
    pthread_rwlock_t lock; /* guards everything except the atomic counts */
    bool loading;          /* changing thread only: between the two empty keys */
    struct key **pieces;
    uint32_t piece_count, place_count, free_place;
    uint32_t *slots;
    uint32_t slot_count; /* power of two */
    uint32_t used_slots;
    atomic_uint_fast32_t enabled_count;
    atomic_size_t namespace_count;
    atomic_bool stays_closed; /* during a reload: authentication was configured before */
    struct auth_texts texts;
    struct map sessions;
    struct map roles;
    struct map namespaces;
    struct buf sso;          /* body of the record; empty: no record */
    struct buf sso_fallback; /* used if there is no record */
    bool sso_on;
    uint8_t sso_proof[AUTH_HASH_BYTES]; /* of the current provider */
    _Atomic char sso_kind;
    atomic_uint_fast64_t sso_version;
    atomic_uint_fast64_t version; /* incremented under the lock: readers of a version see the
                                     changes that it counts */
};

/* Keys */

static struct key *key_at(const struct auth_table *t, uint32_t place)
{
    return &t->pieces[place / PIECE][place % PIECE];
}

/* Hashes are uniformly distributed. */
static uint32_t home_of(const struct auth_table *t, const uint8_t *hash)
{
    uint32_t bits;
    memcpy(&bits, hash, sizeof bits);
    return bits & (t->slot_count - 1);
}

/* The slot with the hash, or the empty slot where it belongs. */
static uint32_t slot_of(const struct auth_table *t, const uint8_t *hash)
{
    uint32_t slot = home_of(t, hash);
    while (t->slots[slot] != NONE &&
           !crypto_equal(key_at(t, t->slots[slot])->hash, hash, AUTH_HASH_BYTES)) {
        slot = (slot + 1) & (t->slot_count - 1);
    }
    return slot;
}

static struct key *find_key(const struct auth_table *t, const uint8_t *hash)
{
    uint32_t slot = slot_of(t, hash);
    return t->slots[slot] == NONE ? NULL : key_at(t, t->slots[slot]);
}

static void make_slots(struct auth_table *t, uint32_t count)
{
    uint32_t *old = t->slots;
    uint32_t old_count = t->slot_count;
    t->slots = malloc(count * sizeof(uint32_t));
    CHECK(t->slots != NULL);
    memset(t->slots, 0xff, count * sizeof(uint32_t));
    t->slot_count = count;
    for (uint32_t i = 0; i < old_count; i++) {
        if (old[i] != NONE) {
            t->slots[slot_of(t, key_at(t, old[i])->hash)] = old[i];
        }
    }
    free(old);
}

static uint32_t take_place(struct auth_table *t)
{
    if (t->free_place != NONE) {
        uint32_t place = t->free_place;
        t->free_place = key_at(t, place)->flags;
        return place;
    }
    if (t->place_count == t->piece_count * PIECE) {
        t->pieces = realloc(t->pieces, (t->piece_count + 1) * sizeof(struct key *));
        CHECK(t->pieces != NULL);
        t->pieces[t->piece_count] = malloc(PIECE * sizeof(struct key));
        CHECK(t->pieces[t->piece_count] != NULL);
        t->piece_count++;
    }
    return t->place_count++;
}

static struct key *need_key(struct auth_table *t, const uint8_t *hash)
{
    struct key *k = find_key(t, hash);
    if (k != NULL) {
        return k;
    }
    if (t->used_slots >= t->slot_count / 4 * 3) {
        make_slots(t, t->slot_count * 2);
    }
    uint32_t place = take_place(t);
    k = key_at(t, place);
    memset(k, 0, sizeof *k);
    memcpy(k->hash, hash, AUTH_HASH_BYTES);
    t->slots[slot_of(t, hash)] = place;
    t->used_slots++;
    return k;
}

/* Release all texts except the roles. */
static void forget_texts(struct auth_table *t, struct key *k)
{
    auth_texts_set(&t->texts, &k->ns, STR_EMPTY);
    auth_texts_set(&t->texts, &k->role, STR_EMPTY);
    auth_texts_set(&t->texts, &k->scope, STR_EMPTY);
}

/* Deletes the key. Later entries that would become unreachable behind the empty slot move up. */
static void drop_key(struct auth_table *t, const uint8_t *hash)
{
    uint32_t hole = slot_of(t, hash);
    uint32_t place = t->slots[hole];
    uint32_t mask = t->slot_count - 1;
    for (uint32_t at = (hole + 1) & mask; t->slots[at] != NONE; at = (at + 1) & mask) {
        uint32_t home = home_of(t, key_at(t, t->slots[at])->hash);
        if (((at - home) & mask) >= ((at - hole) & mask)) {
            t->slots[hole] = t->slots[at];
            hole = at;
        }
    }
    t->slots[hole] = NONE;
    t->used_slots--;
    struct key *k = key_at(t, place);
    forget_texts(t, k);
    auth_texts_set(&t->texts, &k->roles, STR_EMPTY);
    crypto_wipe(k, sizeof *k);
    k->flags = t->free_place;
    t->free_place = place;
}

static void count_enabled(struct auth_table *t, uint32_t before, uint32_t after)
{
    bool was = (before & KEY_ENABLED) != 0;
    bool is = (after & KEY_ENABLED) != 0;
    if (is && !was) {
        atomic_fetch_add(&t->enabled_count, 1);
    } else if (was && !is) {
        atomic_fetch_sub(&t->enabled_count, 1);
    }
}

static void set_flags(struct auth_table *t, struct key *k, uint32_t flags)
{
    count_enabled(t, k->flags, flags);
    k->flags = flags;
}

/* The assigned roles of a deleted key are kept: they are separate records. */
static void remove_key(struct auth_table *t, const uint8_t *hash)
{
    struct key *k = find_key(t, hash);
    if (k != NULL) {
        set_flags(t, k, 0);
        forget_texts(t, k);
        if (k->roles == 0) {
            drop_key(t, hash);
        }
    }
}

static void put_key(struct auth_table *t, const uint8_t *hash, struct str body)
{
    struct store_key rec;
    if (!store_access_decode_key(body, &rec)) {
        return; /* from a newer version: grants no access */
    }
    struct key *k = need_key(t, hash);
    k->expires_ns = rec.expires_at.ns;
    unsigned role = auth_role(rec.role);
    bool usual = role != 0 && str_eq(rec.role, auth_role_word(role));
    auth_texts_set(&t->texts, &k->ns, str_eq(rec.ns, DEFAULT_NS) ? STR_EMPTY : rec.ns);
    auth_texts_set(&t->texts, &k->role, usual ? STR_EMPTY : rec.role);
    auth_texts_set(&t->texts, &k->scope, rec.scope);
    set_flags(t, k, KEY_IS | (rec.enabled ? KEY_ENABLED : 0) | role << KEY_ROLE_SHIFT);
}

static void put_org_key(struct auth_table *t, const uint8_t *hash)
{
    struct key *k = need_key(t, hash);
    set_flags(t, k, KEY_IS | KEY_ORG | KEY_ENABLED | ROLE_ADMIN << KEY_ROLE_SHIFT);
}

/* The roles of a key are one text, in lines: assigning adds a line, and removing deletes a line. */
static void assign(struct auth_table *t, const uint8_t *hash, struct str role, bool on)
{
    struct key *k = need_key(t, hash);
    struct str rest = auth_texts_at(&t->texts, k->roles);
    struct buf list;
    buf_init(&list, SIZE_MAX);
    while (rest.len > 0) {
        struct str line = str_cut(&rest, '\n');
        if (!str_eq_nocase(line, role)) {
            buf_add_str(&list, line);
            buf_add_char(&list, '\n');
        }
    }
    if (on) {
        buf_add_str(&list, role);
        buf_add_char(&list, '\n');
    }
    auth_texts_set(&t->texts, &k->roles, buf_str(&list));
    buf_deinit(&list);
    if (k->roles == 0 && k->flags == 0) {
        drop_key(t, hash);
    }
}

/* Roles and namespaces */

static void drop_named(struct map *map, struct str name)
{
    struct map_node *n = map_find(map, name);
    if (n != NULL) {
        map_remove(map, n);
        free(CONTAINER_OF(n, struct named, node));
    }
}

static void put_named(struct map *map, struct str name, struct str value)
{
    drop_named(map, name);
    struct named *n = malloc(sizeof *n + name.len + value.len);
    CHECK(n != NULL);
    memcpy(n->bytes, name.ptr, name.len);
    if (value.len > 0) {
        memcpy(n->bytes + name.len, value.ptr, value.len);
    }
    n->node.key = str_from(n->bytes, name.len);
    n->value = str_from(n->bytes + name.len, value.len);
    map_add(map, &n->node);
}

static void drop_session(struct auth_table *t, struct str hash)
{
    struct map_node *n = map_find(&t->sessions, hash);
    if (n != NULL) {
        map_remove(&t->sessions, n);
        free(CONTAINER_OF(n, struct session, node));
    }
}

static void put_session(struct auth_table *t, struct str hash, struct str body)
{
    struct store_session rec;
    drop_session(t, hash);
    if (!store_access_decode_session(body, &rec)) {
        return;
    }
    bool texts = rec.how == STORE_SESSION_SSO; /* other sessions get these from their credential */
    struct str from[] = {rec.name, rec.ns, rec.role, rec.roles};
    size_t len = 0;
    for (size_t i = 0; texts && i < COUNT_OF(from); i++) {
        len += from[i].len;
    }
    struct session *s = calloc(1, sizeof *s + len);
    CHECK(s != NULL);
    memcpy(s->hash, hash.ptr, AUTH_HASH_BYTES);
    s->node.key = str_from(s->hash, AUTH_HASH_BYTES);
    s->rec.how = rec.how;
    s->rec.expires_at = rec.expires_at;
    memcpy(s->rec.proof, rec.proof.ptr, AUTH_HASH_BYTES);
    struct str *to[] = {&s->rec.name, &s->rec.ns, &s->rec.role, &s->rec.roles};
    char *at = s->bytes;
    for (size_t i = 0; texts && i < COUNT_OF(from); i++) {
        if (from[i].len > 0) {
            memcpy(at, from[i].ptr, from[i].len);
        }
        *to[i] = str_from(at, from[i].len);
        at += from[i].len;
    }
    map_add(&t->sessions, &s->node);
}

/* Apply the record or, without one, the fallback. A record from a newer version, which cannot be
 * read, grants no access. */
static void follow_sso(struct auth_table *t)
{
    struct store_sso sso;
    struct str body = buf_str(t->sso.len > 0 ? &t->sso : &t->sso_fallback);
    char kind = STORE_SSO_NONE;
    if (t->sso_on && body.len > 0 && !store_access_decode_sso(body, &sso)) {
        kind = STORE_SSO_OIDC; /* with unreadable settings, no token is accepted */
        memset(t->sso_proof, 0, sizeof t->sso_proof);
    } else if (t->sso_on && body.len > 0) {
        bool off = sso.provider == STORE_SSO_HEADERS && !sso.headers_enabled;
        kind = (char)(off ? STORE_SSO_NONE : sso.provider);
        auth_sso_proof(&sso, t->sso_proof);
    }
    atomic_store(&t->sso_kind, kind);
    atomic_fetch_add(&t->sso_version, 1);
}

static void put_sso(struct auth_table *t, struct str body)
{
    buf_clear(&t->sso);
    buf_add_str(&t->sso, body);
    follow_sso(t);
}

static void free_named(struct map_node *n, void *data)
{
    map_remove(data, n);
    free(CONTAINER_OF(n, struct named, node));
}

static void free_session(struct map_node *n, void *data)
{
    map_remove(data, n);
    free(CONTAINER_OF(n, struct session, node));
}

static void forget_all(struct auth_table *t)
{
    for (uint32_t i = 0; i < t->piece_count; i++) {
        crypto_wipe(t->pieces[i], PIECE * sizeof(struct key));
        free(t->pieces[i]);
    }
    free(t->pieces);
    free(t->slots);
    t->pieces = NULL;
    t->piece_count = t->place_count = 0;
    t->free_place = NONE;
    t->slots = NULL;
    t->slot_count = t->used_slots = 0;
    make_slots(t, SLOTS_FIRST);
    atomic_store(&t->enabled_count, 0);
    auth_texts_clear(&t->texts);
    map_each(&t->sessions, free_session, &t->sessions);
    map_each(&t->roles, free_named, &t->roles);
    map_each(&t->namespaces, free_named, &t->namespaces);
    put_sso(t, STR_EMPTY);
}

struct auth_table *auth_table_new(void)
{
    struct auth_table *t = calloc(1, sizeof *t);
    CHECK(t != NULL);
    buf_init(&t->sso, LIMIT_ACCESS_BODY_BYTES);
    buf_init(&t->sso_fallback, LIMIT_ACCESS_BODY_BYTES);
    t->sso_on = true;
    atomic_store(&t->version, 1);
    CHECK(pthread_rwlock_init(&t->lock, NULL) == 0);
    forget_all(t);
    return t;
}

void auth_table_free(struct auth_table *t)
{
    if (t == NULL) {
        return;
    }
    forget_all(t);
    free(t->slots);
    auth_texts_deinit(&t->texts);
    map_deinit(&t->sessions);
    map_deinit(&t->roles);
    map_deinit(&t->namespaces);
    buf_deinit(&t->sso);
    buf_deinit(&t->sso_fallback);
    (void)pthread_rwlock_destroy(&t->lock);
    free(t);
}

static void change_key(struct auth_table *t, char kind, const uint8_t *hash,
                       const struct store_access_frame *put)
{
    if (put == NULL) {
        remove_key(t, hash);
    } else if (kind == STORE_ACCESS_KEY) {
        put_key(t, hash, put->body);
    } else {
        put_org_key(t, hash);
    }
}

static void change_session(struct auth_table *t, struct str hash,
                           const struct store_access_frame *put)
{
    if (put == NULL) {
        drop_session(t, hash);
    } else {
        put_session(t, hash, put->body);
    }
}

static void change_named(struct map *map, struct str name, const struct store_access_frame *put)
{
    if (put == NULL) {
        drop_named(map, name);
    } else {
        put_named(map, name, put->body);
    }
}

static void change(struct auth_table *t, char kind, struct str name, struct str value)
{
    struct store_access_frame frame = {0};
    bool put = value.len > 0 && store_access_decode_frame(value, &frame);
    const uint8_t *hash = (const uint8_t *)name.ptr;
    bool hashed = name.len >= AUTH_HASH_BYTES;
    if ((kind == STORE_ACCESS_KEY || kind == STORE_ACCESS_ORG_KEY) && hashed) {
        change_key(t, kind, hash, put ? &frame : NULL);
    } else if (kind == STORE_ACCESS_ASSIGNMENT && hashed) {
        assign(t, hash, str_from_offset(name, AUTH_HASH_BYTES), put);
    } else if (kind == STORE_ACCESS_SESSION && hashed) {
        change_session(t, name, put ? &frame : NULL);
    } else if (kind == STORE_ACCESS_ROLE) {
        change_named(&t->roles, name, put ? &frame : NULL);
    } else if (kind == STORE_ACCESS_NAMESPACE) {
        change_named(&t->namespaces, name, put ? &frame : NULL);
    } else if (kind == STORE_ACCESS_SSO) {
        put_sso(t, put ? frame.body : STR_EMPTY);
    }
}

static void end_change(struct auth_table *t)
{
    atomic_store(&t->namespace_count, t->namespaces.count);
    (void)atomic_fetch_add(&t->version, 1);
    (void)pthread_rwlock_unlock(&t->lock);
}

void auth_table_change(void *table, struct str key, struct str value)
{
    struct auth_table *t = table;
    if (t->loading) { /* the lock is held already: readers wait until the reload is complete */
        if (key.len > 0) {
            change(t, key.ptr[0], str_from_offset(key, 1), value);
            return;
        }
        t->loading = false;
        atomic_store(&t->stays_closed, false);
        end_change(t);
        return;
    }
    if (key.len == 0) {
        atomic_store(&t->stays_closed, auth_table_is_closed(t));
    }
    (void)pthread_rwlock_wrlock(&t->lock);
    if (key.len == 0) {
        t->loading = true;
        forget_all(t);
        return;
    }
    change(t, key.ptr[0], str_from_offset(key, 1), value);
    end_change(t);
}

/* Lookups */

static void begin_read(struct auth_table *t)
{
    (void)pthread_rwlock_rdlock(&t->lock);
}

static void end_read(struct auth_table *t)
{
    (void)pthread_rwlock_unlock(&t->lock);
}

static struct str copy(struct str text, struct arena *arena)
{
    if (text.len == 0) {
        return STR_EMPTY;
    }
    return str_from(memcpy(arena_need(arena, text.len, 1), text.ptr, text.len), text.len);
}

static struct str copy_text(const struct auth_table *t, uint32_t number, struct arena *arena)
{
    return number == 0 ? STR_EMPTY : copy(auth_texts_at(&t->texts, number), arena);
}

static bool is_worth_noting(const struct key *k, struct wall now)
{
    uint32_t before = atomic_load_explicit(&k->used_s, memory_order_relaxed);
    return before == 0 || (uint32_t)(now.ns / NS_PER_S) - before >= USED_EVERY_S;
}

uint64_t auth_table_version(struct auth_table *t)
{
    return atomic_load_explicit(&t->version, memory_order_acquire);
}

bool auth_table_key(struct auth_table *t, const uint8_t hash[AUTH_HASH_BYTES], struct wall now,
                    struct arena *arena, struct auth_key *out)
{
    begin_read(t);
    const struct key *k = find_key(t, hash);
    bool found = k != NULL && (k->flags & KEY_IS) != 0;
    if (found) {
        unsigned role = k->flags >> KEY_ROLE_SHIFT;
        *out = (struct auth_key){.is_org = (k->flags & KEY_ORG) != 0,
                                 .enabled = (k->flags & KEY_ENABLED) != 0,
                                 .used_lately = !is_worth_noting(k, now),
                                 .role_bit = role,
                                 .expires_at = {.ns = k->expires_ns},
                                 .ns = k->ns == 0 ? DEFAULT_NS : copy_text(t, k->ns, arena),
                                 .role = k->role == 0 ? auth_role_word(role)
                                                      : copy_text(t, k->role, arena),
                                 .scope = copy_text(t, k->scope, arena),
                                 .roles = copy_text(t, k->roles, arena)};
    }
    end_read(t);
    return found;
}

bool auth_table_has_keys(struct auth_table *t)
{
    return atomic_load_explicit(&t->enabled_count, memory_order_acquire) > 0;
}

bool auth_table_used(struct auth_table *t, const uint8_t hash[AUTH_HASH_BYTES], struct wall now)
{
    bool worth = false;
    uint32_t now_s = (uint32_t)(now.ns / NS_PER_S);
    begin_read(t);
    struct key *k = find_key(t, hash);
    if (k != NULL) {
        uint32_t before = atomic_load_explicit(&k->used_s, memory_order_relaxed);
        worth =
            is_worth_noting(k, now) && atomic_compare_exchange_strong(&k->used_s, &before, now_s);
    }
    end_read(t);
    return worth;
}

bool auth_table_session(struct auth_table *t, const uint8_t hash[AUTH_HASH_BYTES],
                        struct arena *arena, struct auth_session *out)
{
    begin_read(t);
    struct map_node *n = map_find(&t->sessions, str_from(hash, AUTH_HASH_BYTES));
    if (n != NULL) {
        *out = CONTAINER_OF(n, struct session, node)->rec;
        out->name = copy(out->name, arena);
        out->ns = copy(out->ns, arena);
        out->role = copy(out->role, arena);
        out->roles = copy(out->roles, arena);
    }
    end_read(t);
    return n != NULL;
}

void auth_table_set_sso(struct auth_table *t, bool on, struct str fallback)
{
    (void)pthread_rwlock_wrlock(&t->lock);
    t->sso_on = on;
    buf_clear(&t->sso_fallback);
    buf_add_str(&t->sso_fallback, fallback);
    follow_sso(t);
    end_change(t);
}

char auth_table_sso(struct auth_table *t)
{
    return atomic_load_explicit(&t->sso_kind, memory_order_acquire);
}

uint64_t auth_table_sso_version(struct auth_table *t)
{
    return atomic_load_explicit(&t->sso_version, memory_order_acquire);
}

bool auth_table_sso_settings(struct auth_table *t, struct buf *body, struct store_sso *out,
                             uint64_t *out_version)
{
    begin_read(t);
    *out_version = auth_table_sso_version(t);
    buf_clear(body);
    buf_add_str(body, buf_str(t->sso.len > 0 ? &t->sso : &t->sso_fallback));
    end_read(t);
    return body->len > 0 && store_access_decode_sso(buf_str(body), out);
}

bool auth_table_sso_is(struct auth_table *t, const uint8_t proof[AUTH_HASH_BYTES])
{
    begin_read(t);
    bool same =
        auth_table_sso(t) == STORE_SSO_OIDC && crypto_equal(t->sso_proof, proof, AUTH_HASH_BYTES);
    end_read(t);
    return same;
}

bool auth_table_is_closed(struct auth_table *t)
{
    return atomic_load(&t->stays_closed) || auth_table_has_keys(t) ||
           auth_table_sso(t) != STORE_SSO_NONE;
}

static bool role_grants(struct auth_table *t, struct str name, struct str resource,
                        struct str action)
{
    char lower[LIMIT_NAME_BYTES];
    struct store_role role;
    struct store_permission p;
    if (name.len == 0 || name.len > sizeof lower) {
        return false;
    }
    for (size_t i = 0; i < name.len; i++) {
        char c = name.ptr[i];
        lower[i] = (char)(c >= 'A' && c <= 'Z' ? c + ('a' - 'A') : c);
    }
    struct map_node *n = map_find(&t->roles, str_from(lower, name.len));
    if (n == NULL || !store_access_decode_role(CONTAINER_OF(n, struct named, node)->value, &role)) {
        return false;
    }
    while (store_access_next_permission(&role.permissions, &p)) {
        if (auth_permits(&p, resource, action)) {
            return true;
        }
    }
    return false;
}

bool auth_table_grants(struct auth_table *t, struct str roles, struct str resource,
                       struct str action)
{
    bool granted = false;
    begin_read(t);
    while (roles.len > 0 && !granted) {
        granted = role_grants(t, str_cut(&roles, '\n'), resource, action);
    }
    end_read(t);
    return granted;
}

bool auth_allows(struct auth_table *t, const struct auth_caller *who, const struct auth_rule *rule)
{
    return (rule->roles & who->role_bit) != 0 ||
           auth_table_grants(t, who->roles, rule->resource, rule->action) ||
           (who->role_bit == 0 &&
            auth_table_grants(t, str_trim(who->role), rule->resource, rule->action));
}

bool auth_table_limits(struct auth_table *t, struct str ns, struct store_namespace *out)
{
    if (t->namespace_count == 0) { /* fast path, as on most servers */
        return false;
    }
    begin_read(t);
    struct map_node *n = map_find(&t->namespaces, ns);
    bool found =
        n != NULL && store_access_decode_namespace(CONTAINER_OF(n, struct named, node)->value, out);
    end_read(t);
    return found;
}

size_t auth_table_key_count(struct auth_table *t)
{
    begin_read(t);
    size_t count = t->used_slots;
    end_read(t);
    return count;
}

size_t auth_table_key_bytes(struct auth_table *t)
{
    begin_read(t);
    size_t bytes = (size_t)t->piece_count * (PIECE * sizeof(struct key) + sizeof(struct key *)) +
                   (size_t)t->slot_count * sizeof(uint32_t);
    end_read(t);
    return bytes;
}

size_t auth_table_text_count(struct auth_table *t)
{
    begin_read(t);
    size_t count = auth_texts_count(&t->texts);
    end_read(t);
    return count;
}
