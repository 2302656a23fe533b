/*
 * Raftnet_link: a socket to another node, with TLS if configured.
 *
 * Reads and writes follow the mode of the descriptor: at first non-blocking, for a loop that polls
 * it. For a separate thread, raftnet_link_block makes them wait, with a time limit for each call;
 * before that, raftnet_link_wait sets one for the whole handshake.
 */
#pragma once

#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/types.h>

#include <openssl/ssl.h>

#include "base/attr.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/str.h"

struct raftnet_link {
    int fd; /* -1: none */
    SSL *ssl;
    bool tls_ready;
    bool wants_write;      /* TLS must write before it can continue */
    const char *tls_error; /* reason for a TLS failure; NULL: none */
    struct mono until;     /* limit for the …_all calls; 0: the descriptor's own */
};

/* Certificates of the peer port; all NULL without TLS. */
struct raftnet_link_tls {
    const char *cert_file, *key_file, *ca_file;
};

/* A context for both sides: each presents its certificate and requires one signed by the CA. */
ATTR_NODISCARD enum err_code raftnet_link_context(const struct raftnet_link_tls *tls,
                                                  SSL_CTX **out_context, struct err *err);

/* Parse a numeric "host:port" without a lookup; false if the host is a name. */
bool raftnet_link_address(const char *host_port, struct sockaddr_storage *out, socklen_t *out_len);

/* Listen. Port 0 picks a free port. */
ATTR_NODISCARD enum err_code raftnet_link_listen(const char *host_port, int *out_fd,
                                                 uint16_t *out_port, struct err *err);

/* Start to connect. */
ATTR_NODISCARD enum err_code raftnet_link_dial(struct raftnet_link *l,
                                               const struct sockaddr *address, socklen_t len,
                                               SSL_CTX *context, struct err *err);

/* Accept a connection; false if none is waiting, or it is already gone. */
bool raftnet_link_accept(struct raftnet_link *l, int listen_fd, SSL_CTX *context);

void raftnet_link_close(struct raftnet_link *l);

/* The result of the connect; ERR_IO if it failed. Call when the socket is writable. */
ATTR_NODISCARD enum err_code raftnet_link_connected(struct raftnet_link *l, struct err *err);

enum { RAFTNET_LINK_AGAIN = -1, RAFTNET_LINK_END = -2 };

/* The number of bytes, RAFTNET_LINK_AGAIN if it would block, or RAFTNET_LINK_END. */
ssize_t raftnet_link_read(struct raftnet_link *l, void *out, size_t len);
ssize_t raftnet_link_write(struct raftnet_link *l, const void *bytes, size_t len);

/* Wait until the connection is up. This wait and later raftnet_link_read_all and …_write_all
 * calls fail after this moment, even if bytes keep arriving. */
ATTR_NODISCARD enum err_code raftnet_link_wait(struct raftnet_link *l, struct mono until,
                                               struct err *err);

/* From now on each call blocks, for at most this long. */
void raftnet_link_block(struct raftnet_link *l, int timeout_ms);

/* Read all len bytes; ERR_IO if the other side is gone or too slow. Blocking links only. */
ATTR_NODISCARD enum err_code raftnet_link_read_all(struct raftnet_link *l, void *out, size_t len,
                                                   struct err *err);
ATTR_NODISCARD enum err_code raftnet_link_write_all(struct raftnet_link *l, struct str bytes,
                                                    struct err *err);
