/*
 * One connection: the handshake, then frames.
 *
 * Frames are written to the socket at once while it accepts bytes; only then is it polled for
 * writing. A dialled connection is read as well, but only for the handshake: any byte after that is
 * an error, and the end of the stream means that the other side is gone.
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/check.h"
#include "log/log.h"
#include "os/os_clock.h"
#include "raftnet/raftnet_int.h"

enum {
    READ_BYTES = 256 << 10,
    READS_PER_TURN = 8, /* then other connections get a turn */
    OUT_BYTES_MAX = 8 * RAFTNET_FRAME_SHAKE_BYTES_MAX,
};

static void closed_cb(uv_handle_t *handle)
{
    struct raftnet_conn *c = handle->data;
    struct raftnet *net = c->net;
    raftnet_link_close(&c->link);
    raftnet_shake_deinit(&c->shake);
    buf_deinit(&c->out);
    buf_deinit(&c->in);
    free(c);
    raftnet__released(net);
}

void raftnet_conn__close(struct raftnet_conn *c, const char *why)
{
    struct raftnet *net = c->net;
    if (c->closing) {
        return;
    }
    c->closing = true;
    while (c->first != NULL) {
        struct raftnet_send *s = c->first;
        c->first = s->next;
        raftnet__over(net, s, false);
    }
    if (c->prev == NULL) {
        net->conns = c->next;
    } else {
        c->prev->next = c->next;
    }
    if (c->next != NULL) {
        c->next->prev = c->prev;
    }
    if (c->peer == NULL) {
        net->incoming--;
    } else {
        raftnet_peer__down(c->peer, c, why);
    }
    (void)uv_poll_stop(&c->poll);
    uv_close((uv_handle_t *)&c->poll, closed_cb);
}

static void poll_cb(uv_poll_t *poll, int status, int events);

static void watch(struct raftnet_conn *c)
{
    bool writes = c->connecting || c->out_at < c->out.len || (c->up && c->first != NULL) ||
                  c->link.wants_write;
    int events = UV_READABLE | (writes ? UV_WRITABLE : 0);
    if (!c->closing && events != c->events) {
        c->events = events;
        CHECK(uv_poll_start(&c->poll, events, poll_cb) == 0);
    }
}

/* The other side is gone, or TLS failed. */
static void end(struct raftnet_conn *c, const char *reason)
{
    char text[160];
    if (c->link.tls_error != NULL) {
        (void)snprintf(text, sizeof text, "TLS: %s", c->link.tls_error);
        reason = text;
    }
    if (c->up && c->peer != NULL) {
        raftnet_peer__lost(c->peer);
    }
    raftnet_conn__close(c, reason);
}

/* --- sending --- */

static bool write_shake(struct raftnet_conn *c)
{
    while (c->out_at < c->out.len) {
        ssize_t n = raftnet_link_write(&c->link, c->out.ptr + c->out_at, c->out.len - c->out_at);
        if (n == RAFTNET_LINK_AGAIN) {
            return true;
        }
        if (n == RAFTNET_LINK_END) {
            end(c, "the connection broke");
            return false;
        }
        c->out_at += (size_t)n;
    }
    if (c->ends) {
        raftnet_conn__close(c, c->refusal.code != ERR_OK ? c->refusal.msg : "refused");
        return false;
    }
    return true;
}

static void write_frames(struct raftnet_conn *c)
{
    while (c->first != NULL && c->up) {
        struct raftnet_send *s = c->first;
        ssize_t n = raftnet_link_write(&c->link, s->frame.ptr + s->at, s->frame.len - s->at);
        if (n == RAFTNET_LINK_AGAIN) {
            return;
        }
        if (n == RAFTNET_LINK_END) {
            end(c, "the connection broke");
            return;
        }
        s->at += (size_t)n;
        c->moved = os_clock_mono();
        c->peer->stats.sent_bytes += (uint64_t)n;
        if (s->at == s->frame.len) {
            c->first = s->next;
            c->last = c->first == NULL ? &c->first : c->last;
            c->peer->stats.queued_bytes -= s->frame.len;
            raftnet__over(c->net, s, true);
        }
    }
}

