/*
 * Gossip: nodes report themselves and each other over UDP (scheduler.md 14.3).
 *
 * Every GOSSIP_MS, a thread of its own sends its reports to a few known nodes and to the seeds that
 * it has not heard from yet (for the handling of reports see discover_members.h). A lost datagram
 * does no harm, because the next one has the same content. Every datagram is authenticated
 * (discover_message.h).
 *
 * Names of seeds are resolved by the caller of find, never by the thread, which must not block.
 */
#include <netdb.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <uv.h>

#include "base/check.h"
#include "base/clock.h"
#include "discover/discover_int.h"
#include "discover/discover_message.h"
#include "discover/discover_resolve.h"
#include "log/log.h"
#include "os/os_clock.h"

enum {
    GOSSIP_MS = 200,
    FANOUT = 3,
    SEEDS_MAX = 32,
    PORT_DEFAULT = 7946,
    LEAVE_ROUNDS = 5, /* a leave is repeated, because datagrams may be lost */
    LEAVE_MS = 20,
    DATAGRAMS_PER_TURN = 256,
    ROWS_PER_MESSAGE = 255,
    SECRET_BYTES_MIN = 16,
};

struct address {
    struct sockaddr_storage at;
    socklen_t len;
};

struct gossip {
    struct discover *d;
    int socket, wake; /* wake: an eventfd that ends the thread */
    uint16_t port;
    struct discover_message_key key;
    uv_thread_t thread;
    uv_mutex_t lock; /* guards the members below */
    struct discover_members members;
    struct discover_member self;
    struct address seeds[SEEDS_MAX];
    size_t seed_count;
    /* thread only */
    uint64_t turn; /* where the next message starts in the table */
    bool warned_clock;
};

static int64_t mono_ms(void)
{
    return os_clock_mono().ns / NS_PER_MS;
}

static int64_t wall_ms(void)
{
    return os_clock_wall().ns / NS_PER_MS;
}

/* Addresses */

static bool look_up(const char *host, uint16_t port, bool numeric, struct address *out)
{
    char service[8];
    struct addrinfo hints = {.ai_socktype = SOCK_DGRAM,
                             .ai_flags = numeric ? AI_NUMERICHOST | AI_NUMERICSERV : 0};
    struct addrinfo *found = NULL;
    (void)snprintf(service, sizeof service, "%u", (unsigned)port);
    if (getaddrinfo(host, service, &hints, &found) != 0) {
        return false;
    }
    memcpy(&out->at, found->ai_addr, found->ai_addrlen);
    out->len = found->ai_addrlen;
    freeaddrinfo(found);
    return true;
}

/* Nodes report numeric addresses, never names, so this does not block on a lookup. */
static bool address_of(const char *text, struct address *out)
{
    char host[DISCOVER_NAME_BYTES];
    struct str name;
    uint16_t port;
    if (!discover__split(str_from_z(text), &name, &port) || port == 0) {
        return false;
    }
    (void)snprintf(host, sizeof host, STR_FMT, STR_ARG(name));
    return look_up(host, port, true, out);
}

static void name_of(const struct address *a, char *out, size_t size)
{
    char host[DISCOVER_NAME_BYTES - 16];
    char port[8];
    if (getnameinfo((const struct sockaddr *)&a->at, a->len, host, sizeof host, port, sizeof port,
                    NI_NUMERICHOST | NI_NUMERICSERV) != 0) {
        out[0] = '\0';
        return;
    }
    bool v6 = strchr(host, ':') != NULL;
    (void)snprintf(out, size, "%s%s%s:%s", v6 ? "[" : "", host, v6 ? "]" : "", port);
}

/* Sending */

/* Write a report of this node, then of the others that are alive or have left. Each message starts
 * at the next row of the table, so that nodes that do not fit are in a later message. */
