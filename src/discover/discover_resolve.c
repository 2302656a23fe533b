#include "discover/discover_resolve.h"

#include <arpa/inet.h>
#include <arpa/nameser.h>
#include <netdb.h>
#include <resolv.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/check.h"
#include "discover/discover_int.h"

enum {
    ANSWER_BYTES_MAX = 65536,
    WAIT_S = 1,
    TRIES = 3,
    DNS_PORT = 53,
    SRV_PORT_AT = 4, /* after priority and weight */
    SRV_TARGET_AT = 6,
};

struct answer {
    uint8_t *bytes; /* from malloc */
    ns_msg msg;
    int count; /* number of records */
};

static void answer_deinit(struct answer *a)
{
    free(a->bytes);
}

static bool read_server(struct str server, struct sockaddr_in *out)
{
    struct str host;
    uint16_t port;
    char text[INET6_ADDRSTRLEN];
    *out = (struct sockaddr_in){.sin_family = AF_INET};
    if (!discover__split(server, &host, &port) || host.len >= sizeof text) {
        return false;
    }
    (void)snprintf(text, sizeof text, STR_FMT, STR_ARG(host));
    out->sin_port = htons(port == 0 ? DNS_PORT : port);
    return inet_pton(AF_INET, text, &out->sin_addr) == 1;
}

bool discover_is_dns_server(struct str text)
{
    struct sockaddr_in ignored;
    return read_server(text, &ignored);
}

static enum err_code use_server(res_state state, struct str server, struct err *err)
{
    struct sockaddr_in at;
    if (server.len == 0) {
        return ERR_OK;
    }
    if (!read_server(server, &at)) {
        return err_set(err, ERR_VALIDATION, "DNS server '" STR_FMT "' is not an IPv4 address",
                       STR_ARG(server));
    }
    state->nsaddr_list[0] = at;
    state->nscount = 1;
    return ERR_OK;
}

/* ERR_NOT_FOUND if the name or the record does not exist. In any case, free the answer with
 * answer_deinit. */
static enum err_code ask(struct str server, const char *name, int type, struct answer *out,
                         struct err *err)
{
    struct __res_state state = {0};
    *out = (struct answer){.bytes = malloc(ANSWER_BYTES_MAX)};
    CHECK(out->bytes != NULL);
    if (res_ninit(&state) != 0) {
        return err_set(err, ERR_IO, "the resolver cannot be used");
    }
    state.retrans = WAIT_S;
    state.retry = TRIES;
    if (use_server(&state, server, err) != ERR_OK) {
        res_nclose(&state);
        return err->code;
    }
    int len = res_nsearch(&state, name, ns_c_in, type, out->bytes, ANSWER_BYTES_MAX);
    int why = state.res_h_errno;
    res_nclose(&state);
    if (len < 0) {
        return why == HOST_NOT_FOUND || why == NO_DATA
                   ? err_set(err, ERR_NOT_FOUND, "%s: no such record", name)
                   : err_set(err, ERR_IO, "%s: no answer from the DNS server", name);
    }
    len = len > ANSWER_BYTES_MAX ? ANSWER_BYTES_MAX : len;
    if (ns_initparse(out->bytes, len, &out->msg) != 0) {
        return err_set(err, ERR_IO, "%s: the answer of the DNS server cannot be read", name);
    }
    out->count = ns_msg_count(out->msg, ns_s_an);
    return ERR_OK;
}

static bool record(struct answer *a, int i, int type, ns_rr *out)
{
    return ns_parserr(&a->msg, ns_s_an, i, out) == 0 && (int)ns_rr_type(*out) == type;
}

static struct discover_host *next_host(struct discover_hosts *out)
{
    return out->count < DISCOVER_HOSTS_MAX ? &out->hosts[out->count] : NULL;
}

