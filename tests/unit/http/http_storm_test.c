/*
 * Random clients: they send requests, pipeline, stop halfway, disconnect and reconnect, on HTTP/1
 * and HTTP/2, while requests are answered at random times or never. Single answers are not checked.
 * The server must survive and hold nothing in the end. The sanitizers report memory errors.
 */
#include <stdio.h>
#include <stdlib.h>

#include "h2_client.h"
#include "http_fixture.h"
#include "lib/net_client.h"
#include "lib/rng.h"
#include "lib/test.h"

enum { CLIENTS = 8, STEPS = 1500 };

struct storm {
    struct http_fixture f;
    struct rng rng;
    struct net_client one[CLIENTS];
    bool one_open[CLIENTS];
    struct h2_client two[CLIENTS];
    bool two_open[CLIENTS];
    unsigned next_name;
    char last_name[32]; /* of a request that may be parked */
};

static const char *const paths[] = {
    "/hello",  "/info?q=1",        "/echo",  "/stream?n=3", "/drop",
    "/static", "/status?code=204", "/close", "/bidi",       "/flow?n=300000",
};

/* Write a random path, every other time one that parks the request. */
static void pick_path(struct storm *s, char *out, size_t size)
{
    static const char *const parked[] = {"park", "push", "late", "hold"};
    if (rng_below(&s->rng, 2) == 0) {
        (void)snprintf(out, size, "%s", paths[rng_below(&s->rng, COUNT_OF(paths))]);
        return;
    }
    (void)snprintf(s->last_name, sizeof s->last_name, "n%u", s->next_name++);
    (void)snprintf(out, size, "/%s/%s", parked[rng_below(&s->rng, COUNT_OF(parked))], s->last_name);
}

/* Post an action for a request that may still be parked. */
static void nudge(struct storm *s)
{
    static const enum fixture_action actions[] = {FIXTURE_ANSWER, FIXTURE_DROP, FIXTURE_CLOSE};
    char name[32];
    if (s->next_name > 0) {
        (void)snprintf(name, sizeof name, "n%u", (unsigned)rng_below(&s->rng, s->next_name));
        http_fixture_try(&s->f, name, actions[rng_below(&s->rng, COUNT_OF(actions))], "x");
    }
}

static void step_one(struct storm *s, size_t i)
{
    struct net_client *c = &s->one[i];
    char path[64];
    char text[512];
    if (!s->one_open[i]) {
        net_client_open(c, s->f.port);
        s->one_open[i] = true;
    }
    pick_path(s, path, sizeof path);
    int n =
        snprintf(text, sizeof text, "%s %s HTTP/1.1\r\nHost: t\r\n%s\r\n",
                 rng_below(&s->rng, 4) == 0 ? "HEAD" : "POST", path,
                 rng_below(&s->rng, 2) == 0 ? "Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n"
                                            : "Content-Length: 0\r\n");
    size_t len = rng_below(&s->rng, 8) == 0 ? rng_below(&s->rng, (uint64_t)n) : (uint64_t)n;
    (void)net_client_try_send(c, str_from(text, len));
    if (rng_below(&s->rng, 5) == 0) {
        if (rng_below(&s->rng, 2) == 0) {
            net_client_abort(c);
        } else {
            net_client_close(c);
        }
        s->one_open[i] = false;
    }
}

static void step_two(struct storm *s, size_t i)
{
    struct h2_client *c = &s->two[i];
    char path[64];
    if (!s->two_open[i]) {
        h2_client_open(c, s->f.port);
        s->two_open[i] = true;
    }
    pick_path(s, path, sizeof path);
    size_t stream = h2_client_request(c, "POST", path, STR("body"), rng_below(&s->rng, 3) == 0);
    if (rng_below(&s->rng, 3) == 0) {
        assert_int_equal(nghttp2_submit_rst_stream(c->session, NGHTTP2_FLAG_NONE,
                                                   c->streams[stream].id, NGHTTP2_CANCEL),
                         0);
        h2_client_flush(c);
    }
    if (rng_below(&s->rng, 8) == 0 || c->net.reset) {
        h2_client_close(c);
        s->two_open[i] = false;
    }
}

static void http_server__survives_a_storm(void **state)
{
    (void)state;
    static struct storm s;
    struct http_limits limits = HTTP_LIMITS_DEFAULT;
    limits.pipeline = 4;
    limits.output_bytes = 200000;
    limits.stream_output_bytes = 100000;
    limits.loop_requests = 100;
    limits.body_timeout_ms = 50;
    limits.header_timeout_ms = 50;
    limits.linger_timeout_ms = 20;
    s = (struct storm){.rng = rng_from(20260211)};
    http_fixture_open(&s.f, &limits, 2);
    for (unsigned step = 0; step < STEPS; step++) {
        size_t i = rng_below(&s.rng, CLIENTS);
        if (rng_below(&s.rng, 2) == 0) {
            step_one(&s, i);
        } else {
            step_two(&s, i);
        }
        nudge(&s);
    }
    /* The handlers of parked requests are called when the server stops, and again when time is
     * up. */
    s.f.answer_when_stopping = false;
    http_fixture_close(&s.f, 20);
    for (size_t i = 0; i < CLIENTS; i++) {
        if (s.one_open[i]) {
            net_client_close(&s.one[i]);
        }
        if (s.two_open[i]) {
            h2_client_close(&s.two[i]);
        }
    }
}

TEST_GROUP(http_storm, cmocka_unit_test(http_server__survives_a_storm));
