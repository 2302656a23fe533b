#include "server/server_lobby.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include <uv.h>

#include "base/check.h"
#include "json/json_write.h"

enum { ANSWER_BYTES_MAX = 1 << 20, STOP_MS = 500 };

struct server_lobby {
    struct server_lobby_config config;
    struct http_server *http;
    atomic_int state;
    uv_mutex_t lock; /* of the other responses */
    struct server_lobby_node nodes[DISCOVER_PEERS_MAX];
    size_t node_count;
};

static void text(struct json_write *w, const char *key, struct str value)
{
    json_write_key(w, str_from_z(key));
    json_write_str(w, value);
}

static void flag(struct json_write *w, const char *key, bool value)
{
    json_write_key(w, str_from_z(key));
    json_write_bool(w, value);
}

/* Write an object without information: every member is 0. */
static void zeros(struct json_write *w, const char *key, const char *const *members, size_t count)
{
    json_write_key(w, str_from_z(key));
    json_write_object(w);
    for (size_t i = 0; i < count; i++) {
        json_write_key(w, str_from_z(members[i]));
        json_write_u64(w, 0);
    }
    json_write_end(w);
}

/* As in scheduler.md 11, with the members that other nodes look for. */
static int write_health(struct server_lobby *l, const struct http_request *req,
                        struct json_write *w)
{
    static const char *const memory[] = {"current_bytes", "limit_bytes", "available_bytes",
                                         "utilization_percent"};
    static const char *const jobs[] = {"current_count", "count", "limit", "available"};
    static const char *const execution[] = {"pending", "in_progress", "completed",
                                            "failed",  "cancelled",   "timeout",
                                            "total",   "failure_rate"};
    int state = atomic_load(&l->state);
    (void)req;
    text(w, "status", STR("degraded"));
    text(w, "role", STR("follower"));
    text(w, "node_id", l->config.node_id);
    zeros(w, "memory", memory, COUNT_OF(memory));
    zeros(w, "jobs", jobs, COUNT_OF(jobs));
    zeros(w, "execution", execution, COUNT_OF(execution));
    flag(w, "forming", true);
    if (state != SERVER_LOBBY_WAITS) {
        flag(w, state == SERVER_LOBBY_FOUNDS ? "founding" : "joined", true);
    }
    text(w, "raft_address", l->config.raft_address);
    return 200;
}

static int write_not_ready(struct server_lobby *l, const struct http_request *req,
                           struct json_write *w)
{
    (void)l;
    (void)req;
    text(w, "status", STR("not ready"));
    text(w, "reason", STR("no leader"));
    return 503;
}

static void write_server(struct json_write *w, struct str id, struct str address)
{
    json_write_object(w);
    text(w, "id", id);
    text(w, "address", address);
    json_write_end(w);
}

/* True if the caller may see the other nodes. Credentials cannot be checked here, so with a
 * password nobody may. */
static bool may_see_nodes(const struct server_lobby *l, const struct http_request *req)
{
    struct str forwarded;
    bool local = (str_starts_with(req->peer, STR("127.")) || str_eq(req->peer, STR("::1"))) &&
                 !http_request_known(req, HTTP_KNOWN_X_FORWARDED_FOR, &forwarded) &&
                 !http_request_known(req, HTTP_KNOWN_FORWARDED, &forwarded);
    return !l->config.has_password && (l->config.open_access || local);
}

/* scheduler.md 2.9 */
static int write_cluster(struct server_lobby *l, const struct http_request *req,
                         struct json_write *w)
{
    text(w, "node_id", l->config.node_id);
    flag(w, "is_leader", false);
    text(w, "leader", STR_EMPTY);
    text(w, "raft_state", STR("Follower"));
    json_write_key(w, STR("servers"));
    json_write_array(w);
    write_server(w, l->config.node_id, l->config.raft_address);
    uv_mutex_lock(&l->lock);
    for (size_t i = 0; i < l->node_count && may_see_nodes(l, req); i++) {
        write_server(w, str_from_z(l->nodes[i].id), str_from_z(l->nodes[i].address));
    }
    uv_mutex_unlock(&l->lock);
    json_write_end(w);
    json_write_key(w, STR("job_count"));
    json_write_u64(w, 0);
    return 200;
}

static int write_no_leader(struct server_lobby *l, const struct http_request *req,
                           struct json_write *w)
{
    (void)l;
    (void)req;
    text(w, "error", STR("No leader available"));
    return 503;
}

