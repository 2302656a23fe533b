/*
 * The rate limiter (http-api.md 1.7): two token buckets per client, one for reads, one for writes.
 *
 * A bucket begins full and is refilled continuously: nothing runs while nobody asks, the tokens are
 * computed from the time that has passed. Of a secret only a few bytes of its hash are kept.
 *
 * One client may be on all network threads at once, and its buckets are one, so this is one of the
 * few places with a lock: one mutex around a look-up and a subtraction, about a tenth of a
 * microsecond, never held while anything is called that could wait. Buckets per thread would give a
 * client as many times its rate as there are threads.
 *
 * The number of clients is bounded, because a stranger chooses the names: whoever was silent
 * longest goes first, and comes back with full buckets.
 */
#include <pthread.h>
#include <stdlib.h>

#include <openssl/evp.h>

#include "api/api_int.h"
#include "base/check.h"
#include "base/limits.h"
#include "base/map.h"
#include "os/os_clock.h"

enum {
    IDLE_DROP_MS = 10 * 60 * 1000, /* contract */
    SWEEP_MAX = 4,                 /* idle clients dropped per request */
    HASH_BYTES = 8,                /* contract: of a secret */
};

struct bucket {
    double tokens;
    struct mono at; /* when they were that many */
};

struct client {
    struct map_node node; /* by key */
    struct client *newer, *older;
    struct mono used;
    struct bucket read, write;
    char key[];
};

struct rate {
    double per_s;
    double burst;
};

struct api_limiter {
    bool enabled;
    struct rate read, write;
    EVP_MD *sha256;
    pthread_mutex_t lock; /* guards what follows */
    struct map clients;
    struct client *newest, *oldest;
};

static struct rate rate_or(double per_s, double burst, double per_s_default, double burst_default)
{
    return (struct rate){.per_s = per_s > 0 ? per_s : per_s_default,
                         .burst = burst > 0 ? burst : burst_default};
}

struct api_limiter *api_limiter__new(const struct api_config *config)
{
    struct api_config defaults = api_config_default();
    struct api_limiter *l = calloc(1, sizeof *l);
    CHECK(l != NULL);
    l->enabled = config->rate_limit_enabled;
    l->read = rate_or(config->read_rps, config->read_burst, defaults.read_rps, defaults.read_burst);
    l->write =
        rate_or(config->write_rps, config->write_burst, defaults.write_rps, defaults.write_burst);
    l->sha256 = EVP_MD_fetch(NULL, "SHA256", NULL);
    CHECK(l->sha256 != NULL);
    map_init(&l->clients);
    CHECK(pthread_mutex_init(&l->lock, NULL) == 0);
    return l;
}

/* The list is in the order of use. */

static void unlink_client(struct api_limiter *l, struct client *c)
{
    *(c->newer != NULL ? &c->newer->older : &l->newest) = c->older;
    *(c->older != NULL ? &c->older->newer : &l->oldest) = c->newer;
}

static void link_newest(struct api_limiter *l, struct client *c)
{
    c->newer = NULL;
    c->older = l->newest;
    *(c->older != NULL ? &c->older->newer : &l->oldest) = c;
    l->newest = c;
}

static void drop_oldest(struct api_limiter *l)
{
    struct client *c = l->oldest;
    unlink_client(l, c);
    map_remove(&l->clients, &c->node);
    free(c);
}

void api_limiter__free(struct api_limiter *l)
{
    if (l == NULL) {
        return;
    }
    while (l->oldest != NULL) {
        drop_oldest(l);
    }
    map_deinit(&l->clients);
    (void)pthread_mutex_destroy(&l->lock);
    EVP_MD_free(l->sha256);
    free(l);
}

static void sweep(struct api_limiter *l, struct mono now)
{
    for (unsigned i = 0; i < SWEEP_MAX && l->oldest != NULL &&
                         now.ns - l->oldest->used.ns >= IDLE_DROP_MS * NS_PER_MS;
         i++) {
        drop_oldest(l);
    }
}

