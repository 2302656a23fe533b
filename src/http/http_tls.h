/*
 * Http_tls: TLS between the socket and the protocol, through memory buffers.
 *
 * OpenSSL never touches the socket: the connection feeds it the bytes it has read and takes the
 * bytes to write. The buffers and limits of the connection are therefore the only ones. One thread
 * creates the context (certificate and key), which all threads share; OpenSSL counts its
 * references. A session belongs to the thread of its connection.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include <openssl/ssl.h>

#include "base/attr.h"
#include "base/err.h"
#include "base/str.h"
#include "http/http_out.h"

/* A context with the certificate chain and key of two PEM files: TLS 1.2 and up, "h2" before
 * "http/1.1". The caller owns one reference (SSL_CTX_free). ERR_IO when a file cannot be used. */
ATTR_NODISCARD enum err_code http_tls_load(const char *cert_file, const char *key_file,
                                           SSL_CTX **out_context, struct err *err);

struct http_tls {
    SSL *ssl;
    BIO *in, *out; /* the session's */
};

void http_tls_open(struct http_tls *tls, SSL_CTX *context);
void http_tls_close(struct http_tls *tls);

/* Bytes from the socket. */
void http_tls_feed(struct http_tls *tls, struct str bytes);

/* The next plain bytes, into room. 0 when there are none yet, or no more; -1 when the session is
 * broken. */
int http_tls_read(struct http_tls *tls, char *room, size_t size);

/* Has the client said good-bye? It sends no more, and waits for ours, perhaps with its socket open.
 */
bool http_tls_is_over(const struct http_tls *tls);

/* Encrypt. False when the session is broken. */
ATTR_NODISCARD bool http_tls_write(struct http_tls *tls, struct str plain);

/* Say good-bye. */
void http_tls_end(struct http_tls *tls);

/* Move what is to be sent behind wire. */
void http_tls_take(struct http_tls *tls, struct http_out *wire);