static int write_later(struct server_lobby *l, const struct http_request *req, struct json_write *w)
{
    (void)l;
    (void)req;
    text(w, "error", STR("the cluster is still forming"));
    text(w, "code", str_from_z(err_wire(ERR_LEADER_UNAVAILABLE)));
    return 503;
}

static const struct {
    struct str path;
    bool below; /* the path itself and all paths below it */
    int (*write)(struct server_lobby *l, const struct http_request *req, struct json_write *w);
} rows[] = {
    {{"/health", 7}, false, write_health},          {{"/livez", 6}, false, write_health},
    {{"/ready", 6}, false, write_not_ready},        {{"/readyz", 7}, false, write_not_ready},
    {{"/debug/cluster", 14}, false, write_cluster}, {{"/jobs", 5}, false, write_no_leader},
    {{"/jobs/", 6}, true, write_no_leader},         {{"/", 1}, true, write_later},
};

static int write_document(struct server_lobby *l, const struct http_request *req, struct buf *out)
{
    struct json_write w = json_write_to(out);
    size_t i = 0;
    while (i < COUNT_OF(rows) - 1 && !(rows[i].below ? str_starts_with(req->path_raw, rows[i].path)
                                                     : str_eq(req->path_raw, rows[i].path))) {
        i++;
    }
    json_write_object(&w);
    int status = rows[i].write(l, req, &w);
    json_write_end(&w);
    return status;
}

/* Only a few metrics: there is nothing else to count yet. */
static void write_metrics(struct server_lobby *l, struct buf *out)
{
    uv_mutex_lock(&l->lock);
    size_t known = l->node_count + 1;
    uv_mutex_unlock(&l->lock);
    buf_printf(out,
               "# HELP corvo_cluster_forming 1 while the node waits for its cluster.\n"
               "# TYPE corvo_cluster_forming gauge\n"
               "corvo_cluster_forming 1\n"
               "# HELP corvo_cluster_nodes_seen Nodes that wait for the cluster, this one "
               "included.\n"
               "# TYPE corvo_cluster_nodes_seen gauge\n"
               "corvo_cluster_nodes_seen %zu\n"
               "# HELP corvo_cluster_is_leader 1 if this node is the leader.\n"
               "# TYPE corvo_cluster_is_leader gauge\n"
               "corvo_cluster_is_leader 0\n",
               known);
}

static void on_request(void *data, struct http_request *req)
{
    struct server_lobby *l = data;
    struct http_response response = {.status = 200};
    struct buf b;
    buf_init(&b, ANSWER_BYTES_MAX);
    if (req->method == HTTP_GET && str_eq(req->path_raw, STR("/metrics"))) {
        write_metrics(l, &b);
        response.content_type = STR("text/plain; version=0.0.4; charset=utf-8");
    } else if (req->method != HTTP_OPTIONS) {
        response.status = write_document(l, req, &b);
        response.content_type = STR("application/json");
    }
    response.body = buf_str(&b);
    http_request_answer(req, &response);
    buf_deinit(&b);
}

enum err_code server_lobby_open(const struct server_lobby_config *config, struct server_lobby **out,
                                struct err *err)
{
    struct http_server_config http = config->http;
    struct server_lobby *l = calloc(1, sizeof *l);
    CHECK(l != NULL);
    CHECK(uv_mutex_init(&l->lock) == 0);
    l->config = *config;
    atomic_store(&l->state, config->joined ? SERVER_LOBBY_JOINED : SERVER_LOBBY_WAITS);
    http.threads = 1;
    http.data = l;
    http.on_request = on_request;
    if (http_server_open(&http, &l->http, err) != ERR_OK) {
        uv_mutex_destroy(&l->lock);
        free(l);
        return err->code;
    }
    *out = l;
    return ERR_OK;
}

void server_lobby_close(struct server_lobby *l)
{
    if (l == NULL) {
        return;
    }
    http_server_stop(l->http, STOP_MS);
    http_server_free(l->http);
    uv_mutex_destroy(&l->lock);
    free(l);
}

void server_lobby_set(struct server_lobby *l, enum server_lobby_state state)
{
    if (l != NULL) {
        atomic_store(&l->state, (int)state);
    }
}

void server_lobby_know(struct server_lobby *l, const struct server_lobby_node *nodes, size_t count)
{
    if (l == NULL) {
        return;
    }
    CHECK(count <= DISCOVER_PEERS_MAX);
    uv_mutex_lock(&l->lock);
    memcpy(l->nodes, nodes, count * sizeof *nodes);
    l->node_count = count;
    uv_mutex_unlock(&l->lock);
}
