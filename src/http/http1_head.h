/*
 * Http1_head: parses and checks the head of an HTTP/1 request (RFC 9112).
 *
 * Pure: the results are views of the input text. The parser is strict on purpose. A proxy in front
 * of the server may interpret an ambiguous request differently, and attackers exploit such
 * differences (request smuggling). It refuses bare line feeds, folded lines, blanks before the
 * colon, control bytes, a length that is given twice or together with a transfer coding, codings
 * other than "chunked", and a second Host header.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/str.h"
#include "http/http_request.h"
#include "http/http_status.h"

struct http1_head {
    enum http_protocol protocol;
    struct str method_name;
    struct str target;
    struct http_header *headers;
    size_t header_count;
    struct http_known_slots *known;

    int64_t content_length; /* 0 without a body; -1 when chunked */
    bool keep_alive;
    bool expect_continue;
    bool upgrade_h2c;       /* requested correctly, including its settings */
    struct str h2_settings; /* base64url, as sent */
};

/* Parse text: complete lines including their line ends, and the empty line at the end. headers must
 * have room for header_max rows; known must be zeroed. False, with *problem set, if the request
 * must be refused and the connection closed. */
ATTR_NODISCARD bool http1_head_parse(struct str text, struct http_header *headers,
                                     size_t header_max, struct http_known_slots *known,
                                     struct http1_head *out, struct http_problem *problem);

/* Parse the header line at the start of text, which must contain it completely, including the line
 * end. Returns the length of the line with its end. Returns 0 and sets *problem if the line is
 * invalid. */
ATTR_NODISCARD size_t http1_head_line(struct str text, struct http_header *out,
                                      struct http_problem *problem);
