#include "outgoing/outgoing_guard.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <netinet/in.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"

enum { V6_BYTES = 16, NETWORKS_MAX = 256, TEXT_MAX = 64 };

struct address {
    bool v4;
    uint8_t b[V6_BYTES]; /* the first 4 of them for IPv4 */
};

struct network {
    struct address base;
    unsigned bits;
};

struct networks {
    struct network rows[NETWORKS_MAX];
    size_t count;
};

enum { OWN_MAX = 8 };

/* An address that this server listens on. */
struct own {
    struct address address;
    bool any; /* all addresses of the machine */
    in_port_t port;
};

struct outgoing_guard {
    struct networks deny, allow;
    struct own own[OWN_MAX];
    atomic_size_t own_count; /* those before it do not change */
};

/* What the registries of special-purpose addresses (IANA, RFC 6890 and its updates) say is not
 * reachable from elsewhere or is no machine, without loopback and private networks; and what clouds
 * have put their metadata on. */
static const char *const refused_by_itself[] = {
    "0.0.0.0/8",       /* "this" network: connects to this machine */
    "169.254.0.0/16",  /* link-local: metadata of most clouds */
    "100.100.100.200", /* metadata of Alibaba Cloud */
    "168.63.129.16",   /* metadata and host agent of Azure */
    "192.0.0.0/24",    /* protocol assignments; 192.0.0.192: metadata of Oracle Cloud */
    "192.0.2.0/24",    /* documentation… */
    "198.51.100.0/24", "203.0.113.0/24", "192.88.99.0/24", /* relays of 6to4, given up */
    "198.18.0.0/15",                                       /* benchmarks */
    "224.0.0.0/4",                                         /* multicast */
    "240.0.0.0/4",                                         /* reserved, and broadcast */
    "::/128",         /* unspecified: connects to this machine */
    "64:ff9b:1::/48", /* NAT64 of this site: where the IPv4 address stands is not known */
    "100::/64",       /* discarded */
    "100:0:0:1::/64", /* dummy */
    "2001::/23",      /* protocol assignments: Teredo, benchmarks, ORCHID */
    "2001:db8::/32",  /* documentation… */
    "3fff::/20",      /* …and more of it */
    "5f00::/16",      /* segment routing */
    "fe80::/10",      /* link-local */
    "ff00::/8",       /* multicast */
    "fd00:ec2::254",  /* metadata of AWS */
    "fd20:ce::254",   /* metadata of Google Cloud */
};

static struct address from_v4(const uint8_t v4[4])
{
    struct address a = {.v4 = true};
    memcpy(a.b, v4, 4);
    return a;
}

static bool is_in(const struct network *n, const struct address *a)
{
    size_t whole = n->bits / 8;
    unsigned rest = n->bits % 8;
    uint8_t mask = (uint8_t)(0xff00U >> rest);
    return n->base.v4 == a->v4 && memcmp(n->base.b, a->b, whole) == 0 &&
           (rest == 0 || ((n->base.b[whole] ^ a->b[whole]) & mask) == 0);
}

static bool is_in_any(const struct networks *list, const struct address *a)
{
    for (size_t i = 0; i < list->count; i++) {
        if (is_in(&list->rows[i], a)) {
            return true;
        }
    }
    return false;
}

/* The IPv4 address inside an IPv6 one; false when there is none. */
static bool carried_v4(const struct address *a, struct address *out)
{
    static const uint8_t prefixes[][12] = {
        {[10] = 0xff, [11] = 0xff}, /* mapped */
        {[8] = 0xff, [9] = 0xff},   /* translated */
        {0x00, 0x64, 0xff, 0x9b},   /* NAT64 */
        {0},                        /* compatible */
    };
    static const uint8_t loopback[V6_BYTES] = {[15] = 1}; /* looks like 0.0.0.1 in zeros */
    if (a->v4 || memcmp(a->b, loopback, sizeof loopback) == 0) {
        return false;
    }
    for (size_t i = 0; i < COUNT_OF(prefixes); i++) {
        if (memcmp(a->b, prefixes[i], sizeof prefixes[i]) == 0) {
            *out = from_v4(a->b + sizeof prefixes[i]);
            return true;
        }
    }
    if (a->b[0] == 0x20 && a->b[1] == 0x02) { /* 6to4 */
        *out = from_v4(a->b + 2);
        return true;
    }
    return false;
}

static bool read_address(const struct sockaddr *address, struct address *out)
{
    *out = (struct address){0};
    if (address->sa_family == AF_INET) {
        struct sockaddr_in v4;
        memcpy(&v4, address, sizeof v4);
        out->v4 = true;
        memcpy(out->b, &v4.sin_addr, 4);
        return true;
    }
    if (address->sa_family == AF_INET6) {
        struct sockaddr_in6 v6;
        memcpy(&v6, address, sizeof v6);
        memcpy(out->b, &v6.sin6_addr, V6_BYTES);
        return true;
    }
    return false;
}

/* Its own addresses */

static in_port_t port_of(const struct sockaddr *address)
{
    struct sockaddr_in v4;
    struct sockaddr_in6 v6;
    if (address->sa_family == AF_INET) {
        memcpy(&v4, address, sizeof v4);
        return v4.sin_port;
    }
    memcpy(&v6, address, sizeof v6);
    return v6.sin6_port;
}

static bool is_any(const struct address *a)
{
    static const uint8_t zeros[V6_BYTES] = {0};
    return memcmp(a->b, zeros, a->v4 ? 4 : V6_BYTES) == 0;
}

