#include "outgoing/outgoing_guard.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <netinet/in.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "os/os_networks.h"

enum { OWN_MAX = 8 };

/* An address that this server listens on. */
struct own {
    struct os_address address;
    bool any; /* port is on all addresses of the machine */
    in_port_t port;
};

struct outgoing_guard {
    struct os_networks never, deny, guests_deny, allow;
    struct own own[OWN_MAX];
    atomic_size_t own_count; /* entries below it are immutable */
};

/* Special-purpose addresses that are not globally reachable or not a single machine, from the
 * registries of IANA (RFC 6890 and its updates), except loopback and private networks. */
static const char *const refused_by_itself[] = {
    "0.0.0.0/8",      /* "this" network: connects to this machine */
    "169.254.0.0/16", /* link-local */
    "192.0.0.0/24",   /* protocol assignments */
    "192.0.2.0/24",   /* documentation… */
    "198.51.100.0/24", "203.0.113.0/24", "192.88.99.0/24", /* 6to4 relays, deprecated */
    "198.18.0.0/15",                                       /* benchmarks */
    "224.0.0.0/4",                                         /* multicast */
    "240.0.0.0/4",                                         /* reserved, and broadcast */
    "::/128",         /* unspecified: connects to this machine */
    "64:ff9b:1::/48", /* local-use NAT64: the position of the IPv4 address is unknown */
    "100::/64",       /* discarded */
    "100:0:0:1::/64", /* dummy */
    "2001::/23",      /* protocol assignments: Teredo, benchmarks, ORCHID */
    "2001:db8::/32",  /* documentation… */
    "3fff::/20",      /* …and more of it */
    "5f00::/16",      /* segment routing */
    "fe80::/10",      /* link-local */
    "ff00::/8",       /* multicast */
};

/* Metadata services, which no list can allow. */
static const char *const refused_always[] = {
    "169.254.169.254", /* most clouds */
    "169.254.170.2",   /* credentials of containers at AWS… */
    "169.254.170.23",  /* …and of its pods */
    "100.100.100.200", /* Alibaba Cloud */
    "168.63.129.16",   /* Azure, with its host agent */
    "192.0.0.192",     /* Oracle Cloud */
    "fd00:ec2::254",   /* AWS… */
    "fd00:ec2::23",    /* …and of its pods */
    "fd20:ce::254",    /* Google Cloud */
};

/* Networks that belong to the operator of the server. */
static const char *const refused_to_guests[] = {
    "127.0.0.0/8",    "10.0.0.0/8", "172.16.0.0/12",
    "192.168.0.0/16", "::1",        "100.64.0.0/10", /* carrier-grade NAT; overlay networks */
    "fc00::/7",
};

/* Extract the IPv4 address from an IPv6 one; false if there is none. */
static bool carried_v4(const struct os_address *a, struct os_address *out)
{
    static const uint8_t prefixes[][12] = {
        {[10] = 0xff, [11] = 0xff}, /* mapped */
        {[8] = 0xff, [9] = 0xff},   /* translated */
        {0x00, 0x64, 0xff, 0x9b},   /* NAT64 */
        {0},                        /* compatible */
    };
    static const uint8_t loopback[OS_ADDRESS_BYTES] = {[15] = 1}; /* not a compatible 0.0.0.1 */
    if (a->v4 || memcmp(a->b, loopback, sizeof loopback) == 0) {
        return false;
    }
    for (size_t i = 0; i < COUNT_OF(prefixes); i++) {
        if (memcmp(a->b, prefixes[i], sizeof prefixes[i]) == 0) {
            *out = os_address_from_v4(a->b + sizeof prefixes[i]);
            return true;
        }
    }
    if (a->b[0] == 0x20 && a->b[1] == 0x02) { /* 6to4 */
        *out = os_address_from_v4(a->b + 2);
        return true;
    }
    return false;
}

/* The server's own addresses */

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

static bool is_any(const struct os_address *a)
{
    static const uint8_t zeros[OS_ADDRESS_BYTES] = {0};
    return memcmp(a->b, zeros, a->v4 ? 4 : OS_ADDRESS_BYTES) == 0;
}

static bool is_same(const struct os_address *a, const struct os_address *b)
{
    return a->v4 == b->v4 && memcmp(a->b, b->b, a->v4 ? 4 : OS_ADDRESS_BYTES) == 0;
}

/* Is this an address of the machine? False if that cannot be determined. */
static bool is_of_machine(const struct os_address *a)
{
    struct ifaddrs *list = NULL;
    struct os_address mine;
    bool found = is_any(a) || (a->v4 && a->b[0] == IN_LOOPBACKNET);
    if (found || getifaddrs(&list) != 0) {
        return found;
    }
    for (const struct ifaddrs *i = list; i != NULL && !found; i = i->ifa_next) {
        found = i->ifa_addr != NULL && os_address_read(i->ifa_addr, &mine) && is_same(&mine, a);
    }
    freeifaddrs(list);
    return found;
}

static bool is_listener(const struct own *own, const struct os_address *a)
{
    return own->any ? is_of_machine(a) : is_same(&own->address, a) || is_any(a);
}

void outgoing_guard_add_own(struct outgoing_guard *g, const struct sockaddr *listener)
{
    size_t count = atomic_load(&g->own_count);
    struct own own = {.port = 0};
    struct os_address inner;
    CHECK(count < OWN_MAX);
    if (!os_address_read(listener, &own.address)) {
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
    struct os_address a;
    struct os_address inner;
    if (!os_address_read(address, &a)) {
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

/* Is the address, or the IPv4 address inside it, in the list? */
static bool is_listed(const struct os_networks *list, const struct os_address *a,
                      const struct os_address *inner)
{
    return os_networks_has(list, a) || (inner != NULL && os_networks_has(list, inner));
}

bool outgoing_guard_allows(const struct outgoing_guard *g, const struct sockaddr *address,
                           bool guest)
{
    struct os_address a;
    struct os_address carried;
    if (!os_address_read(address, &a) || outgoing_guard_is_own(g, address)) {
        return false;
    }
    const struct os_address *inner = carried_v4(&a, &carried) ? &carried : NULL;
    if (is_listed(&g->never, &a, inner)) {
        return false;
    }
    return is_listed(&g->allow, &a, inner) ||
           (!is_listed(&g->deny, &a, inner) && !(guest && is_listed(&g->guests_deny, &a, inner)));
}

static void add_known(const char *const *rows, size_t count, struct os_networks *out)
{
    struct err err;
    for (size_t i = 0; i < count; i++) {
        CHECK(os_networks_parse(str_from_z(rows[i]), out, &err) == ERR_OK);
    }
}

#define ADD_ALL(g, list, rows) add_known(rows, COUNT_OF(rows), &(g)->list)

enum err_code outgoing_guard_new(struct str deny, struct str allow,
                                 struct outgoing_guard **out_guard, struct err *err)
{
    struct outgoing_guard *g = calloc(1, sizeof *g);
    CHECK(g != NULL);
    ADD_ALL(g, never, refused_always);
    ADD_ALL(g, deny, refused_by_itself);
    ADD_ALL(g, guests_deny, refused_to_guests);
    if (os_networks_parse(deny, &g->deny, err) != ERR_OK ||
        os_networks_parse(allow, &g->allow, err) != ERR_OK) {
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
