/*
 * Http_known: numbers for the request headers that the server uses itself.
 *
 * A header gets its number once, when its line is read. Code that needs it reads the slot with that
 * number (http_request_known) and compares no names.
 */
#pragma once

#include <stdint.h>

#include "base/str.h"

/* Sorted by length, as http_known_of requires. To add a header: add a row here and, if its length
 * has no range in http_known.c yet, add the range. */
#define HTTP_KNOWN_LIST(X)                                                                         \
    X(HOST, "host")                                                                                \
    X(ACCEPT, "accept")                                                                            \
    X(COOKIE, "cookie")                                                                            \
    X(EXPECT, "expect")                                                                            \
    X(ORIGIN, "origin")                                                                            \
    X(PREFER, "prefer")                                                                            \
    X(UPGRADE, "upgrade")                                                                          \
    X(FORWARDED, "forwarded")                                                                      \
    X(X_API_KEY, "x-api-key")                                                                      \
    X(CONNECTION, "connection")                                                                    \
    X(USER_AGENT, "user-agent")                                                                    \
    X(TRACEPARENT, "traceparent")                                                                  \
    X(X_CORVO_API, "x-corvo-api")                                                                  \
    X(CONTENT_TYPE, "content-type")                                                                \
    X(GRPC_TIMEOUT, "grpc-timeout")                                                                \
    X(X_CORVO_PEER, "x-corvo-peer")                                                                \
    X(X_REQUEST_ID, "x-request-id")                                                                \
    X(AUTHORIZATION, "authorization")                                                              \
    X(GRPC_ENCODING, "grpc-encoding")                                                              \
    X(IF_NONE_MATCH, "if-none-match")                                                              \
    X(LAST_EVENT_ID, "last-event-id")                                                              \
    X(CONTENT_LENGTH, "content-length")                                                            \
    X(HTTP2_SETTINGS, "http2-settings")                                                            \
    X(SEC_FETCH_SITE, "sec-fetch-site")                                                            \
    X(ACCEPT_ENCODING, "accept-encoding")                                                          \
    X(IDEMPOTENCY_KEY, "idempotency-key")                                                          \
    X(X_FORWARDED_FOR, "x-forwarded-for")                                                          \
    X(CONTENT_ENCODING, "content-encoding")                                                        \
    X(TRANSFER_ENCODING, "transfer-encoding")                                                      \
    X(X_CORVO_FORWARDED, "x-corvo-forwarded")                                                      \
    X(X_CORVO_NAMESPACE, "x-corvo-namespace")                                                      \
    X(X_CORVO_OPERATION, "x-corvo-operation")                                                      \
    X(X_FORWARDED_PROTO, "x-forwarded-proto")                                                      \
    X(CONNECT_TIMEOUT_MS, "connect-timeout-ms")                                                    \
    X(X_CORVO_CLIENT_NAME, "x-corvo-client-name")                                                  \
    X(X_CORVO_CONSISTENCY, "x-corvo-consistency")                                                  \
    X(GRPC_ACCEPT_ENCODING, "grpc-accept-encoding")                                                \
    X(X_CORVO_PROXY_STREAM, "x-corvo-proxy-stream")                                                \
    X(X_CORVO_CLIENT_VERSION, "x-corvo-client-version")                                            \
    X(X_CORVO_CLUSTER_SECRET, "x-corvo-cluster-secret")                                            \
    X(CONNECT_ACCEPT_ENCODING, "connect-accept-encoding")                                          \
    X(CONNECT_CONTENT_ENCODING, "connect-content-encoding")                                        \
    X(CONNECT_PROTOCOL_VERSION, "connect-protocol-version")

enum http_known {
    HTTP_KNOWN_NONE, /* any other header */
#define X(id, text) HTTP_KNOWN_##id,
    HTTP_KNOWN_LIST(X)
#undef X
        HTTP_KNOWN_COUNT
};

/* Find the number of a header by its name, a token, ignoring case. */
enum http_known http_known_of(struct str name);

/* The name in lower case. */
struct str http_known_name(enum http_known known);

/* The position of the first header of each number, counted from 1; 0: the request has none. */
struct http_known_slots {
    uint16_t row[HTTP_KNOWN_COUNT];
};

/* Record that the header at this position, counted from 0, has this number. */
static inline void http_known_note(struct http_known_slots *slots, enum http_known known,
                                   size_t row)
{
    if (slots->row[known] == 0) {
        slots->row[known] = (uint16_t)(row + 1); /* fits: HTTP_LIMITS allows fewer headers */
    }
}
