/*
 * Outgoing_sockets: the connections of a client, as the loop sees them.
 *
 * A connection that a request uses is watched for libcurl. Between two requests, it is kept open
 * and watched as well, because libcurl does not look at it: a target that closes it would go
 * unnoticed if TLS is used, and the next request would be lost on it. It is then shut down, and so
 * is one that has not been used for too long. libcurl drops such a connection instead of using it.
 *
 * Belongs to the thread of its loop.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <uv.h>

struct outgoing_sockets;

/* happened is called with UV_READABLE and UV_WRITABLE, or with failed. Connections are kept for
 * kept_ms. */
struct outgoing_sockets *
outgoing_sockets_open(uv_loop_t *loop, uint64_t kept_ms,
                      void (*happened)(void *data, int fd, int events, bool failed), void *data);
void outgoing_sockets_close(struct outgoing_sockets *s); /* freed by the loop */

/* Report these events of a socket that a request waits for; 0: it no longer waits. */
void outgoing_sockets_watch(struct outgoing_sockets *s, int fd, int events);

/* A request has ended and left this connection open. Nothing changes if others still use it.
 * silent: the target has nothing to say before the next request. */
void outgoing_sockets_keep(struct outgoing_sockets *s, int fd, bool silent);
/* A connection is about to be closed. */
void outgoing_sockets_forget(struct outgoing_sockets *s, int fd);
