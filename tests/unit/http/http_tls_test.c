#include "http/http_tls.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>

#include "base/buf.h"
#include "http_fixture.h"
#include "lib/expect.h"
#include "lib/net_client.h"
#include "lib/test.h"
#include "lib/tmpdir.h"

#define H "Host: t\r\n"

struct world {
    struct tmpdir dir;
    char cert[400], key[400];
    struct http_fixture f;
};

/* Write a self-signed certificate for the name, and its key. */
static void write_certificate(const struct world *w, const char *name)
{
    EVP_PKEY *key = EVP_EC_gen("P-256");
    X509 *cert = X509_new();
    assert_non_null(key);
    assert_non_null(cert);
    assert_int_equal(ASN1_INTEGER_set(X509_get_serialNumber(cert), 1), 1);
    assert_non_null(X509_gmtime_adj(X509_getm_notBefore(cert), -60));
    assert_non_null(X509_gmtime_adj(X509_getm_notAfter(cert), 3600));
    X509_NAME *subject = X509_get_subject_name(cert);
    assert_int_equal(X509_NAME_add_entry_by_txt(subject, "CN", MBSTRING_ASC,
                                                (const unsigned char *)name, -1, -1, 0),
                     1);
    assert_int_equal(X509_set_issuer_name(cert, subject), 1);
    assert_int_equal(X509_set_pubkey(cert, key), 1);
    assert_true(X509_sign(cert, key, EVP_sha256()) > 0);
    FILE *file = fopen(w->cert, "w");
    assert_non_null(file);
    assert_int_equal(PEM_write_X509(file, cert), 1);
    assert_int_equal(fclose(file), 0);
    file = fopen(w->key, "w");
    assert_non_null(file);
    assert_int_equal(PEM_write_PrivateKey(file, key, NULL, NULL, 0, NULL, NULL), 1);
    assert_int_equal(fclose(file), 0);
    X509_free(cert);
    EVP_PKEY_free(key);
}

static void set_files(struct world *w)
{
    w->dir = tmpdir_new();
    (void)snprintf(w->cert, sizeof w->cert, "%s/cert.pem", w->dir.path);
    (void)snprintf(w->key, sizeof w->key, "%s/key.pem", w->dir.path);
}

static void open_world(struct world *w, const struct http_limits *limits)
{
    static const struct http_listen listen_on = {.address = "127.0.0.1:0", .tls = true};
    set_files(w);
    write_certificate(w, "first");
    struct http_server_config config = {.listen = &listen_on,
                                        .listen_count = 1,
                                        .threads = 2,
                                        .limits = limits == NULL ? HTTP_LIMITS_DEFAULT : *limits,
                                        .tls_cert_file = w->cert,
                                        .tls_key_file = w->key};
    http_fixture_open_config(&w->f, &config);
}

static void close_world(struct world *w)
{
    http_fixture_close(&w->f, 20000);
    tmpdir_remove(&w->dir);
}

/* A blocking TLS client. The alpn of tls_open is a list in wire format, or NULL. */
struct tls_client {
    struct net_client net;
    SSL_CTX *context;
    SSL *ssl;
};

static void tls_open(struct tls_client *c, const struct world *w, const char *alpn)
{
    net_client_open(&c->net, w->f.port);
    c->context = SSL_CTX_new(TLS_client_method());
    assert_non_null(c->context);
    c->ssl = SSL_new(c->context);
    assert_non_null(c->ssl);
    if (alpn != NULL) {
        assert_int_equal(
            SSL_set_alpn_protos(c->ssl, (const unsigned char *)alpn, (unsigned)strlen(alpn)), 0);
    }
    assert_int_equal(SSL_set_fd(c->ssl, c->net.fd), 1);
    assert_int_equal(SSL_connect(c->ssl), 1);
}

static void tls_close(struct tls_client *c)
{
    SSL_free(c->ssl);
    SSL_CTX_free(c->context);
    net_client_close(&c->net);
}

