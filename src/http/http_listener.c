#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <uv.h>

#include "base/check.h"
#include "base/map.h"
#include "http/http1_encode.h"
#include "http/http_listener_int.h"
#include "http/http_status.h"
#include "log/log.h"
#include "os/os_socket.h"

enum {
    /* pending connections; above this, clients retry after a second */
    BACKLOG = SOMAXCONN,
    ACCEPT_MAX = 64, /* per turn */
    WARN_EVERY_MS = 10000,
    ACCEPT_PAUSE_MS = 100, /* when the process is out of file descriptors */
};

struct listen_socket {
    struct http_listener *listener;
    uv_poll_t poll;
    int fd;
    struct http_addr addr;
    bool tls;
};

/* Counts the connections of one address. */
struct http_peer {
    struct map_node node;
    uint8_t key[HTTP_ADDR_KEY_BYTES];
    unsigned count;
};

struct http_listener {
    const struct http_limits *limits;
    struct http_loop *loops;
    unsigned loop_count;
    unsigned *conn_counts; /* per loop */
    struct listen_socket *sockets;
    size_t socket_count;
    struct map peers;
    unsigned slots_out;
    uv_timer_t pause;
    uint64_t warned_ms; /* when the pause was last logged */
    bool started;
    bool stopped;
};

/* ---- slots ---- */

static struct http_peer *peer_find(struct http_listener *l, const struct http_addr *addr)
{
    uint8_t key[HTTP_ADDR_KEY_BYTES];
    http_addr_key(addr, key);
    struct map_node *node = map_find(&l->peers, str_from(key, sizeof key));
    if (node != NULL) {
        return CONTAINER_OF(node, struct http_peer, node);
    }
    struct http_peer *peer = calloc(1, sizeof *peer);
    CHECK(peer != NULL);
    memcpy(peer->key, key, sizeof key);
    peer->node.key = str_from(peer->key, sizeof peer->key);
    map_add(&l->peers, &peer->node);
    return peer;
}

static void peer_release(struct http_listener *l, struct http_peer *peer)
{
    if (peer->count == 0) {
        map_remove(&l->peers, &peer->node);
        free(peer);
    }
}

/* On the first loop's thread: return the slot. */
static void slot_back(struct http_slot *slot)
{
    struct http_listener *l = slot->listener;
    l->conn_counts[slot->loop->index]--;
    l->slots_out--;
    slot->peer->count--;
    peer_release(l, slot->peer);
    free(slot);
}

static void slot_back_deliver(struct msg *m)
{
    slot_back(CONTAINER_OF(m, struct http_slot, msg));
}

void http_listener__give_back(struct http_slot *slot)
{
    struct http_listener *l = slot->listener;
    if (slot->loop == &l->loops[0]) {
        slot_back(slot);
        return;
    }
    slot->msg.deliver = slot_back_deliver;
    /* The first loop does not end before every slot is returned. */
    CHECK(mailbox_post(&l->loops[0].mailbox, &slot->msg));
}

static void slot_arrive(struct msg *m)
{
    struct http_slot *slot = CONTAINER_OF(m, struct http_slot, msg);
    if (slot->loop->closed) {
        (void)close(slot->fd); /* delivered while the thread was ending */
        http_listener__give_back(slot);
        return;
    }
    http_conn__open(slot->loop, slot);
}

static struct http_loop *least_busy(struct http_listener *l)
{
    unsigned best = 0;
    for (unsigned i = 1; i < l->loop_count; i++) {
        if (l->conn_counts[i] < l->conn_counts[best]) {
            best = i;
        }
    }
    return &l->loops[best];
}

static void slot_send(struct http_listener *l, struct http_slot *slot)
{
    if (slot->loop == &l->loops[0]) {
        http_conn__open(slot->loop, slot);
        return;
    }
    slot->msg.deliver = slot_arrive;
    if (!mailbox_post(&slot->loop->mailbox, &slot->msg)) {
        (void)close(slot->fd); /* the thread has already ended */
        slot_back(slot);
    }
}

/* ---- accepting ---- */

