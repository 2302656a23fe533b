/*
 * Two nodes over real sockets, on one loop.
 */
#include "raftnet/raftnet.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/test.h"

enum { FRAMES = 200, BYTES = 100000 };

struct end {
    struct raftnet *net;
    char address[32];
    unsigned received, met, refused, written, lost, peers_lost;
    size_t received_bytes;
    enum raftnet_shake_refusal why;
    bool admits;
    bool adopts; /* the cluster of the inviting node */
    bool closed;
};

static bool admit(void *data, const struct raftnet_shake *s, enum raftnet_shake_refusal *out_why,
                  struct err *err)
{
    struct end *e = data;
    *out_why = RAFTNET_SHAKE_REMOVED;
    (void)err_set(err, ERR_FORBIDDEN, "no");
    if (e->adopts && s->purpose == RAFTNET_SHAKE_INVITE) {
        struct raftnet_shake_node self = *raftnet_self(e->net);
        self.cluster = s->other.cluster;
        raftnet_set_self(e->net, &self);
    }
    return e->admits;
}

static void met(void *data, const struct raftnet_shake_node *from)
{
    struct end *e = data;
    assert_true(from->id == 1 || from->id == 2);
    e->met++;
}

static void received(void *data, const struct raftnet_shake_node *from,
                     const struct raftnet_frame *f)
{
    struct end *e = data;
    assert_true(from->id == 1);
    assert_int_equal(f->kind, RAFTNET_FRAME_RAFT);
    /* Frames arrive whole and in the order of sending. */
    unsigned number;
    assert_int_equal(f->body.len, BYTES);
    memcpy(&number, f->body.ptr, sizeof number);
    assert_int_equal(number, e->received);
    e->received++;
}

static void stream(void *data, struct raftnet_link *link, const struct raftnet_shake_node *from)
{
    (void)data;
    (void)from;
    raftnet_link_close(link);
}

static void refused(void *data, uint64_t id, enum raftnet_shake_refusal why, const char *text)
{
    struct end *e = data;
    assert_int_equal(id, 2);
    assert_non_null(text);
    e->refused++;
    e->why = why;
}

static void lost(void *data, uint64_t id)
{
    struct end *e = data;
    assert_int_equal(id, 2);
    e->peers_lost++;
}

static void open_end(struct end *e, uv_loop_t *loop, uint64_t id, const char *secret)
{
    struct err err;
    const struct raftnet_config config = {
        .loop = loop,
        .bind = "127.0.0.1:0",
        .secret = str_from_z(secret),
        .hooks = {.data = e,
                  .admit = admit,
                  .met = met,
                  .received = received,
                  .stream = stream,
                  .refused = refused,
                  .lost = lost},
    };
    *e = (struct end){.admits = true};
    assert_int_equal(raftnet_open(&config, &e->net, &err), ERR_OK);
    (void)snprintf(e->address, sizeof e->address, "127.0.0.1:%u", (unsigned)raftnet_port(e->net));
    struct raftnet_shake_node self = {.cluster = 9, .id = id, .name = STR("n")};
    raftnet_set_self(e->net, &self);
}

static void closed(void *data)
{
    ((struct end *)data)->closed = true;
}

static void close_both(uv_loop_t *loop, struct end *a, struct end *b)
{
    raftnet_close(a->net, closed, a);
    raftnet_close(b->net, closed, b);
    assert_int_equal(uv_run(loop, UV_RUN_DEFAULT), 0);
    assert_true(a->closed && b->closed);
    assert_int_equal(uv_loop_close(loop), 0);
}

struct sending {
    struct raftnet_send send;
    struct end *from;
};

static void sent(struct raftnet_send *s, bool written)
{
    struct sending *sending = s->data;
    sending->from->written += written ? 1 : 0;
    sending->from->lost += written ? 0 : 1;
    buf_deinit(&s->frame);
    free(sending);
}

static bool send_number(struct end *from, const struct end *to, unsigned number)
{
    static const char zeros[BYTES - sizeof number];
    struct sending *s = calloc(1, sizeof *s);
    assert_non_null(s);
    s->from = from;
    s->send.done = sent;
    s->send.data = s;
    buf_init(&s->send.frame, 2 * BYTES);
    raftnet_frame_begin(&s->send.frame);
    buf_add(&s->send.frame, &number, sizeof number);
    buf_add(&s->send.frame, zeros, sizeof zeros);
    raftnet_frame_end(&s->send.frame, RAFTNET_FRAME_RAFT, 0, 9);
    if (raftnet_send(from->net, 2, to->address, &s->send)) {
        return true;
    }
    buf_deinit(&s->send.frame);
    free(s);
    return false;
}

