#include "http/http_tls.h"

#include <openssl/err.h>
#include <openssl/pem.h>
#include <uv.h>

#include "base/check.h"

static enum err_code tls_err(struct err *err, const char *file)
{
    unsigned long code = ERR_get_error();
    const char *reason =
        ERR_SYSTEM_ERROR(code) ? uv_strerror(-ERR_GET_REASON(code)) : ERR_reason_error_string(code);
    ERR_clear_error();
    return err_set(err, ERR_IO, "TLS file '%s': %s", file,
                   reason == NULL ? "cannot be used" : reason);
}

/* Refuse a key with a password: OpenSSL would prompt for it on the terminal. */
static int no_password_cb(char *room, int size, int writing, void *data)
{
    (void)room;
    (void)size;
    (void)writing;
    (void)data;
    ERR_raise(ERR_LIB_PEM, PEM_R_BAD_PASSWORD_READ); /* the first error is the one reported */
    return -1;
}

/* Select "h2" if the client offers it, else "http/1.1". A client without ALPN uses HTTP/1. */
static int alpn_cb(SSL *ssl, const unsigned char **out, unsigned char *out_len,
                   const unsigned char *in, unsigned in_len, void *data)
{
    static const unsigned char offers[] = "\x02h2\x08http/1.1";
    (void)ssl;
    (void)data;
    unsigned char *chosen = NULL;
    int rc =
        SSL_select_next_proto(&chosen, out_len, offers, (unsigned)sizeof offers - 1, in, in_len);
    if (rc != OPENSSL_NPN_NEGOTIATED) {
        return SSL_TLSEXT_ERR_NOACK;
    }
    *out = chosen;
    return SSL_TLSEXT_ERR_OK;
}

static void context_freep(SSL_CTX **context)
{
    SSL_CTX_free(*context);
}

enum err_code http_tls_load(const char *cert_file, const char *key_file, SSL_CTX **out_context,
                            struct err *err)
{
    ATTR_CLEANUP(context_freep) SSL_CTX *context = SSL_CTX_new(TLS_server_method());
    CHECK(context != NULL);
    ERR_clear_error();
    CHECK(SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION) == 1);
    SSL_CTX_set_options(context, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION |
                                     SSL_OP_CIPHER_SERVER_PREFERENCE);
    SSL_CTX_set_mode(context, SSL_MODE_RELEASE_BUFFERS);
    /* With tickets, sessions resume without a cache shared by all threads. */
    SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
    SSL_CTX_set_alpn_select_cb(context, alpn_cb, NULL);
    SSL_CTX_set_default_passwd_cb(context, no_password_cb);
    if (SSL_CTX_use_certificate_chain_file(context, cert_file) != 1) {
        return tls_err(err, cert_file);
    }
    if (SSL_CTX_use_PrivateKey_file(context, key_file, SSL_FILETYPE_PEM) != 1 ||
        SSL_CTX_check_private_key(context) != 1) {
        return tls_err(err, key_file);
    }
    *out_context = TAKE(context);
    return ERR_OK;
}

void http_tls_open(struct http_tls *tls, SSL_CTX *context)
{
    tls->ssl = SSL_new(context);
    tls->in = BIO_new(BIO_s_mem());
    tls->out = BIO_new(BIO_s_mem());
    CHECK(tls->ssl != NULL);
    CHECK(tls->in != NULL);
    CHECK(tls->out != NULL);
    /* An empty buffer means "retry", not "end of file". */
    BIO_set_mem_eof_return(tls->in, -1);
    BIO_set_mem_eof_return(tls->out, -1);
    SSL_set_bio(tls->ssl, tls->in, tls->out);
    SSL_set_accept_state(tls->ssl);
}

void http_tls_close(struct http_tls *tls)
{
    SSL_free(tls->ssl);
    *tls = (struct http_tls){0};
}

void http_tls_feed(struct http_tls *tls, struct str bytes)
{
    CHECK(BIO_write(tls->in, bytes.ptr, (int)bytes.len) == (int)bytes.len);
}

int http_tls_read(struct http_tls *tls, char *room, size_t size)
{
    ERR_clear_error();
    int n = SSL_read(tls->ssl, room, (int)size);
    if (n > 0) {
        return n;
    }
    int why = SSL_get_error(tls->ssl, n);
    return why == SSL_ERROR_WANT_READ || why == SSL_ERROR_ZERO_RETURN ? 0 : -1;
}

bool http_tls_is_over(const struct http_tls *tls)
{
    return (SSL_get_shutdown(tls->ssl) & SSL_RECEIVED_SHUTDOWN) != 0;
}

bool http_tls_write(struct http_tls *tls, struct str plain)
{
    ERR_clear_error();
    return SSL_write(tls->ssl, plain.ptr, (int)plain.len) == (int)plain.len;
}

void http_tls_end(struct http_tls *tls)
{
    ERR_clear_error();
    (void)SSL_shutdown(tls->ssl);
}

void http_tls_take(struct http_tls *tls, struct http_out *wire)
{
    for (size_t n = BIO_ctrl_pending(tls->out); n > 0; n = BIO_ctrl_pending(tls->out)) {
        char *room = http_out_reserve(wire, n);
        int got = BIO_read(tls->out, room, (int)n);
        CHECK(got > 0);
        http_out_commit(wire, (size_t)got);
    }
}
