#include "raftnet/raftnet_link.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

#include <openssl/err.h>

#include "base/check.h"
#include "os/os_clock.h"

enum {
    BACKLOG = 64,
    HOST_BYTES_MAX = 64,
    DEAD_AFTER_MS = 5000, /* if sent data is unacknowledged for this long, the connection ends */
};

/* --- addresses --- */

bool raftnet_link_address(const char *host_port, struct sockaddr_storage *out, socklen_t *out_len)
{
    char host[HOST_BYTES_MAX];
    const char *colon = strrchr(host_port, ':');
    char *end = NULL;
    size_t len = colon == NULL ? sizeof host : (size_t)(colon - host_port);
    unsigned long port = colon == NULL ? 0 : strtoul(colon + 1, &end, 10);
    if (len >= sizeof host || port > UINT16_MAX || end == colon + 1 || *end != '\0') {
        return false;
    }
    bool bracketed = len >= 2 && host_port[0] == '[' && host_port[len - 1] == ']';
    len -= bracketed ? 2 : 0;
    memcpy(host, host_port + (bracketed ? 1 : 0), len);
    host[len] = '\0';
    *out = (struct sockaddr_storage){0};
    struct sockaddr_in *v4 = (struct sockaddr_in *)out;
    struct sockaddr_in6 *v6 = (struct sockaddr_in6 *)out;
    if (inet_pton(AF_INET, len == 0 ? "0.0.0.0" : host, &v4->sin_addr) == 1) {
        v4->sin_family = AF_INET;
        v4->sin_port = htons((uint16_t)port);
        *out_len = sizeof *v4;
        return true;
    }
    if (inet_pton(AF_INET6, host, &v6->sin6_addr) == 1) {
        v6->sin6_family = AF_INET6;
        v6->sin6_port = htons((uint16_t)port);
        *out_len = sizeof *v6;
        return true;
    }
    return false;
}

static uint16_t port_of(int fd)
{
    union {
        struct sockaddr any;
        struct sockaddr_in v4;
        struct sockaddr_in6 v6;
    } at = {.v6 = {0}};
    socklen_t len = sizeof at;
    if (getsockname(fd, &at.any, &len) != 0) {
        return 0;
    }
    return ntohs(at.any.sa_family == AF_INET6 ? at.v6.sin6_port : at.v4.sin_port);
}

/* --- TLS --- */

static enum err_code tls_error(struct err *err, const char *what, const char *file)
{
    char text[160] = "";
    ERR_error_string_n(ERR_get_error(), text, sizeof text);
    ERR_clear_error();
    return err_set(err, ERR_VALIDATION, "%s '%s': %s", what, file, text);
}

