/*
 * Membership (http-api.md 20.2): joining, leaving, and transferring leadership.
 *
 * A request changes the record of a member. The leader then changes the Raft configuration step by
 * step. A response therefore means that the change was recorded, not that it is complete; the
 * cluster status shows the progress.
 *
 * A joining node authenticates with the cluster secret, since it has no API key. A node that waits
 * for an invitation is first asked for its number.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/check.h"
#include "base/limits.h"
#include "engine/engine_cluster.h"
#include "engine/engine_leader.h"
#include "rest/rest_int.h"
#include "rest/rest_invite_int.h"

enum { ID_DIGITS = 16 };

/* --- joining --- */

struct join_in {
    struct str node_id;
    struct str addr;
    struct str raft_id;
    struct str http_url;
    struct str version;
    bool voter;
    int64_t shard;
    int64_t shard_count;
};

static const struct json_field join_rows[] = {
    JSON_STR(struct join_in, node_id, 0, LIMIT_NAME_BYTES, JSON_INSISTED, "Name of the node."),
    JSON_STR(struct join_in, addr, 0, LIMIT_NAME_BYTES, JSON_INSISTED,
             "Address for the other nodes."),
    JSON_STR(
        struct join_in, raft_id, 0, LIMIT_NAME_BYTES, 0,
        "Raft ID of the node, 16 hex digits. A node started with --join sends it automatically. "
        "Without it, the node must wait at addr: started with --bootstrap=false, without --join."),
    JSON_STR(struct join_in, http_url, 0, STORE_NODE_URL_BYTES_MAX, 0, "URL of the node's API."),
    JSON_STR(struct join_in, version, 0, STORE_NODE_VERSION_BYTES_MAX, 0, "Version of the server."),
    JSON_BOOL(struct join_in, voter, 0, "Whether the node votes. A non-voting node only follows."),
    JSON_I64(struct join_in, shard, 0, INT32_MAX, 0, "Shard to join."),
    JSON_I64(struct join_in, shard_count, 0, INT32_MAX, 0, "Number of shards of the node."),
};
static const struct join_in join_init = {.voter = true};
static const struct json_schema join_schema =
    JSON_SCHEMA(struct join_in, join_rows, .init = &join_init);

static void reply_member(struct rest_call *c, bool added)
{
    const struct join_in *in = c->in;
    char id[ID_DIGITS + 1];
    struct json_write w = rest_call__json(c);
    (void)snprintf(id, sizeof id, "%016" PRIx64, engine_cluster_id(c->rest->config.engine));
    json_write_object(&w);
    rest_document__text(&w, "status", STR("ok"));
    rest_document__bool(&w, "added", added);
    rest_document__text(&w, "node_id", in->node_id);
    rest_document__text(&w, "addr", in->addr);
    rest_document__text(&w, "cluster_id", str_from_z(id));
    json_write_end(&w);
    rest_call__reply(c, 200, &w);
}

static void joined(struct rest_call *c, const struct result *r)
{
    if (r->code == ERR_CONFLICT) {
        rest_call__fail(c, ERR_JOIN, STR_FMT, STR_ARG(r->message));
    } else if (!rest_call__refused(c, r)) {
        reply_member(c, r->affected > 0);
    }
}

static bool parse_id(struct str text, uint64_t *out)
{
    char z[ID_DIGITS + 1];
    char *end = NULL;
    if (text.len != ID_DIGITS) {
        return false;
    }
    memcpy(z, text.ptr, ID_DIGITS);
    z[ID_DIGITS] = '\0';
    *out = strtoull(z, &end, 16);
    return *end == '\0' && *out != 0 && *out <= INT64_MAX;
}

struct known {
    struct str name;
    uint64_t id;
    unsigned voters;
    bool votes;
};

static void look_known(struct rest_call *c, struct machine *m)
{
    struct known *k = c->data;
    (void)m;
    k->id = engine_cluster_find(c->rest->config.engine, k->name);
    engine_cluster_voters(c->rest->config.engine, k->id, &k->voters, &k->votes);
}

static void put_node(struct rest_call *c, uint64_t id, bool voter)
{
    const struct join_in *in = c->in;
    const struct command command = {.type = COMMAND_NODE_PUT,
                                    .node_put.node = {.id = id,
                                                      .voter = voter,
                                                      .name = in->node_id,
                                                      .address = in->addr,
                                                      .http_url = in->http_url,
                                                      .version = in->version}};
    rest_call__submit(c, &command, 0, joined);
}

static void put_invited(struct rest_call *c)
{
    const struct join_in *in = c->in;
    const struct engine_invite *i = c->data;
    if (i->err.code != ERR_OK) {
        rest_call__fail(c, ERR_JOIN, STR_FMT ": %s", STR_ARG(in->addr), i->err.msg);
    } else {
        put_node(c, i->id, in->voter && i->voter);
    }
}

static void join_known(struct rest_call *c)
{
    const struct join_in *in = c->in;
    const struct known *k = c->data;
    if (k->id != 0) {
        reply_member(c, false);
        return;
    }
    struct engine_invite *i = REST_NEW(c, struct engine_invite);
    c->data = i;
    rest_invite__send(c, i, in->node_id, in->addr, put_invited);
}

static void look_up(struct rest_call *c, struct str name, void (*then)(struct rest_call *c))
{
    struct known *k = REST_NEW(c, struct known);
    k->name = name;
    c->data = k;
    rest_call__on_core(c, look_known, then);
}

