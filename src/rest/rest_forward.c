/*
 * Requests that only the leader can handle, on another node (http-api.md 1.9, rpc.md 8.3).
 */
#include "engine/engine_ask.h"
#include "engine/engine_cluster.h"
#include "os/os_clock.h"
#include "rest/rest_int.h"

void rest_forward__recognise(struct rest_call *c)
{
    const struct front_shared *front = c->rest->config.front;
    struct front_peer peer;
    if (front != NULL && front_peer_read(&front->key, c->req, &peer)) {
        c->client.forwarded = true;
        c->client.operation = peer.operation;
        c->client.since = peer.since != 0 ? peer.since : engine_ask_applied(c->rest->config.engine);
        c->who.address = front->key.is_secret ? peer.address : c->who.address;
    } else if (front != NULL && front_peer_read_retry(&front->key, c->req, &peer)) {
        c->client.operation = peer.operation;
        c->client.since = peer.since;
        c->client.touched = true;
    }
}

/* Take the request back from the forward. */
static struct rest_call *take_back(void *data)
{
    struct rest_call *c = data;
    c->req->on = &rest_call__handlers;
    c->req->data = c;
    return c;
}

static void here(void *data)
{
    struct rest_call *c = take_back(data);
    c->client.touched = c->client.touched || c->forward->touched;
    c->client.command_count = 0; /* repeated commands get the same names */
    c->rest->steps->go_on_here(c);
}

/* Is it a route of the Scheduled-DB API, which has other error messages? */
static bool is_scheduler(const struct rest_call *c)
{
    return c->route != NULL && (c->route->flags & ROUTE_SCHEDULER) != 0;
}

/* See scheduler.md 2.7. It does not matter whether the write was applied: creating, deleting and
 * cancelling a job may all be repeated. */
static void fail_scheduler(struct rest_call *c, const struct err *err)
{
    if (c->forward->sent_count > 0 || err->code == ERR_UNKNOWN_OUTCOME) {
        rest_call__fail_with(c, ERR_LEADER_UNREACHABLE, STR("Unable to reach leader"), 1, NULL);
    } else {
        rest_call__fail_with(c, err->code, STR("No leader available"), 1, NULL);
    }
}

static void failed(void *data, const struct err *err)
{
    struct rest_call *c = take_back(data);
    if (is_scheduler(c)) {
        fail_scheduler(c, err);
        return;
    }
    if (err->code != ERR_UNKNOWN_OUTCOME) {
        rest_call__fail_with(c, err->code, str_from_z(err->msg), 1, NULL);
        return;
    }
    struct str id = front_peer_retry(&c->rest->config.front->key, c->client.operation,
                                     c->client.since, c->req, c->arena);
    rest_call__fail(c, ERR_UNKNOWN_OUTCOME,
                    "the operation may or may not have been applied; repeat the request with "
                    "X-Corvo-Operation: " STR_FMT,
                    STR_ARG(id));
}

static void gone(void *data)
{
    struct rest_call *c = take_back(data);
    rest_call__handlers.gone(c->req);
}

static void passed(void *data, struct str bytes)
{
    struct rest_call *c = data;
    if (c->is_rpc) {
        rpc_relayed_pass(&c->passed, bytes);
    }
}

static void cut(void *data)
{
    struct rest_call *c = take_back(data);
    if (c->is_rpc && rpc_relayed_may_end(&c->passed, &c->rpc)) {
        struct rpc_peer peer = rest_call__peer(c);
        rpc_relayed_lost(c->rest->config.rpc, c->req, &c->rpc, &peer);
    } else {
        rest_call__handlers.gone(c->req); /* a part must not look like the whole */
    }
}

static void answers(void *data, int status)
{
    rest_call__relayed(data, status);
}

static struct front_gate *gate_of(const struct rest_call *c)
{
    return c->rest->gates[http_loop_index(c->req->loop)];
}

/* A request whose body the leader would ignore is forwarded without it. */
static void too_large(void *data, enum http_body_result result)
{
    struct rest_call *c = take_back(data);
    if (rest_call__may_ignore(c, result)) {
        c->forward->collected = true; /* and empty */
        front_forward_start(gate_of(c), c->forward);
    } else {
        rest_call__body_failed(c, result);
    }
}

static const struct front_forward_ops ops = {.here = here,
                                             .failed = failed,
                                             .gone = gone,
                                             .passed = passed,
                                             .cut = cut,
                                             .answers = answers,
                                             .too_large = too_large};

/* Quarantine */

const char rest_forward__quarantined[] =
    "the data of this node differs from the majority; use another node";

bool rest_forward__is_quarantined(struct rest_call *c)
{
    if (!engine_cluster_is_quarantined(c->rest->config.engine) ||
        (c->route != NULL && (c->route->flags & (ROUTE_OPEN | ROUTE_ALWAYS)) != 0)) {
        return false;
    }
    rest_call__fail(c, ERR_UNHEALTHY, "%s", rest_forward__quarantined);
    return true;
}

/* Reads */

static bool is_change(const struct rest_call *c)
{
    return c->is_rpc || (c->req->method != HTTP_GET && (c->route->flags & ROUTE_READ) == 0);
}

/* Is the route about this node, or a stream that catches up by itself? */
static bool is_nodes_own(const struct rest_call *c)
{
    return (c->route->flags & (ROUTE_OPEN | ROUTE_LOCAL)) != 0;
}

