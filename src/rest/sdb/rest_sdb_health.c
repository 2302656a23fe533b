/*
 * Health, readiness, membership and debugging in the format of Scheduled-DB (scheduler.md 2.8, 2.9,
 * 11).
 */
#include <inttypes.h>
#include <stdlib.h>

#include "auth/auth.h"
#include "base/check.h"
#include "engine/engine_cluster.h"
#include "engine/engine_leader.h"
#include "fsm/machine_nodes.h"
#include "json/json_scan.h"
#include "log/log.h"
#include "rest/access/rest_auth_int.h"
#include "rest/rest_forward_int.h"
#include "rest/rest_invite_int.h"
#include "rest/sdb/rest_sdb_int.h"

enum { FINISHED_MIN = 10, MEMORY_DEGRADED_PERCENT = 90 };

static double failure_rate(const uint64_t by[REST_SDB_STATUS_COUNT], uint64_t *out_finished)
{
    uint64_t bad = by[REST_SDB_FAILED] + by[REST_SDB_TIMEOUT];
    *out_finished = bad + by[REST_SDB_COMPLETED];
    return *out_finished == 0 ? 0 : (double)bad / (double)*out_finished;
}

static uint64_t left(uint64_t used, uint64_t limit)
{
    return used < limit ? limit - used : 0;
}

/* The limits apply to each namespace. */
static void write_usage(struct json_write *w, const struct rest_sdb_config *sdb,
                        const struct rest_sdb_total *t)
{
    const struct machine_queue *q = &t->queue;
    uint64_t bytes_max = rest_sdb_numbers__times(sdb->memory_limit, t->queues);
    uint64_t count_max = rest_sdb_numbers__times(sdb->job_limit, t->queues);
    rest_document__object(w, "memory");
    rest_document__i64(w, "current_bytes", (int64_t)q->named_bytes);
    rest_document__i64(w, "limit_bytes", (int64_t)bytes_max);
    rest_document__i64(w, "available_bytes", (int64_t)left(q->named_bytes, bytes_max));
    json_write_key(w, STR("utilization_percent"));
    json_write_f64(w, rest_sdb_numbers__percent(q->named_bytes, bytes_max));
    json_write_end(w);
    rest_document__object(w, "jobs");
    rest_document__i64(w, "current_count", (int64_t)q->named_count);
    rest_document__i64(w, "count", (int64_t)q->named_count);
    rest_document__i64(w, "limit", (int64_t)count_max);
    rest_document__i64(w, "available", (int64_t)left(q->named_count, count_max));
    json_write_end(w);
}

static void write_executions(struct json_write *w, const struct rest_sdb_numbers *n, double rate)
{
    rest_document__object(w, "execution");
    for (unsigned i = 0; i < REST_SDB_STATUS_COUNT; i++) {
        rest_document__i64(w, rest_sdb_show__word((enum rest_sdb_status)i),
                           (int64_t)n->by_status[i]);
    }
    rest_document__i64(w, "total", (int64_t)n->jobs);
    if (n->total.queue.last_ended_at.ns != 0) {
        rest_document__i64(w, "last_executed_at", n->total.queue.last_ended_at.ns / NS_PER_S);
    }
    json_write_key(w, STR("failure_rate"));
    json_write_f64(w, rate);
    json_write_end(w);
}

/* Find a leader that accepts requests; false if there is none. */
static bool find_leader(const struct rest_call *c, struct engine_leader *out)
{
    struct engine *e = c->rest->config.engine;
    /* a node that has just become leader does not accept requests yet */
    return engine_leader(e, out) && (out->self || out->id != engine_cluster_node_id(e));
}