static size_t write_message(struct gossip *g, uint8_t out[static DISCOVER_MESSAGE_BYTES_MAX])
{
    const struct discover_member *rows[ROWS_PER_MESSAGE];
    size_t count = 0;
    int64_t now = mono_ms();
    rows[count++] = &g->self;
    for (size_t i = 0; i < g->members.count && count < ROWS_PER_MESSAGE; i++) {
        const struct discover_member *m = &g->members.rows[(g->turn + i) % g->members.count];
        if (m->left || discover_members_is_alive(m, now)) {
            rows[count++] = m;
        }
    }
    g->turn++;
    return discover_message_write(&g->key, wall_ms(), rows, count, out);
}

static void send_to(struct gossip *g, const struct address *to, const uint8_t *bytes, size_t len)
{
    /* A failed send is handled like a lost datagram. */
    (void)!sendto(g->socket, bytes, len, MSG_DONTWAIT | MSG_NOSIGNAL,
                  (const struct sockaddr *)&to->at, to->len);
}

/* Send to a few random members that are alive, or to all of them. */
static void send_to_members(struct gossip *g, const uint8_t *bytes, size_t len, bool all)
{
    struct address to;
    int64_t now = mono_ms();
    uint32_t start = 0;
    size_t sent = 0;
    os_clock_random(&start, sizeof start);
    for (size_t i = 0; i < g->members.count && (all || sent < FANOUT); i++) {
        const struct discover_member *m = &g->members.rows[(start + i) % g->members.count];
        if (discover_members_is_alive(m, now) && address_of(m->gossip, &to)) {
            send_to(g, &to, bytes, len);
            sent++;
        }
    }
}

static bool is_heard(const struct gossip *g, const struct address *seed)
{
    char name[DISCOVER_NAME_BYTES];
    name_of(seed, name, sizeof name);
    for (size_t i = 0; i < g->members.count; i++) {
        if (strcmp(g->members.rows[i].gossip, name) == 0 &&
            discover_members_is_alive(&g->members.rows[i], mono_ms())) {
            return true;
        }
    }
    return false;
}

static void beat(struct gossip *g, bool all)
{
    uint8_t bytes[DISCOVER_MESSAGE_BYTES_MAX];
    uv_mutex_lock(&g->lock);
    g->self.beats++;
    discover_members_forget(&g->members, mono_ms());
    size_t len = write_message(g, bytes);
    send_to_members(g, bytes, len, all);
    for (size_t i = 0; i < g->seed_count; i++) {
        if (!is_heard(g, &g->seeds[i])) {
            send_to(g, &g->seeds[i], bytes, len);
        }
    }
    uv_mutex_unlock(&g->lock);
}

/* Receiving */

/* A node that listens on all addresses does not know its own: use the sender's address. */
static void complete(struct discover_member *m, const struct address *from)
{
    if (strncmp(m->gossip, "0.0.0.0:", 8) == 0 || strncmp(m->gossip, "[::]:", 5) == 0) {
        name_of(from, m->gossip, sizeof m->gossip);
    }
}

static void hear(struct gossip *g, struct str bytes, const struct address *from)
{
    static _Thread_local struct discover_member rows[ROWS_PER_MESSAGE];
    size_t count = 0;
    enum discover_message_fault fault =
        discover_message_read(&g->key, wall_ms(), bytes, rows, COUNT_OF(rows), &count);
    if (fault == DISCOVER_MESSAGE_OLD && !g->warned_clock) {
        g->warned_clock = true;
        log_warn("gossip ignored", LOG_Z("meaning", "the clock of the sender differs by more than "
                                                    "a minute, or the message was replayed"));
    }
    if (fault != DISCOVER_MESSAGE_FINE) {
        return;
    }
    uv_mutex_lock(&g->lock);
    for (size_t i = 0; i < count; i++) {
        if (i == 0) {
            complete(&rows[i], from);
        }
        if (strcmp(rows[i].node_id, g->self.node_id) != 0) {
            (void)discover_members_merge(&g->members, &rows[i], mono_ms());
        }
    }
    uv_mutex_unlock(&g->lock);
}