static void handle_join(struct rest_call *c)
{
    const struct join_in *in = c->in;
    uint64_t id = 0;
    if (in->node_id.len == 0 || in->addr.len == 0) {
        rest_call__fail(c, ERR_VALIDATION, "node_id and addr are required");
    } else if (in->shard_count > 1 || in->shard > 0) {
        rest_call__fail(c, ERR_SHARD_COUNT, "this server has one shard");
    } else if (in->raft_id.len == 0 && str_eq(in->node_id, str_from_z(c->rest->config.node_id))) {
        reply_member(c, false);
    } else if (!c->rest->config.takes_nodes) {
        rest_call__fail(c, ERR_UNSUPPORTED,
                        "this server runs on its own and accepts no other nodes: start it with "
                        "--cluster-secret");
    } else if (!engine_leads(c->rest->config.engine)) {
        rest_call__fail(c, ERR_LEADER_UNAVAILABLE, "leader unavailable");
    } else if (in->raft_id.len == 0) {
        look_up(c, in->node_id, join_known);
    } else if (!parse_id(in->raft_id, &id)) {
        rest_call__fail(c, ERR_VALIDATION, "raft_id: expected 16 hex digits");
    } else {
        put_node(c, id, in->voter);
    }
}

/* --- leaving --- */

struct node_in {
    struct str node_id;
};

static const struct json_field leave_rows[] = {
    JSON_STR(struct node_in, node_id, 0, LIMIT_NAME_BYTES, 0,
             "Name of the node to remove. The node that receives the request by default."),
};
static const struct json_schema leave_schema = JSON_SCHEMA(struct node_in, leave_rows);

static void left(struct rest_call *c, const struct result *r)
{
    if (!rest_call__refused(c, r)) {
        rest_call__reply_status(c, "leaving");
    }
}

static void leave(struct rest_call *c)
{
    const struct known *k = c->data;
    struct command command = {.type = COMMAND_NODE_STATE};
    command.node_state.id = k->id;
    command.node_state.state = STORE_NODE_LEAVING;
    if (k->id == 0) {
        rest_call__fail(c, ERR_NOT_FOUND, "no such node: \"" STR_FMT "\"", STR_ARG(k->name));
    } else if (k->votes && k->voters <= 1) {
        rest_call__fail(c, ERR_CONFLICT, "\"" STR_FMT "\" is the only voter and cannot be removed",
                        STR_ARG(k->name));
    } else {
        rest_call__submit(c, &command, 0, left);
    }
}

/* Without a name, the node that received the request leaves; it may have forwarded the request. */
static void handle_leave(struct rest_call *c)
{
    const struct node_in *in = c->in;
    struct str self;
    if (!c->client.forwarded || !http_request_header(c->req, FRONT_NODE_HEADER, &self)) {
        self = str_from_z(c->rest->config.node_id);
    }
    look_up(c, in->node_id.len > 0 ? in->node_id : self, leave);
}

static void handle_remove(struct rest_call *c)
{
    look_up(c, c->param[0], leave);
}

/* --- transferring leadership --- */

static const struct json_field transfer_rows[] = {
    JSON_STR(struct node_in, node_id, 0, LIMIT_NAME_BYTES, 0,
             "Name of the new leader. The most up-to-date voter by default."),
};
static const struct json_schema transfer_schema = JSON_SCHEMA(struct node_in, transfer_rows);

struct transfer {
    char name[LIMIT_NAME_BYTES + 1];
    enum err_code code;
    struct err err;
};

static void look_transfer(struct rest_call *c, struct machine *m)
{
    struct transfer *t = c->data;
    (void)m;
    t->code = engine_cluster_transfer(c->rest->config.engine, t->name[0] == '\0' ? NULL : t->name,
                                      &t->err);
}

static void transferred(struct rest_call *c)
{
    const struct transfer *t = c->data;
    if (t->code != ERR_OK) {
        rest_call__fail_err(c, &t->err);
    } else {
        rest_call__reply_status(c, "transferring");
    }
}

static void handle_transfer(struct rest_call *c)
{
    const struct node_in *in = c->in;
    struct transfer *t = REST_NEW(c, struct transfer);
    (void)snprintf(t->name, sizeof t->name, STR_FMT, STR_ARG(in->node_id));
    c->data = t;
    rest_call__on_core(c, look_transfer, transferred);
}

/* clang-format off */
static const struct rest_route rows[] = {
    /* method      pattern                        roles       flags                                          in                handler          cost  answer                                            doc */
    {HTTP_POST,   "/api/v1/cluster/join",        ROLE_ADMIN, ROUTE_LEADER | ROUTE_SERVER | ROUTE_BODY | ROUTE_NODE,        &join_schema,     handle_join,     NULL, "200 {status, added, node_id, addr, cluster_id}, 400 the node cannot join, 409 the number of shards differs, 501 this server accepts no other nodes", "Add a node to the cluster. It receives a copy of the data and then votes."},
    {HTTP_POST,   "/api/v1/cluster/leave",       ROLE_ADMIN, ROUTE_LEADER | ROUTE_SERVER | ROUTE_BODY | ROUTE_BODY_EMPTY,  &leave_schema,    handle_leave,    NULL, "200 {status}, 404 no such node, 409 the node is the only voter", "Remove a node from the cluster."},
    {HTTP_POST,   "/api/v1/cluster/transfer",    ROLE_ADMIN, ROUTE_LEADER | ROUTE_SERVER | ROUTE_BODY | ROUTE_BODY_EMPTY,  &transfer_schema, handle_transfer, NULL, "200 {status}, 404 no such node",                 "Transfer leadership to another node."},
    {HTTP_DELETE, "/api/v1/cluster/nodes/{id}",  ROLE_ADMIN, ROUTE_LEADER | ROUTE_SERVER,                                  NULL,             handle_remove,   NULL, "200 {status}, 404 no such node, 409 the node is the only voter", "Remove a node from the cluster, even if it is down."},
};
/* clang-format on */

const struct rest_routes rest_cluster_routes = {.rows = rows, .count = COUNT_OF(rows)};
