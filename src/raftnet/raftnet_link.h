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
    bool wants_write;      /* TLS cannot go on before the socket takes bytes */
    const char *tls_error; /* what TLS had against it, as its end; NULL: nothing */
    struct mono until;     /* …_all fail after this moment; 0: as the descriptor does */
};

/* Certificates of the peer port; all NULL without TLS. */
struct raftnet_link_tls {
    const char *cert_file, *key_file, *ca_file;
};

/* A context for both sides: each shows its certificate and wants one that the CA signed. */
ATTR_NODISCARD enum err_code raftnet_link_context(const struct raftnet_link_tls *tls,
                                                  SSL_CTX **out_context, struct err *err);

/* The address that "host:port" means, without asking anybody; false when it is a name. */
bool raftnet_link_address(const char *host_port, struct sockaddr_storage *out, socklen_t *out_len);

/* Listen. Port 0 is a free one. */
ATTR_NODISCARD enum err_code raftnet_link_listen(const char *host_port, int *out_fd,
                                                 uint16_t *out_port, struct err *err);

/* Begin to connect. */
ATTR_NODISCARD enum err_code raftnet_link_dial(struct raftnet_link *l,
                                               const struct sockaddr *address, socklen_t len,
                                               SSL_CTX *context, struct err *err);

/* A connection that came; false when there is none, or it is gone already. */
bool raftnet_link_accept(struct raftnet_link *l, int listen_fd, SSL_CTX *context);

void raftnet_link_close(struct raftnet_link *l);

/* Whether the connection is there; ERR_IO when it failed. To be asked once it can be written. */
ATTR_NODISCARD enum err_code raftnet_link_connected(struct raftnet_link *l, struct err *err);

enum { RAFTNET_LINK_AGAIN = -1, RAFTNET_LINK_END = -2 };

/* Bytes, or RAFTNET_LINK_AGAIN when it has to wait, or RAFTNET_LINK_END. */
ssize_t raftnet_link_read(struct raftnet_link *l, void *out, size_t len);
ssize_t raftnet_link_write(struct raftnet_link *l, const void *bytes, size_t len);

/* Wait until the connection is there, and in raftnet_link_read_all and …_write_all, but no longer
 * than until this moment, whatever comes meanwhile. */
ATTR_NODISCARD enum err_code raftnet_link_wait(struct raftnet_link *l, struct mono until,
                                               struct err *err);

/* From now on each call waits, at most so long. */
void raftnet_link_block(struct raftnet_link *l, int timeout_ms);

/* All of it; ERR_IO when the other side is gone or too slow. Only of one that waits. */
ATTR_NODISCARD enum err_code raftnet_link_read_all(struct raftnet_link *l, void *out, size_t len,
                                                   struct err *err);
ATTR_NODISCARD enum err_code raftnet_link_write_all(struct raftnet_link *l, struct str bytes,
                                                    struct err *err);
