/*
 * Cache of valid tokens by their hash, until they expire. Beyond a limit, the oldest are removed.
 */
#include <stdlib.h>

#include "base/check.h"
#include "sso/sso_int.h"

enum { BYTES_MAX = 8 << 20 };

struct sso_cached {
    struct map_node node; /* by hash */
    struct sso_cached *next;
    size_t size;
    struct wall expires_at;
    struct auth_identity id;
    uint8_t hash[AUTH_HASH_BYTES];
    char bytes[];
};

void sso_cache__init(struct sso_cache *c)
{
    CHECK(pthread_rwlock_init(&c->lock, NULL) == 0);
    map_init(&c->map);
}

static void drop_oldest(struct sso_cache *c)
{
    struct sso_cached *e = c->oldest;
    c->oldest = e->next;
    c->newest = c->oldest == NULL ? NULL : c->newest;
    c->bytes -= e->size;
    map_remove(&c->map, &e->node);
    free(e);
}

void sso_cache__clear(struct sso_cache *c, uint64_t version)
{
    (void)pthread_rwlock_wrlock(&c->lock);
    while (c->oldest != NULL) {
        drop_oldest(c);
    }
    c->version = version;
    (void)pthread_rwlock_unlock(&c->lock);
}

void sso_cache__deinit(struct sso_cache *c)
{
    sso_cache__clear(c, 0);
    map_deinit(&c->map);
    (void)pthread_rwlock_destroy(&c->lock);
}

static char *put_text(char *at, struct str from, struct str *to)
{
    if (from.len > 0) {
        memcpy(at, from.ptr, from.len);
    }
    *to = str_from(at, from.len);
    return at + from.len;
}

static struct sso_cached *make(const uint8_t hash[AUTH_HASH_BYTES], const struct auth_identity *id)
{
    size_t size =
        sizeof(struct sso_cached) + id->name.len + id->ns.len + id->role.len + id->roles.len;
    struct sso_cached *e = calloc(1, size);
    CHECK(e != NULL);
    e->size = size;
    memcpy(e->hash, hash, AUTH_HASH_BYTES);
    e->node.key = str_from(e->hash, AUTH_HASH_BYTES);
    char *at = put_text(e->bytes, id->name, &e->id.name);
    at = put_text(at, id->ns, &e->id.ns);
    at = put_text(at, id->role, &e->id.role);
    (void)put_text(at, id->roles, &e->id.roles);
    return e;
}

void sso_cache__put(struct sso_cache *c, struct str token, const struct auth_identity *id,
                    struct wall expires_at)
{
    uint8_t hash[AUTH_HASH_BYTES];
    auth_hash(token, hash);
    (void)pthread_rwlock_wrlock(&c->lock);
    if (map_find(&c->map, str_from(hash, sizeof hash)) == NULL) {
        struct sso_cached *e = make(hash, id);
        e->expires_at = expires_at;
        map_add(&c->map, &e->node);
        *(c->newest == NULL ? &c->oldest : &c->newest->next) = e;
        c->newest = e;
        c->bytes += e->size;
        while (c->bytes > BYTES_MAX) {
            drop_oldest(c);
        }
    }
    (void)pthread_rwlock_unlock(&c->lock);
}

static struct str copy(struct str s, struct arena *arena)
{
    return s.len == 0 ? STR_EMPTY
                      : str_from(memcpy(arena_need(arena, s.len, 1), s.ptr, s.len), s.len);
}

bool sso_cache__get(struct sso_cache *c, const uint8_t hash[AUTH_HASH_BYTES], uint64_t version,
                    struct wall now, struct arena *arena, struct auth_identity *out)
{
    bool found = false;
    (void)pthread_rwlock_rdlock(&c->lock);
    struct map_node *n =
        c->version == version ? map_find(&c->map, str_from(hash, AUTH_HASH_BYTES)) : NULL;
    if (n != NULL) {
        const struct sso_cached *e = CONTAINER_OF(n, struct sso_cached, node);
        found = now.ns < e->expires_at.ns;
        *out = (struct auth_identity){.name = copy(e->id.name, arena),
                                      .ns = copy(e->id.ns, arena),
                                      .role = copy(e->id.role, arena),
                                      .roles = copy(e->id.roles, arena),
                                      .until = e->expires_at};
    }
    (void)pthread_rwlock_unlock(&c->lock);
    return found;
}