enum err_code discover_resolve_srv(struct str server, const char *name, struct discover_hosts *out,
                                   struct err *err)
{
    struct answer a;
    ns_rr rr;
    if (ask(server, name, ns_t_srv, &a, err) != ERR_OK) {
        answer_deinit(&a);
        return err->code;
    }
    for (int i = 0; i < a.count; i++) {
        struct discover_host *h = next_host(out);
        if (h == NULL || !record(&a, i, ns_t_srv, &rr) || ns_rr_rdlen(rr) <= SRV_TARGET_AT ||
            dn_expand(ns_msg_base(a.msg), ns_msg_end(a.msg), ns_rr_rdata(rr) + SRV_TARGET_AT,
                      h->host, sizeof h->host) < 0 ||
            h->host[0] == '\0') {
            continue; /* the root as a target means that there is no service */
        }
        h->port = (uint16_t)ns_get16(ns_rr_rdata(rr) + SRV_PORT_AT);
        out->count++;
    }
    answer_deinit(&a);
    return out->count > 0 ? ERR_OK : err_set(err, ERR_NOT_FOUND, "%s: no SRV record", name);
}

static enum err_code add_records(struct str server, const char *name, int type, int family,
                                 struct discover_hosts *out, struct err *err)
{
    struct answer a;
    ns_rr rr;
    size_t bytes = family == AF_INET ? sizeof(struct in_addr) : sizeof(struct in6_addr);
    if (ask(server, name, type, &a, err) != ERR_OK) {
        answer_deinit(&a);
        return err->code;
    }
    for (int i = 0; i < a.count; i++) {
        struct discover_host *h = next_host(out);
        if (h != NULL && record(&a, i, type, &rr) && ns_rr_rdlen(rr) == bytes &&
            inet_ntop(family, ns_rr_rdata(rr), h->host, sizeof h->host) != NULL) {
            h->port = 0;
            out->count++;
        }
    }
    answer_deinit(&a);
    return ERR_OK;
}

/* Resolve with the system's resolver, including its hosts file. */
static enum err_code add_known(const char *name, struct discover_hosts *out, struct err *err)
{
    const struct addrinfo hints = {.ai_socktype = SOCK_STREAM};
    struct addrinfo *found = NULL;
    int rc = getaddrinfo(name, NULL, &hints, &found);
    if (rc != 0) {
        return err_set(err, rc == EAI_NONAME ? ERR_NOT_FOUND : ERR_IO, "%s: %s", name,
                       gai_strerror(rc));
    }
    for (const struct addrinfo *a = found; a != NULL; a = a->ai_next) {
        struct discover_host *h = next_host(out);
        if (h != NULL && getnameinfo(a->ai_addr, a->ai_addrlen, h->host, sizeof h->host, NULL, 0,
                                     NI_NUMERICHOST) == 0) {
            h->port = 0;
            out->count++;
        }
    }
    freeaddrinfo(found);
    return ERR_OK;
}

enum err_code discover_resolve_addresses(struct str server, const char *name,
                                         struct discover_hosts *out, struct err *err)
{
    struct err ignored;
    size_t before = out->count;
    if (server.len == 0) {
        return add_known(name, out, err);
    }
    enum err_code v4 = add_records(server, name, ns_t_a, AF_INET, out, err);
    if (v4 == ERR_IO || v4 == ERR_VALIDATION) {
        return v4;
    }
    /* A name with IPv4 addresses may have no IPv6 addresses. */
    enum err_code v6 =
        add_records(server, name, ns_t_aaaa, AF_INET6, out, out->count > before ? &ignored : err);
    return out->count > before ? ERR_OK
           : v6 != ERR_OK      ? v6
                               : err_set(err, ERR_NOT_FOUND, "%s: no address", name);
}

bool discover_resolve_txt(struct str server, const char *name, struct str key, char *out,
                          size_t size)
{
    struct answer a;
    ns_rr rr;
    struct err ignored;
    bool found = false;
    if (ask(server, name, ns_t_txt, &a, &ignored) != ERR_OK) {
        a.count = 0;
    }
    for (int i = 0; i < a.count && !found; i++) {
        if (!record(&a, i, ns_t_txt, &rr) || ns_rr_rdlen(rr) == 0) {
            continue;
        }
        size_t len = ns_rr_rdata(rr)[0]; /* the first string of the record */
        struct str text = str_from(ns_rr_rdata(rr) + 1, len);
        found = len < ns_rr_rdlen(rr) && str_starts_with(text, key) && len > key.len &&
                text.ptr[key.len] == '=' && len - key.len - 1 < size;
        if (found) {
            (void)snprintf(out, size, STR_FMT, STR_ARG(str_from_offset(text, key.len + 1)));
        }
    }
    answer_deinit(&a);
    return found;
}
