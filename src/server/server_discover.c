#include "server/server_discover.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <uv.h>

#include "base/check.h"
#include "log/log.h"
#include "os/os_clock.h"
#include "outgoing/outgoing_wait.h"
#include "server/server_members.h"
#include "server/settings_address.h"

enum {
    LOOK_MS = 5000,
    LOOK_MS_MIN = 100,
    HEALTH_MS = 3000,
    ANSWER_BYTES_MAX = 1 << 20,
};

/* since when this member has not been found */
struct missing {
    uint64_t id;
    int64_t since_ms;
};

struct server_discover {
    const struct settings *settings;
    struct engine *engine;
    struct discover *discover;
    char *ca;
    uv_thread_t thread;
    uv_mutex_t lock;
    uv_cond_t wake;
    bool stopping;
    /* used by the thread only */
    struct discover_list found;
    struct engine_cluster_status members;
    bool leads;
    struct missing missing[LIMIT_NODES];
    size_t missing_count;
};

/* --- opening --- */

static uint16_t port_of(struct str address)
{
    int64_t port = 0;
    return str_to_i64(settings_address_port(address), &port) && port > 0 && port <= UINT16_MAX
               ? (uint16_t)port
               : 0;
}

enum err_code server_discover_open(const struct settings *s, const char *http_url,
                                   struct discover **out, struct err *err)
{
    *out = NULL;
    if (s->join.len == 0 && s->discover.len == 0) {
        return ERR_OK;
    }
    bool kubernetes = str_starts_with(s->discover, STR("kubernetes"));
    struct discover_config config = {
        .strategy = s->discover.len > 0 ? s->discover : STR("static"),
        .peers = s->join,
        .tls = s->tls_cert.len > 0,
        .api_port = port_of(s->bind),
        .peer_port = port_of(s->raft_bind),
        .node_id = s->node_id,
        .bind = s->bind,
        .http_url = str_from_z(http_url),
        .peer_addr = s->raft_advertise,
        .pod = s->pod,
        .pod_ip = s->pod_ip,
        .pod_ns = s->pod_namespace,
        .name =
            kubernetes && s->kubernetes_service.len > 0 ? s->kubernetes_service : s->discover_name,
        .domain = s->discover_domain,
        .dns_server = s->discover_server,
        .ns = s->kubernetes_namespace,
        .kubernetes_api = s->kubernetes_api,
        .kubernetes_host = s->kubernetes_host,
        .kubernetes_port = s->kubernetes_port,
        .account_dir = s->kubernetes_account,
        .gossip_bind = s->gossip_bind,
        .gossip_seeds = s->gossip_seeds,
        .gossip_secret = s->gossip_secret.len > 0 ? s->gossip_secret : s->cluster_secret,
    };
    return discover_open(&config, out, err);
}

/* --- members --- */

static bool is_found(const struct server_discover *w, const struct engine_cluster_node *n)
{
    for (size_t i = 0; i < w->found.count; i++) {
        const struct discover_peer *p = &w->found.peers[i];
        if (strcmp(p->url, n->http_url) == 0 || strcmp(p->node_id, n->name) == 0) {
            return true;
        }
    }
    return false;
}

/* How long the member has been missing, in milliseconds. */
static int64_t note_missing(struct server_discover *w, uint64_t id, int64_t now_ms)
{
    for (size_t i = 0; i < w->missing_count; i++) {
        if (w->missing[i].id == id) {
            return now_ms - w->missing[i].since_ms;
        }
    }
    if (w->missing_count < LIMIT_NODES) {
        w->missing[w->missing_count++] = (struct missing){.id = id, .since_ms = now_ms};
    }
    return 0;
}

static void note_found(struct server_discover *w, uint64_t id)
{
    for (size_t i = 0; i < w->missing_count; i++) {
        if (w->missing[i].id == id) {
            w->missing[i] = w->missing[--w->missing_count];
            return;
        }
    }
}

