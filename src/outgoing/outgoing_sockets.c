#include "outgoing/outgoing_sockets.h"

#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/check.h"
#include "base/map.h"

/* A socket that a request waits for, or a kept connection. */
struct watched {
    struct map_node node; /* by fd */
    struct outgoing_sockets *set;
    uv_poll_t poll;
    int fd;
    bool kept;      /* in the list of those that no request uses */
    uint64_t until; /* kept: time at which it is shut down */
    struct watched *before, *after;
};

struct outgoing_sockets {
    uv_loop_t *loop;
    uint64_t kept_ms;
    void (*happened)(void *data, int fd, int events, bool failed);
    void *data;
    struct map by_fd;
    struct watched *first, *last; /* kept, ordered by time */
    uv_timer_t timer;             /* for the first of them */
};

static struct watched *find(const struct outgoing_sockets *s, int fd)
{
    struct map_node *n = map_find(&s->by_fd, str_from((const char *)&fd, sizeof fd));
    return n == NULL ? NULL : CONTAINER_OF(n, struct watched, node);
}

static void closed_cb(uv_handle_t *handle)
{
    free(handle->data);
}

static struct watched *add(struct outgoing_sockets *s, int fd)
{
    struct watched *w = calloc(1, sizeof *w);
    CHECK(w != NULL);
    w->set = s;
    w->fd = fd;
    w->node.key = str_from((const char *)&w->fd, sizeof w->fd);
    CHECK(uv_poll_init_socket(s->loop, &w->poll, fd) == 0);
    w->poll.data = w;
    map_add(&s->by_fd, &w->node);
    return w;
}

/* Kept connections: the time is the same for all, so the list is ordered. */

static void timer_cb(uv_timer_t *timer);

static void arm(struct outgoing_sockets *s)
{
    uint64_t now_ms = uv_now(s->loop);
    if (s->first == NULL) {
        (void)uv_timer_stop(&s->timer);
    } else {
        uint64_t until = s->first->until;
        CHECK(uv_timer_start(&s->timer, timer_cb, until > now_ms ? until - now_ms : 0, 0) == 0);
    }
}

static void leave(struct watched *w)
{
    struct outgoing_sockets *s = w->set;
    if (w->kept) {
        *(w->before != NULL ? &w->before->after : &s->first) = w->after;
        *(w->after != NULL ? &w->after->before : &s->last) = w->before;
        w->before = w->after = NULL;
        w->kept = false;
        if (s->first == NULL) {
            (void)uv_timer_stop(&s->timer);
        }
    }
}

/* No request will use the connection. libcurl looks for bytes to read, and takes a connection that
 * has some for one that is alive. */
static void retire(struct watched *w)
{
    char bytes[4096];
    leave(w);
    (void)uv_poll_stop(&w->poll);
    (void)shutdown(w->fd, SHUT_RDWR);
    while (recv(w->fd, bytes, sizeof bytes, MSG_DONTWAIT) > 0) {
    }
}

static void timer_cb(uv_timer_t *timer)
{
    struct outgoing_sockets *s = timer->data;
    while (s->first != NULL && s->first->until <= uv_now(s->loop)) {
        retire(s->first);
    }
    arm(s);
}

static void poll_cb(uv_poll_t *poll, int status, int events)
{
    struct watched *w = poll->data;
    if (w->kept) {
        retire(w);
    } else {
        w->set->happened(w->set->data, w->fd, events, status < 0);
    }
}

void outgoing_sockets_keep(struct outgoing_sockets *s, int fd, bool silent)
{
    if (find(s, fd) != NULL) {
        return;
    }
    struct watched *w = add(s, fd);
    int events = UV_DISCONNECT | (silent ? UV_READABLE : 0);
    CHECK(uv_poll_start(&w->poll, events, poll_cb) == 0);
    w->kept = true;
    w->until = uv_now(s->loop) + s->kept_ms;
    w->before = s->last;
    *(s->last != NULL ? &s->last->after : &s->first) = w;
    s->last = w;
    if (s->first == w) {
        arm(s);
    }
}

void outgoing_sockets_forget(struct outgoing_sockets *s, int fd)
{
    struct watched *w = find(s, fd);
    if (w != NULL) {
        leave(w);
        (void)uv_poll_stop(&w->poll);
        map_remove(&s->by_fd, &w->node);
        uv_close((uv_handle_t *)&w->poll, closed_cb);
    }
}

void outgoing_sockets_watch(struct outgoing_sockets *s, int fd, int events)
{
    struct watched *w = find(s, fd);
    if (events == 0) {
        outgoing_sockets_forget(s, fd);
        return;
    }
    w = w == NULL ? add(s, fd) : w;
    leave(w);
    CHECK(uv_poll_start(&w->poll, events, poll_cb) == 0);
}

struct outgoing_sockets *
outgoing_sockets_open(uv_loop_t *loop, uint64_t kept_ms,
                      void (*happened)(void *data, int fd, int events, bool failed), void *data)
{
    struct outgoing_sockets *s = calloc(1, sizeof *s);
    CHECK(s != NULL);
    s->loop = loop;
    s->kept_ms = kept_ms;
    s->happened = happened;
    s->data = data;
    map_init(&s->by_fd);
    CHECK(uv_timer_init(loop, &s->timer) == 0);
    s->timer.data = s;
    return s;
}

void outgoing_sockets_close(struct outgoing_sockets *s)
{
    CHECK(s->by_fd.count == 0);
    map_deinit(&s->by_fd);
    uv_close((uv_handle_t *)&s->timer, closed_cb);
}
