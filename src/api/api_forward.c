/*
 * Requests that only the leader can do, on a node that does not lead (http-api.md 1.9, rpc.md 8.3).
 */
#include "api/api_int.h"
#include "engine/engine_ask.h"
#include "engine/engine_cluster.h"

void api_forward__recognise(struct api_call *c)
{
    const struct front_shared *front = c->api->config.front;
    struct front_peer peer;
    if (front != NULL && front_peer_read(&front->key, c->req, &peer)) {
        c->client.forwarded = true;
        c->client.operation = peer.operation;
        c->client.since = peer.since != 0 ? peer.since : engine_ask_applied(c->api->config.engine);
        c->who.address = front->key.is_secret ? peer.address : c->who.address;
    } else if (front != NULL && front_peer_read_retry(&front->key, c->req, &peer)) {
        c->client.operation = peer.operation;
        c->client.since = peer.since;
        c->client.touched = true;
    }
}

/* The call has its request again. */
static struct api_call *take_back(void *data)
{
    struct api_call *c = data;
    c->req->on = &api_call__handlers;
    c->req->data = c;
    return c;
}

static void here(void *data)
{
    struct api_call *c = take_back(data);
    c->client.touched = c->client.touched || c->forward->touched;
    c->client.command_count = 0; /* the same commands have the same names again */
    api__go_on_here(c);
}

/* A route of the Scheduled-DB face, whose words are others. */
static bool is_scheduler(const struct api_call *c)
{
    return c->route != NULL && (c->route->flags & ROUTE_SCHEDULER) != 0;
}

/* Scheduler.md 2.7. Whether a write has happened need not be told apart: creating the same job
 * again, deleting and cancelling it may all be repeated. */
static void fail_scheduler(struct api_call *c, const struct err *err)
{
    if (c->forward->sent_count > 0 || err->code == ERR_UNKNOWN_OUTCOME) {
        api_call__fail_with(c, ERR_LEADER_UNREACHABLE, STR("Unable to reach leader"), 1, NULL);
    } else {
        api_call__fail_with(c, err->code, STR("No leader available"), 1, NULL);
    }
}

static void failed(void *data, const struct err *err)
{
    struct api_call *c = take_back(data);
    if (is_scheduler(c)) {
        fail_scheduler(c, err);
        return;
    }
    if (err->code != ERR_UNKNOWN_OUTCOME) {
        api_call__fail_with(c, err->code, str_from_z(err->msg), 1, NULL);
        return;
    }
    struct str id = front_peer_retry(&c->api->config.front->key, c->client.operation,
                                     c->client.since, c->req, c->arena);
    api_call__fail(c, ERR_UNKNOWN_OUTCOME,
                   "the operation may or may not have been applied; repeat the request with "
                   "X-Corvo-Operation: " STR_FMT,
                   STR_ARG(id));
}

static void gone(void *data)
{
    struct api_call *c = take_back(data);
    api_call__handlers.gone(c->req);
}

static void answers(void *data, int status)
{
    api_call__relayed(data, status);
}

static void too_large(void *data, enum http_body_result result)
{
    api__body_failed(take_back(data), result);
}

static const struct front_forward_ops ops = {
    .here = here, .failed = failed, .gone = gone, .answers = answers, .too_large = too_large};

/* A node whose state is wrong */

const char api_forward__quarantined[] =
    "the data of this node differs from the majority; use another node";

bool api_forward__is_quarantined(struct api_call *c)
{
    if (!engine_cluster_is_quarantined(c->api->config.engine) ||
        (c->route != NULL && (c->route->flags & (ROUTE_OPEN | ROUTE_ALWAYS)) != 0)) {
        return false;
    }
    api_call__fail(c, ERR_UNHEALTHY, "%s", api_forward__quarantined);
    return true;
}

/* Reads */

static bool is_change(const struct api_call *c)
{
    return c->is_rpc || (c->req->method != HTTP_GET && (c->route->flags & ROUTE_READ) == 0);
}

/* What is asked of this very node, or a stream that catches up by itself. */
static bool is_nodes_own(const struct api_call *c)
{
    return (c->route->flags & (ROUTE_OPEN | ROUTE_LOCAL)) != 0;
}

bool api_forward__is_local_read(const struct api_call *c)
{
    return c->route != NULL && !c->is_rpc && engine_ask_has_peers(c->api->config.engine) &&
           !is_nodes_own(c) && !is_change(c);
}

