/*
 * Webhook_url: checks the URL of a webhook, as far as possible without a lookup.
 */
#pragma once

#include "base/attr.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"
#include "outgoing/outgoing_guard.h"

/* May events be posted to this URL? ERR_WEBHOOK, with the name of the field, if it is invalid or
 * refers to the server itself. Addresses behind names are checked only when they are called.
 * guard may be NULL. Any thread. */
ATTR_NODISCARD enum err_code webhook_url_check(const struct outgoing_guard *guard, struct str text,
                                               struct err *err);

/* The part before the host, such as "user:password"; empty if there is none. */
struct str webhook_url_credentials(struct str url);

/* Append the URL with *** in place of its credentials. */
void webhook_url_mask(struct str url, struct buf *out);