static void frames__arrive_in_order(void **state)
{
    (void)state;
    uv_loop_t loop;
    struct end a;
    struct end b;
    struct raftnet_peer_stats stats;
    assert_int_equal(uv_loop_init(&loop), 0);
    open_end(&a, &loop, 1, "the same secret here");
    open_end(&b, &loop, 2, "the same secret here");
    for (unsigned i = 0; i < FRAMES; i++) {
        assert_true(send_number(&a, &b, i));
    }
    assert_int_equal(a.written, 0); /* done is not called inside raftnet_send */
    while (b.received < FRAMES || a.written < FRAMES) {
        (void)uv_run(&loop, UV_RUN_ONCE);
    }
    assert_int_equal(b.met, 1);
    raftnet_peer_stats(a.net, 2, &stats);
    assert_true(stats.connected);
    assert_int_equal(stats.queued_bytes, 0);
    assert_true(stats.sent_bytes > (uint64_t)FRAMES * BYTES);
    raftnet_peer_stats(b.net, 1, &stats);
    assert_true(stats.heard.ns > 0);
    close_both(&loop, &a, &b);
}

static void refuse_with(const char *secret_b, bool admits, enum raftnet_shake_refusal want)
{
    uv_loop_t loop;
    struct end a;
    struct end b;
    assert_int_equal(uv_loop_init(&loop), 0);
    open_end(&a, &loop, 1, "the same secret here");
    open_end(&b, &loop, 2, secret_b);
    b.admits = admits;
    assert_true(send_number(&a, &b, 0));
    while (a.lost == 0) {
        (void)uv_run(&loop, UV_RUN_ONCE);
    }
    assert_int_equal(a.refused, 1);
    assert_int_equal(a.why, want);
    assert_int_equal(b.received, 0);
    struct raftnet_peer_stats stats;
    raftnet_peer_stats(a.net, 2, &stats);
    assert_string_equal(stats.error, want == RAFTNET_SHAKE_SECRET
                                         ? "it does not have the same cluster secret"
                                         : "no");
    close_both(&loop, &a, &b);
}

static void stranger__hears_nothing(void **state)
{
    (void)state;
    refuse_with("another secret here", true, RAFTNET_SHAKE_SECRET);
    refuse_with("the same secret here", false, RAFTNET_SHAKE_REMOVED);
}

/* Frames that still wait at the close are reported as lost, and nothing is left. */
static void close__ends_what_waits(void **state)
{
    (void)state;
    uv_loop_t loop;
    struct end a;
    struct end b;
    assert_int_equal(uv_loop_init(&loop), 0);
    open_end(&a, &loop, 1, "");
    open_end(&b, &loop, 2, "");
    for (unsigned i = 0; i < 10; i++) {
        assert_true(send_number(&a, &b, i));
    }
    close_both(&loop, &a, &b);
    assert_int_equal(a.lost, 10);
}

static void nobody__listens_there(void **state)
{
    (void)state;
    uv_loop_t loop;
    struct end a;
    struct end b;
    struct raftnet_peer_stats stats;
    assert_int_equal(uv_loop_init(&loop), 0);
    open_end(&a, &loop, 1, "");
    open_end(&b, &loop, 2, "");
    (void)snprintf(b.address, sizeof b.address, "127.0.0.1:1");
    if (send_number(&a, &b, 0)) {
        while (a.lost == 0) {
            (void)uv_run(&loop, UV_RUN_ONCE);
        }
    }
    raftnet_peer_stats(a.net, 2, &stats);
    assert_false(stats.connected);
    assert_non_null(strstr(stats.error, "refused"));
    close_both(&loop, &a, &b);
}

/* The side that has dialed is notified of the loss. The other side, which is closed, is not. */
static void loss__is_told_to_who_has_dialed(void **state)
{
    (void)state;
    uv_loop_t loop;
    struct end a;
    struct end b;
    assert_int_equal(uv_loop_init(&loop), 0);
    open_end(&a, &loop, 1, "");
    open_end(&b, &loop, 2, "");
    assert_true(send_number(&a, &b, 0));
    while (b.received == 0 || a.written == 0) {
        (void)uv_run(&loop, UV_RUN_ONCE);
    }
    assert_int_equal(a.peers_lost, 0);
    raftnet_close(b.net, closed, &b);
    while (a.peers_lost == 0) {
        (void)uv_run(&loop, UV_RUN_ONCE);
    }
    raftnet_close(a.net, closed, &a);
    assert_int_equal(uv_run(&loop, UV_RUN_DEFAULT), 0);
    assert_true(a.closed && b.closed);
    assert_int_equal(a.peers_lost, 1);
    assert_int_equal(b.peers_lost, 0);
    assert_int_equal(uv_loop_close(&loop), 0);
}

