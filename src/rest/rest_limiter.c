/*
 * The rate limiter (http-api.md 1.7): two token buckets per client, one for reads, one for writes.
 *
 * A bucket begins full. Its tokens are computed from the elapsed time when a request arrives, so no
 * timer is needed. Only a few bytes of the hash of each credential are kept.
 *
 * A third bucket limits wrong credentials of an address, or of a /64 network for IPv6. While it is
 * empty, credentials from there are not checked at all, so that a correct guess looks like a wrong
 * one. Credentials that were valid from that address before are still accepted, so that other
 * clients at the address are not locked out. Wrong credentials count for the address of the
 * connection, not for one that a proxy reports: many proxies forward what their client sent.
 *
 * A client may use all network threads at once and has one set of buckets. A mutex therefore
 * protects them, for a look-up and a subtraction: about a tenth of a microsecond. Nothing that
 * could block is called while it is held. With buckets per thread, the rate of a client would be
 * multiplied by the number of threads.
 *
 * The number of clients is bounded, because anyone can create new ones. The least recently used one
 * is dropped first; if it returns, its buckets are full.
 */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdlib.h>

#include "auth/auth.h"
#include "base/check.h"
#include "base/hash.h"
#include "base/hex.h"
#include "base/limits.h"
#include "base/map.h"
#include "log/log.h"
#include "os/os_clock.h"
#include "rest/rest_limiter_int.h"

enum {
    IDLE_DROP_MS = 10 * 60 * 1000, /* fixed by the contract */
    SWEEP_MAX = 4,                 /* idle clients dropped per request */
    HASH_BYTES = 8,                /* of a credential's hash; fixed by the contract */
    ADDRESSES_MAX = 8,             /* addresses remembered for each valid credential */
    WRONG_LOG_MS = 60 * 1000,      /* interval of log lines about wrong credentials */
};

struct bucket {
    double tokens;
    struct mono at; /* time of that number of tokens */
};

struct client {
    struct map_node node; /* by key */
    struct client *newer, *older;
    struct mono used;
    struct bucket read, write;
    struct bucket guess;               /* of an address: limits wrong credentials */
    uint64_t addresses[ADDRESSES_MAX]; /* of a credential: hashes of addresses that used it */
    unsigned address_next;
    char key[];
};

#define FULL 1e18

struct rate {
    double per_s;
    double burst;
};

/* Limit on wrong credentials from one address. It allows for typing errors and old keys. */
static const struct rate guess_rate = {.per_s = 1, .burst = 20};

struct rest_limiter {
    bool enabled;
    bool loopback;
    struct rate read, write;
    _Atomic int64_t wrong_ns; /* time of the last wrong credential; 0: never */
    pthread_mutex_t lock;     /* protects the members below */
    struct map clients;
    struct client *newest, *oldest;
    int64_t log_ns; /* time of the last log line; 0: never */
    uint64_t wrong_count;
};

struct rest_limiter_config rest_limiter_config_default(void)
{
    return (struct rest_limiter_config){.enabled = true,
                                        .read_rps = 2000,
                                        .read_burst = 4000,
                                        .write_rps = 1000,
                                        .write_burst = 2000};
}

static struct rate rate_or(double per_s, double burst, double per_s_default, double burst_default)
{
    return (struct rate){.per_s = per_s > 0 ? per_s : per_s_default,
                         .burst = burst > 0 ? burst : burst_default};
}

struct rest_limiter *rest_limiter__new(const struct rest_limiter_config *config)
{
    struct rest_limiter_config defaults = rest_limiter_config_default();
    struct rest_limiter *l = calloc(1, sizeof *l);
    CHECK(l != NULL);
    l->enabled = config->enabled;
    l->loopback = config->loopback;
    l->read = rate_or(config->read_rps, config->read_burst, defaults.read_rps, defaults.read_burst);
    l->write =
        rate_or(config->write_rps, config->write_burst, defaults.write_rps, defaults.write_burst);
    map_init(&l->clients);
    CHECK(pthread_mutex_init(&l->lock, NULL) == 0);
    return l;
}

/* The list of clients is in order of last use. */

static void unlink_client(struct rest_limiter *l, struct client *c)
{
    *(c->newer != NULL ? &c->newer->older : &l->newest) = c->older;
    *(c->older != NULL ? &c->older->newer : &l->oldest) = c->newer;
}

static void link_newest(struct rest_limiter *l, struct client *c)
{
    c->newer = NULL;
    c->older = l->newest;
    *(c->older != NULL ? &c->older->newer : &l->oldest) = c;
    l->newest = c;
}

