/*
 * Membership (http-api.md 20.2).
 *
 * The server is a group of one node with one shard: a node that is it already is a member, and
 * there is no group that others could join. What they are told says why.
 */
#include "api/api_int.h"
#include "base/check.h"
#include "base/limits.h"

struct join_in {
    struct str node_id;
    struct str addr;
    int64_t shard;
    int64_t shard_count;
};

static const struct json_field join_rows[] = {
    JSON_STR(struct join_in, node_id, 0, LIMIT_NAME_BYTES, JSON_INSISTED, "Name of the node."),
    JSON_STR(struct join_in, addr, 0, LIMIT_NAME_BYTES, JSON_INSISTED, "Where peers reach it."),
    JSON_I64(struct join_in, shard, 0, INT32_MAX, 0, "Shard to join."),
    JSON_I64(struct join_in, shard_count, 0, INT32_MAX, 0, "How many shards the node has."),
};
static const struct json_schema join_schema = JSON_SCHEMA(struct join_in, join_rows);

static void reply_member(struct api_call *c, const struct join_in *in)
{
    struct json_write w = api_call__json(c);
    json_write_object(&w);
    api_document__text(&w, "status", STR("ok"));
    api_document__bool(&w, "added", false);
    api_document__text(&w, "node_id", in->node_id);
    api_document__text(&w, "addr", in->addr);
    json_write_end(&w);
    api_call__reply(c, 200, &w);
}

static void handle_join(struct api_call *c)
{
    const struct join_in *in = c->in;
    if (in->node_id.len == 0 || in->addr.len == 0) {
        api_call__fail(c, ERR_VALIDATION, "node_id and addr are required");
    } else if (in->shard_count > 1 || in->shard > 0) {
        api_call__fail(c, ERR_SHARD_COUNT, "this server has one shard");
    } else if (str_eq(in->node_id, str_from_z(c->api->config.node_id))) {
        reply_member(c, in);
    } else {
        api_call__fail(c, ERR_UNSUPPORTED, "this server runs alone and takes no other nodes");
    }
}

/* clang-format off */
static const struct api_route rows[] = {
    /* method    pattern                 roles       flags                      in            handler      cost  answer                                doc */
    {HTTP_POST, "/api/v1/cluster/join",  ROLE_ADMIN, ROUTE_LEADER | ROUTE_BODY, &join_schema, handle_join, NULL, "200 {status, added, node_id, addr}, 409 another number of shards, 501 there is no group to join", "Make a node a member; a server that runs alone has only itself."},
};
/* clang-format on */

const struct api_routes api_cluster_routes = {.rows = rows, .count = COUNT_OF(rows)};