/* An invitation, sent by a thread that waits for its end. */
struct inviting {
    const char *address;
    uv_async_t over;
    bool ended;
    uint64_t id;
    bool voter;
    struct err err;
};

static void invite_main(void *data)
{
    struct inviting *i = data;
    const struct raftnet_stream_target target = {.address = i->address,
                                                 .self = {.cluster = 9, .id = 1, .name = STR("n")},
                                                 .secret = STR("the same secret here"),
                                                 .timeout_ms = 60000};
    if (raftnet_stream_invite(&target, STR("n"), &i->id, &i->voter, &i->err) == ERR_OK) {
        err_clear(&i->err);
    }
    assert_int_equal(uv_async_send(&i->over), 0);
}

static void over_cb(uv_async_t *over)
{
    struct inviting *i = over->data;
    i->ended = true;
    uv_close((uv_handle_t *)over, NULL);
}

static void invite(uv_loop_t *loop, struct inviting *i, const char *address)
{
    uv_thread_t thread;
    *i = (struct inviting){.address = address};
    assert_int_equal(uv_async_init(loop, &i->over, over_cb), 0);
    i->over.data = i;
    assert_int_equal(uv_thread_create(&thread, invite_main, i), 0);
    while (!i->ended) {
        (void)uv_run(loop, UV_RUN_ONCE);
    }
    assert_int_equal(uv_thread_join(&thread), 0);
}

/* The node adopts the cluster in its admit hook, and its answer still arrives. */
static void invitation__ends_with_its_answer(void **state)
{
    (void)state;
    uv_loop_t loop;
    struct end a;
    struct end b;
    struct inviting i;
    assert_int_equal(uv_loop_init(&loop), 0);
    open_end(&a, &loop, 1, "the same secret here");
    open_end(&b, &loop, 2, "the same secret here");
    raftnet_set_self(b.net, &(struct raftnet_shake_node){.id = 2, .name = STR("n")});
    b.adopts = true;
    invite(&loop, &i, b.address);
    assert_int_equal(i.err.code, ERR_OK);
    assert_int_equal(i.id, 2);
    assert_true(i.voter);
    assert_int_equal(raftnet_self(b.net)->cluster, 9);
    assert_int_equal(b.met, 0);
    invite(&loop, &i, b.address); /* once more */
    assert_int_equal(i.err.code, ERR_OK);
    assert_true(send_number(&a, &b, 0)); /* messages arrive, too */
    while (b.received == 0) {
        (void)uv_run(&loop, UV_RUN_ONCE);
    }
    close_both(&loop, &a, &b);
}

static void invitation__is_refused(void **state)
{
    (void)state;
    uv_loop_t loop;
    struct end a;
    struct end b;
    struct inviting i;
    assert_int_equal(uv_loop_init(&loop), 0);
    open_end(&a, &loop, 1, "another secret here");
    open_end(&b, &loop, 2, "the same secret here");
    invite(&loop, &i, a.address);
    assert_int_equal(i.err.code, ERR_FORBIDDEN);
    assert_string_equal(i.err.msg, "it does not have the same cluster secret");
    b.admits = false;
    invite(&loop, &i, b.address);
    assert_int_equal(i.err.code, ERR_FORBIDDEN);
    assert_string_equal(i.err.msg, "no");
    invite(&loop, &i, "127.0.0.1:1");
    assert_int_equal(i.err.code, ERR_IO);
    invite(&loop, &i, "nowhere");
    assert_int_equal(i.err.code, ERR_VALIDATION);
    close_both(&loop, &a, &b);
}

/* The connection is established, but nothing is sent. */
static void invitation__has_a_limit(void **state)
{
    (void)state;
    int fd = -1;
    uint16_t port = 0;
    char address[32];
    uint64_t id = 0;
    bool voter = false;
    struct err err;
    assert_int_equal(raftnet_link_listen("127.0.0.1:0", &fd, &port, &err), ERR_OK);
    (void)snprintf(address, sizeof address, "127.0.0.1:%u", (unsigned)port);
    const struct raftnet_stream_target target = {
        .address = address, .self = {.cluster = 9, .id = 1}, .timeout_ms = 20};
    assert_int_equal(raftnet_stream_invite(&target, STR("n"), &id, &voter, &err), ERR_IO);
    assert_string_equal(err.msg, "the other node is too slow");
    (void)close(fd);
}

TEST_GROUP(raftnet, cmocka_unit_test(frames__arrive_in_order),
           cmocka_unit_test(invitation__ends_with_its_answer),
           cmocka_unit_test(invitation__is_refused), cmocka_unit_test(invitation__has_a_limit),
           cmocka_unit_test(stranger__hears_nothing), cmocka_unit_test(close__ends_what_waits),
           cmocka_unit_test(nobody__listens_there),
           cmocka_unit_test(loss__is_told_to_who_has_dialed));
