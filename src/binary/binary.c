#include "binary/binary.h"

#include <pthread.h>
#include <stdlib.h>

#include "base/check.h"
#include "binary/binary_int.h"
#include "log/log.h"
#include "os/os_socket.h"

enum {
    BACKLOG = 1024,
    SCRATCH_BYTES = 1 << 20,
    ANSWER_BYTES_MAX = 256 << 20, /* 512 jobs of the largest size */
};

static void connection_cb(uv_stream_t *listener, int status)
{
    if (status == 0) {
        binary_conn__accept(listener->data);
    }
}

static void turn_cb(uv_prepare_t *turn)
{
    struct binary *b = turn->data;
    binary_conn__send_all(b);
    engine_outbox_flush(&b->outbox);
    b->outbox.clients = b->conn_count;
}

static void turned(void *data)
{
    struct binary *b = data;
    engine_outbox_flush(&b->outbox);
}

/* No connection is left, so the engine has no more results for this thread. */
static void finish(struct binary *b)
{
    engine_taken_close(b->taken);
    uv_close((uv_handle_t *)&b->turn, NULL);
    mailbox_close(&b->mailbox);
}

void binary__conn_gone(struct binary *b)
{
    if (b->stopping && b->conns == NULL) {
        finish(b);
    }
}

static void stop(struct msg *m)
{
    struct binary *b = CONTAINER_OF(m, struct binary, stop_msg);
    b->stopping = true;
    uv_close((uv_handle_t *)&b->listener, NULL);
    for (struct binary_conn *c = b->conns; c != NULL; c = c->next) {
        binary_conn__close(c);
    }
    if (b->conns == NULL) {
        finish(b);
    }
}

static void thread_main(void *data)
{
    struct binary *b = data;
    (void)pthread_setname_np(pthread_self(), "binary");
    (void)uv_run(&b->loop, UV_RUN_DEFAULT);
}

static enum err_code listen_on(struct binary *b, struct err *err)
{
    int len = sizeof b->addr.sockaddr;
    uv_os_fd_t fd;
    if (http_addr_parse(b->config.address, &b->addr, err) != ERR_OK) {
        return err_wrap(err, "rpc-bind");
    }
    int rc = uv_tcp_bind(&b->listener, (const struct sockaddr *)&b->addr.sockaddr, 0);
    if (rc == 0 && uv_fileno((const uv_handle_t *)&b->listener, &fd) == 0) {
        os_socket_watch_peers(fd);
        os_socket_limit_unread(fd); /* pushed jobs that stay unread would lose their leases */
    }
    rc = rc == 0 ? uv_listen((uv_stream_t *)&b->listener, BACKLOG, connection_cb) : rc;
    rc =
        rc == 0 ? uv_tcp_getsockname(&b->listener, (struct sockaddr *)&b->addr.sockaddr, &len) : rc;
    if (rc != 0) {
        return err_set(err, ERR_IO, "rpc-bind: cannot listen on %s: %s", b->config.address,
                       uv_strerror(rc));
    }
    return ERR_OK;
}

static void free_binary(struct binary *b)
{
    (void)uv_run(&b->loop, UV_RUN_DEFAULT); /* run the close callbacks */
    CHECK(uv_loop_close(&b->loop) == 0);
    mailbox_deinit(&b->mailbox);
    binary_held__free(b);
    arena_pool_deinit(&b->call_arenas);
    arena_free(b->answer);
    arena_free(b->scratch);
    free(b);
}

enum err_code binary_open(const struct binary_config *config, struct binary **out, struct err *err)
{
    struct binary *b = calloc(1, sizeof *b);
    CHECK(b != NULL);
    b->config = *config;
    b->outbox.engine = config->engine;
    b->stop_msg.deliver = stop;
    map_init(&b->held);
    b->scratch = arena_new(SCRATCH_BYTES);
    b->answer = arena_new_budget(ANSWER_BYTES_MAX, config->budget);
    CHECK(uv_loop_init(&b->loop) == 0);
    CHECK(uv_tcp_init(&b->loop, &b->listener) == 0);
    CHECK(uv_prepare_init(&b->loop, &b->turn) == 0);
    mailbox_open(&b->mailbox, &b->loop);
    mailbox_on_turn(&b->mailbox, turned, b);
    b->listener.data = b->turn.data = b;
    if (listen_on(b, err) != ERR_OK) {
        uv_close((uv_handle_t *)&b->listener, NULL);
        uv_close((uv_handle_t *)&b->turn, NULL);
        mailbox_close(&b->mailbox);
        free_binary(b);
        return err->code;
    }
    CHECK(uv_prepare_start(&b->turn, turn_cb) == 0);
    b->taken = engine_taken_open(config->engine, &b->mailbox, binary_held__taken, b);
    CHECK(uv_thread_create(&b->thread, thread_main, b) == 0);
    log_info("binary worker protocol", LOG_Z("bind", config->address),
             LOG_U64("port", http_addr_port(&b->addr)));
    *out = b;
    return ERR_OK;
}

void binary_close(struct binary *b)
{
    if (b != NULL) {
        bool posted = mailbox_post(&b->mailbox, &b->stop_msg);
        CHECK(posted);
        CHECK(uv_thread_join(&b->thread) == 0);
        free_binary(b);
    }
}

const struct http_addr *binary_addr(const struct binary *b)
{
    return &b->addr;
}
