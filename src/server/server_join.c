#include "server/server_join.h"

#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/build.h"
#include "base/check.h"
#include "engine/engine_cluster.h"
#include "engine/engine_leader.h"
#include "json/json_scan.h"
#include "json/json_write.h"
#include "log/log.h"
#include "os/os_clock.h"
#include "outgoing/outgoing_wait.h"

enum {
    URL_BYTES_MAX = 1024,
    ANSWER_BYTES_MAX = 1 << 20,
    BODY_BYTES_MAX = 8192,
    TRY_MS = 5000,        /* timeout of one request */
    PAUSE_MS = 250,       /* between two rounds of requests */
    SLOW_MS = 30000,      /* warn if forming the cluster takes longer */
    CATCH_UP_MS = 600000, /* limit from being accepted to having the state of the cluster */
};

#define NO_LIMIT_MS ((int64_t)1 << 40) /* decades */

static enum err_code pause_a_while(const struct server_join *j, struct err *err)
{
    struct pollfd stop = {.fd = j->stop_fd, .events = POLLIN};
    return poll(&stop, 1, PAUSE_MS) > 0 ? err_set_default(err, ERR_STOPPING) : ERR_OK;
}

/* The CA bundle that verifies the certificates of other nodes, allocated with malloc; NULL: the CA
 * certificates of the system. It is that of --peer-tls-ca, as for forwarded requests. */
static char *ca_file(const struct settings *s)
{
    char *z = s->peer_tls_ca.len == 0 ? NULL : strndup(s->peer_tls_ca.ptr, s->peer_tls_ca.len);
    CHECK(z != NULL || s->peer_tls_ca.len == 0);
    return z;
}

static void find_nodes(struct discover *d, struct discover_list *out)
{
    struct err err;
    if (discover_find(d, out, &err) != ERR_OK) {
        log_warn("discovery failed", LOG_Z("error", err.msg));
    }
}

/* Forming a cluster takes seconds. If it takes longer, log that once and keep waiting (B-06). */
struct patience {
    int64_t begun_ns, warn_ns, until_ns;
    bool warned;
};

static struct patience patience_for(int64_t ms)
{
    int64_t now = os_clock_mono().ns;
    int64_t warn_ms = ms / 2 < SLOW_MS ? ms / 2 : SLOW_MS;
    return (struct patience){
        .begun_ns = now, .warn_ns = now + warn_ms * NS_PER_MS, .until_ns = now + ms * NS_PER_MS};
}

/* False if the time is over. */
static bool patience_lasts(struct patience *p, const char *what)
{
    int64_t now = os_clock_mono().ns;
    if (now > p->warn_ns && !p->warned) {
        p->warned = true;
        log_warn("still waiting to form the cluster", LOG_Z("waiting_for", what),
                 LOG_I64("waited_ms", (now - p->begun_ns) / NS_PER_MS));
    }
    return now < p->until_ns;
}

/* --- asking --- */

static void member_text(struct str json, struct str name, char *out, size_t size)
{
    struct json_value v;
    out[0] = '\0';
    if (json_scan_member(json, name, &v) && v.type == JSON_TYPE_STRING && v.text.len >= 2 &&
        v.text.len - 2 < size) {
        memcpy(out, v.text.ptr + 1, v.text.len - 2);
        out[v.text.len - 2] = '\0';
    }
}

static void write_member(struct json_write *w, const char *key, struct str value)
{
    json_write_key(w, str_from_z(key));
    json_write_str(w, value);
}

static void write_body(const struct settings *s, struct engine *e, const char *http_url,
                       struct buf *out)
{
    char id[24];
    struct json_write w = json_write_to(out);
    (void)snprintf(id, sizeof id, "%016" PRIx64, engine_cluster_node_id(e));
    json_write_object(&w);
    write_member(&w, "node_id", s->node_id);
    write_member(&w, "addr", s->raft_advertise);
    write_member(&w, "raft_id", str_from_z(id));
    write_member(&w, "http_url", str_from_z(http_url));
    write_member(&w, "version", str_from_z(build_release));
    json_write_key(&w, STR("voter"));
    json_write_bool(&w, !s->non_voter);
    json_write_end(&w);
}

