/*
 * A server and one plain connection to it, for tests that talk HTTP/1.1.
 */
#pragma once

#include "http_fixture.h"
#include "lib/net_client.h"

/* The header that every request has. */
#define H "Host: t\r\n"

struct http_world {
    struct http_fixture f;
    struct net_client c;
};

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