static void hear_all(struct gossip *g)
{
    char bytes[DISCOVER_MESSAGE_BYTES_MAX + 1];
    for (unsigned i = 0; i < DATAGRAMS_PER_TURN; i++) {
        struct address from = {.len = sizeof from.at};
        ssize_t n = recvfrom(g->socket, bytes, sizeof bytes, MSG_DONTWAIT,
                             (struct sockaddr *)&from.at, &from.len);
        if (n < 0) {
            return;
        }
        hear(g, str_from(bytes, (size_t)n), &from);
    }
}

static void run(void *data)
{
    struct gossip *g = data;
    struct pollfd fds[2] = {{.fd = g->socket, .events = POLLIN}, {.fd = g->wake, .events = POLLIN}};
    int64_t next = mono_ms();
    (void)pthread_setname_np(pthread_self(), "gossip");
    for (;;) {
        int64_t now = mono_ms();
        if (now >= next) {
            beat(g, false);
            next = now + GOSSIP_MS;
        }
        (void)poll(fds, COUNT_OF(fds), (int)(next - now > 0 ? next - now : 0));
        if ((fds[1].revents & POLLIN) != 0) {
            return;
        }
        hear_all(g);
    }
}

/* Seeds */

static void add_seed(struct gossip *g, struct address *seeds, size_t *count, const char *host,
                     uint16_t port)
{
    char own[DISCOVER_NAME_BYTES];
    struct address a;
    if (*count < SEEDS_MAX && look_up(host, port == 0 ? g->port : port, false, &a)) {
        name_of(&a, own, sizeof own);
        if (strcmp(own, g->self.gossip) != 0) {
            seeds[(*count)++] = a;
        }
    }
}

/* Use the configured list, else resolve the name. */
static void find_seeds(struct gossip *g)
{
    const struct discover_config *c = &g->d->config;
    struct address seeds[SEEDS_MAX];
    size_t count = 0;
    struct str list = c->gossip_seeds;
    char name[DISCOVER_NAME_BYTES];
    while (list.len > 0) {
        struct str host;
        uint16_t port;
        if (discover__split(str_trim(str_cut(&list, ',')), &host, &port)) {
            (void)snprintf(name, sizeof name, STR_FMT, STR_ARG(host));
            add_seed(g, seeds, &count, name, port);
        }
    }
    if (c->gossip_seeds.len == 0 && c->name.len > 0) {
        struct discover_hosts *found = &g->d->found;
        struct err err;
        found->count = 0;
        (void)snprintf(name, sizeof name, STR_FMT, STR_ARG(c->name));
        if (discover_resolve_srv(c->dns_server, name, found, &err) != ERR_OK &&
            discover_resolve_addresses(c->dns_server, name, found, &err) != ERR_OK) {
            log_debug("no seeds found", LOG_Z("error", err.msg));
        }
        for (size_t i = 0; i < found->count; i++) {
            add_seed(g, seeds, &count, found->hosts[i].host, found->hosts[i].port);
        }
    }
    uv_mutex_lock(&g->lock);
    memcpy(g->seeds, seeds, sizeof seeds[0] * count);
    g->seed_count = count;
    uv_mutex_unlock(&g->lock);
}

/* The strategy */

static enum err_code find(struct discover *d, struct discover_list *out, struct err *err)
{
    struct gossip *g = d->state;
    int64_t now = mono_ms();
    (void)err;
    find_seeds(g);
    uv_mutex_lock(&g->lock);
    discover__add_url(out, str_from_z(g->self.url), str_from_z(g->self.node_id));
    for (size_t i = 0; i < g->members.count; i++) {
        const struct discover_member *m = &g->members.rows[i];
        if (discover_members_is_alive(m, now)) {
            discover__add_url(out, str_from_z(m->url), str_from_z(m->node_id));
        }
    }
    uv_mutex_unlock(&g->lock);
    return ERR_OK;
}