void raftnet_conn__send(struct raftnet_conn *c, struct raftnet_send *s)
{
    s->next = NULL;
    s->at = 0;
    *c->last = s;
    c->last = &s->next;
    c->peer->stats.queued_bytes += s->frame.len;
    if (c->first == s && c->up) {
        c->moved = os_clock_mono();
        write_frames(c);
    }
    watch(c);
}

/* --- the handshake --- */

static void admit(struct raftnet_conn *c)
{
    struct raftnet *net = c->net;
    struct err err = {0};
    enum raftnet_shake_refusal why = RAFTNET_SHAKE_OTHER;
    /* Set before the hook: if this node adopts the cluster in it, raftnet_set_self closes all other
     * connections, but not this one. */
    c->ends = c->shake.purpose == RAFTNET_SHAKE_INVITE;
    if (!net->hooks.admit(net->hooks.data, &c->shake, &why, &err)) {
        log_warn("peer refused", LOG_STR("node_id", c->shake.other.name),
                 LOG_STR("address", c->shake.other.address), LOG_Z("reason", err.msg));
        raftnet_shake_refuse(&c->shake, why, err.msg, &c->out);
        c->ends = true;
        return;
    }
    raftnet_shake_accept(&c->shake, &c->out);
    c->up = !c->ends;
}

static void failed(struct raftnet_conn *c, const struct err *err)
{
    if (c->peer != NULL) {
        raftnet_peer__refused(c->peer, c->shake.refusal, err->msg);
        c->refusal = *err;
    } else {
        log_warn("peer refused", LOG_STR("node_id", c->shake.other.name),
                 LOG_Z("reason", err->msg));
    }
    c->ends = true;
}

static void take_shake(struct raftnet_conn *c, const struct raftnet_frame *f)
{
    struct err err = {0};
    switch (raftnet_shake_take(&c->shake, f, &c->out, &err)) {
    case RAFTNET_SHAKE_ASKS:
        admit(c);
        break;
    case RAFTNET_SHAKE_DONE:
        c->up = true;
        raftnet_peer__up(c->peer);
        break;
    case RAFTNET_SHAKE_FAILED:
        failed(c, &err);
        break;
    case RAFTNET_SHAKE_GOES_ON:
    default:
        break;
    }
}

/* A stream leaves the loop once the other side has been sent the ACCEPT. */
static bool hand_over(struct raftnet_conn *c)
{
    struct raftnet *net = c->net;
    if (!c->up || c->peer != NULL || c->shake.purpose != RAFTNET_SHAKE_STREAM ||
        c->out_at < c->out.len) {
        return false;
    }
    struct raftnet_link link = c->link;
    (void)uv_poll_stop(&c->poll);
    c->link = (struct raftnet_link){.fd = -1};
    net->hooks.stream(net->hooks.data, &link, &c->shake.other);
    raftnet_conn__close(c, "handed over");
    return true;
}

/* --- receiving --- */

static void deliver(struct raftnet_conn *c, const struct raftnet_frame *f)
{
    struct raftnet *net = c->net;
    if (!c->up) {
        bool was_up = c->up;
        take_shake(c, f);
        if (write_shake(c) && c->up && !was_up && c->peer == NULL &&
            c->shake.purpose == RAFTNET_SHAKE_MESSAGES) {
            net->hooks.met(net->hooks.data, &c->shake.other);
        }
        return;
    }
    if (c->peer != NULL || f->cluster != net->self.cluster) {
        raftnet_conn__close(c, "unexpected frames");
        return;
    }
    struct raftnet_peer *from = raftnet__peer(net, c->shake.other.id);
    from->stats.heard = os_clock_mono();
    from->stats.received_bytes += RAFTNET_FRAME_HEAD_BYTES + f->body.len;
    net->hooks.received(net->hooks.data, &c->shake.other, f);
}

