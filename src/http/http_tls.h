/*
 * Http_tls: TLS between the socket and the protocol, through memory buffers.
 *
 * OpenSSL never touches the socket: the connection passes it the bytes it has read and fetches the
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

/* Create a context from two PEM files, the certificate chain and the key: TLS 1.2 or newer, "h2"
 * preferred to "http/1.1". The caller owns one reference (SSL_CTX_free). ERR_IO if a file cannot be
 * used. */
ATTR_NODISCARD enum err_code http_tls_load(const char *cert_file, const char *key_file,
                                           SSL_CTX **out_context, struct err *err);

struct http_tls {
    SSL *ssl;
    BIO *in, *out; /* of the session */
};

void http_tls_open(struct http_tls *tls, SSL_CTX *context);
void http_tls_close(struct http_tls *tls);

/* Pass in bytes from the socket. */
void http_tls_feed(struct http_tls *tls, struct str bytes);

/* Read decrypted bytes into room. Returns 0 if there are none yet or no more will follow, -1 if the
 * session has failed. */
int http_tls_read(struct http_tls *tls, char *room, size_t size);

/* Has the client sent its TLS close alert? It sends no more and waits for the server's alert,
 * perhaps with its socket open. */
bool http_tls_is_over(const struct http_tls *tls);

/* Encrypt. False if the session has failed. */
ATTR_NODISCARD bool http_tls_write(struct http_tls *tls, struct str plain);

/* Send the TLS close alert. */
void http_tls_end(struct http_tls *tls);

/* Append the encrypted output to wire. */
void http_tls_take(struct http_tls *tls, struct http_out *wire);