static void drop_oldest(struct rest_limiter *l)
{
    struct client *c = l->oldest;
    unlink_client(l, c);
    map_remove(&l->clients, &c->node);
    free(c);
}

void rest_limiter__free(struct rest_limiter *l)
{
    if (l == NULL) {
        return;
    }
    while (l->oldest != NULL) {
        drop_oldest(l);
    }
    map_deinit(&l->clients);
    (void)pthread_mutex_destroy(&l->lock);
    free(l);
}

static void sweep(struct rest_limiter *l, struct mono now)
{
    for (unsigned i = 0; i < SWEEP_MAX && l->oldest != NULL &&
                         now.ns - l->oldest->used.ns >= IDLE_DROP_MS * NS_PER_MS;
         i++) {
        drop_oldest(l);
    }
}

static struct client *add_client(struct rest_limiter *l, struct str key, struct mono now)
{
    if (l->clients.count >= LIMIT_RATE_CLIENTS) {
        drop_oldest(l);
    }
    struct client *c = calloc(1, sizeof *c + key.len);
    CHECK(c != NULL);
    memcpy(c->key, key.ptr, key.len);
    c->node.key = str_from(c->key, key.len);
    /* Full for any rate: take() limits the tokens to the burst. */
    c->read = (struct bucket){.tokens = FULL, .at = now};
    c->write = c->guess = c->read;
    map_add(&l->clients, &c->node);
    link_newest(l, c);
    return c;
}

static struct client *find_client(struct rest_limiter *l, struct str key)
{
    struct map_node *n = map_find(&l->clients, key);
    return n == NULL ? NULL : CONTAINER_OF(n, struct client, node);
}

static struct client *need_client(struct rest_limiter *l, struct str key, struct mono now)
{
    struct client *c = find_client(l, key);
    if (c == NULL) {
        c = add_client(l, key, now);
    } else {
        unlink_client(l, c);
        link_newest(l, c);
    }
    c->used = now;
    return c;
}

/* The clock is read before the lock is taken, so now may be slightly before b->at. */
static bool take(struct bucket *b, const struct rate *rate, double cost, struct mono now)
{
    if (now.ns > b->at.ns) {
        b->tokens += (double)(now.ns - b->at.ns) / (double)NS_PER_S * rate->per_s;
        b->at = now;
    }
    if (b->tokens > rate->burst) {
        b->tokens = rate->burst;
    }
    /* Otherwise a request that costs more than the burst would never be allowed. */
    if (cost > rate->burst) {
        cost = rate->burst;
    }
    if (b->tokens < cost) {
        return false;
    }
    b->tokens -= cost;
    return true;
}

/* For each valid credential, the hashes of the addresses that used it are remembered. */

static uint64_t address_hash(struct str address)
{
    uint64_t hash = hash_bytes(0, address.ptr, address.len);
    return hash == 0 ? 1 : hash; /* 0 marks an unused entry */
}

static bool was_right_from(const struct client *c, struct str address)
{
    uint64_t hash = address_hash(address);
    for (unsigned i = 0; i < ADDRESSES_MAX; i++) {
        if (c->addresses[i] == hash) {
            return true;
        }
    }
    return false;
}

static void remember_right(struct client *c, struct str address)
{
    if (address.len > 0 && !was_right_from(c, address)) {
        c->addresses[c->address_next++ % ADDRESSES_MAX] = address_hash(address);
    }
}

/* What a request takes from the client's bucket. right_from is the address of a client with a valid
 * credential; else empty. */
struct price {
    bool read;
    uint64_t paid, cost;
    struct str right_from;
    struct rate own; /* rate of the namespace; 0: the default */
};

static bool take_price(struct rest_limiter *l, struct str key, const struct price *p,
                       struct mono now)
{
    CHECK(key.len > 0);
    (void)pthread_mutex_lock(&l->lock);
    sweep(l, now);
    struct client *c = need_client(l, key, now);
    remember_right(c, p->right_from);
    struct bucket *b = p->read ? &c->read : &c->write;
    b->tokens += (double)p->paid;
    const struct rate *usual = p->read ? &l->read : &l->write;
    struct rate rate = rate_or(p->own.per_s, p->own.burst, usual->per_s, usual->burst);
    bool taken = take(b, &rate, (double)p->cost, now);
    (void)pthread_mutex_unlock(&l->lock);
    return taken;
}