enum err_code raftnet_link_context(const struct raftnet_link_tls *tls, SSL_CTX **out_context,
                                   struct err *err)
{
    SSL_CTX *c = SSL_CTX_new(TLS_method());
    CHECK(c != NULL);
    enum err_code code = ERR_OK;
    if (SSL_CTX_use_certificate_chain_file(c, tls->cert_file) != 1) {
        code = tls_error(err, "peer-tls-cert", tls->cert_file);
    } else if (SSL_CTX_use_PrivateKey_file(c, tls->key_file, SSL_FILETYPE_PEM) != 1 ||
               SSL_CTX_check_private_key(c) != 1) {
        code = tls_error(err, "peer-tls-key", tls->key_file);
    } else if (SSL_CTX_load_verify_locations(c, tls->ca_file, NULL) != 1) {
        code = tls_error(err, "peer-tls-ca", tls->ca_file);
    }
    if (code != ERR_OK) {
        SSL_CTX_free(c);
        return code;
    }
    CHECK(SSL_CTX_set_min_proto_version(c, TLS1_3_VERSION) == 1);
    SSL_CTX_set_verify(c, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, NULL);
    (void)SSL_CTX_set_mode(c, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
    (void)SSL_CTX_set_session_cache_mode(c, SSL_SESS_CACHE_OFF);
    (void)SSL_CTX_set_num_tickets(c, 0);
    *out_context = c;
    return ERR_OK;
}

static void begin_tls(struct raftnet_link *l, SSL_CTX *context, bool dials)
{
    if (context == NULL) {
        l->tls_ready = true;
        return;
    }
    l->ssl = SSL_new(context);
    CHECK(l->ssl != NULL);
    CHECK(SSL_set_fd(l->ssl, l->fd) == 1);
    if (dials) {
        SSL_set_connect_state(l->ssl);
    } else {
        SSL_set_accept_state(l->ssl);
    }
    l->tls_ready = true; /* the handshake runs with the first bytes */
}

/* --- sockets --- */

static void tune(int fd)
{
    const int on = 1;
    const unsigned dead = DEAD_AFTER_MS;
    (void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    (void)setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
    (void)setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &dead, sizeof dead);
}

enum err_code raftnet_link_listen(const char *host_port, int *out_fd, uint16_t *out_port,
                                  struct err *err)
{
    struct sockaddr_storage at;
    socklen_t len = 0;
    const int on = 1;
    if (!raftnet_link_address(host_port, &at, &len)) {
        return err_set(err, ERR_VALIDATION, "raft-bind '%s' is not an address and a port",
                       host_port);
    }
    int fd = socket(at.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0) {
        return err_from_errno(err, "socket");
    }
    (void)setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (bind(fd, (struct sockaddr *)&at, len) != 0 || listen(fd, BACKLOG) != 0) {
        (void)err_from_errno(err, "listen");
        (void)close(fd);
        return err_wrap(err, "raft-bind %s", host_port);
    }
    *out_fd = fd;
    *out_port = port_of(fd);
    return ERR_OK;
}

enum err_code raftnet_link_dial(struct raftnet_link *l, const struct sockaddr *address,
                                socklen_t len, SSL_CTX *context, struct err *err)
{
    *l = (struct raftnet_link){.fd = -1};
    int fd = socket(address->sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0) {
        return err_from_errno(err, "socket");
    }
    tune(fd);
    if (connect(fd, address, len) != 0 && errno != EINPROGRESS) {
        (void)err_from_errno(err, "connect");
        (void)close(fd);
        return err->code;
    }
    l->fd = fd;
    begin_tls(l, context, true);
    return ERR_OK;
}

bool raftnet_link_accept(struct raftnet_link *l, int listen_fd, SSL_CTX *context)
{
    *l = (struct raftnet_link){.fd = accept4(listen_fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC)};
    if (l->fd < 0) {
        return false;
    }
    tune(l->fd);
    begin_tls(l, context, false);
    return true;
}

void raftnet_link_close(struct raftnet_link *l)
{
    SSL_free(l->ssl);
    if (l->fd >= 0) {
        (void)close(l->fd);
    }
    *l = (struct raftnet_link){.fd = -1};
}

enum err_code raftnet_link_connected(struct raftnet_link *l, struct err *err)
{
    int failed = 0;
    socklen_t len = sizeof failed;
    CHECK(getsockopt(l->fd, SOL_SOCKET, SO_ERROR, &failed, &len) == 0);
    errno = failed;
    return failed == 0 ? ERR_OK : err_from_errno(err, "connect");
}

/* --- bytes --- */

static ssize_t tls_outcome(struct raftnet_link *l, int n)
{
    if (n > 0) {
        l->wants_write = false;
        return n;
    }
    int why = SSL_get_error(l->ssl, n);
    if (why == SSL_ERROR_SSL) {
        long verified = SSL_get_verify_result(l->ssl);
        l->tls_error = verified != X509_V_OK ? X509_verify_cert_error_string(verified)
                                             : ERR_reason_error_string(ERR_peek_error());
    }
    ERR_clear_error();
    l->wants_write = why == SSL_ERROR_WANT_WRITE;
    return why == SSL_ERROR_WANT_READ || why == SSL_ERROR_WANT_WRITE ? RAFTNET_LINK_AGAIN
                                                                     : RAFTNET_LINK_END;
}

static ssize_t outcome(ssize_t n)
{
    if (n > 0) {
        return n;
    }
    bool waits = n < 0 && (errno == EAGAIN || errno == EINTR);
    return waits ? RAFTNET_LINK_AGAIN : RAFTNET_LINK_END;
}

static int at_most(size_t len)
{
    return len > 1 << 20 ? 1 << 20 : (int)len;
}

ssize_t raftnet_link_read(struct raftnet_link *l, void *out, size_t len)
{
    if (l->ssl != NULL) {
        return tls_outcome(l, SSL_read(l->ssl, out, at_most(len)));
    }
    return outcome(recv(l->fd, out, len, 0));
}

ssize_t raftnet_link_write(struct raftnet_link *l, const void *bytes, size_t len)
{
    if (l->ssl != NULL) {
        return tls_outcome(l, SSL_write(l->ssl, bytes, at_most(len)));
    }
    return outcome(send(l->fd, bytes, len, MSG_NOSIGNAL));
}

void raftnet_link_block(struct raftnet_link *l, int timeout_ms)
{
    struct timeval t = {.tv_sec = timeout_ms / 1000,
                        .tv_usec = (suseconds_t)(timeout_ms % 1000) * 1000};
    int flags = fcntl(l->fd, F_GETFL);
    l->until.ns = 0;
    CHECK(fcntl(l->fd, F_SETFL, flags & ~O_NONBLOCK) == 0);
    (void)setsockopt(l->fd, SOL_SOCKET, SO_RCVTIMEO, &t, sizeof t);
    (void)setsockopt(l->fd, SOL_SOCKET, SO_SNDTIMEO, &t, sizeof t);
}

/* False after l->until has passed. Also false without l->until: the descriptor has blocked
 * already. */
static bool wait_for(const struct raftnet_link *l, int events)
{
    struct pollfd fd = {.fd = l->fd, .events = (short)(l->wants_write ? POLLOUT : events)};
    int64_t left_ms = l->until.ns == 0 ? 0 : (l->until.ns - os_clock_mono().ns) / NS_PER_MS;
    return left_ms > 0 && poll(&fd, 1, left_ms < INT_MAX ? (int)left_ms : INT_MAX) == 1;
}

enum err_code raftnet_link_wait(struct raftnet_link *l, struct mono until, struct err *err)
{
    l->until = until;
    return wait_for(l, POLLOUT) ? raftnet_link_connected(l, err)
                                : err_set(err, ERR_IO, "no answer");
}

static enum err_code ended(const struct raftnet_link *l, ssize_t n, struct err *err)
{
    if (l->tls_error != NULL) {
        return err_set(err, ERR_IO, "TLS: %s", l->tls_error);
    }
    return err_set(err, ERR_IO,
                   n == RAFTNET_LINK_AGAIN ? "the other node is too slow"
                                           : "the other node closed the connection");
}

enum err_code raftnet_link_read_all(struct raftnet_link *l, void *out, size_t len, struct err *err)
{
    for (size_t at = 0; at < len;) {
        ssize_t n = raftnet_link_read(l, (char *)out + at, len - at);
        if (n == RAFTNET_LINK_AGAIN && wait_for(l, POLLIN)) {
            continue;
        }
        if (n <= 0) {
            return ended(l, n, err);
        }
        at += (size_t)n;
    }
    return ERR_OK;
}

enum err_code raftnet_link_write_all(struct raftnet_link *l, struct str bytes, struct err *err)
{
    for (size_t at = 0; at < bytes.len;) {
        ssize_t n = raftnet_link_write(l, bytes.ptr + at, bytes.len - at);
        if (n == RAFTNET_LINK_AGAIN && wait_for(l, POLLOUT)) {
            continue;
        }
        if (n <= 0) {
            return ended(l, n, err);
        }
        at += (size_t)n;
    }
    return ERR_OK;
}