bool api_forward__consistency(struct api_call *c, bool *out_strong)
{
    struct str word;
    *out_strong = false;
    if (is_nodes_own(c) || is_change(c) ||
        (!http_request_param(c->req, STR("consistency"), &word) &&
         !http_request_known(c->req, HTTP_KNOWN_X_CORVO_CONSISTENCY, &word)) ||
        word.len == 0 || str_eq(word, STR("local"))) {
        return true;
    }
    if (!str_eq(word, STR("strong"))) {
        api_call__fail(c, ERR_VALIDATION,
                       "consistency: '" STR_FMT "' is not valid; expected local or strong",
                       STR_ARG(word));
        return false;
    }
    *out_strong = true;
    return true;
}

/* A client reads what it wrote by this node, which may not have applied it yet: the leader has. */
bool api_forward__is_behind(const struct api_call *c)
{
    const struct front_shared *front = c->api->config.front;
    return front != NULL && !is_nodes_own(c) && !is_change(c) &&
           engine_ask_applied(c->api->config.engine) <
               atomic_load_explicit(&front->told_index, memory_order_relaxed);
}

static void proved(struct engine_proof *p, bool leads)
{
    struct api_call *c = p->data;
    c->proof_busy = false;
    if (c->client.gone) {
        api_call__handlers.gone(c->req);
    } else if (leads) {
        api__go_on_here(c);
    } else if (!api_forward__takes(c, false)) {
        api_call__fail(c, ERR_LEADER_UNAVAILABLE, "%s", err_text(ERR_LEADER_UNAVAILABLE));
    }
}

void api_forward__prove(struct api_call *c)
{
    struct engine_proof *proof = API_NEW(c, struct engine_proof);
    *proof = (struct engine_proof){
        .done = proved, .reply_to = http_loop_mailbox(c->req->loop), .data = c};
    c->proof_busy = true;
    if (!engine_ask_prove(c->api->config.engine, proof)) {
        c->proof_busy = false;
        api_call__fail(c, ERR_STOPPING, "%s", err_text(ERR_STOPPING));
    }
}

/* Forwarding */

static void start(struct api_call *c, bool streams)
{
    struct front_gate *gate = c->api->gates[http_loop_index(c->req->loop)];
    if (c->forward == NULL) {
        c->forward = API_NEW(c, struct front_forward);
        if (!api_call__has_memory(c)) {
            return;
        }
        *c->forward = (struct front_forward){
            .req = c->req,
            .ops = &ops,
            .data = c,
            .request_id = str_from(c->request_id, c->request_id_len),
            .client_address = c->who.address,
            .body_max = c->api->config.max_body_bytes,
        };
    }
    if (is_change(c)) {
        front_client_name(&c->client);
    }
    api_sdb_meter__forwarded(c);
    c->forward->operation = c->client.operation;
    c->forward->since = c->client.since;
    c->forward->touched = c->forward->touched || c->client.touched;
    c->forward->streams = streams;
    front_forward_start(gate, c->forward);
}

bool api_forward__takes(struct api_call *c, bool streams)
{
    struct str forwarded;
    if (c->api->config.front == NULL || engine_leads(c->api->config.engine) ||
        !engine_ask_has_peers(c->api->config.engine)) {
        return false;
    }
    if (http_request_known(c->req, HTTP_KNOWN_X_CORVO_FORWARDED, &forwarded) &&
        str_eq(forwarded, STR("1"))) {
        api_call__fail(c, ERR_FORWARD_LOOP, "%s",
                       c->is_rpc         ? "leader forwarding loop detected"
                       : is_scheduler(c) ? "No leader available"
                                         : err_text(ERR_FORWARD_LOOP));
        return true;
    }
    start(c, streams);
    return true;
}

bool api_forward__asks_again(struct api_call *c, enum err_code code)
{
    if (c->api->config.front == NULL || (c->route->flags & ROUTE_LEADER) == 0 ||
        (c->route->flags & ROUTE_STREAM) != 0 || !front_client_may_ask_again(&c->client, code)) {
        return false;
    }
    front_op_deinit(&c->op);
    buf_deinit(&c->answer);
    start(c, false);
    return true;
}

void api_forward__from_rpc(void *call, const struct front_client *client)
{
    struct api_call *c = call;
    c->client = *client;
    start(c, false);
}
