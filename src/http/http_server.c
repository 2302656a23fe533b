#include "http/http_server.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/check.h"
#include "http/http1_encode.h"
#include "http/http_listener_int.h"
#include "http/http_loop_int.h"
#include "http/http_tls.h"

enum {
    THREADS_DEFAULT_MAX = 8,
    /* RFC 9113, 6.5.2: the range of SETTINGS_MAX_FRAME_SIZE. */
    FRAME_BYTES_MIN = 1 << 14,
    FRAME_BYTES_MAX = (1 << 24) - 1,
};

struct http_server {
    struct http_server_config config;
    char *cert_file, *key_file;
    struct buf common[HTTP_COMMON_SETS]; /* config.common in the form of HTTP/1 */
    struct http_loop *loops;
    unsigned loop_count;
    struct http_listener *listener;
    bool started;
    atomic_bool stopped;
    atomic_uint running; /* threads */
};

/* Two threads on two processors are as fast as one. If the host takes a processor away, the clients
 * of the other thread continue. */
static unsigned default_threads(void)
{
    unsigned cpus = uv_available_parallelism();
    if (cpus < 4) {
        return cpus < 2 ? 1 : 2;
    }
    return cpus / 2 < THREADS_DEFAULT_MAX ? cpus / 2 : THREADS_DEFAULT_MAX;
}

/* The last call on a network thread. */
static void loop_ended(struct http_loop *loop)
{
    struct http_server *s = loop->server;
    /* The thread that counts down to zero sees the other threads' last writes. */
    if (atomic_fetch_sub_explicit(&s->running, 1, memory_order_acq_rel) == 1 &&
        s->config.on_closed != NULL) {
        s->config.on_closed(s->config.data);
    }
}

/* Load the certificate and key, and pass a reference to each loop. */
static enum err_code load_tls(struct http_server *s, void (*give)(struct http_loop *, SSL_CTX *),
                              struct err *err)
{
    SSL_CTX *context = NULL;
    if (http_tls_load(s->cert_file, s->key_file, &context, err) != ERR_OK) {
        return err->code;
    }
    for (unsigned i = 0; i < s->loop_count; i++) {
        CHECK(SSL_CTX_up_ref(context) == 1);
        give(&s->loops[i], context);
    }
    SSL_CTX_free(context);
    return ERR_OK;
}

/* Before the threads start. */
static void set_first_tls(struct http_loop *loop, SSL_CTX *context)
{
    loop->tls = context;
}

static enum err_code check_limits(const struct http_limits *limits, struct err *err)
{
    enum { LINE_MIN = 4096 }; /* minimum part of input_bytes for a line of chunk framing */
    if (limits->request_line_bytes > limits->header_bytes) {
        return err_set(err, ERR_VALIDATION, "request_line_bytes is above header_bytes");
    }
    if (limits->input_bytes < limits->chunk_extension_bytes + LINE_MIN) {
        return err_set(err, ERR_VALIDATION, "input_bytes is too small for chunk_extension_bytes");
    }
    if (limits->body_window_bytes > INT32_MAX || limits->h2_connection_window > INT32_MAX ||
        limits->h2_frame_bytes < FRAME_BYTES_MIN || limits->h2_frame_bytes > FRAME_BYTES_MAX) {
        return err_set(err, ERR_VALIDATION, "an HTTP/2 size is out of range");
    }
    if (limits->body_rate_min == 0 || limits->pipeline == 0) {
        return err_set(err, ERR_VALIDATION, "body_rate_min and pipeline must not be 0");
    }
    return ERR_OK;
}

static enum err_code check_config(const struct http_server_config *config, struct err *err)
{
    bool tls = false;
    for (size_t i = 0; i < config->listen_count; i++) {
        tls |= config->listen[i].tls;
    }
    if (config->listen_count == 0) {
        return err_set(err, ERR_VALIDATION, "there is no address to listen on");
    }
    if (tls && (config->tls_cert_file == NULL || config->tls_key_file == NULL)) {
        return err_set(err, ERR_VALIDATION, "TLS needs a certificate file and a key file");
    }
    CHECK(config->on_request != NULL);
    return check_limits(&config->limits, err);
}

