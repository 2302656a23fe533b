/*
 * Push_target: the target that the server calls in push.py. It answers at once and records the time
 * of each call.
 *
 * It prints two ports. The first is an HTTP/1.1 server. A POST has the body {"due":SECONDS} and is
 * answered with 200. GET /report returns two doubles for each call so far: its delay and its time,
 * in seconds. Connections to the second port are never answered. The process exits at the end of
 * its standard input.
 */
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "base/check.h"

enum { REQUEST_BYTES_MAX = 16384, EVENTS_MAX = 256, BACKLOG = 4096 };

struct connection {
    int fd;
    size_t len;
    char in[REQUEST_BYTES_MAX + 1];
};

struct call {
    double late, at;
};

static struct call *calls;
static size_t call_count, call_cap;

static double now_s(void)
{
    struct timespec t;
    CHECK(clock_gettime(CLOCK_REALTIME, &t) == 0);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void note(double due)
{
    double now = now_s();
    if (call_count == call_cap) {
        call_cap = call_cap == 0 ? 4096 : call_cap * 2;
        calls = realloc(calls, call_cap * sizeof *calls);
        CHECK(calls != NULL);
    }
    calls[call_count++] = (struct call){.late = now - due, .at = now};
}

static void send_all(int fd, const void *bytes, size_t len)
{
    const char *at = bytes;
    while (len > 0) {
        ssize_t n = send(fd, at, len, MSG_NOSIGNAL);
        if (n < 0 && errno == EINTR) {
            continue;
        }
        if (n <= 0) {
            return; /* the client has disconnected */
        }
        at += n;
        len -= (size_t)n;
    }
}

static void report(int fd)
{
    char head[128];
    int n = snprintf(head, sizeof head, "HTTP/1.1 200 OK\r\nContent-Length: %zu\r\n\r\n",
                     call_count * sizeof *calls);
    send_all(fd, head, (size_t)n);
    send_all(fd, calls, call_count * sizeof *calls);
}

/* Answer the first request and return its length, or 0 if it is incomplete. */
static size_t answer_first(struct connection *c, char *in)
{
    static const char ok[] = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";
    char *end = strstr(in, "\r\n\r\n");
    if (end == NULL) {
        return 0;
    }
    const char *length = strcasestr(in, "\r\ncontent-length:");
    size_t body = length == NULL || length > end ? 0 : strtoul(length + 17, NULL, 10);
    size_t whole = (size_t)(end + 4 - in) + body;
    if ((size_t)(c->in + c->len - in) < whole) {
        return 0;
    }
    if (strncmp(in, "GET ", 4) == 0) {
        report(c->fd);
        return whole;
    }
    const char *due = strstr(end, "\"due\":");
    CHECK(due != NULL);
    note(strtod(due + 6, NULL));
    send_all(c->fd, ok, sizeof ok - 1);
    return whole;
}

/* False at the end of the connection. */
static bool receive(struct connection *c)
{
    ssize_t n = recv(c->fd, c->in + c->len, REQUEST_BYTES_MAX - c->len, 0);
    if (n <= 0) {
        return n < 0 && (errno == EINTR || errno == EAGAIN);
    }
    c->len += (size_t)n;
    c->in[c->len] = '\0';
    size_t done = 0;
    size_t used;
    while ((used = answer_first(c, c->in + done)) > 0) {
        done += used;
    }
    memmove(c->in, c->in + done, c->len - done + 1);
    c->len -= done;
    return c->len < REQUEST_BYTES_MAX;
}

static int listen_on_loopback(void)
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof at;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    CHECK(fd >= 0 && bind(fd, (struct sockaddr *)&at, sizeof at) == 0 && listen(fd, BACKLOG) == 0 &&
          getsockname(fd, (struct sockaddr *)&at, &len) == 0);
    printf("%d\n", ntohs(at.sin_port));
    return fd;
}

static void watch(int epoll, int fd, void *data)
{
    struct epoll_event e = {.events = EPOLLIN, .data.ptr = data};
    CHECK(epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &e) == 0);
}

static void take(int epoll, int listener)
{
    static const int yes = 1;
    int fd = accept(listener, NULL, NULL);
    if (fd < 0) {
        return;
    }
    struct connection *c = calloc(1, sizeof *c);
    CHECK(c != NULL);
    c->fd = fd;
    (void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    watch(epoll, fd, c);
}

int main(void)
{
    static struct connection input, good, hole; /* used only as identifiers */
    int good_fd = listen_on_loopback();
    int hole_fd = listen_on_loopback();
    int epoll = epoll_create1(EPOLL_CLOEXEC);
    CHECK(epoll >= 0);
    (void)fflush(stdout);
    watch(epoll, STDIN_FILENO, &input);
    watch(epoll, good_fd, &good);
    watch(epoll, hole_fd, &hole);
    for (;;) {
        struct epoll_event events[EVENTS_MAX];
        int n = epoll_wait(epoll, events, EVENTS_MAX, -1);
        for (int i = 0; i < n; i++) {
            struct connection *c = events[i].data.ptr;
            if (c == &input) {
                return 0;
            }
            if (c == &good) {
                take(epoll, good_fd);
            } else if (c == &hole) {
                (void)accept(hole_fd, NULL, NULL); /* kept open and never read */
            } else if (!receive(c)) {
                (void)close(c->fd);
                free(c);
            }
        }
    }
}