/* Ask one member. ERR_LEADER_UNAVAILABLE: ask another one, or ask again later. */
static enum err_code ask(const struct server_join *j, struct engine *e, const char *target,
                         const char *ca, struct str body, struct err *err)
{
    const struct settings *s = j->settings;
    char url[URL_BYTES_MAX + 32];
    char secret[URL_BYTES_MAX + 64];
    char password[URL_BYTES_MAX + 64];
    char text[200];
    const char *headers[4] = {"Content-Type: application/json"};
    size_t count = 1;
    (void)snprintf(url, sizeof url, "%s/api/v1/cluster/join", target);
    if (s->cluster_secret.len > 0) {
        (void)snprintf(secret, sizeof secret, "X-Corvo-Cluster-Secret: " STR_FMT,
                       STR_ARG(s->cluster_secret));
        headers[count++] = secret;
    }
    if (s->admin_password.len > 0) {
        (void)snprintf(password, sizeof password, "X-API-Key: " STR_FMT,
                       STR_ARG(s->admin_password));
        headers[count++] = password;
    }
    struct outgoing_wait *w = outgoing_wait_new();
    struct outgoing_wait_call call = {.method = "POST",
                                      .url = url,
                                      .headers = headers,
                                      .body = body,
                                      .ca_file = ca,
                                      .timeout_ms = TRY_MS,
                                      .limit_bytes = ANSWER_BYTES_MAX};
    bool ran = outgoing_wait_run(w, &call, j->stop_fd);
    enum err_code code = ERR_OK;
    struct str answer = buf_str(&call.answer);
    if (!ran) {
        code = err_set_default(err, ERR_STOPPING);
    } else if (call.err.code != ERR_OK) {
        code = err_set(err, ERR_LEADER_UNAVAILABLE, "%s", call.err.msg);
    } else if (call.status == 200) {
        member_text(answer, STR("cluster_id"), text, sizeof text);
        uint64_t cluster = strtoull(text, NULL, 16);
        code = cluster == 0 ? err_set(err, ERR_JOIN, "%s is not part of a cluster", target)
                            : engine_cluster_adopt(e, cluster, err);
    } else {
        member_text(answer, STR("error"), text, sizeof text);
        bool later = call.status == 503 || call.status == 429;
        code = err_set(err, later ? ERR_LEADER_UNAVAILABLE : ERR_JOIN, "%s: %d %.150s", target,
                       call.status, text);
    }
    outgoing_wait_clear(&call);
    outgoing_wait_free(w);
    return code;
}

/* Ask the nodes one after the other, until one accepts this node or refuses for good. */
static enum err_code ask_each(const struct server_join *j, struct engine *e,
                              const struct discover_list *nodes, struct str body, struct err *err)
{
    enum err_code code = ERR_LEADER_UNAVAILABLE;
    char *ca = ca_file(j->settings);
    for (size_t i = 0; i < nodes->count && code == ERR_LEADER_UNAVAILABLE; i++) {
        const char *url = nodes->peers[i].url;
        if (discover_is_own(j->discover, &nodes->peers[i])) {
            continue;
        }
        code = ask(j, e, url, ca, body, err);
        if (code == ERR_OK) {
            log_info("joined cluster", LOG_Z("target", url));
        } else if (code != ERR_STOPPING) {
            log_warn("join attempt failed", LOG_Z("target", url), LOG_Z("error", err->msg));
        }
    }
    free(ca);
    return code;
}

static enum err_code ask_all(const struct server_join *j, struct engine *e, struct err *err)
{
    struct discover_list *nodes = calloc(1, sizeof *nodes);
    struct buf body;
    struct patience patience = patience_for(j->settings->join_timeout_ms);
    enum err_code code = ERR_LEADER_UNAVAILABLE;
    CHECK(nodes != NULL);
    buf_init(&body, BODY_BYTES_MAX);
    write_body(j->settings, e, j->http_url, &body);
    (void)err_set(err, ERR_JOIN, "no node to join was found");
    while (code == ERR_LEADER_UNAVAILABLE && patience_lasts(&patience, "a member that responds")) {
        struct err stop;
        find_nodes(j->discover, nodes);
        code = ask_each(j, e, nodes, buf_str(&body), err);
        if (code == ERR_LEADER_UNAVAILABLE && pause_a_while(j, &stop) != ERR_OK) {
            *err = stop;
            code = stop.code;
        }
    }
    buf_deinit(&body);
    free(nodes);
    return code == ERR_OK ? ERR_OK : err_wrap(err, "join");
}

