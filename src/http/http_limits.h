/*
 * Http_limits: every limit on what a client can make the HTTP server do or keep.
 *
 * One row per limit: type, name, default, and the reason for the default. The struct and
 * HTTP_LIMITS_DEFAULT are generated from the rows, and the caller that opens a server may change
 * any of them. A request that exceeds a limit gets the status that its row names, if a response is
 * still possible, and the connection is closed.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* clang-format off */
#define HTTP_LIMITS_LIST(X) \
    /* one request */ \
    X(size_t,   request_line_bytes,      16384,     "414; a search in a query string is long, a path is not") \
    X(size_t,   header_bytes,            65536,     "431; the whole head, and the HTTP/2 header list: large tokens and cookies fit several times") \
    X(unsigned, header_count,            128,       "431; proxies add a dozen, nobody needs a hundred") \
    X(size_t,   chunk_extension_bytes,   1024,      "400; per request; nobody uses extensions, they only cost scanning") \
    X(size_t,   drain_bytes,             1 << 20,   "an unread body up to this is read to keep the connection or stream; above it closing is cheaper") \
    X(size_t,   body_window_bytes,       1 << 20,   "streamed body that a handler has not consumed; reading stops there. Also the h2 stream window") \
    X(size_t,   stream_output_bytes,     128 << 10, "streamed answer waiting for a slow reader; above it a write says FULL. Thousands of event streams may have one") \
    X(size_t,   arena_bytes,             64 << 20,  "request arena: the head, and a 16 MiB body decoded into structs") \
    X(unsigned, body_rate_min,           1024,      "408; bytes per second a collected body must come at, after the grace of body_timeout_ms") \
    \
    /* one connection */ \
    X(size_t,   input_bytes,             65536,     "read ahead of what is parsed; past it the socket is not read") \
    X(size_t,   output_bytes,            1 << 20,   "answers not taken by the client; past it no further request is started") \
    X(unsigned, pipeline,                64,        "HTTP/1 requests answered at once; further ones wait in the input") \
    X(unsigned, h2_streams,              2048,      "contract; concurrent streams of one HTTP/2 connection") \
    X(size_t,   h2_connection_window,    4 << 20,   "bytes of all streams under way; given back on arrival") \
    X(size_t,   h2_frame_bytes,          1 << 20,   "contract; largest frame taken, payload is never buffered whole") \
    X(unsigned, h2_reset_burst,          2048,      "streams ended early at once: a worker that stops cancels all its streams") \
    X(unsigned, h2_reset_per_s,          100,       "and per second after that; above it GOAWAY (rapid-reset attack)") \
    \
    /* the server */ \
    X(unsigned, connections,             20000,     "503; per server, some KiB each; the process must be allowed as many open files") \
    X(unsigned, connections_per_address, 10000,     "429; a reverse proxy is one address, so half of all") \
    X(unsigned, loop_requests,           65536,     "503; unfinished requests per network thread, 20 KiB each") \
    X(size_t,   loop_body_bytes,         256 << 20, "503; collected bodies held per network thread") \
    \
    /* time */ \
    X(uint32_t, header_timeout_ms,       10000,     "408; for a TLS handshake, and from the first byte of a head to its last: slow-loris") \
    X(uint32_t, body_timeout_ms,         30000,     "408; grace before body_rate_min counts") \
    X(uint32_t, idle_timeout_ms,         180000,    "silent keep-alive connections; longer than the pools of common clients") \
    X(uint32_t, write_timeout_ms,        30000,     "no byte taken by the client for so long: it is cut off") \
    X(uint32_t, linger_timeout_ms,       1000,      "reading on after the last answer, so that a reset does not destroy it")
/* clang-format on */

struct http_limits {
#define HTTP_LIMITS_MEMBER(type, name, value, why) type name;
    HTTP_LIMITS_LIST(HTTP_LIMITS_MEMBER)
#undef HTTP_LIMITS_MEMBER
};

#define HTTP_LIMITS_VALUE(type, name, value, why) .name = (value),
#define HTTP_LIMITS_DEFAULT                       ((struct http_limits){HTTP_LIMITS_LIST(HTTP_LIMITS_VALUE)})
