/*
 * Http_listener: the listening sockets, and the limits on connections.
 *
 * Runs on the first network thread, which accepts connections for all threads and assigns each to
 * the thread with the fewest. Clients keep few connections and use them heavily, so an even
 * distribution matters more than an accept queue per thread. Every connection needs a slot (struct
 * http_slot). Their number is limited in total and per address. The slot moves to the connection's
 * thread with the socket and is returned when the connection has ended.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/err.h"
#include "http/http_addr.h"
#include "http/http_loop_int.h"
#include "loop/mailbox.h"

struct http_listener;
struct http_peer;

struct http_slot {
    struct msg msg;
    struct http_listener *listener;
    struct http_peer *peer;
    struct http_loop *loop; /* loop of the connection */
    struct http_addr addr;
    int fd;
    bool tls;
};

/* Bind every listen address. The loops must outlive the listener, which runs on the first one. */
ATTR_NODISCARD enum err_code http_listener__new(const struct http_server_config *config,
                                                struct http_loop *loops, unsigned loop_count,
                                                struct http_listener **out, struct err *err);

/* On the first loop's thread: start and stop accepting. */
void http_listener__start(struct http_listener *listener);
void http_listener__stop(struct http_listener *listener);

/* On the first loop's thread: true if the listener is stopped or not started, and all slots have
 * been returned. */
bool http_listener__is_idle(const struct http_listener *listener);

/* On the connection's thread, after it has closed the socket: return the slot. */
void http_listener__give_back(struct http_slot *slot);

/* The bound address. */
const struct http_addr *http_listener__addr(const struct http_listener *listener, size_t index);

/* After the loop has ended, or before it has started. NULL is allowed. */
void http_listener__free(struct http_listener *listener);
