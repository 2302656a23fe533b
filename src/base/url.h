/*
 * Url: parses the parts of an http or https URL that select the destination.
 *
 * An accepted URL has a host that can be resolved or connected to; the rest is checked only for
 * characters that no URL may contain.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/str.h"

struct url {
    bool tls;
    struct str host; /* view of the text: name or address, IPv6 without brackets */
    bool v6;
    uint16_t port;   /* default port of the scheme if none is given */
    struct str user; /* what stands before the host, such as user:password */
};

/* False: *out_why is the reason, worded to follow "url ". If only the host or the port is invalid,
 * out->user is set. */
bool url_parse(struct str text, struct url *out, const char **out_why);

/* The same for the part that names the host, as in the header Host: "host:port". */
bool url_parse_host(struct str text, struct url *out);

/* Percent-encode the text for a URL or a form: "a b" becomes "a%20b". */
void url_escape(struct buf *out, struct str text);
