/*
 * Webhook_body: the body of a delivery, and its signature.
 */
#pragma once

#include "base/buf.h"
#include "base/clock.h"
#include "base/str.h"

/* {"event": …, "sent_at": …, "webhook_id": …}; event is JSON. */
void webhook_body_write(struct buf *out, struct str event, struct wall sent_at, struct str id);

enum { WEBHOOK_BODY_SIGNATURE_MAX = 80 };

/* "sha256=" and the HMAC-SHA256 of the body in lower-case hex, NUL-terminated. */
void webhook_body_sign(struct str secret, struct str body, char out[WEBHOOK_BODY_SIGNATURE_MAX]);
