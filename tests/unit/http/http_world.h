/*
 * A server and one plain connection to it, for tests that use HTTP/1.1.
 */
#pragma once

#include "base/buf.h"
#include "http_fixture.h"
#include "lib/expect.h"
#include "lib/net_client.h"
#include "lib/test.h"

/* The header of every request. */
#define H "Host: t\r\n"

struct http_world {
    struct http_fixture f;
    struct net_client c;
};

/* If limits is NULL, the defaults apply. */
static inline void http_world_open(struct http_world *w, const struct http_limits *limits)
{
    http_fixture_open(&w->f, limits, 1);
    net_client_open(&w->c, w->f.port);
}

static inline void http_world_close(struct http_world *w)
{
    net_client_close(&w->c);
    http_fixture_close(&w->f, 20000);
}

static inline void http_world_say(struct http_world *w, const char *text)
{
    net_client_send(&w->c, str_from_z(text));
}

/* Expect the next answer. */
static inline void http_world_expect(struct http_world *w, int status, const char *body)
{
    struct net_answer a;
    assert_true(net_client_answer(&w->c, false, &a));
    assert_int_equal(a.status, status);
    expect_str(a.body, str_from_z(body));
}

/* Expect the connection to end without a reset and without more bytes. */
static inline void http_world_expect_end(struct http_world *w)
{
    net_client_read_all(&w->c);
    assert_false(w->c.reset);
    expect_str(buf_str(&w->c.in), STR_EMPTY);
}