static void tls_send(struct tls_client *c, struct str bytes)
{
    assert_int_equal(SSL_write(c->ssl, bytes.ptr, (int)bytes.len), bytes.len);
}

/* Read until in has this many bytes or the connection ends. */
static void tls_read(struct tls_client *c, struct buf *in, size_t bytes)
{
    while (in->len < bytes) {
        char room[8192];
        int n = SSL_read(c->ssl, room, sizeof room);
        if (n <= 0) {
            return;
        }
        buf_add(in, room, (size_t)n);
    }
}

static struct str alpn_of(const struct tls_client *c)
{
    const unsigned char *name;
    unsigned len;
    SSL_get0_alpn_selected(c->ssl, &name, &len);
    return str_from(name, len);
}

static void expect_name(const struct tls_client *c, const char *name)
{
    char text[64];
    X509 *cert = SSL_get1_peer_certificate(c->ssl);
    assert_non_null(cert);
    assert_true(X509_NAME_get_text_by_NID(X509_get_subject_name(cert), NID_commonName, text,
                                          sizeof text) > 0);
    assert_string_equal(text, name);
    X509_free(cert);
}

static void http_tls__serves_http1(void **state)
{
    (void)state;
    struct world w;
    struct tls_client c;
    struct buf in;
    open_world(&w, NULL);
    buf_init(&in, SIZE_MAX);
    tls_open(&c, &w, "\x08http/1.1");
    expect_str(alpn_of(&c), STR("http/1.1"));
    expect_name(&c, "first");
    tls_send(&c, STR("GET /info HTTP/1.1\r\n" H "\r\n"
                     "GET /hello HTTP/1.1\r\n" H "Connection: close\r\n\r\n"));
    tls_read(&c, &in, SIZE_MAX);
    assert_int_equal(SSL_get_error(c.ssl, 0), SSL_ERROR_ZERO_RETURN); /* a close_notify */
    assert_non_null(memmem(in.ptr, in.len, " peer=127.0.0.1 tls ", 20));
    expect_str(str_from_offset(buf_str(&in), in.len - 5), STR("hello"));
    tls_close(&c);
    buf_deinit(&in);
    close_world(&w);
}

static void http_tls__agrees_on_http2(void **state)
{
    (void)state;
    struct world w;
    struct tls_client c;
    struct buf in;
    open_world(&w, NULL);
    buf_init(&in, SIZE_MAX);
    tls_open(&c, &w, "\x08http/1.1\x02h2");
    expect_str(alpn_of(&c), STR("h2"));
    tls_send(&c, STR("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\4\0\0\0\0\0"));
    tls_read(&c, &in, 9);
    assert_int_equal(in.ptr[3], 4); /* SETTINGS */
    tls_close(&c);
    buf_clear(&in);

    /* Without ALPN, the protocol is HTTP/1. */
    tls_open(&c, &w, NULL);
    expect_str(alpn_of(&c), STR_EMPTY);
    tls_send(&c, STR("GET /hello HTTP/1.1\r\n" H "\r\n"));
    tls_read(&c, &in, 12);
    expect_str(str_from(in.ptr, 12), STR("HTTP/1.1 200"));
    tls_close(&c);
    buf_deinit(&in);
    close_world(&w);
}

static void http_tls__carries_large_bodies_both_ways(void **state)
{
    (void)state;
    static char body[700000];
    struct world w;
    struct tls_client c;
    struct buf in;
    struct http_limits limits = HTTP_LIMITS_DEFAULT;
    limits.output_bytes = 100000; /* less than a body, so that encryption has to wait for writes */
    open_world(&w, &limits);
    buf_init(&in, SIZE_MAX);
    for (size_t i = 0; i < sizeof body; i++) {
        body[i] = (char)('a' + i % 19);
    }
    tls_open(&c, &w, NULL);
    tls_send(&c, STR("POST /echo HTTP/1.1\r\n" H "Content-Length: 700000\r\n\r\n"));
    tls_send(&c, str_from(body, sizeof body));
    tls_send(&c, STR("GET /static HTTP/1.1\r\n" H "Connection: close\r\n\r\n"));
    tls_read(&c, &in, SIZE_MAX);
    assert_non_null(memmem(in.ptr, in.len, body, sizeof body));
    assert_true(in.len > sizeof body + FIXTURE_STATIC_BYTES);
    tls_close(&c);
    buf_deinit(&in);
    close_world(&w);
}

