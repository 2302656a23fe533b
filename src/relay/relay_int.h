/*
 * Relay_int: the connections of the relay.
 */
#pragma once

#include <nghttp2/nghttp2.h>
#include <openssl/ssl.h>
#include <uv.h>

#include "relay/relay.h"

enum { RELAY_ROOM_BYTES = 64 << 10 };

enum relay_link_state { LINK_RESOLVING, LINK_CONNECTING, LINK_OPEN, LINK_CLOSING };

struct relay_link {
    struct relay *relay;
    struct relay_link *next;
    enum relay_link_state state;
    struct str url, authority; /* in memory behind the struct */
    nghttp2_session *session;
    SSL *ssl; /* NULL: clear text */
    uv_tcp_t tcp;
    uv_timer_t timer; /* connect timeout, then keep-alive checks */
    uv_getaddrinfo_t resolve;
    uv_connect_t connect;
    uv_write_t write;
    bool writing, pinged;
    unsigned holders;  /* handles and requests of libuv that refer to it */
    struct buf flying; /* bytes being written */
    struct relay_stream *streams;
    size_t stream_count;
    uint64_t heard_ms; /* time of the last read, by the loop's clock */
    char texts[];
};

struct relay {
    uv_loop_t *loop;
    struct relay_link *links;
    struct relay_stream *stirred; /* streams whose owner must be called */
    uv_idle_t again;              /* active while there are such streams */
    char *room;                   /* libuv's read buffer */
    char *plain;                  /* buffer for decrypted bytes */
    const char *ca_file;
    SSL_CTX *context; /* NULL until TLS is needed */
    unsigned holders; /* handles and links */
};

/* relay_link.c */
struct relay_link *relay_link__open(struct relay *r, struct str url);
/* Remaining streams fail. */
void relay_link__close(struct relay_link *l);
/* Is there room for another stream? */
bool relay_link__has_room(const struct relay_link *l);
void relay_link__submit(struct relay_link *l, struct relay_stream *s,
                        const struct relay_request *request);
void relay_link__go_on(struct relay_stream *s); /* more of its body can be sent */
void relay_link__consumed(struct relay_stream *s, size_t n);
void relay_link__reset(struct relay_stream *s);  /* reset it, and remove it from its link */
void relay_link__forget(struct relay_stream *s); /* it has ended: remove it from its link */
void relay_link__flush(struct relay_link *l);

/* relay_tls.c */
SSL_CTX *relay_tls__context(const char *ca_file);
ATTR_NODISCARD bool relay_tls__open(struct relay_link *l, const char *host);
void relay_tls__close(struct relay_link *l); /* does nothing without TLS */
/* Process bytes from the socket; false if verification failed or the connection is broken. */
ATTR_NODISCARD bool relay_tls__feed(struct relay_link *l, struct str bytes);
/* Read decrypted bytes; 0 if there are none yet, -1 if there will be none. */
ssize_t relay_tls__read(struct relay_link *l, char *room, size_t size);
/* Can bytes be written? Starts the handshake. */
bool relay_tls__is_ready(struct relay_link *l);
ATTR_NODISCARD bool relay_tls__write(struct relay_link *l, struct str plain);
/* Append the encrypted output to out. */
void relay_tls__take(struct relay_link *l, struct buf *out);

/* relay.c */
void relay__stir(struct relay *r, struct relay_stream *s); /* call its owner soon */
void relay__tell(struct relay *r);                         /* call the owners now */
void relay__release(struct relay *r);                      /* release one reference to it */
