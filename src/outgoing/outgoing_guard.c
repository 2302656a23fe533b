#include "outgoing/outgoing_guard.h"

#include <arpa/inet.h>
#include <netinet/in.h>
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

struct outgoing_guard {
    struct networks deny, allow;
};

static const char refused_by_itself[] = "0.0.0.0/8, " /* "this" network: connects to this machine */
                                        "169.254.0.0/16, " /* link-local: metadata of most clouds */
                                        "100.100.100.200, " /* metadata of Alibaba Cloud */
                                        "192.0.0.192, "     /* metadata of Oracle Cloud */
                                        "224.0.0.0/4, "     /* multicast */
                                        "240.0.0.0/4, "     /* reserved, and broadcast */
                                        "::/128, "       /* unspecified: connects to this machine */
                                        "fe80::/10, "    /* link-local */
                                        "ff00::/8, "     /* multicast */
                                        "fd00:ec2::254"; /* metadata of AWS */

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

bool outgoing_guard_allows(const struct outgoing_guard *g, const struct sockaddr *address)
{
    struct address a;
    struct address inner;
    if (!read_address(address, &a)) {
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
    if (parse_list(str_from_z(refused_by_itself), &g->deny, err) != ERR_OK ||
        parse_list(deny, &g->deny, err) != ERR_OK || parse_list(allow, &g->allow, err) != ERR_OK) {
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