/* Deliver every whole frame; false when the connection has ended. */
static bool parse(struct raftnet_conn *c)
{
    size_t at = 0;
    while (!c->closing && !c->ends) {
        struct raftnet_frame f;
        size_t len = 0;
        size_t max = c->up ? RAFTNET_FRAME_BODY_BYTES_MAX : RAFTNET_FRAME_SHAKE_BYTES_MAX;
        enum raftnet_frame_read got =
            raftnet_frame_read(str_from(c->in.ptr + at, c->in.len - at), max, &f, &len);
        if (got == RAFTNET_FRAME_MORE) {
            break;
        }
        if (got != RAFTNET_FRAME_WHOLE) {
            log_warn("peer dropped", LOG_STR("node_id", c->shake.other.name),
                     LOG_Z("reason", got == RAFTNET_FRAME_FOREIGN
                                         ? "it does not use Corvo's peer protocol"
                                     : got == RAFTNET_FRAME_LONG ? "a frame is too long"
                                                                 : "a checksum is wrong"));
            raftnet_conn__close(c, "a damaged frame");
            break;
        }
        deliver(c, &f);
        at += len;
    }
    if (c->closing) {
        return false;
    }
    memmove(c->in.ptr, c->in.ptr + at, c->in.len - at);
    c->in.len -= at;
    return true;
}

static void read_some(struct raftnet_conn *c)
{
    for (int i = 0; i < READS_PER_TURN; i++) {
        char *room = buf_reserve(&c->in, READ_BYTES);
        CHECK(room != NULL); /* a whole frame and one read fit */
        ssize_t n = raftnet_link_read(&c->link, room, READ_BYTES);
        if (n == RAFTNET_LINK_AGAIN) {
            break;
        }
        if (n == RAFTNET_LINK_END) {
            end(c, c->up ? "the connection broke" : "the node closed the connection");
            return;
        }
        c->in.len += (size_t)n;
        if (!parse(c) || c->ends) {
            return;
        }
        if (hand_over(c)) {
            return;
        }
        if (c->link.ssl == NULL && n < READ_BYTES) {
            break; /* socket drained: another read would only return AGAIN */
        }
    }
    if (c->in.len == 0 && c->in.cap > (size_t)4 * READ_BYTES) {
        buf_deinit(&c->in); /* free the space that one long frame needed */
        buf_init(&c->in, RAFTNET_FRAME_BODY_BYTES_MAX + 2 * READ_BYTES);
    }
}

static void poll_cb(uv_poll_t *poll, int status, int events)
{
    struct raftnet_conn *c = poll->data;
    struct err err;
    bool failed = status < 0; /* libuv reports every failure as EBADF; the socket has the cause */
    if (failed && (!c->connecting || raftnet_link_connected(&c->link, &err) == ERR_OK)) {
        end(c, "the connection broke");
        return;
    }
    if (failed) {
        end(c, err.msg);
        return;
    }
    if (c->connecting) {
        if (raftnet_link_connected(&c->link, &err) != ERR_OK) {
            raftnet_conn__close(c, err.msg);
            return;
        }
        c->connecting = false;
    }
    if (!write_shake(c)) {
        return;
    }
    if ((events & UV_READABLE) != 0 || c->link.ssl != NULL) {
        read_some(c);
    }
    if (!c->closing && !hand_over(c)) {
        write_frames(c);
        watch(c);
    }
}

struct raftnet_conn *raftnet_conn__new(struct raftnet *net, struct raftnet_link *link,
                                       struct raftnet_peer *peer)
{
    struct raftnet_conn *c = calloc(1, sizeof *c);
    CHECK(c != NULL);
    c->net = net;
    c->peer = peer;
    c->link = *link;
    c->last = &c->first;
    c->connecting = peer != NULL;
    c->deadline.ns = os_clock_mono().ns + RAFTNET_SHAKE_MS * NS_PER_MS;
    buf_init(&c->out, OUT_BYTES_MAX);
    buf_init(&c->in, RAFTNET_FRAME_BODY_BYTES_MAX + 2 * READ_BYTES);
    c->shake.purpose = RAFTNET_SHAKE_MESSAGES;
    c->shake.target = peer == NULL ? 0 : peer->id;
    raftnet_shake_begin(&c->shake, peer != NULL, &net->self, net->secret, &c->out);
    c->next = net->conns;
    if (c->next != NULL) {
        c->next->prev = c;
    }
    net->conns = c;
    net->incoming += peer == NULL ? 1 : 0;
    net->handles++;
    CHECK(uv_poll_init(net->loop, &c->poll, c->link.fd) == 0);
    c->poll.data = c;
    watch(c);
    return c;
}
