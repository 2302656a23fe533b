#include "os/os_networks.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <string.h>

enum { TEXT_MAX = 64 };

struct os_address os_address_from_v4(const uint8_t v4[4])
{
    struct os_address a = {.v4 = true};
    memcpy(a.b, v4, 4);
    return a;
}

bool os_address_read(const struct sockaddr *address, struct os_address *out)
{
    *out = (struct os_address){0};
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
        memcpy(out->b, &v6.sin6_addr, OS_ADDRESS_BYTES);
        return true;
    }
    return false;
}

static bool is_in(const struct os_network *n, const struct os_address *a)
{
    size_t whole = n->bits / 8;
    unsigned rest = n->bits % 8;
    uint8_t mask = (uint8_t)(0xff00U >> rest);
    return n->base.v4 == a->v4 && memcmp(n->base.b, a->b, whole) == 0 &&
           (rest == 0 || ((n->base.b[whole] ^ a->b[whole]) & mask) == 0);
}

bool os_networks_has(const struct os_networks *list, const struct os_address *a)
{
    for (size_t i = 0; i < list->count; i++) {
        if (is_in(&list->rows[i], a)) {
            return true;
        }
    }
    return false;
}

static enum err_code parse_one(struct str text, struct os_network *out, struct err *err)
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
        *out = (struct os_network){.base = os_address_from_v4(bytes),
                                   .bits = bits < 0 ? 32U : (unsigned)bits};
        return ERR_OK;
    }
    if (inet_pton(AF_INET6, z, &v6) == 1 && bits <= 128) {
        *out = (struct os_network){.bits = bits < 0 ? 128U : (unsigned)bits};
        memcpy(out->base.b, &v6, OS_ADDRESS_BYTES);
        return ERR_OK;
    }
    return err_set(err, ERR_VALIDATION, "'" STR_FMT "' is not a network", STR_ARG(text));
}

static bool is_separator(char c)
{
    return c == ',' || c == ' ' || c == '\t';
}

enum err_code os_networks_parse(struct str list, struct os_networks *out, struct err *err)
{
    size_t from = 0;
    for (size_t i = 0; i <= list.len; i++) {
        if (i < list.len && !is_separator(list.ptr[i])) {
            continue;
        }
        if (i > from) {
            if (out->count == OS_NETWORKS_MAX) {
                return err_set(err, ERR_VALIDATION, "more than %d networks", OS_NETWORKS_MAX);
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

bool os_networks_has_text(const struct os_networks *list, struct str address)
{
    char z[TEXT_MAX];
    struct os_address a = {.v4 = false};
    if (address.len >= sizeof z) {
        return false;
    }
    memcpy(z, address.ptr, address.len);
    z[address.len] = '\0';
    if (inet_pton(AF_INET, z, a.b) == 1) {
        a.v4 = true;
        return os_networks_has(list, &a);
    }
    if (inet_pton(AF_INET6, z, a.b) != 1) {
        return false;
    }
    static const uint8_t mapped[12] = {[10] = 0xff, [11] = 0xff};
    struct os_address v4 = os_address_from_v4(a.b + sizeof mapped);
    return os_networks_has(list, memcmp(a.b, mapped, sizeof mapped) == 0 ? &v4 : &a);
}
