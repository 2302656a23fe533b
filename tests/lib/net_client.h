/*
 * Net_client: the client side of a TCP connection, for tests of servers.
 *
 * It only sends and receives bytes, so that a test can also send what no well-behaved client would.
 * The socket is non-blocking. Every wait has a deadline, and missing it fails the test.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/str.h"

struct net_client {
    struct buf in;     /* read and not consumed yet */
    struct buf answer; /* the answer returned last */
    int fd;
    bool eof;
    bool reset; /* the peer has reset the connection */
};

/* Connect to 127.0.0.1. */
void net_client_open(struct net_client *c, uint16_t port);
void net_client_close(struct net_client *c); /* may be called twice */

/* Close in a way that sends a reset to the peer. */
void net_client_abort(struct net_client *c);

/* Shut down the sending side only. */
void net_client_shut(struct net_client *c);

/* Keep the receive buffer of the kernel small, to simulate a slow reader. Call before any traffic.
 */
void net_client_read_slowly(struct net_client *c);

void net_client_send(struct net_client *c, struct str bytes);

/* Send as much as the kernel accepts now. Returns the number of bytes. */
size_t net_client_try_send(struct net_client *c, struct str bytes);

/* Wait for more bytes. False at the end of the connection. */
bool net_client_read(struct net_client *c);

/* Read until the text has arrived. False if the connection ends first. */
bool net_client_read_until(struct net_client *c, struct str text);

/* Read until the connection ends. */
void net_client_read_all(struct net_client *c);

/* One HTTP/1 answer. Its texts are valid until the next answer is read. */
struct net_answer {
    int status;
    struct str head; /* status line and headers, with the empty line */
    struct str body; /* without chunk framing */
    bool chunked;
    size_t chunks; /* without the last */
};

/* Wait for a complete answer. Pass bodyless for answers to HEAD. False if the connection ends
 * first. */
bool net_client_answer(struct net_client *c, bool bodyless, struct net_answer *out);

/* The value of a header of the answer, or an empty string. */
struct str net_client_header(const struct net_answer *answer, struct str name);
