/*
 * Webhook_url: checks the URL of a webhook, as far as possible without a lookup.
 */
#pragma once

#include "base/attr.h"
#include "base/err.h"
#include "base/str.h"
#include "outgoing/outgoing_guard.h"

/* May events be posted to this address? ERR_WEBHOOK, and the message names the field: it makes no
 * sense, or it is the server itself. What a name stands for is only known when it is called. guard:
 * NULL is fine. Any thread. */
ATTR_NODISCARD enum err_code webhook_url_check(const struct outgoing_guard *guard, struct str text,
                                               struct err *err);
