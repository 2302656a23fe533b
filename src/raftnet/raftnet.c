#include "raftnet/raftnet.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/check.h"
#include "log/log.h"
#include "os/os_clock.h"
#include "raftnet/raftnet_int.h"

enum { LOOK_MS = 250, PEERS_MAX = 1024 };

struct raftnet_peer *raftnet__peer(struct raftnet *net, uint64_t id)
{
    for (struct raftnet_peer *p = net->peers; p != NULL; p = p->next) {
        if (p->id == id) {
            return p;
        }
    }
    struct raftnet_peer *p = calloc(1, sizeof *p);
    CHECK(p != NULL);
    p->net = net;
    p->id = id;
    p->last = &p->first;
    p->next = net->peers;
    net->peers = p;
    return p;
}

/* --- completed sends --- */

void raftnet__over(struct raftnet *net, struct raftnet_send *s, bool written)
{
    s->next = NULL;
    s->written = written;
    *net->over_last = s;
    net->over_last = &s->next;
}

static void tell_over(struct raftnet *net)
{
    struct raftnet_send *s = net->over;
    net->over = NULL;
    net->over_last = &net->over;
    while (s != NULL) {
        struct raftnet_send *next = s->next;
        s->done(s, s->written); /* may free s */
        s = next;
    }
}

static void tell_lost(struct raftnet *net)
{
    net->any_lost = false;
    for (struct raftnet_peer *p = net->peers; p != NULL; p = p->next) {
        if (p->lost) {
            p->lost = false;
            net->hooks.lost(net->hooks.data, p->id);
        }
    }
}

static void prepare_cb(uv_prepare_t *prepare)
{
    struct raftnet *net = prepare->data;
    if (net->any_lost) {
        tell_lost(net);
    }
    while (net->over != NULL) {
        tell_over(net);
    }
}

/* --- incoming connections --- */

static void listen_cb(uv_poll_t *poll, int status, int events)
{
    struct raftnet *net = poll->data;
    struct raftnet_link link;
    (void)events;
    while (status == 0 && raftnet_link_accept(&link, net->listen_fd, net->context)) {
        if (!net->open || net->incoming >= RAFTNET_CONNECTIONS_MAX) {
            raftnet_link_close(&link);
        } else {
            (void)raftnet_conn__new(net, &link, NULL);
        }
    }
}

static void look_cb(uv_timer_t *timer)
{
    struct raftnet *net = timer->data;
    int64_t now = os_clock_mono().ns;
    struct raftnet_conn *next = NULL;
    for (struct raftnet_conn *c = net->conns; c != NULL; c = next) {
        next = c->next;
        if (!c->up && now > c->deadline.ns) {
            raftnet_conn__close(c, "the handshake did not complete in time");
        } else if (c->first != NULL && now - c->moved.ns > RAFTNET_STALL_MS * NS_PER_MS) {
            raftnet_conn__close(c, "the node does not read from the connection");
        }
    }
}

void raftnet_set_open(struct raftnet *net, bool open)
{
    net->open = open;
    while (!open && net->conns != NULL) {
        raftnet_conn__close(net->conns, "this node does not accept connections now");
    }
}

/* --- open and close --- */

static enum err_code open_port(struct raftnet *net, const char *bind, struct err *err)
{
    net->listen_fd = -1;
    if (net->tls.cert_file != NULL &&
        raftnet_link_context(&net->tls, &net->context, err) != ERR_OK) {
        return err->code;
    }
    return bind == NULL ? ERR_OK : raftnet_link_listen(bind, &net->listen_fd, &net->port, err);
}

enum err_code raftnet_open(const struct raftnet_config *config, struct raftnet **out_net,
                           struct err *err)
{
    struct raftnet *net = calloc(1, sizeof *net);
    CHECK(net != NULL);
    net->loop = config->loop;
    net->hooks = config->hooks;
    net->secret = config->secret;
    net->tls = config->tls;
    net->open = true;
    net->over_last = &net->over;
    if (open_port(net, config->bind, err) != ERR_OK) {
        SSL_CTX_free(net->context);
        free(net);
        return err->code;
    }
    CHECK(uv_prepare_init(net->loop, &net->prepare) == 0);
    CHECK(uv_prepare_start(&net->prepare, prepare_cb) == 0);
    CHECK(uv_timer_init(net->loop, &net->timer) == 0);
    CHECK(uv_timer_start(&net->timer, look_cb, LOOK_MS, LOOK_MS) == 0);
    net->prepare.data = net->timer.data = net;
    net->handles = 2;
    if (net->listen_fd >= 0) {
        CHECK(uv_poll_init(net->loop, &net->listen_poll, net->listen_fd) == 0);
        net->listen_poll.data = net;
        CHECK(uv_poll_start(&net->listen_poll, UV_READABLE, listen_cb) == 0);
        net->handles++;
    }
    *out_net = net;
    return ERR_OK;
}