static void say_health(struct rest_call *c, const struct rest_sdb_numbers *n)
{
    struct engine_leader leader;
    const struct rest_sdb_config *sdb = &c->rest->config.sdb;
    uint64_t finished;
    double rate = failure_rate(n->by_status, &finished);
    bool full = rest_sdb_numbers__percent(n->total.fullest_bytes, sdb->memory_limit) >=
                MEMORY_DEGRADED_PERCENT;
    bool failing = finished >= FINISHED_MIN && rate > sdb->failure_threshold;
    bool unhealthy = (full && finished >= FINISHED_MIN && rate > 0.5) ||
                     engine_cluster_is_quarantined(c->rest->config.engine);
    struct json_write w = rest_call__json(c);
    json_write_object(&w);
    rest_document__text(&w, "status",
                        unhealthy         ? STR("unhealthy")
                        : full || failing ? STR("degraded")
                                          : sdb->ok_word);
    rest_document__text(&w, "role", n->engine.node.leads ? STR("leader") : STR("follower"));
    if (!n->engine.node.leads && find_leader(c, &leader)) {
        rest_document__text(&w, "leader", str_from_z(leader.address));
    }
    rest_document__text(&w, "node_id", str_from_z(c->rest->config.node_id));
    write_usage(&w, sdb, &n->total);
    write_executions(&w, n, rate);
    json_write_end(&w);
    rest_call__reply(c, unhealthy ? 503 : 200, &w);
}

static void handle_health(struct rest_call *c)
{
    rest_sdb_numbers__take(c, false, say_health);
}

static void handle_ready(struct rest_call *c)
{
    struct engine_leader leader;
    struct json_write w = rest_call__json(c);
    bool differs = engine_cluster_is_quarantined(c->rest->config.engine);
    bool ready = !differs && find_leader(c, &leader);
    json_write_object(&w);
    rest_document__text(&w, "status", ready ? STR("ready") : STR("not ready"));
    rest_document__text(&w, "reason",
                        ready     ? STR_EMPTY
                        : differs ? str_from_z(rest_forward__quarantined)
                                  : STR("no leader"));
    json_write_end(&w);
    rest_call__reply(c, ready ? 200 : 503, &w);
}

static struct str raft_address(const struct rest_call *c)
{
    return str_from_z(engine_settings(c->rest->config.engine)->node.address);
}

static void write_server(struct json_write *w, struct str id, struct str address)
{
    json_write_object(w);
    rest_document__text(w, "id", id);
    rest_document__text(w, "address", address);
    json_write_end(w);
}

static void say_cluster(struct rest_call *c, const struct rest_sdb_numbers *n)
{
    struct engine_leader leader;
    struct str node = str_from_z(c->rest->config.node_id);
    struct str at = n->engine.node.leads      ? raft_address(c)
                    : find_leader(c, &leader) ? str_from_z(leader.address)
                                              : STR_EMPTY;
    struct json_write w = rest_call__json(c);
    json_write_object(&w);
    rest_document__text(&w, "node_id", node);
    rest_document__bool(&w, "is_leader", n->engine.node.leads);
    json_write_key(&w, STR("leader"));
    json_write_str(&w, at);
    rest_document__text(&w, "raft_state", str_from_z(n->engine.node.role));
    rest_document__array(&w, "servers");
    for (size_t i = 0; i < n->server_count; i++) {
        write_server(&w, str_from_z(n->servers[i].id), str_from_z(n->servers[i].address));
    }
    if (n->server_count == 0) {
        write_server(&w, node, raft_address(c)); /* a single node has no record */
    }
    json_write_end(&w);
    rest_document__i64(&w, "job_count", (int64_t)n->jobs);
    json_write_end(&w);
    rest_call__reply(c, 200, &w);
}

static void handle_cluster(struct rest_call *c)
{
    rest_sdb_numbers__take(c, true, say_cluster);
}

static bool is_token(const struct rest_call *c, struct str token)
{
    struct str given;
    return http_request_known(c->req, HTTP_KNOWN_AUTHORIZATION, &given) &&
           rest_auth__is_right(c, rest_credential__bearer(given), token);
}

/* Without a token for /join, the admin password is required; without that, any caller may join. */
static bool may_join(const struct rest_call *c)
{
    struct str token = c->rest->config.sdb.auth_token;
    struct str password = c->rest->config.admin_password;
    return token.len > 0 ? is_token(c, token) : password.len == 0 || is_token(c, password);
}

