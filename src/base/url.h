/*
 * Url: the parts of an http or https address that say where a request goes.
 *
 * What passes here names a host that can be looked up or connected to; what stands behind the host
 * is not looked at, except for characters that no address may have.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/str.h"

struct url {
    bool tls;
    struct str host; /* a view of the text: a name or an address, IPv6 without its brackets */
    bool v6;
    uint16_t port; /* the scheme's own when none is given */
};

/* False: *out_why says, in words that go on after "url ", what is wrong. */
bool url_parse(struct str text, struct url *out, const char **out_why);

/* The text as a part of an address or a form: "a b" becomes "a%20b". */
void url_escape(struct buf *out, struct str text);