static struct client *add_client(struct api_limiter *l, struct str key, struct mono now)
{
    if (l->clients.count >= LIMIT_RATE_CLIENTS) {
        drop_oldest(l);
    }
    struct client *c = calloc(1, sizeof *c + key.len);
    CHECK(c != NULL);
    memcpy(c->key, key.ptr, key.len);
    c->node.key = str_from(c->key, key.len);
    c->read = (struct bucket){.tokens = l->read.burst, .at = now};
    c->write = (struct bucket){.tokens = l->write.burst, .at = now};
    map_add(&l->clients, &c->node);
    link_newest(l, c);
    return c;
}

static struct client *need_client(struct api_limiter *l, struct str key, struct mono now)
{
    struct map_node *n = map_find(&l->clients, key);
    if (n == NULL) {
        return add_client(l, key, now);
    }
    struct client *c = CONTAINER_OF(n, struct client, node);
    unlink_client(l, c);
    link_newest(l, c);
    return c;
}

/* Threads read the clock before they take the lock, so now may be a little before b->at. */
static bool take(struct bucket *b, const struct rate *rate, double cost, struct mono now)
{
    if (now.ns > b->at.ns) {
        b->tokens += (double)(now.ns - b->at.ns) / (double)NS_PER_S * rate->per_s;
        b->at = now;
    }
    if (b->tokens > rate->burst) {
        b->tokens = rate->burst;
    }
    /* A request that costs more than the bucket holds would never be let through. */
    if (cost > rate->burst) {
        cost = rate->burst;
    }
    if (b->tokens < cost) {
        return false;
    }
    b->tokens -= cost;
    return true;
}

bool api_limiter__take_at(struct api_limiter *l, struct str key, bool read, uint64_t paid,
                          uint64_t cost, struct mono now)
{
    CHECK(key.len > 0);
    (void)pthread_mutex_lock(&l->lock);
    sweep(l, now);
    struct client *c = need_client(l, key, now);
    c->used = now;
    struct bucket *b = read ? &c->read : &c->write;
    b->tokens += (double)paid;
    bool taken = take(b, read ? &l->read : &l->write, (double)cost, now);
    (void)pthread_mutex_unlock(&l->lock);
    return taken;
}

size_t api_limiter__clients(struct api_limiter *l)
{
    (void)pthread_mutex_lock(&l->lock);
    size_t count = l->clients.count;
    (void)pthread_mutex_unlock(&l->lock);
    return count;
}

/* Who is it? */

static struct str join(struct arena *arena, struct str kind, struct str rest)
{
    char *key = arena_alloc(arena, kind.len + rest.len, 1);
    if (key == NULL) {
        return kind;
    }
    memcpy(key, kind.ptr, kind.len);
    if (rest.len > 0) {
        memcpy(key + kind.len, rest.ptr, rest.len);
    }
    return str_from(key, kind.len + rest.len);
}

static struct str hashed(struct api_limiter *l, struct arena *arena, struct str kind,
                         struct str secret)
{
    static const char digits[] = "0123456789abcdef";
    unsigned char hash[EVP_MAX_MD_SIZE];
    char text[2 * HASH_BYTES];
    CHECK(EVP_Digest(secret.ptr, secret.len, hash, NULL, l->sha256, NULL) == 1);
    for (size_t i = 0; i < HASH_BYTES; i++) {
        text[2 * i] = digits[hash[i] >> 4];
        text[2 * i + 1] = digits[hash[i] & 15];
    }
    return join(arena, kind, str_from(text, sizeof text));
}

/* Headers such as X-Forwarded-For say whatever their sender likes. They would count here, and only
 * here, if the peer were one of the proxies that the configuration names; it names none. */
static struct str client_address(const struct http_request *req)
{
    return req->peer;
}

struct str api_limiter__key(struct api_limiter *l, const struct http_request *req)
{
    struct str v = api_credential__of(req);
    if (v.len > 0) {
        return hashed(l, req->arena, STR("api:"), v);
    }
    if (http_request_header(req, STR("authorization"), &v) && str_trim(v).len > 0) {
        return hashed(l, req->arena, STR("auth:"), str_trim(v));
    }
    return join(req->arena, STR("ip:"), client_address(req));
}

bool api_limiter__take(struct api_limiter *l, const struct http_request *req, bool read,
                       uint64_t paid, uint64_t cost)
{
    return !l->enabled ||
           api_limiter__take_at(l, api_limiter__key(l, req), read, paid, cost, os_clock_mono());
}