bool rest_limiter__take_at(struct rest_limiter *l, struct str key, bool read, uint64_t paid,
                           uint64_t cost, struct mono now)
{
    return take_price(l, key, &(struct price){.read = read, .paid = paid, .cost = cost}, now);
}

size_t rest_limiter__clients(struct rest_limiter *l)
{
    (void)pthread_mutex_lock(&l->lock);
    size_t count = l->clients.count;
    (void)pthread_mutex_unlock(&l->lock);
    return count;
}

/* Keys */

static struct str join(struct str kind, struct str rest, char room[REST_LIMITER_KEY_MAX])
{
    rest = str_at_most(rest, REST_LIMITER_KEY_MAX - kind.len);
    memcpy(room, kind.ptr, kind.len);
    if (rest.len > 0) {
        memcpy(room + kind.len, rest.ptr, rest.len);
    }
    return str_from(room, kind.len + rest.len);
}

static struct str credential_key(struct str secret, char room[REST_LIMITER_KEY_MAX])
{
    uint8_t hash[AUTH_HASH_BYTES];
    char text[2 * HASH_BYTES];
    auth_hash(secret, hash);
    hex_write(text, hash, HASH_BYTES);
    return join(STR("api:"), str_from(text, sizeof text), room);
}

static struct str address_key(struct str address, char room[REST_LIMITER_KEY_MAX])
{
    return join(STR("ip:"), address, room);
}

/* The key for wrong credentials: an IPv4 address, or the /64 network of an IPv6 address, because
 * one machine can use all addresses of its network. */
static struct str guesser_key(struct str address, char room[REST_LIMITER_KEY_MAX])
{
    enum { NETWORK_BYTES = 8 };
    static const uint8_t mapped[12] = {[10] = 0xff, [11] = 0xff}; /* IPv4-mapped */
    struct in6_addr v6;
    char text[INET6_ADDRSTRLEN];
    if (address.len == 0 || address.len >= sizeof text) {
        return address_key(address, room);
    }
    memcpy(text, address.ptr, address.len);
    text[address.len] = '\0';
    if (inet_pton(AF_INET6, text, &v6) != 1 || memcmp(&v6, mapped, sizeof mapped) == 0) {
        return address_key(address, room);
    }
    memset(v6.s6_addr + NETWORK_BYTES, 0, sizeof v6.s6_addr - NETWORK_BYTES);
    CHECK(inet_ntop(AF_INET6, &v6, text, sizeof text) != NULL);
    return join(STR("net:"), str_from_z(text), room);
}

bool rest_limiter__is_loopback(struct str address)
{
    return str_starts_with(address, STR("127.")) || str_eq(address, STR("::1")) ||
           str_starts_with(address, STR("::ffff:127."));
}

struct str rest_limiter__first_forwarded(struct str header)
{
    struct in6_addr room;
    char text[INET6_ADDRSTRLEN];
    struct str first = str_trim(str_cut(&header, ','));
    if (first.len == 0 || first.len >= sizeof text) {
        return STR_EMPTY;
    }
    memcpy(text, first.ptr, first.len);
    text[first.len] = '\0';
    bool is_address = inet_pton(AF_INET, text, &room) == 1 || inet_pton(AF_INET6, text, &room) == 1;
    return is_address ? first : STR_EMPTY;
}

struct str rest_limiter__key(struct rest_limiter *l, const struct rest_limiter_caller *who,
                             char room[REST_LIMITER_KEY_MAX])
{
    if (who->known.len > 0) {
        return credential_key(who->known, room);
    }
    if (who->shows_nothing && !l->loopback && rest_limiter__is_loopback(who->address)) {
        return STR_EMPTY;
    }
    return address_key(who->client.len > 0 ? who->client : who->address, room);
}

/* Has this thread recorded the valid credential for this address within the last second? If the
 * limiter is disabled, nothing else needs to be done. */
static bool is_remembered(const struct rest_limiter_caller *who, struct mono now)
{
    enum { RECENT_COUNT = 32 };
    static _Thread_local struct recent {
        uint64_t mark;
        int64_t until_ns;
        size_t address_len;
        char address[INET6_ADDRSTRLEN];
    } recent[RECENT_COUNT];
    struct str address = who->address;
    if (who->mark == 0 || address.len == 0 || address.len > INET6_ADDRSTRLEN) {
        return false;
    }
    size_t last = (unsigned char)address.ptr[address.len - 1]; /* several clients may use one key */
    struct recent *r = &recent[(who->mark + last) % RECENT_COUNT];
    if (r->mark == who->mark && now.ns < r->until_ns &&
        str_eq(str_from(r->address, r->address_len), address)) {
        return true;
    }
    *r = (struct recent){
        .mark = who->mark, .until_ns = now.ns + NS_PER_S, .address_len = address.len};
    memcpy(r->address, address.ptr, address.len);
    return false;
}