static void http_tls__tells_the_handler_when_the_client_has_gone(void **state)
{
    (void)state;
    struct world w;
    struct tls_client c;
    open_world(&w, NULL);
    tls_open(&c, &w, NULL);
    tls_send(&c, STR("GET /park/a HTTP/1.1\r\n" H "\r\n"));
    http_fixture_wait(&w.f, FIXTURE_PARKED, 1);
    tls_close(&c);
    http_fixture_wait(&w.f, FIXTURE_GONE, 1);
    close_world(&w);
}

static void http_tls__takes_a_good_bye_for_the_end(void **state)
{
    (void)state;
    struct world w;
    struct tls_client c;
    struct buf in;
    open_world(&w, NULL);
    buf_init(&in, SIZE_MAX);
    /* Both clients keep their sockets open and wait for the server's close_notify. */
    tls_open(&c, &w, NULL);
    tls_send(&c, STR("GET /park/a HTTP/1.1\r\n" H "\r\n"));
    http_fixture_wait(&w.f, FIXTURE_PARKED, 1);
    assert_int_equal(SSL_shutdown(c.ssl), 0);
    http_fixture_wait(&w.f, FIXTURE_GONE, 1);
    assert_int_equal(SSL_shutdown(c.ssl), 1);
    tls_close(&c);

    tls_open(&c, &w, NULL);
    tls_send(&c, STR("GET /stay/b HTTP/1.1\r\n" H "\r\n"));
    http_fixture_wait(&w.f, FIXTURE_PARKED, 2);
    assert_int_equal(SSL_shutdown(c.ssl), 0);
    http_fixture_wait(&w.f, FIXTURE_SHUT, 1);
    http_fixture_do(&w.f, "b", FIXTURE_ANSWER, "b");
    tls_read(&c, &in, SIZE_MAX);
    expect_str(str_from(in.ptr, 12), STR("HTTP/1.1 200"));
    assert_int_equal(SSL_get_error(c.ssl, 0), SSL_ERROR_ZERO_RETURN);
    tls_close(&c);
    buf_deinit(&in);
    close_world(&w);
}

static void http_tls__says_good_bye_to_idle_clients(void **state)
{
    (void)state;
    static const char preface[] = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\4\0\0\0\0\0";
    const struct str first[] = {
        STR("GET /hello HTTP/1.1\r\n" H "\r\n"),
        str_from(preface, sizeof preface - 1),
    };
    struct world w;
    struct http_limits limits = HTTP_LIMITS_DEFAULT;
    limits.idle_timeout_ms = 20;
    open_world(&w, &limits);
    for (size_t i = 0; i < COUNT_OF(first); i++) {
        struct tls_client c;
        struct buf in;
        buf_init(&in, SIZE_MAX);
        tls_open(&c, &w, NULL);
        tls_send(&c, first[i]);
        tls_read(&c, &in, SIZE_MAX);
        assert_int_equal(SSL_get_error(c.ssl, 0), SSL_ERROR_ZERO_RETURN);
        tls_close(&c);
        buf_deinit(&in);
    }
    close_world(&w);
}