/* --- the state --- */

struct look {
    struct engine_call call;
    struct engine *e;
    struct str name;
    bool found;
    uv_sem_t over;
};

static void look_run(struct engine_call *call, struct machine *m)
{
    struct look *l = CONTAINER_OF(call, struct look, call);
    (void)m;
    l->found = engine_cluster_find(l->e, l->name) == engine_cluster_node_id(l->e);
}

static void look_done(struct engine_call *call)
{
    struct look *l = CONTAINER_OF(call, struct look, call);
    uv_sem_post(&l->over);
}

/* True if this node has the record of itself. The record is part of the state, so the node then
 * also has everything older. */
static bool has_state(const struct settings *s, struct engine *e)
{
    struct look l = {.call = {.run = look_run, .done = look_done}, .e = e, .name = s->node_id};
    CHECK(uv_sem_init(&l.over, 0) == 0);
    bool asked = engine_run(e, &l.call);
    if (asked) {
        uv_sem_wait(&l.over);
    }
    uv_sem_destroy(&l.over);
    return asked && l.found;
}

static enum err_code wait_for_state(const struct server_join *j, struct engine *e, int64_t ms,
                                    struct err *err)
{
    const struct settings *s = j->settings;
    struct patience patience = patience_for(ms);
    while (!has_state(s, e)) {
        if (!patience_lasts(&patience, "the data of the cluster")) {
            return err_set(err, ERR_JOIN,
                           "the leader accepted this node, but cannot reach it "
                           "at " STR_FMT " (raft-advertise)",
                           STR_ARG(s->raft_advertise));
        }
        if (pause_a_while(j, err) != ERR_OK) {
            return err->code;
        }
    }
    return ERR_OK;
}

/* Wait without a limit. The inviting side sees whether its invitation worked, and can repeat it. */
static enum err_code wait_to_be_invited(const struct server_join *j, struct engine *e,
                                        struct err *err)
{
    if (engine_cluster_id(e) == 0) { /* this is its first invitation, not a restart */
        log_info("waiting for an invitation", LOG_STR("node_id", j->settings->node_id),
                 LOG_STR("raft_address", j->settings->raft_advertise),
                 LOG_Z("remedy", "POST /join on the leader, with this node_id and raft_address as "
                                 "address"));
    }
    while (engine_cluster_id(e) == 0) {
        if (pause_a_while(j, err) != ERR_OK) {
            return err->code;
        }
    }
    return ERR_OK;
}

enum err_code server_join(const struct server_join *j, struct engine *e, struct err *err)
{
    bool invitable = engine_settings(e)->cluster.invitable;
    if (!invitable && engine_cluster_id(e) != 0) {
        return ERR_OK;
    }
    if ((invitable ? wait_to_be_invited(j, e, err) : ask_all(j, e, err)) != ERR_OK) {
        return err->code;
    }
    server_lobby_set(j->lobby, SERVER_LOBBY_JOINED);
    return wait_for_state(j, e, invitable ? NO_LIMIT_MS : CATCH_UP_MS, err);
}

/* --- forming a new cluster together --- */

/* The state of the other nodes that respond. */
struct look_around {
    struct discover_list found;
    struct server_lobby_node nodes[DISCOVER_PEERS_MAX]; /* nodes that also wait, each listed once */
    size_t count;
    bool member;   /* a node belongs to a cluster */
    bool founding; /* a node is about to create one */
};

static bool is_true(struct str json, struct str name)
{
    struct json_value v;
    return json_scan_member(json, name, &v) && str_eq(v.text, STR("true"));
}

static void note(const struct server_join *j, struct look_around *a, struct str answer)
{
    struct server_lobby_node n = {0};
    member_text(answer, STR("node_id"), n.id, sizeof n.id);
    member_text(answer, STR("raft_address"), n.address, sizeof n.address);
    if (n.id[0] == '\0' || str_eq(str_from_z(n.id), j->settings->node_id)) {
        return; /* this is the node itself, found under another address */
    }
    a->founding |= is_true(answer, STR("founding"));
    for (size_t i = 0; i < a->count; i++) {
        if (strcmp(a->nodes[i].id, n.id) == 0) {
            return;
        }
    }
    a->nodes[a->count++] = n;
}