/* Send the reason and close. Best effort: the client may not have sent anything yet. */
static void turn_away(struct http_listener *l, int fd, bool tls, struct http_problem problem)
{
    struct http_loop *loop = &l->loops[0];
    HTTP_LOOP_COUNT(loop, connections_refused, 1);
    if (!tls) {
        char room[HTTP_STATUS_BODY_MAX];
        const struct http_response response = http_status_refusal(problem, room);
        const struct http1_answer answer = {.response = &response,
                                            .framing = HTTP1_LENGTH,
                                            .length = response.body.len,
                                            .connection = STR("close"),
                                            .date = http_loop__date(loop),
                                            .common = loop->common[0],
                                            .body = response.body};
        struct http_out out;
        http_out_init(&out, &loop->blocks);
        http1_encode_head(&out, &answer);
        struct str text = http_out_first(&out);
        (void)send(fd, text.ptr, text.len, MSG_NOSIGNAL | MSG_DONTWAIT);
        (void)shutdown(fd, SHUT_WR);
        http_out_clear(&out);
    }
    (void)close(fd);
}

static void admit(struct listen_socket *s, int fd, const struct http_addr *addr)
{
    struct http_listener *l = s->listener;
    if (l->slots_out >= l->limits->connections) {
        turn_away(l, fd, s->tls, (struct http_problem){503, "too many connections"});
        return;
    }
    struct http_peer *peer = peer_find(l, addr);
    if (peer->count >= l->limits->connections_per_address) {
        turn_away(l, fd, s->tls,
                  (struct http_problem){429, "too many connections from this address"});
        peer_release(l, peer);
        return;
    }
    struct http_slot *slot = calloc(1, sizeof *slot);
    CHECK(slot != NULL);
    slot->listener = l;
    slot->peer = peer;
    slot->loop = least_busy(l);
    slot->addr = *addr;
    slot->fd = fd;
    slot->tls = s->tls;
    peer->count++;
    l->slots_out++;
    l->conn_counts[slot->loop->index]++;
    slot_send(l, slot);
}

static void poll_all(struct http_listener *l, bool on);

static void pause_cb(uv_timer_t *timer)
{
    struct http_listener *l = timer->data;
    poll_all(l, true);
}

/* Out of file descriptors: leave clients in the kernel's queue for a moment instead of spinning. */
static void pause_accepting(struct http_listener *l, int why)
{
    uint64_t now_ms = http_loop__now_ms(&l->loops[0]);
    if (l->warned_ms == 0 || now_ms - l->warned_ms > WARN_EVERY_MS) {
        l->warned_ms = now_ms;
        log_warn("http accept paused", LOG_Z("error", uv_strerror(-why)),
                 LOG_U64("connections", l->slots_out));
    }
    HTTP_LOOP_COUNT(&l->loops[0], accept_pauses, 1);
    poll_all(l, false);
    CHECK(uv_timer_start(&l->pause, pause_cb, ACCEPT_PAUSE_MS, 0) == 0);
}

static void poll_cb(uv_poll_t *poll, int status, int events)
{
    struct listen_socket *s = poll->data;
    (void)status;
    (void)events;
    for (unsigned i = 0; i < ACCEPT_MAX; i++) {
        struct http_addr addr = {.len = sizeof addr.sockaddr};
        int fd = accept4(s->fd, (struct sockaddr *)&addr.sockaddr, &addr.len,
                         SOCK_NONBLOCK | SOCK_CLOEXEC);
        if (fd >= 0) {
            admit(s, fd, &addr);
        } else if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM) {
            pause_accepting(s->listener, errno);
            return;
        } else if (errno == EAGAIN) {
            return;
        }
        /* Other errors concern only the connection that was to be accepted. */
    }
}

static void poll_all(struct http_listener *l, bool on)
{
    for (size_t i = 0; i < l->socket_count; i++) {
        struct listen_socket *s = &l->sockets[i];
        CHECK((on ? uv_poll_start(&s->poll, UV_READABLE, poll_cb) : uv_poll_stop(&s->poll)) == 0);
    }
}

void http_listener__start(struct http_listener *l)
{
    struct http_loop *loop = &l->loops[0];
    CHECK(!l->started);
    l->started = true;
    CHECK(uv_timer_init(&loop->uv, &l->pause) == 0);
    l->pause.data = l;
    for (size_t i = 0; i < l->socket_count; i++) {
        struct listen_socket *s = &l->sockets[i];
        CHECK(uv_poll_init(&loop->uv, &s->poll, s->fd) == 0);
        s->poll.data = s;
    }
    poll_all(l, true);
}

