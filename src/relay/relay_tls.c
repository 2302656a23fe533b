/*
 * TLS of a connection to another node, through memory buffers: OpenSSL does not use the socket.
 *
 * The other node presents the certificate of its API. It must be valid for the host in the URL, and
 * signed by a CA that this machine trusts or by the cluster's own CA.
 */
#include <stdio.h>
#include <string.h>

#include <openssl/err.h>
#include <openssl/x509v3.h>

#include "base/check.h"
#include "log/log.h"
#include "relay/relay_int.h"

SSL_CTX *relay_tls__context(const char *ca_file)
{
    SSL_CTX *context = SSL_CTX_new(TLS_client_method());
    CHECK(context != NULL);
    (void)SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION);
    SSL_CTX_set_verify(context, SSL_VERIFY_PEER, NULL);
    (void)SSL_CTX_set_default_verify_paths(context);
    if (ca_file != NULL && SSL_CTX_load_verify_locations(context, ca_file, NULL) != 1) {
        log_error("CA bundle of peers not read", LOG_Z("file", ca_file));
    }
    return context;
}

bool relay_tls__open(struct relay_link *l, const char *host)
{
    static const unsigned char protocols[] = {2, 'h', '2'};
    SSL *ssl = SSL_new(l->relay->context);
    CHECK(ssl != NULL);
    BIO *in = BIO_new(BIO_s_mem());
    BIO *out = BIO_new(BIO_s_mem());
    CHECK(in != NULL && out != NULL);
    SSL_set_bio(ssl, in, out);
    SSL_set_connect_state(ssl);
    l->ssl = ssl;
    X509_VERIFY_PARAM *param = SSL_get0_param(ssl);
    bool is_address = X509_VERIFY_PARAM_set1_ip_asc(param, host) == 1;
    return SSL_set_alpn_protos(ssl, protocols, sizeof protocols) == 0 &&
           (is_address || (SSL_set1_host(ssl, host) == 1 &&
                           SSL_set_tlsext_host_name(ssl, (char *)(uintptr_t)host) == 1));
}

void relay_tls__close(struct relay_link *l)
{
    SSL_free(l->ssl); /* also frees both memory buffers */
    l->ssl = NULL;
}

static bool is_waiting(const struct relay_link *l, int result)
{
    int why = SSL_get_error(l->ssl, result);
    return why == SSL_ERROR_WANT_READ || why == SSL_ERROR_WANT_WRITE;
}

bool relay_tls__feed(struct relay_link *l, struct str bytes)
{
    ERR_clear_error();
    if (BIO_write(SSL_get_rbio(l->ssl), bytes.ptr, (int)bytes.len) != (int)bytes.len) {
        return false;
    }
    if (!SSL_is_init_finished(l->ssl)) {
        int rc = SSL_do_handshake(l->ssl);
        if (rc != 1 && !is_waiting(l, rc)) {
            char why[160];
            ERR_error_string_n(ERR_peek_error(), why, sizeof why);
            log_warn("leader not trusted", LOG_STR("url", l->url), LOG_Z("error", why));
            return false;
        }
    }
    return true;
}

ssize_t relay_tls__read(struct relay_link *l, char *room, size_t size)
{
    if (!SSL_is_init_finished(l->ssl)) {
        return 0;
    }
    ERR_clear_error();
    int n = SSL_read(l->ssl, room, (int)size);
    return n > 0 ? n : is_waiting(l, n) ? 0 : -1;
}

bool relay_tls__is_ready(struct relay_link *l)
{
    if (!SSL_is_init_finished(l->ssl)) {
        ERR_clear_error();
        (void)SSL_do_handshake(l->ssl);
    }
    return SSL_is_init_finished(l->ssl) == 1;
}

bool relay_tls__write(struct relay_link *l, struct str plain)
{
    ERR_clear_error();
    return SSL_write(l->ssl, plain.ptr, (int)plain.len) == (int)plain.len;
}

void relay_tls__take(struct relay_link *l, struct buf *out)
{
    char *bytes = NULL;
    BIO *wire = SSL_get_wbio(l->ssl);
    long n = BIO_get_mem_data(wire, &bytes);
    if (n > 0) {
        buf_add(out, bytes, (size_t)n);
        (void)BIO_reset(wire);
    }
}