static void http_tls__ends_what_is_not_tls(void **state)
{
    (void)state;
    struct world w;
    struct net_client c;
    struct http_limits limits = HTTP_LIMITS_DEFAULT;
    limits.header_timeout_ms = 20;
    open_world(&w, &limits);
    net_client_open(&c, w.f.port);
    net_client_send(&c, STR("GET /hello HTTP/1.1\r\n" H "\r\n"));
    net_client_read_all(&c);
    assert_true(c.in.len == 0 || memmem(c.in.ptr, c.in.len, "HTTP", 4) == NULL);
    net_client_close(&c);
    /* A handshake that is never finished. */
    net_client_open(&c, w.f.port);
    net_client_send(&c, STR("\x16\x03\x01"));
    net_client_read_all(&c);
    net_client_close(&c);
    close_world(&w);
}

static void http_server_reload_tls__changes_the_certificate_of_new_connections(void **state)
{
    (void)state;
    struct world w;
    struct tls_client old;
    struct buf in;
    struct err err = {0};
    open_world(&w, NULL);
    buf_init(&in, SIZE_MAX);
    tls_open(&old, &w, NULL);
    write_certificate(&w, "second");
    assert_int_equal(http_server_reload_tls(w.f.server, &err), ERR_OK);
    /* The loops start to use the new certificate asynchronously. */
    for (bool seen = false; !seen;) {
        struct tls_client c;
        char text[64];
        tls_open(&c, &w, NULL);
        X509 *cert = SSL_get1_peer_certificate(c.ssl);
        assert_true(X509_NAME_get_text_by_NID(X509_get_subject_name(cert), NID_commonName, text,
                                              sizeof text) > 0);
        seen = strcmp(text, "second") == 0;
        X509_free(cert);
        tls_close(&c);
    }
    tls_send(&old, STR("GET /hello HTTP/1.1\r\n" H "\r\n"));
    tls_read(&old, &in, 12);
    expect_str(str_from(in.ptr, 12), STR("HTTP/1.1 200"));
    tls_close(&old);

    /* Unusable files change nothing. */
    tmpdir_write(w.key, STR("not a key"));
    assert_int_equal(http_server_reload_tls(w.f.server, &err), ERR_IO);
    assert_non_null(strstr(err.msg, "key.pem"));
    assert_int_equal(unlink(w.key), 0);
    assert_int_equal(http_server_reload_tls(w.f.server, &err), ERR_IO);
    assert_non_null(strstr(err.msg, "key.pem': no such file"));
    tls_open(&old, &w, NULL);
    expect_name(&old, "second");
    tls_close(&old);
    buf_deinit(&in);
    close_world(&w);
}

static void http_tls_load__asks_nobody_for_a_password(void **state)
{
    (void)state;
    struct world w;
    struct err err = {0};
    SSL_CTX *context = NULL;
    EVP_PKEY *key = EVP_EC_gen("P-256");
    set_files(&w);
    write_certificate(&w, "first");
    FILE *file = fopen(w.key, "w");
    assert_non_null(file);
    assert_int_equal(PEM_write_PrivateKey(file, key, EVP_aes_128_cbc(),
                                          (const unsigned char *)"secret", 6, NULL, NULL),
                     1);
    assert_int_equal(fclose(file), 0);
    EVP_PKEY_free(key);
    assert_int_equal(http_tls_load(w.cert, w.key, &context, &err), ERR_IO);
    assert_non_null(strstr(err.msg, "key.pem"));
    assert_non_null(strstr(err.msg, "password"));
    tmpdir_remove(&w.dir);
}

TEST_GROUP(http_tls, cmocka_unit_test(http_tls_load__asks_nobody_for_a_password),
           cmocka_unit_test(http_tls__serves_http1), cmocka_unit_test(http_tls__agrees_on_http2),
           cmocka_unit_test(http_tls__carries_large_bodies_both_ways),
           cmocka_unit_test(http_tls__tells_the_handler_when_the_client_has_gone),
           cmocka_unit_test(http_tls__takes_a_good_bye_for_the_end),
           cmocka_unit_test(http_tls__says_good_bye_to_idle_clients),
           cmocka_unit_test(http_tls__ends_what_is_not_tls),
           cmocka_unit_test(http_server_reload_tls__changes_the_certificate_of_new_connections));