static bool take_member(struct rest_call *c, struct str body, const char *name, struct str *out)
{
    struct json_value v;
    struct err err;
    *out = STR_EMPTY;
    return !json_scan_member(body, str_from_z(name), &v) || v.type == JSON_TYPE_NULL ||
           (v.type == JSON_TYPE_STRING && json_value_text(v, c->arena, out, &err) == ERR_OK);
}

/* A change of the members requires a credential, even if the server is open: the token, the admin
 * password, or the cluster secret. */
static bool may_change(const struct rest_call *c)
{
    struct str given;
    struct str secret = c->rest->config.cluster_secret;
    return c->rest->config.sdb.auth_token.len > 0 || c->rest->config.admin_password.len > 0 ||
           (secret.len > 0 &&
            http_request_known(c->req, HTTP_KNOWN_X_CORVO_CLUSTER_SECRET, &given) &&
            auth_same(given, secret));
}

/* A node that wants to join, and its record if there is one. */
struct joining {
    struct str name, address;
    struct str raft_id, http_url; /* sent only by nodes of this server */
    bool found;
    bool voter;
    uint64_t id;
    struct engine_invite invite;
    char known_address[STORE_NODE_ADDRESS_BYTES_MAX + 1];
    char known_url[STORE_NODE_URL_BYTES_MAX + 1];
    char known_version[STORE_NODE_VERSION_BYTES_MAX + 1];
};

static void say_joined(struct rest_call *c)
{
    const struct joining *j = c->data;
    struct buf b;
    buf_init(&b, SIZE_MAX);
    buf_printf(&b, "Node " STR_FMT " successfully joined cluster", STR_ARG(j->name));
    struct json_write w = rest_call__json(c);
    json_write_object(&w);
    rest_document__bool(&w, "success", true);
    rest_document__text(&w, "message", buf_str(&b));
    json_write_end(&w);
    buf_deinit(&b);
    rest_call__reply(c, 200, &w);
}

static void refuse_join(struct rest_call *c, struct str why)
{
    const struct joining *j = c->data;
    log_warn("scheduler join refused", LOG_STR("node_id", j->name), LOG_STR("reason", why));
    rest_sdb_text__fail(c, ERR_INTERNAL, STR("Failed to join cluster"));
}

static void joined(struct rest_call *c, const struct result *r)
{
    if (r->code != ERR_OK) {
        refuse_join(c, r->message);
    } else {
        say_joined(c);
    }
}

static void put_node(struct rest_call *c)
{
    const struct joining *j = c->data;
    struct command command = {.type = COMMAND_NODE_PUT};
    struct err err;
    command.node_put.node =
        (struct store_node){.id = j->id,
                            .voter = j->voter,
                            .name = j->name,
                            .address = j->address,
                            .http_url = j->found ? str_from_z(j->known_url) : j->http_url,
                            .version = j->found ? str_from_z(j->known_version) : STR_EMPTY};
    if (command_check(&command, &engine_settings(c->rest->config.engine)->limits, &err) != ERR_OK) {
        refuse_join(c, str_from_z(err.msg));
    } else {
        rest_call__submit(c, &command, 0, joined);
    }
}

/* A node that sends its number is added without an invitation. */
static void put_by_number(struct rest_call *c)
{
    struct joining *j = c->data;
    char digits[sizeof(uint64_t) * 2 + 1] = "";
    char *end = digits;
    if (j->raft_id.len == sizeof digits - 1) {
        memcpy(digits, j->raft_id.ptr, j->raft_id.len);
        j->id = strtoull(digits, &end, 16);
    }
    if (*end != '\0' || j->id == 0 || j->id > INT64_MAX) {
        rest_sdb_text__fail(c, ERR_VALIDATION, STR("raft_id: expected 16 hexadecimal digits"));
        return;
    }
    j->voter = true;
    put_node(c);
}

static void put_invited(struct rest_call *c)
{
    struct joining *j = c->data;
    if (j->invite.err.code != ERR_OK) {
        refuse_join(c, str_from_z(j->invite.err.msg));
        return;
    }
    j->id = j->invite.id;
    j->voter = j->invite.voter;
    put_node(c);
}