/* Records valid credentials even if the limiter is disabled, because wrong ones are always
 * limited. */
bool rest_limiter__take(struct rest_limiter *l, const struct rest_limiter_caller *who, bool read,
                        uint64_t paid, uint64_t cost)
{
    char room[REST_LIMITER_KEY_MAX];
    struct price price = {.read = read, .paid = paid, .cost = cost};
    struct mono now = os_clock_mono();
    if (!l->enabled && (who->known.len == 0 || is_remembered(who, now))) {
        return true;
    }
    struct str key = rest_limiter__key(l, who, room);
    if (key.len == 0) {
        return true;
    }
    price.own = read ? (struct rate){who->own.read_rps, who->own.read_burst}
                     : (struct rate){who->own.write_rps, who->own.write_burst};
    price.right_from = who->known.len > 0 ? who->address : STR_EMPTY;
    return take_price(l, key, &price, now) || !l->enabled;
}

/* Wrong credentials */

/* Fast path without reading the clock: there has been no wrong credential yet. */
static bool was_never_wrong(struct rest_limiter *l)
{
    return atomic_load_explicit(&l->wrong_ns, memory_order_relaxed) == 0;
}

static bool is_quiet(struct rest_limiter *l, struct mono now)
{
    int64_t wrong_ns = atomic_load_explicit(&l->wrong_ns, memory_order_relaxed);
    return wrong_ns == 0 || now.ns - wrong_ns >= IDLE_DROP_MS * NS_PER_MS;
}

bool rest_limiter__may_try_at(struct rest_limiter *l, struct str address, struct str credential,
                              struct mono now)
{
    char room[REST_LIMITER_KEY_MAX];
    if (is_quiet(l, now)) {
        return true;
    }
    (void)pthread_mutex_lock(&l->lock);
    struct client *shown = find_client(l, credential_key(credential, room));
    bool may = shown != NULL && was_right_from(shown, address);
    if (!may) {
        struct client *from = find_client(l, guesser_key(address, room));
        may = from == NULL || (take(&from->guess, &guess_rate, 0, now) && from->guess.tokens >= 1);
    }
    (void)pthread_mutex_unlock(&l->lock);
    return may;
}

/* The number of wrong credentials to log now; 0 if it is too early. The lock must be held. */
static uint64_t count_wrong(struct rest_limiter *l, struct mono now)
{
    l->wrong_count++;
    if (l->log_ns != 0 && now.ns - l->log_ns < WRONG_LOG_MS * NS_PER_MS) {
        return 0;
    }
    uint64_t count = l->wrong_count;
    l->wrong_count = 0;
    l->log_ns = now.ns;
    return count;
}

void rest_limiter__was_wrong_at(struct rest_limiter *l, struct str address, struct mono now)
{
    char room[REST_LIMITER_KEY_MAX];
    atomic_store_explicit(&l->wrong_ns, now.ns, memory_order_relaxed);
    (void)pthread_mutex_lock(&l->lock);
    struct client *c = need_client(l, guesser_key(address, room), now);
    (void)take(&c->guess, &guess_rate, 1, now);
    uint64_t count = count_wrong(l, now);
    (void)pthread_mutex_unlock(&l->lock);
    if (count > 0) {
        log_warn("invalid credentials", LOG_U64("requests", count),
                 LOG_STR("last_address", address));
    }
}

void rest_limiter__was_right(struct rest_limiter *l, struct str address, struct str credential)
{
    char room[REST_LIMITER_KEY_MAX];
    (void)pthread_mutex_lock(&l->lock);
    remember_right(need_client(l, credential_key(credential, room), os_clock_mono()), address);
    (void)pthread_mutex_unlock(&l->lock);
}

bool rest_limiter__may_try(struct rest_limiter *l, struct str address, struct str credential)
{
    return was_never_wrong(l) || rest_limiter__may_try_at(l, address, credential, os_clock_mono());
}

void rest_limiter__was_wrong(struct rest_limiter *l, struct str address)
{
    rest_limiter__was_wrong_at(l, address, os_clock_mono());
}
