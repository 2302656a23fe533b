/*
 * The members of the cluster, in the status and in the metrics.
 *
 * Only the leader knows the progress of the other nodes reliably. A follower reports what it has
 * received from them itself, which may be nothing.
 */
#include <inttypes.h>
#include <stdio.h>

#include "rest/rest_numbers_int.h"

enum { SILENT_MS = 3000 /* a node that was silent this long is unreachable */ };

static void text(struct json_write *w, const char *key, const char *value)
{
    json_write_key(w, str_from_z(key));
    json_write_str(w, str_from_z(value));
}

static void number(struct json_write *w, const char *key, uint64_t value)
{
    json_write_key(w, str_from_z(key));
    json_write_u64(w, value);
}

static void hex(struct json_write *w, const char *key, uint64_t value)
{
    char digits[24];
    (void)snprintf(digits, sizeof digits, "%016" PRIx64, value);
    text(w, key, digits);
}

static const char *role_of(const struct rest_numbers *v, const struct engine_cluster_node *n)
{
    if (n->self) {
        return v->engine.node.role;
    }
    return n->leads                  ? "Leader"
           : !n->in_group            ? "Joining"
           : n->role == NODE_VOTER   ? "Follower"
           : n->role == NODE_STANDBY ? "Standby"
                                     : "Spare";
}

static bool is_silent(const struct engine_cluster_node *n)
{
    return n->last_contact_ms < 0 || n->last_contact_ms > SILENT_MS;
}

static const char *own_status(const struct rest_numbers *v)
{
    return v->cluster->quarantined                      ? "quarantined"
           : v->cluster->removed                        ? "removed"
           : v->cluster->refused.error[0] != '\0'       ? "outdated"
           : v->engine.space.level != ENGINE_SPACE_FINE ? "degraded"
                                                        : "healthy";
}

static const char *status_of(const struct rest_numbers *v, const struct engine_cluster_node *n)
{
    if (n->self) {
        return own_status(v);
    }
    if (n->hash_differs) {
        return "differs";
    }
    if (n->state == STORE_NODE_LEAVING) {
        return "leaving";
    }
    if (!v->engine.node.leads && !n->leads) {
        return is_silent(n) ? "unknown" : "healthy";
    }
    return is_silent(n) ? "unreachable" : n->installing ? "catching up" : "healthy";
}

static uint64_t lag_of(const struct rest_numbers *v, const struct engine_cluster_node *n)
{
    uint64_t last = v->engine.node.last_index;
    return last > n->match_index ? last - n->match_index : 0;
}

static void write_node(struct json_write *w, const struct rest_numbers *v,
                       const struct engine_cluster_node *n)
{
    json_write_object(w);
    text(w, "id", n->name);
    hex(w, "raft_id", n->id);
    text(w, "address", n->address);
    rest_document__text(w, "http_url", str_from_z(n->http_url));
    rest_document__text(w, "version", str_from_z(n->version));
    rest_document__bool(w, "voter", n->in_group && n->role == NODE_VOTER);
    text(w, "role", role_of(v, n));
    text(w, "status", status_of(v, n));
    rest_document__bool(w, "self", n->self);
    if (v->engine.node.leads && !n->self && n->in_group) {
        number(w, "match_index", n->match_index);
        number(w, "lag", lag_of(v, n));
    }
    if (!n->self && n->last_contact_ms >= 0) {
        rest_document__i64(w, "last_contact_ms", n->last_contact_ms);
    }
    rest_document__text(w, "error", str_from_z(n->error));
    json_write_end(w);
}

/* A new cluster has no record of its node yet. */
static void write_alone(struct json_write *w, const struct rest_numbers *v)
{
    json_write_object(w);
    text(w, "id", v->node_id);
    hex(w, "raft_id", v->cluster->node_id);
    text(w, "address", v->settings->node.address);
    rest_document__text(w, "http_url", str_from_z(v->http_url));
    rest_document__bool(w, "voter", true);
    text(w, "role", v->engine.node.role);
    text(w, "status", v->engine.space.level != ENGINE_SPACE_FINE ? "degraded" : "healthy");
    rest_document__bool(w, "self", true);
    json_write_end(w);
}

void rest_nodes__write(struct json_write *w, const struct rest_numbers *v)
{
    const struct engine_cluster_status *c = v->cluster;
    bool seen_self = false;
    rest_document__array(w, "nodes");
    for (size_t i = 0; i < c->count; i++) {
        if (c->nodes[i].state != STORE_NODE_REMOVED) {
            write_node(w, v, &c->nodes[i]);
            seen_self = seen_self || c->nodes[i].self;
        }
    }
    if (!seen_self && !c->removed) {
        write_alone(w, v);
    }
    json_write_end(w);
}