static bool is_same(const struct address *a, const struct address *b)
{
    return a->v4 == b->v4 && memcmp(a->b, b->b, a->v4 ? 4 : V6_BYTES) == 0;
}

/* Does the machine have this address? When that cannot be found out, it does not. */
static bool is_of_machine(const struct address *a)
{
    struct ifaddrs *list = NULL;
    struct address mine;
    bool found = is_any(a) || (a->v4 && a->b[0] == IN_LOOPBACKNET);
    if (found || getifaddrs(&list) != 0) {
        return found;
    }
    for (const struct ifaddrs *i = list; i != NULL && !found; i = i->ifa_next) {
        found = i->ifa_addr != NULL && read_address(i->ifa_addr, &mine) && is_same(&mine, a);
    }
    freeifaddrs(list);
    return found;
}

static bool is_listener(const struct own *own, const struct address *a)
{
    return own->any ? is_of_machine(a) : is_same(&own->address, a) || is_any(a);
}

void outgoing_guard_add_own(struct outgoing_guard *g, const struct sockaddr *listener)
{
    size_t count = atomic_load(&g->own_count);
    struct own own = {.port = 0};
    struct address inner;
    CHECK(count < OWN_MAX);
    if (!read_address(listener, &own.address)) {
        return;
    }
    if (carried_v4(&own.address, &inner)) {
        own.address = inner; /* ::ffff:127.0.0.1 */
    }
    own.any = is_any(&own.address);
    own.port = port_of(listener);
    g->own[count] = own;
    atomic_store(&g->own_count, count + 1);
}

bool outgoing_guard_is_own(const struct outgoing_guard *g, const struct sockaddr *address)
{
    struct address a;
    struct address inner;
    if (!read_address(address, &a)) {
        return false;
    }
    bool carries = carried_v4(&a, &inner);
    size_t count = atomic_load(&g->own_count);
    for (size_t i = 0; i < count; i++) {
        const struct own *own = &g->own[i];
        if (own->port == port_of(address) &&
            (is_listener(own, &a) || (carries && is_listener(own, &inner)))) {
            return true;
        }
    }
    return false;
}

bool outgoing_guard_allows(const struct outgoing_guard *g, const struct sockaddr *address)
{
    struct address a;
    struct address inner;
    if (!read_address(address, &a) || outgoing_guard_is_own(g, address)) {
        return false;
    }
    bool carries = carried_v4(&a, &inner);
    if (is_in_any(&g->allow, &a) || (carries && is_in_any(&g->allow, &inner))) {
        return true;
    }
    return !is_in_any(&g->deny, &a) && (!carries || !is_in_any(&g->deny, &inner));
}

/* Lists */

static enum err_code parse_one(struct str text, struct network *out, struct err *err)
{
    char z[TEXT_MAX];
    struct in_addr v4;
    struct in6_addr v6;
    const char *slash = memchr(text.ptr, '/', text.len);
    size_t len = slash == NULL ? text.len : (size_t)(slash - text.ptr);
    int64_t bits = -1;
    if (len >= sizeof z ||
        (slash != NULL && (!str_to_i64(str_from_offset(text, len + 1), &bits) || bits < 0))) {
        return err_set(err, ERR_VALIDATION, "'" STR_FMT "' is not a network", STR_ARG(text));
    }
    memcpy(z, text.ptr, len);
    z[len] = '\0';
    if (inet_pton(AF_INET, z, &v4) == 1 && bits <= 32) {
        uint8_t bytes[4];
        memcpy(bytes, &v4, sizeof bytes);
        *out = (struct network){.base = from_v4(bytes), .bits = bits < 0 ? 32U : (unsigned)bits};
        return ERR_OK;
    }
    if (inet_pton(AF_INET6, z, &v6) == 1 && bits <= 128) {
        *out = (struct network){.bits = bits < 0 ? 128U : (unsigned)bits};
        memcpy(out->base.b, &v6, V6_BYTES);
        return ERR_OK;
    }
    return err_set(err, ERR_VALIDATION, "'" STR_FMT "' is not a network", STR_ARG(text));
}

static bool is_separator(char c)
{
    return c == ',' || c == ' ' || c == '\t';
}

static enum err_code parse_list(struct str list, struct networks *out, struct err *err)
{
    size_t from = 0;
    for (size_t i = 0; i <= list.len; i++) {
        if (i < list.len && !is_separator(list.ptr[i])) {
            continue;
        }
        if (i > from) {
            if (out->count == NETWORKS_MAX) {
                return err_set(err, ERR_VALIDATION, "more than %d networks", NETWORKS_MAX);
            }
            if (parse_one(str_from(list.ptr + from, i - from), &out->rows[out->count], err) !=
                ERR_OK) {
                return err->code;
            }
            out->count++;
        }
        from = i + 1;
    }
    return ERR_OK;
}

enum err_code outgoing_guard_new(struct str deny, struct str allow,
                                 struct outgoing_guard **out_guard, struct err *err)
{
    struct outgoing_guard *g = calloc(1, sizeof *g);
    CHECK(g != NULL);
    enum err_code code = ERR_OK;
    for (size_t i = 0; i < COUNT_OF(refused_by_itself) && code == ERR_OK; i++) {
        code = parse_list(str_from_z(refused_by_itself[i]), &g->deny, err);
    }
    if (code != ERR_OK || parse_list(deny, &g->deny, err) != ERR_OK ||
        parse_list(allow, &g->allow, err) != ERR_OK) {
        free(g);
        return err->code;
    }
    *out_guard = g;
    return ERR_OK;
}

void outgoing_guard_free(struct outgoing_guard *g)
{
    free(g);
}