/* Read the state of one node that was found. Only a member responds without "forming"; a gateway
 * that cannot reach its server does not count as a member. */
static enum err_code look_at(const struct server_join *j, const char *target, const char *ca,
                             struct look_around *a, struct err *err)
{
    char url[URL_BYTES_MAX + 32];
    (void)snprintf(url, sizeof url, "%s/health", target);
    struct outgoing_wait *w = outgoing_wait_new();
    struct outgoing_wait_call call = {.method = "GET",
                                      .url = url,
                                      .ca_file = ca,
                                      .timeout_ms = TRY_MS,
                                      .limit_bytes = ANSWER_BYTES_MAX};
    bool ran = outgoing_wait_run(w, &call, j->stop_fd);
    if (ran && call.err.code == ERR_OK) {
        struct str answer = buf_str(&call.answer);
        char id[DISCOVER_NAME_BYTES];
        member_text(answer, STR("node_id"), id, sizeof id);
        if (!is_true(answer, STR("forming"))) {
            a->member |= call.status < 500 || id[0] != '\0';
        } else if (is_true(answer, STR("joined"))) {
            a->member = true;
        } else {
            note(j, a, answer);
        }
    }
    outgoing_wait_clear(&call);
    outgoing_wait_free(w);
    return ran ? ERR_OK : err_set_default(err, ERR_STOPPING);
}

enum verdict { VERDICT_WAIT, VERDICT_JOIN, VERDICT_FOUND };

/* Read the state of all nodes and decide what this node does. */
static enum err_code look_around(const struct server_join *j, struct look_around *a,
                                 enum verdict *out, struct err *err)
{
    char *ca = ca_file(j->settings);
    enum err_code code = ERR_OK;
    find_nodes(j->discover, &a->found);
    a->count = 0;
    a->member = a->founding = false;
    for (size_t i = 0; i < a->found.count && code == ERR_OK && !a->member; i++) {
        if (!discover_is_own(j->discover, &a->found.peers[i])) {
            code = look_at(j, a->found.peers[i].url, ca, a, err);
        }
    }
    free(ca);
    server_lobby_know(j->lobby, a->nodes, a->count);
    bool first = true;
    for (size_t i = 0; i < a->count; i++) {
        first &= str_cmp(j->settings->node_id, str_from_z(a->nodes[i].id)) < 0;
    }
    bool enough = (int64_t)a->count + 1 >= j->settings->bootstrap_expect;
    *out = a->member                ? VERDICT_JOIN
           : a->founding || !enough ? VERDICT_WAIT
           : first                  ? VERDICT_FOUND
                                    : VERDICT_JOIN;
    return code;
}

/* Announce the intention to create the cluster, then look again. If two nodes that did not see each
 * other try it at the same time, at least one of them now sees the other. */
static enum err_code decide(const struct server_join *j, struct look_around *a, enum verdict *out,
                            struct err *err)
{
    if (look_around(j, a, out, err) != ERR_OK || *out != VERDICT_FOUND) {
        return err->code;
    }
    server_lobby_set(j->lobby, SERVER_LOBBY_FOUNDS);
    enum err_code code = look_around(j, a, out, err);
    if (code != ERR_OK || *out != VERDICT_FOUND) {
        server_lobby_set(j->lobby, SERVER_LOBBY_WAITS);
    }
    return code;
}

enum err_code server_join_founds(const struct server_join *j, bool *out, struct err *err)
{
    struct patience patience = patience_for(j->settings->join_timeout_ms);
    struct look_around *a = calloc(1, sizeof *a);
    enum verdict verdict = VERDICT_WAIT;
    CHECK(a != NULL);
    err_clear(err);
    enum err_code code = decide(j, a, &verdict, err);
    while (code == ERR_OK && verdict == VERDICT_WAIT) {
        if (!patience_lasts(&patience, "the nodes of bootstrap-expect")) {
            code = err_set(err, ERR_JOIN,
                           "join: %zu of the %" PRIi64
                           " nodes of bootstrap-expect responded, this one included",
                           a->count + 1, j->settings->bootstrap_expect);
        } else if (pause_a_while(j, err) == ERR_OK) {
            code = decide(j, a, &verdict, err);
        } else {
            code = err->code;
        }
    }
    *out = verdict == VERDICT_FOUND;
    free(a);
    return code;
}
