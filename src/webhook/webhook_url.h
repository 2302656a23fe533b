/*
 * Webhook_url: checks the URL of a webhook, as far as possible without a lookup.
 */
#pragma once

#include "base/attr.h"
#include "base/err.h"
#include "base/str.h"
#include "outgoing/outgoing_guard.h"

/* May events be posted to this URL? ERR_WEBHOOK, with the name of the field, if it is invalid or
 * refers to the server itself. Addresses behind names are checked only when they are called.
 * guard may be NULL. Any thread. */
ATTR_NODISCARD enum err_code webhook_url_check(const struct outgoing_guard *guard, struct str text,
                                               struct err *err);