static void make_loops(struct http_server *s)
{
    s->loop_count = s->config.threads == 0 ? default_threads() : s->config.threads;
    s->loops = calloc(s->loop_count, sizeof *s->loops);
    CHECK(s->loops != NULL);
    for (unsigned i = 0; i < s->loop_count; i++) {
        struct http_loop *loop = &s->loops[i];
        loop->config = &s->config;
        loop->limits = &s->config.limits;
        for (size_t k = 0; k < HTTP_COMMON_SETS; k++) {
            loop->common[k] = buf_str(&s->common[k]);
        }
        loop->index = i;
        loop->server = s;
        loop->ended = loop_ended;
        http_loop__init(loop);
    }
}

static void write_common(struct buf *out, const struct http_header *headers, size_t count)
{
    enum { COMMON_BYTES_MAX = 4096 };
    CHECK(count <= HTTP_COMMON_HEADERS_MAX);
    buf_init(out, COMMON_BYTES_MAX);
    http1_encode_headers(out, headers, count);
    CHECK(!out->overflow);
}

static void server_freep(struct http_server **s)
{
    http_server_free(*s);
}

static char *copy_z(const char *z)
{
    char *copy = z == NULL ? NULL : strdup(z);
    CHECK(z == NULL || copy != NULL);
    return copy;
}

enum err_code http_server_open(const struct http_server_config *config,
                               struct http_server **out_server, struct err *err)
{
    if (check_config(config, err) != ERR_OK) {
        return err->code;
    }
    ATTR_CLEANUP(server_freep) struct http_server *s = calloc(1, sizeof *s);
    CHECK(s != NULL);
    s->config = *config;
    s->config.listen = NULL; /* belongs to the caller */
    s->cert_file = copy_z(config->tls_cert_file);
    s->key_file = copy_z(config->tls_key_file);
    for (size_t i = 0; i < HTTP_COMMON_SETS; i++) {
        write_common(&s->common[i], config->common[i].headers, config->common[i].count);
    }
    make_loops(s);
    if (http_listener__new(config, s->loops, s->loop_count, &s->listener, err) != ERR_OK) {
        return err->code;
    }
    if (s->cert_file != NULL && load_tls(s, set_first_tls, err) != ERR_OK) {
        return err->code;
    }
    s->loops[0].listener = s->listener;
    atomic_init(&s->running, s->loop_count);
    s->started = true;
    /* The first loop accepts connections, so it is started last, when the others can serve them. */
    for (unsigned i = s->loop_count; i-- > 0;) {
        http_loop__start(&s->loops[i]);
    }
    *out_server = TAKE(s);
    return ERR_OK;
}

uint16_t http_server_port(const struct http_server *s, size_t listen_index)
{
    return http_addr_port(http_listener__addr(s->listener, listen_index));
}

const struct http_addr *http_server_addr(const struct http_server *s, size_t listen_index)
{
    return http_listener__addr(s->listener, listen_index);
}

enum err_code http_server_reload_tls(struct http_server *s, struct err *err)
{
    if (s->cert_file == NULL) {
        return err_set(err, ERR_VALIDATION, "the server has no TLS");
    }
    return load_tls(s, http_loop__set_tls, err);
}

void http_server_stop(struct http_server *s, uint32_t timeout_ms)
{
    if (atomic_exchange(&s->stopped, true)) {
        return;
    }
    for (unsigned i = 0; i < s->loop_count; i++) {
        http_loop__stop(&s->loops[i], timeout_ms);
    }
}

void http_server_free(struct http_server *s)
{
    if (s == NULL) {
        return;
    }
    CHECK(!s->started || atomic_load(&s->stopped));
    for (unsigned i = 0; i < s->loop_count; i++) {
        http_loop__deinit(&s->loops[i], s->started);
    }
    http_listener__free(s->listener);
    free(s->loops);
    for (size_t i = 0; i < HTTP_COMMON_SETS; i++) {
        buf_deinit(&s->common[i]);
    }
    free(s->cert_file);
    free(s->key_file);
    free(s);
}

unsigned http_server_threads(const struct http_server *s)
{
    return s->loop_count;
}

void http_server_stats(const struct http_server *s, unsigned loop_index, struct http_stats *out)
{
    CHECK(loop_index < s->loop_count);
    const struct http_counters *c = &s->loops[loop_index].counters;
#define READ_COUNTER(name) out->name = atomic_load_explicit(&c->name, memory_order_relaxed);
    HTTP_STATS_LIST(READ_COUNTER)
#undef READ_COUNTER
}
