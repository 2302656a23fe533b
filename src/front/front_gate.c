#include <stdlib.h>

#include "base/arena.h"
#include "base/check.h"
#include "engine/engine_cluster.h"
#include "front/front_gate_int.h"

enum {
    TOLD_MAX = 64,            /* messages without a response */
    TOLD_ARENA_MAX = 1 << 20, /* of each, with the head of its response */
};

void front_gate__look(struct front_gate *g)
{
    struct engine_leader *l = &g->leader;
    (void)engine_leader(g->shared->engine, l);
    if (!l->self &&
        (l->http_url[0] == '\0' || l->id == engine_cluster_node_id(g->shared->engine))) {
        l->id = 0; /* it cannot be reached yet */
    }
    if (l->self || l->id != 0) {
        g->leaderless_ms = 0;
    } else if (g->leaderless_ms == 0) {
        g->leaderless_ms = uv_now(g->loop);
    }
}

/* Messages */

struct front_told {
    struct front_told *next, **prev;
    struct front_gate *gate;
    struct arena *arena;
    struct relay_stream stream;
};

static void forget(struct front_told *t)
{
    *t->prev = t->next;
    if (t->next != NULL) {
        t->next->prev = t->prev;
    }
    t->gate->told_count--;
    relay_stream_deinit(&t->stream);
    arena_free(t->arena);
    free(t);
}

static void moved(struct relay_stream *s)
{
    relay_take(s, s->in.len);
    if (s->ended || s->failed) {
        forget(s->data);
    }
}

bool front_gate_tell(struct front_gate *g, struct str target, struct str json)
{
    const struct front_peer_key *key = &g->shared->key;
    front_gate__look(g);
    if (g->leader.self || g->leader.id == 0 || !key->is_secret || g->told_count >= TOLD_MAX) {
        return false;
    }
    struct front_told *t = calloc(1, sizeof *t);
    CHECK(t != NULL);
    t->gate = g;
    t->arena = arena_new(TOLD_ARENA_MAX);
    t->stream = (struct relay_stream){.moved = moved, .data = t, .arena = t->arena};
    t->next = g->told;
    t->prev = &g->told;
    if (t->next != NULL) {
        t->next->prev = &t->next;
    }
    g->told = t;
    g->told_count++;
    struct http_header headers[] = {
        {STR("content-type"), STR("application/json")},
        {STR("x-corvo-forwarded"), STR("1")},
        {FRONT_NODE_HEADER, str_from_z(g->shared->node_id)},
        {FRONT_PEER_HEADER,
         front_peer_sign(key, &(struct front_peer){0}, STR("POST"), target, t->arena)},
    };
    relay_send(g->relay, &t->stream,
               &(struct relay_request){.url = str_from_z(g->leader.http_url),
                                       .method = STR("POST"),
                                       .target = target,
                                       .headers = headers,
                                       .header_count = COUNT_OF(headers),
                                       .body = arena_str(t->arena, json)});
    return true;
}

/* Life */

struct front_gate *front_gate_open(struct front_shared *shared, uv_loop_t *loop)
{
    struct front_gate *g = calloc(1, sizeof *g);
    CHECK(g != NULL);
    g->shared = shared;
    g->loop = loop;
    g->relay = relay_open(loop, shared->ca_file);
    CHECK(uv_timer_init(loop, &g->timer) == 0);
    g->timer.data = g;
    return g;
}

static void timer_closed(uv_handle_t *handle)
{
    free(handle->data);
}

void front_gate_close(struct front_gate *g)
{
    CHECK(g->first == NULL);
    while (g->told != NULL) {
        relay_cancel(&g->told->stream);
        forget(g->told);
    }
    relay_close(g->relay);
    uv_close((uv_handle_t *)&g->timer, timer_closed);
}

void front_gate_turn(struct front_gate *g)
{
    relay_flush(g->relay);
}
