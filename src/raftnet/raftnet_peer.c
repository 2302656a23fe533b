/*
 * Outgoing connections: a node is dialled when there is something to send, with growing delays.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "log/log.h"
#include "os/os_clock.h"
#include "raftnet/raftnet_int.h"

enum { HOST_BYTES_MAX = 256 };

void raftnet_peer__fail_waiting(struct raftnet_peer *p)
{
    while (p->first != NULL) {
        struct raftnet_send *s = p->first;
        p->first = s->next;
        raftnet__over(p->net, s, false);
    }
    p->last = &p->first;
}

/* Delay the next dial. The random part keeps nodes that lost each other from dialling in step. */
static void wait_a_while(struct raftnet_peer *p, const char *why)
{
    uint8_t random_number;
    os_clock_random(&random_number, sizeof random_number);
    int ms = p->retry_ms == 0 ? RAFTNET_RETRY_MS_MIN : p->retry_ms;
    p->retry_ms = ms * 2 < RAFTNET_RETRY_MS_MAX ? ms * 2 : RAFTNET_RETRY_MS_MAX;
    p->retry_at.ns = os_clock_mono().ns + (ms + ms * random_number / 512) * NS_PER_MS;
    (void)snprintf(p->stats.error, sizeof p->stats.error, "%s", why);
    raftnet_peer__fail_waiting(p);
}

void raftnet_peer__up(struct raftnet_peer *p)
{
    if (p->stats.error[0] != '\0') {
        log_info("peer reached", LOG_U64("peer", p->id));
    }
    p->stats.connected = true;
    p->stats.connects++;
    p->stats.error[0] = '\0';
    p->retry_ms = 0;
    p->told = (enum raftnet_shake_refusal)0;
    while (p->first != NULL) {
        struct raftnet_send *s = p->first;
        p->first = s->next;
        raftnet_conn__send(p->conn, s);
    }
    p->last = &p->first;
}

void raftnet_peer__down(struct raftnet_peer *p, const struct raftnet_conn *c, const char *why)
{
    if (p->conn != c) {
        return;
    }
    p->conn = NULL;
    p->stats.connected = false;
    p->stats.queued_bytes = 0;
    wait_a_while(p, why);
}

void raftnet_peer__lost(struct raftnet_peer *p)
{
    p->lost = true;
    p->net->any_lost = true;
}

void raftnet_peer__refused(struct raftnet_peer *p, enum raftnet_shake_refusal why, const char *text)
{
    struct raftnet *net = p->net;
    if (p->told != why) {
        p->told = why;
        net->hooks.refused(net->hooks.data, p->id, why, text);
    }
}

static void dial(struct raftnet_peer *p, const struct sockaddr *address, socklen_t len)
{
    struct raftnet_link link;
    struct err err;
    if (raftnet_link_dial(&link, address, len, p->net->context, &err) != ERR_OK) {
        wait_a_while(p, err.msg);
        return;
    }
    p->conn = raftnet_conn__new(p->net, &link, p);
}

static void resolved_cb(uv_getaddrinfo_t *req, int status, struct addrinfo *found)
{
    struct raftnet_peer *p = req->data;
    struct raftnet *net = p->net;
    p->resolving = false;
    if (status == 0 && !net->closing) {
        dial(p, found->ai_addr, found->ai_addrlen);
    } else {
        wait_a_while(p, status == 0 ? "closing" : uv_strerror(status));
    }
    uv_freeaddrinfo(found);
    raftnet__released(net);
}

static void resolve(struct raftnet_peer *p, const char *address)
{
    char host[HOST_BYTES_MAX];
    const struct addrinfo hints = {.ai_socktype = SOCK_STREAM};
    const char *colon = strrchr(address, ':');
    size_t len = colon == NULL ? 0 : (size_t)(colon - address);
    if (len == 0 || len >= sizeof host) {
        wait_a_while(p, "its address is not host:port");
        return;
    }
    memcpy(host, address, len);
    host[len] = '\0';
    p->resolve.data = p;
    int rc = uv_getaddrinfo(p->net->loop, &p->resolve, resolved_cb, host, colon + 1, &hints);
    if (rc != 0) {
        wait_a_while(p, uv_strerror(rc));
        return;
    }
    p->resolving = true;
    p->net->handles++;
}

static void begin(struct raftnet_peer *p, const char *address)
{
    struct sockaddr_storage at;
    socklen_t len = 0;
    if (raftnet_link_address(address, &at, &len)) {
        dial(p, (struct sockaddr *)&at, len);
    } else {
        resolve(p, address);
    }
}

bool raftnet_send(struct raftnet *net, uint64_t id, const char *address, struct raftnet_send *s)
{
    struct raftnet_peer *p = raftnet__peer(net, id);
    if (net->closing || !net->open) {
        return false;
    }
    if (p->conn != NULL && p->conn->up) {
        raftnet_conn__send(p->conn, s);
        return true;
    }
    if (p->conn == NULL && !p->resolving) {
        if (os_clock_mono().ns < p->retry_at.ns) {
            return false;
        }
        begin(p, address);
    }
    if (p->conn == NULL && !p->resolving) {
        return false;
    }
    s->next = NULL;
    s->at = 0;
    *p->last = s;
    p->last = &s->next;
    return true;
}

void raftnet_peer_stats(const struct raftnet *net, uint64_t id, struct raftnet_peer_stats *out)
{
    for (const struct raftnet_peer *p = net->peers; p != NULL; p = p->next) {
        if (p->id == id) {
            *out = p->stats;
            return;
        }
    }
    *out = (struct raftnet_peer_stats){0};
}