static void look_join(struct rest_call *c, struct machine *m)
{
    struct joining *j = c->data;
    j->id = engine_cluster_find(c->rest->config.engine, j->name);
    const struct store_node *n = j->id == 0 ? NULL : machine_nodes_find(m, j->id);
    if (n != NULL) {
        j->found = true;
        j->voter = n->voter;
        (void)snprintf(j->known_address, sizeof j->known_address, STR_FMT, STR_ARG(n->address));
        (void)snprintf(j->known_url, sizeof j->known_url, STR_FMT, STR_ARG(n->http_url));
        (void)snprintf(j->known_version, sizeof j->known_version, STR_FMT, STR_ARG(n->version));
    }
}

static void go_on_joining(struct rest_call *c)
{
    struct joining *j = c->data;
    bool same = j->found && str_eq(j->address, str_from_z(j->known_address));
    if (same || str_eq(j->name, str_from_z(c->rest->config.node_id))) {
        say_joined(c); /* nothing to change; this node's own address is never replaced */
    } else if (!c->rest->config.takes_nodes) {
        refuse_join(c, STR("this server runs on its own and accepts no other nodes"));
    } else if (!may_change(c)) {
        rest_sdb_text__fail(c, ERR_UNAUTHORIZED, STR("unauthorized"));
    } else if (j->found) {
        put_node(c);
    } else if (j->raft_id.len > 0) {
        put_by_number(c);
    } else {
        rest_invite__send(c, &j->invite, j->name, j->address, put_invited);
    }
}

static void handle_join(struct rest_call *c)
{
    struct str object;
    struct joining *j = REST_NEW(c, struct joining);
    c->data = j;
    if (!may_join(c)) {
        rest_sdb_text__fail(c, ERR_UNAUTHORIZED, STR("unauthorized"));
    } else if (!engine_leads(c->rest->config.engine)) {
        rest_sdb_text__fail(c, ERR_FORBIDDEN, STR("not leader, cannot accept join requests"));
    } else if (!rest_sdb_read__body(c, &object) || !take_member(c, object, "node_id", &j->name) ||
               !take_member(c, object, "address", &j->address) ||
               !take_member(c, object, "raft_id", &j->raft_id) ||
               !take_member(c, object, "http_url", &j->http_url)) {
        rest_sdb_text__fail(c, ERR_VALIDATION, STR("Invalid request body"));
    } else if (j->name.len == 0 || j->address.len == 0) {
        rest_sdb_text__fail(c, ERR_VALIDATION, STR("node_id and address are required"));
    } else {
        rest_call__on_core(c, look_join, go_on_joining);
    }
}

/* clang-format off */
static const struct rest_route rows[] = {
    /* method    pattern          roles      flags                                     in    handler         cost  answer                                doc */
    {HTTP_GET,  "/health",        ROLES_ALL, ROUTE_SCHEDULER | ROUTE_OPEN,                               NULL, handle_health,  NULL, "200 sdb health, 503 unhealthy",             "Scheduled-DB: return health, capacity and job outcomes."},
    {HTTP_GET,  "/ready",         ROLES_ALL, ROUTE_SCHEDULER | ROUTE_OPEN,                               NULL, handle_ready,   NULL, "200 sdb ready, 503 not ready",             "Scheduled-DB: check whether there is a leader."},
    {HTTP_POST, "/join",          ROLES_ALL, ROUTE_SCHEDULER | ROUTE_OPEN | ROUTE_BODY | ROUTE_ANY_BODY, NULL, handle_join,    NULL, "200 sdb joined, 401 unauthorized, 403 not leader, 500 the node was not added", "Scheduled-DB: add a node to the cluster. A node that is not a member yet must wait for this at the address: started with --bootstrap=false, without --join."},
    {HTTP_GET,  "/debug/cluster", ROLES_ALL, ROUTE_SCHEDULER | ROUTE_LOCAL,                          NULL, handle_cluster, NULL, "200 sdb cluster",                            "Scheduled-DB: return the cluster as this node sees it."},
};
/* clang-format on */

const struct rest_routes rest_sdb_health_routes = {.rows = rows, .count = COUNT_OF(rows)};
