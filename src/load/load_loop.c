/*
 * A thread of a run: moves bytes between its sockets and the wires, and wakes its clients.
 */
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "base/check.h"
#include "base/clock.h"
#include "load/load_int.h"
#include "os/os_clock.h"

enum { READ_BYTES = 256 * 1024, EVENTS_MAX = 128 };

static void watch(struct load_conn *c, int operation)
{
    struct epoll_event e = {.events = EPOLLIN | (c->wants_out ? (uint32_t)EPOLLOUT : 0),
                            .data.ptr = c};
    CHECK(epoll_ctl(c->thread->poll_fd, operation, c->fd, &e) == 0);
}

static enum err_code open_conn(struct load_conn *c, struct err *err)
{
    const struct load_plan *plan = c->thread->run->plan;
    int one = 1;
    int fd = socket(plan->address.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0) {
        return err_from_errno(err, "socket");
    }
    (void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    if (connect(fd, (const struct sockaddr *)&plan->address, plan->address_len) != 0 &&
        errno != EINPROGRESS) {
        enum err_code code = err_from_errno(err, "connect");
        (void)close(fd);
        return code;
    }
    c->fd = fd;
    c->connected = false;
    c->wants_out = true; /* until it is connected */
    buf_clear(&c->out);
    c->out_sent = 0;
    c->thread->wire->open(c);
    watch(c, EPOLL_CTL_ADD);
    return ERR_OK;
}

static void close_conn(struct load_conn *c)
{
    if (c->fd >= 0) {
        c->thread->wire->close(c);
        (void)close(c->fd);
        c->fd = -1;
    }
}

/* Handle a lost connection: its requests in progress get no response. */
static void lose_conn(struct load_conn *c)
{
    int64_t now_ns = os_clock_mono().ns;
    close_conn(c);
    for (size_t i = 0; i < c->client_count; i++) {
        struct load_client *client = c->clients[i];
        if (client->state == CLIENT_SENT) {
            client->status = 0;
            buf_clear(&client->answer);
            load_client__answered(client, now_ns);
        }
    }
}

/* Send the connection's output. False if the connection is lost. */
static bool flush(struct load_conn *c)
{
    if (c->thread->wire->finish != NULL) {
        c->thread->wire->finish(c);
    }
    while (c->connected && c->out_sent < c->out.len) {
        ssize_t n = send(c->fd, c->out.ptr + c->out_sent, c->out.len - c->out_sent, MSG_NOSIGNAL);
        if (n < 0 && errno != EAGAIN && errno != EINTR) {
            return false;
        }
        if (n < 0 && errno == EAGAIN) {
            break;
        }
        c->out_sent += n > 0 ? (size_t)n : 0;
    }
    bool rest = c->out_sent < c->out.len;
    if (!rest) {
        buf_clear(&c->out);
        c->out_sent = 0;
    }
    if (c->wants_out != (rest || !c->connected)) {
        c->wants_out = rest || !c->connected;
        watch(c, EPOLL_CTL_MOD);
    }
    return true;
}

static void step(struct load_client *client, int64_t now_ns)
{
    struct err err;
    if (client->conn->fd < 0 && open_conn(client->conn, &err) != ERR_OK) {
        load_client__unreachable(client, now_ns, err.msg);
    } else {
        load_client__step(client, now_ns);
    }
}

/* Continue the clients whose response is complete. */
static void go_on(struct load_conn *c)
{
    int64_t now_ns = os_clock_mono().ns;
    struct load_client *client = c->answered;
    c->answered = NULL;
    while (client != NULL) {
        struct load_client *next = client->next_answered;
        load_client__answered(client, now_ns);
        if (client->state == CLIENT_READY && !atomic_load(&c->thread->run->stop)) {
            step(client, now_ns);
        }
        client = next;
    }
}

static void handle(struct load_conn *c, char *room)
{
    ssize_t n = recv(c->fd, room, READ_BYTES, 0);
    bool alive = n > 0 || (n < 0 && (errno == EAGAIN || errno == EINTR));
    if (!c->connected) {
        int error = 0;
        socklen_t len = sizeof error;
        alive = alive && getsockopt(c->fd, SOL_SOCKET, SO_ERROR, &error, &len) == 0 && error == 0;
        c->connected = alive;
    }
    if (n > 0) {
        alive = c->thread->wire->input(c, str_from(room, (size_t)n));
        go_on(c);
    }
    if (!alive || !flush(c)) {
        lose_conn(c);
    }
}

/* Wake the clients that are due. Returns the milliseconds until the next one, -1 if there is
 * none. */
static int wake(struct load_thread *t)
{
    int64_t now_ns = os_clock_mono().ns;
    int64_t next_ns = INT64_MAX;
    for (size_t i = 0; i < t->client_count && t->waiting > 0; i++) {
        struct load_client *client = &t->clients[i];
        if (client->state == CLIENT_WAITING && client->wake_ns <= now_ns) {
            t->waiting--;
            client->state = CLIENT_READY;
            step(client, now_ns);
            if (client->conn->fd >= 0 && !flush(client->conn)) {
                lose_conn(client->conn);
            }
        }
        if (client->state == CLIENT_WAITING && client->wake_ns < next_ns) {
            next_ns = client->wake_ns;
        }
    }
    if (next_ns == INT64_MAX) {
        return t->waiting > 0 ? 1 : -1; /* lose_conn may have set an earlier client to waiting */
    }
    int64_t ms = (next_ns - now_ns + NS_PER_MS - 1) / NS_PER_MS;
    return ms > 1000 ? 1000 : (int)ms;
}

static void begin(struct load_thread *t)
{
    int64_t now_ns = os_clock_mono().ns;
    for (size_t i = 0; i < t->client_count; i++) {
        step(&t->clients[i], now_ns);
    }
}

void load_loop__thread(struct load_thread *t)
{
    static _Thread_local char room[READ_BYTES];
    struct epoll_event events[EVENTS_MAX];
    struct epoll_event stop = {.events = EPOLLIN, .data.ptr = NULL};
    t->poll_fd = epoll_create1(EPOLL_CLOEXEC);
    CHECK(t->poll_fd >= 0);
    CHECK(epoll_ctl(t->poll_fd, EPOLL_CTL_ADD, t->run->stop_fd, &stop) == 0);
    begin(t);
    while (t->clients_left > 0 && !atomic_load(&t->run->stop)) {
        int timeout_ms = t->waiting > 0 ? wake(t) : -1;
        if (t->clients_left == 0) {
            break;
        }
        int n = epoll_wait(t->poll_fd, events, EVENTS_MAX, timeout_ms);
        CHECK(n >= 0 || errno == EINTR);
        for (int i = 0; i < n; i++) {
            struct load_conn *c = events[i].data.ptr;
            if (c != NULL && c->fd >= 0) {
                handle(c, room);
            }
        }
    }
    for (size_t i = 0; i < t->conn_count; i++) {
        close_conn(&t->conns[i]);
    }
    (void)close(t->poll_fd);
}