static const struct engine_cluster_node *leader_of(const struct engine_cluster_status *c)
{
    for (size_t i = 0; i < c->count; i++) {
        if (c->nodes[i].leads) {
            return &c->nodes[i];
        }
    }
    return NULL;
}

void rest_nodes__write_leader(struct json_write *w, const struct rest_numbers *v)
{
    const struct engine_cluster_node *n = leader_of(v->cluster);
    bool self = v->engine.node.leader_id == v->settings->node.id;
    text(w, "leader_id", n != NULL ? n->name : self ? v->node_id : "");
    text(w, "leader_addr", n != NULL ? n->address : self ? v->settings->node.address : "");
    text(w, "leader_url", n != NULL ? n->http_url : self ? v->http_url : "");
}

void rest_nodes__write_group(struct json_write *w, const struct rest_numbers *v)
{
    const struct engine_cluster_status *c = v->cluster;
    hex(w, "cluster_id", c->cluster_id);
    rest_document__bool(w, "removed", c->removed);
    rest_document__bool(w, "quarantined", c->quarantined);
    rest_document__text(w, "unreadable", str_from_z(c->refused.error));
    number(w, "elections", c->elections);
    rest_document__object(w, "state_hash");
    number(w, "index", c->hash_index);
    hex(w, "hash", c->hash);
    number(w, "compared_total", c->hash_compared_total);
    number(w, "differed_total", c->hash_differed_total);
    json_write_end(w);
    rest_document__object(w, "checkpoint_fetch");
    rest_document__bool(w, "running", c->fetch.running);
    number(w, "bytes_total", c->fetch.bytes_total);
    number(w, "bytes_done", c->fetch.bytes_done);
    number(w, "fetched_total", c->fetch.fetched_total);
    rest_document__text(w, "error", str_from_z(c->fetch.error));
    json_write_end(w);
}

/* --- metrics --- */

/* clang-format off */
static const struct {
    const char *name, *type, *help;
} families[] = {
    {"corvo_peer_connected",            "gauge",   "1 while this node is connected to the other node."},
    {"corvo_peer_last_contact_seconds", "gauge",   "Time since the other node was last heard from."},
    {"corvo_peer_lag_entries",          "gauge",   "Log entries that the other node is not known to have. Reported by the leader only."},
    {"corvo_peer_queue_bytes",          "gauge",   "Bytes waiting to be sent to the other node."},
    {"corvo_peer_sent_bytes_total",     "counter", "Bytes sent to the other node."},
    {"corvo_peer_received_bytes_total", "counter", "Bytes received from the other node."},
    {"corvo_peer_connects_total",       "counter", "Connections made to the other node."},
    {"corvo_peer_hash_differs",         "gauge",   "1 if the other node's state differed from this node's."},
};
/* clang-format on */

static void write_value(struct buf *out, size_t family, const struct rest_numbers *v,
                        const struct engine_cluster_node *n)
{
    switch (family) {
    case 0:
        buf_printf(out, "%d", n->connected ? 1 : 0);
        break;
    case 1:
        buf_printf(out, "%" PRId64 ".%03" PRId64, n->last_contact_ms / 1000,
                   n->last_contact_ms % 1000);
        break;
    case 2:
        buf_printf(out, "%" PRIu64, lag_of(v, n));
        break;
    case 3:
        buf_printf(out, "%" PRIu64, n->queued_bytes);
        break;
    case 4:
        buf_printf(out, "%" PRIu64, n->sent_bytes);
        break;
    case 5:
        buf_printf(out, "%" PRIu64, n->received_bytes);
        break;
    case 6:
        buf_printf(out, "%" PRIu64, n->connects);
        break;
    default:
        buf_printf(out, "%d", n->hash_differs ? 1 : 0);
        break;
    }
}

static bool has_value(size_t family, const struct rest_numbers *v,
                      const struct engine_cluster_node *n)
{
    return !n->self && n->in_group && (family != 1 || n->last_contact_ms >= 0) &&
           (family != 2 || v->engine.node.leads);
}

void rest_nodes__metrics(struct buf *out, const struct rest_numbers *v)
{
    const struct engine_cluster_status *c = v->cluster;
    for (size_t f = 0; f < COUNT_OF(families); f++) {
        bool begun = false;
        for (size_t i = 0; i < c->count; i++) {
            const struct engine_cluster_node *n = &c->nodes[i];
            if (!has_value(f, v, n)) {
                continue;
            }
            if (!begun) {
                buf_printf(out, "# HELP %s %s\n# TYPE %s %s\n", families[f].name, families[f].help,
                           families[f].name, families[f].type);
                begun = true;
            }
            buf_printf(out, "%s{peer=\"%s\"} ", families[f].name, n->name);
            write_value(out, f, v, n);
            buf_add_char(out, '\n');
        }
    }
}