static bool answers(const struct server_discover *w, const struct engine_cluster_node *n)
{
    char url[STORE_NODE_URL_BYTES_MAX + 16];
    (void)snprintf(url, sizeof url, "%s/healthz", n->http_url);
    struct outgoing_wait *wait = outgoing_wait_new();
    struct outgoing_wait_call call = {.method = "GET",
                                      .url = url,
                                      .ca_file = w->ca,
                                      .timeout_ms = HEALTH_MS,
                                      .limit_bytes = ANSWER_BYTES_MAX};
    bool answered = outgoing_wait_run(wait, &call, -1) && call.err.code == ERR_OK;
    outgoing_wait_clear(&call);
    outgoing_wait_free(wait);
    return answered;
}

static void remove_member(struct server_discover *w, const struct engine_cluster_node *n)
{
    struct err err;
    if (server_members_take_out(w->engine, n->id, &err) == ERR_OK) {
        log_warn("member removed", LOG_Z("node_id", n->name), LOG_Z("url", n->http_url),
                 LOG_Z("reason", "not discovered and not reachable"));
    } else {
        log_warn("member not removed", LOG_Z("node_id", n->name), LOG_Z("error", err.msg));
    }
}

/* Remove at most one member per round, because the next decision depends on who is a member
 * then. */
static void remove_vanished(struct server_discover *w)
{
    int64_t now_ms = os_clock_mono().ns / NS_PER_MS;
    for (size_t i = 0; i < w->members.count; i++) {
        const struct engine_cluster_node *n = &w->members.nodes[i];
        if (n->self || !server_members_is_voter(n) || n->http_url[0] == '\0') {
            continue;
        }
        if (is_found(w, n)) {
            note_found(w, n->id);
        } else if (note_missing(w, n->id, now_ms) >= w->settings->discover_remove_ms &&
                   server_members_majority_without(&w->members, n->id) && !answers(w, n)) {
            note_found(w, n->id);
            remove_member(w, n);
            return;
        }
    }
}

/* --- the thread --- */

static void look(struct server_discover *w)
{
    struct err err;
    if (discover_find(w->discover, &w->found, &err) != ERR_OK) {
        log_warn("discovery failed", LOG_Z("error", err.msg));
        w->missing_count = 0; /* it is unknown which members are missing: start counting again */
        return;
    }
    if (w->settings->discover_remove_ms == 0 || !discover_may_remove(w->discover)) {
        return;
    }
    if (!server_members_look(w->engine, &w->members, &w->leads) || !w->leads) {
        w->missing_count = 0;
        return;
    }
    remove_vanished(w);
}

static void run(void *data)
{
    struct server_discover *w = data;
    int64_t every = w->settings->discover_remove_ms;
    every = every == 0 || every > LOOK_MS ? LOOK_MS : every < LOOK_MS_MIN ? LOOK_MS_MIN : every;
    (void)pthread_setname_np(pthread_self(), "discover");
    uv_mutex_lock(&w->lock);
    while (!w->stopping) {
        uv_mutex_unlock(&w->lock);
        look(w);
        uv_mutex_lock(&w->lock);
        if (!w->stopping) {
            (void)uv_cond_timedwait(&w->wake, &w->lock, (uint64_t)(every * NS_PER_MS));
        }
    }
    uv_mutex_unlock(&w->lock);
}

struct server_discover *server_discover_start(const struct settings *s, struct engine *e,
                                              struct discover *d)
{
    struct server_discover *w = calloc(1, sizeof *w);
    CHECK(w != NULL);
    w->settings = s;
    w->engine = e;
    w->discover = d;
    w->ca = s->peer_tls_ca.len == 0 ? NULL : strndup(s->peer_tls_ca.ptr, s->peer_tls_ca.len);
    CHECK(uv_mutex_init(&w->lock) == 0);
    CHECK(uv_cond_init(&w->wake) == 0);
    CHECK(uv_thread_create(&w->thread, run, w) == 0);
    return w;
}

void server_discover_stop(struct server_discover *w)
{
    if (w == NULL) {
        return;
    }
    uv_mutex_lock(&w->lock);
    w->stopping = true;
    uv_cond_signal(&w->wake);
    uv_mutex_unlock(&w->lock);
    CHECK(uv_thread_join(&w->thread) == 0);
    uv_cond_destroy(&w->wake);
    uv_mutex_destroy(&w->lock);
    free(w->ca);
    free(w);
}