static enum err_code check(const struct discover_config *c, struct err *err)
{
    if (c->gossip_secret.len < SECRET_BYTES_MIN) {
        return err_set(err, ERR_VALIDATION,
                       "gossip-secret or cluster-secret of 16 characters or more is needed");
    }
    return c->http_url.len == 0 || c->http_url.len >= DISCOVER_URL_BYTES
               ? err_set(err, ERR_VALIDATION, "bind or http-advertise must have a fixed port")
               : ERR_OK;
}

static enum err_code open_socket(struct gossip *g, struct err *err)
{
    char host[DISCOVER_NAME_BYTES] = "0.0.0.0";
    struct str name;
    uint16_t port = 0;
    struct address a;
    struct str bind_to = g->d->config.gossip_bind;
    if (bind_to.len > 1 && bind_to.ptr[0] == ':') {
        int64_t n;
        bool sound = str_to_i64(str_from_offset(bind_to, 1), &n) && n > 0 && n <= UINT16_MAX;
        port = sound ? (uint16_t)n : 0;
    } else if (discover__split(bind_to, &name, &port)) {
        (void)snprintf(host, sizeof host, STR_FMT, STR_ARG(name));
    }
    g->port = port == 0 ? PORT_DEFAULT : port;
    if (!look_up(host, g->port, true, &a)) {
        return err_set(err, ERR_VALIDATION,
                       "gossip-bind: '" STR_FMT "' is not an address and a port", STR_ARG(bind_to));
    }
    g->socket = socket(a.at.ss_family, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (g->socket < 0) {
        return err_from_errno(err, "socket");
    }
    if (bind(g->socket, (const struct sockaddr *)&a.at, a.len) != 0) {
        (void)err_from_errno(err, "bind");
        (void)close(g->socket);
        return err_wrap(err, "gossip-bind %s", host);
    }
    name_of(&a, g->self.gossip, sizeof g->self.gossip);
    return ERR_OK;
}

static enum err_code open_gossip(struct discover *d, struct err *err)
{
    const struct discover_config *c = &d->config;
    if (check(c, err) != ERR_OK) {
        return err->code;
    }
    struct gossip *g = calloc(1, sizeof *g);
    CHECK(g != NULL);
    g->d = d;
    g->key = discover_message_key(c->gossip_secret);
    g->self.started_ms = (uint64_t)wall_ms();
    (void)snprintf(g->self.node_id, sizeof g->self.node_id, STR_FMT, STR_ARG(c->node_id));
    (void)snprintf(g->self.url, sizeof g->self.url, STR_FMT, STR_ARG(c->http_url));
    if (open_socket(g, err) != ERR_OK) {
        free(g);
        return err->code;
    }
    g->wake = eventfd(0, EFD_CLOEXEC);
    CHECK(g->wake >= 0);
    CHECK(uv_mutex_init(&g->lock) == 0);
    d->state = g;
    find_seeds(g);
    CHECK(uv_thread_create(&g->thread, run, g) == 0);
    return ERR_OK;
}

static void close_gossip(struct discover *d)
{
    struct gossip *g = d->state;
    const struct timespec pause = {.tv_nsec = LEAVE_MS * NS_PER_MS};
    uint64_t one = 1;
    CHECK(write(g->wake, &one, sizeof one) == sizeof one);
    CHECK(uv_thread_join(&g->thread) == 0);
    g->self.left = true;
    for (unsigned i = 0; i < LEAVE_ROUNDS; i++) {
        beat(g, true);
        (void)nanosleep(&pause, NULL);
    }
    (void)close(g->socket);
    (void)close(g->wake);
    uv_mutex_destroy(&g->lock);
    free(g);
}

const struct discover_strategy discover_gossip__strategy = {
    .name = "gossip", .may_remove = true, .open = open_gossip, .find = find, .close = close_gossip};