static void poll_closed_cb(uv_handle_t *handle)
{
    struct listen_socket *s = handle->data;
    (void)close(s->fd);
    s->fd = -1;
}

void http_listener__stop(struct http_listener *l)
{
    CHECK(l->started);
    l->stopped = true;
    uv_close((uv_handle_t *)&l->pause, NULL);
    for (size_t i = 0; i < l->socket_count; i++) {
        /* From now on the kernel refuses new clients immediately. */
        (void)shutdown(l->sockets[i].fd, SHUT_RD);
        uv_close((uv_handle_t *)&l->sockets[i].poll, poll_closed_cb);
    }
}

bool http_listener__is_idle(const struct http_listener *l)
{
    return (l->stopped || !l->started) && l->slots_out == 0;
}

/* ---- binding ---- */

static int open_socket(const struct http_addr *addr)
{
    static const int on = 1;
    static const int off = 0;
    int fd = socket(addr->sockaddr.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0) {
        return -1;
    }
    (void)setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    /* Accepted sockets inherit these. */
    (void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    os_socket_watch_peers(fd);
    if (addr->sockaddr.ss_family == AF_INET6) {
        /* ":8080" includes IPv4, regardless of the system's default. */
        (void)setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off);
    }
    if (bind(fd, (const struct sockaddr *)&addr->sockaddr, addr->len) != 0 ||
        listen(fd, BACKLOG) != 0) {
        int why = errno;
        (void)close(fd);
        errno = why;
        return -1;
    }
    return fd;
}

static enum err_code bind_socket(struct listen_socket *s, const struct http_listen *listen_on,
                                 struct err *err)
{
    struct http_addr addr;
    if (http_addr_parse(listen_on->address, &addr, err) != ERR_OK) {
        return err->code;
    }
    s->fd = open_socket(&addr);
    if (s->fd < 0 && errno == EAFNOSUPPORT && listen_on->address[0] == ':') {
        /* The system has no IPv6. */
        struct sockaddr_in in = {.sin_family = AF_INET, .sin_port = htons(http_addr_port(&addr))};
        memcpy(&addr.sockaddr, &in, sizeof in);
        addr.len = sizeof in;
        s->fd = open_socket(&addr);
    }
    if (s->fd < 0) {
        (void)err_from_errno(err, "bind");
        return err_wrap(err, "listen on '%s'", listen_on->address);
    }
    addr.len = sizeof addr.sockaddr;
    if (getsockname(s->fd, (struct sockaddr *)&addr.sockaddr, &addr.len) != 0) {
        return err_from_errno(err, "getsockname");
    }
    s->addr = addr;
    s->tls = listen_on->tls;
    return ERR_OK;
}

static void listener_freep(struct http_listener **l)
{
    http_listener__free(*l);
}

enum err_code http_listener__new(const struct http_server_config *config, struct http_loop *loops,
                                 unsigned loop_count, struct http_listener **out, struct err *err)
{
    ATTR_CLEANUP(listener_freep) struct http_listener *l = calloc(1, sizeof *l);
    CHECK(l != NULL);
    l->limits = loops[0].limits;
    l->loops = loops;
    l->loop_count = loop_count;
    l->conn_counts = calloc(loop_count, sizeof *l->conn_counts);
    l->sockets = calloc(config->listen_count, sizeof *l->sockets);
    CHECK(l->conn_counts != NULL);
    CHECK(l->sockets != NULL);
    map_init(&l->peers);
    for (size_t i = 0; i < config->listen_count; i++) {
        l->sockets[i].listener = l;
        l->sockets[i].fd = -1;
        l->socket_count++;
        if (bind_socket(&l->sockets[i], &config->listen[i], err) != ERR_OK) {
            return err->code;
        }
    }
    *out = TAKE(l);
    return ERR_OK;
}

const struct http_addr *http_listener__addr(const struct http_listener *l, size_t index)
{
    CHECK(index < l->socket_count);
    return &l->sockets[index].addr;
}

void http_listener__free(struct http_listener *l)
{
    if (l == NULL) {
        return;
    }
    CHECK(l->slots_out == 0);
    for (size_t i = 0; i < l->socket_count; i++) {
        if (l->sockets[i].fd >= 0) {
            (void)close(l->sockets[i].fd);
        }
    }
    map_deinit(&l->peers);
    free(l->conn_counts);
    free(l->sockets);
    free(l);
}
