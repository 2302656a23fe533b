/*
 * Net_client: the other end of a TCP connection, for tests of servers.
 *
 * Bytes in and out, nothing clever, so that a test can also say what no decent client would. The
 * socket does not block; every wait has a deadline, and missing it fails the test.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/str.h"

struct net_client {
    struct buf in;     /* read and not taken yet */
    struct buf answer; /* the last one taken */
    int fd;
    bool eof;
    bool reset; /* the other side did not end politely */
};

/* Connect to 127.0.0.1. */
void net_client_open(struct net_client *c, uint16_t port);
void net_client_close(struct net_client *c); /* fine twice */

/* Close so that the other side gets a reset. */
void net_client_abort(struct net_client *c);

/* End our side only. */
void net_client_shut(struct net_client *c);

/* Read no more than the kernel already holds: keep its receive buffer small. Before any traffic. */
void net_client_read_slowly(struct net_client *c);

void net_client_send(struct net_client *c, struct str bytes);

/* Send what the kernel takes now; returns how much that was. */
size_t net_client_try_send(struct net_client *c, struct str bytes);

/* Wait for more bytes. False at the end. */
bool net_client_read(struct net_client *c);

/* Read until the text is there. False when the connection ends first. */
bool net_client_read_until(struct net_client *c, struct str text);

/* Read until the end. */
void net_client_read_all(struct net_client *c);

/* One HTTP/1 answer, whose text stays valid until the next one is read. */
struct net_answer {
    int status;
    struct str head; /* status line and headers, with the empty line */
    struct str body; /* without chunk framing */
    bool chunked;
    size_t chunks; /* besides the last */
};

/* Wait for a whole answer; bodyless for answers to HEAD. False when the connection ends first. */
bool net_client_answer(struct net_client *c, bool bodyless, struct net_answer *out);

/* The value of a header of the answer, or an empty view. */
struct str net_client_header(const struct net_answer *answer, struct str name);