bool rest_forward__is_local_read(const struct rest_call *c)
{
    return c->route != NULL && !c->is_rpc && engine_ask_has_peers(c->rest->config.engine) &&
           !is_nodes_own(c) && !is_change(c);
}

bool rest_forward__consistency(struct rest_call *c, bool *out_strong)
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
        rest_call__fail(c, ERR_VALIDATION,
                        "consistency: '" STR_FMT "' is not valid; expected local or strong",
                        STR_ARG(word));
        return false;
    }
    *out_strong = true;
    return true;
}

/* A client that wrote through this node must read its write, which this node may not have applied
 * yet. The leader has. */
bool rest_forward__is_behind(const struct rest_call *c)
{
    const struct front_shared *front = c->rest->config.front;
    return front != NULL && !is_nodes_own(c) && !is_change(c) && front_forward_is_behind(front);
}

static void proved(struct engine_proof *p, bool leads)
{
    struct rest_call *c = p->data;
    c->proof_busy = false;
    if (c->client.gone) {
        rest_call__handlers.gone(c->req);
    } else if (leads) {
        c->rest->steps->go_on_here(c);
    } else if (!rest_forward__takes(c, false)) {
        rest_call__fail(c, ERR_LEADER_UNAVAILABLE, "%s", err_text(ERR_LEADER_UNAVAILABLE));
    }
}

void rest_forward__prove(struct rest_call *c)
{
    struct engine_proof *proof = REST_NEW(c, struct engine_proof);
    *proof = (struct engine_proof){
        .done = proved, .reply_to = http_loop_mailbox(c->req->loop), .data = c};
    c->proof_busy = true;
    if (!engine_ask_prove(c->rest->config.engine, proof)) {
        c->proof_busy = false;
        rest_call__fail(c, ERR_STOPPING, "%s", err_text(ERR_STOPPING));
    }
}

/* Forwarding */

/* By the loop's clock: when an RPC client stops waiting; 0: unknown. */
static uint64_t deadline_of(const struct rest_call *c)
{
    int64_t timeout_ms = c->is_rpc ? rpc_timeout_ms(c->req, &c->rpc) : INT64_MAX;
    if (timeout_ms == INT64_MAX) {
        return 0;
    }
    int64_t spent_ms = (os_clock_mono().ns - c->started.ns) / NS_PER_MS;
    return uv_now(http_loop_uv(c->req->loop)) +
           (timeout_ms > spent_ms ? (uint64_t)(timeout_ms - spent_ms) : 0);
}

/* False if the call has ended because memory ran out. */
static bool has_forward(struct rest_call *c)
{
    if (c->forward != NULL) {
        return true;
    }
    c->forward = REST_NEW(c, struct front_forward);
    if (!rest_call__has_memory(c)) {
        return false;
    }
    *c->forward = (struct front_forward){
        .req = c->req,
        .ops = &ops,
        .data = c,
        .request_id = str_from(c->request_id, c->request_id_len),
        .client_address = c->who.address,
        .span = c->client.span,
        .body_max = rest_call__body_max(c),
        .deadline_ms = deadline_of(c),
        .settles = c->route != NULL && (c->route->flags & ROUTE_ACCESS) == ROUTE_ACCESS,
    };
    return true;
}

static void start(struct rest_call *c, bool streams)
{
    if (!has_forward(c)) {
        return;
    }
    if (is_change(c)) {
        front_client_name(&c->client);
    }
    rest_sdb_meter__forwarded(c);
    c->forward->operation = c->client.operation;
    c->forward->since = c->client.since;
    c->forward->touched = c->forward->touched || c->client.touched;
    c->forward->streams = streams;
    front_forward_start(gate_of(c), c->forward);
}

bool rest_forward__catches_up(struct rest_call *c)
{
    const struct front_shared *front = c->rest->config.front;
    if (front == NULL || (c->route->flags & ROUTE_LOCAL) == 0 || is_change(c) ||
        !front_forward_is_behind(front)) {
        return false;
    }
    if (has_forward(c)) {
        front_forward_catch_up(gate_of(c), c->forward);
    }
    return true;
}

bool rest_forward__takes(struct rest_call *c, bool streams)
{
    struct str forwarded;
    if (c->rest->config.front == NULL || engine_leads(c->rest->config.engine) ||
        !engine_ask_has_peers(c->rest->config.engine)) {
        return false;
    }
    if (http_request_known(c->req, HTTP_KNOWN_X_CORVO_FORWARDED, &forwarded) &&
        str_eq(forwarded, STR("1"))) {
        rest_call__fail(c, ERR_FORWARD_LOOP, "%s",
                        c->is_rpc         ? "leader forwarding loop detected"
                        : is_scheduler(c) ? "No leader available"
                                          : err_text(ERR_FORWARD_LOOP));
        return true;
    }
    start(c, streams);
    return true;
}

bool rest_forward__asks_again(struct rest_call *c, enum err_code code)
{
    if (c->rest->config.front == NULL || (c->route->flags & ROUTE_LEADER) == 0 ||
        (c->route->flags & ROUTE_STREAM) != 0 || !front_client_may_ask_again(&c->client, code)) {
        return false;
    }
    front_op_deinit(&c->op);
    buf_deinit(&c->answer);
    start(c, false);
    return true;
}

void rest_forward__from_rpc(void *call, const struct front_client *client)
{
    struct rest_call *c = call;
    c->client = *client;
    start(c, false);
}