void raftnet__released(struct raftnet *net)
{
    CHECK(net->handles > 0);
    if (--net->handles > 0 || !net->closing) {
        return;
    }
    while (net->over != NULL) {
        tell_over(net);
    }
    while (net->peers != NULL) {
        struct raftnet_peer *p = net->peers;
        net->peers = p->next;
        free(p);
    }
    void (*closed)(void *data) = net->closed;
    void *data = net->closed_data;
    SSL_CTX_free(net->context);
    free(net->self_texts);
    free(net);
    closed(data);
}

static void handle_closed_cb(uv_handle_t *handle)
{
    struct raftnet *net = handle->data;
    if (handle == (uv_handle_t *)&net->listen_poll) {
        (void)close(net->listen_fd);
    }
    raftnet__released(net);
}

void raftnet_close(struct raftnet *net, void (*closed)(void *data), void *data)
{
    CHECK(!net->closing);
    net->closing = true;
    net->closed = closed;
    net->closed_data = data;
    while (net->conns != NULL) {
        raftnet_conn__close(net->conns, "closing");
    }
    for (struct raftnet_peer *p = net->peers; p != NULL; p = p->next) {
        raftnet_peer__fail_waiting(p);
        if (p->resolving) {
            (void)uv_cancel((uv_req_t *)&p->resolve);
        }
    }
    if (net->listen_fd >= 0) {
        (void)uv_poll_stop(&net->listen_poll);
        uv_close((uv_handle_t *)&net->listen_poll, handle_closed_cb);
    }
    uv_close((uv_handle_t *)&net->prepare, handle_closed_cb);
    uv_close((uv_handle_t *)&net->timer, handle_closed_cb);
}

uint16_t raftnet_port(const struct raftnet *net)
{
    return net->port;
}

static bool is_same(const struct raftnet_shake_node *a, const struct raftnet_shake_node *b)
{
    return a->cluster == b->cluster && a->id == b->id && str_eq(a->name, b->name) &&
           str_eq(a->address, b->address) && str_eq(a->http_url, b->http_url) &&
           str_eq(a->version, b->version);
}

void raftnet_set_self(struct raftnet *net, const struct raftnet_shake_node *self)
{
    struct raftnet_shake_node copy = *self;
    struct str *texts[] = {&copy.name, &copy.address, &copy.http_url, &copy.version};
    size_t len = 1;
    for (size_t i = 0; i < COUNT_OF(texts); i++) {
        len += texts[i]->len;
    }
    char *memory = malloc(len);
    CHECK(memory != NULL);
    size_t at = 0;
    for (size_t i = 0; i < COUNT_OF(texts); i++) {
        if (texts[i]->len > 0) {
            memcpy(memory + at, texts[i]->ptr, texts[i]->len);
        }
        texts[i]->ptr = memory + at;
        at += texts[i]->len;
    }
    /* Handshakes in progress carry the old texts, and the peers that we dialled were sent them:
     * these connections start over, except those that only have to write their answer. */
    bool news = !is_same(&copy, &net->self);
    struct raftnet_conn *next = NULL;
    for (struct raftnet_conn *c = net->conns; c != NULL; c = next) {
        next = c->next;
        bool told = c->peer == NULL && c->ends;
        if (!told && (!c->up || copy.cluster != net->self.cluster || (news && c->peer != NULL))) {
            raftnet_conn__close(c, "reconnecting with new node information");
        } else {
            c->shake.self = copy;
        }
    }
    free(net->self_texts);
    net->self_texts = memory;
    net->self = copy;
}

const struct raftnet_shake_node *raftnet_self(const struct raftnet *net)
{
    return &net->self;
}

enum err_code raftnet_reload_tls(struct raftnet *net, struct err *err)
{
    SSL_CTX *fresh = NULL;
    if (net->context == NULL) {
        return ERR_OK;
    }
    if (raftnet_link_context(&net->tls, &fresh, err) != ERR_OK) {
        return err->code;
    }
    SSL_CTX_free(net->context);
    net->context = fresh;
    return ERR_OK;
}
