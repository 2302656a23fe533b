/*
 * Rest_sso: callers authenticated elsewhere, by a provider's token or by the headers of a proxy.
 */
#pragma once

#include "rest/rest_int.h"
#include "sso/sso.h"

/* Result of checking the single sign-on of a request. */
struct rest_sso {
    struct sso_ask ask;
    struct auth_identity identity; /* when err is ERR_OK */
    struct err err;
    uint64_t version; /* of the settings, before the token was verified */
    bool by_proxy;    /* identified by the headers of a proxy, not by a token */
};

/* True if the request has a token that must be verified first: `then` is called with the result in
 * c->sso. False if the call can continue at once. */
ATTR_NODISCARD bool rest_sso__waits(struct rest_call *c, void (*then)(struct rest_call *c));

/* Does the request come from a trusted proxy? */
bool rest_sso__is_by_proxy(const struct rest_call *c);

/* Is the caller identified by the provider's token or by a trusted proxy? If true, c->caller and
 * c->verdict are set. */
ATTR_NODISCARD bool rest_sso__vouches(struct rest_call *c);

/* Do the current settings still accept a caller identified that way? The expiry of its token is in
 * identity.until. */
bool rest_sso__still_vouches(const struct rest_call *c);

/* End a call with an invalid token or invalid proxy headers. */
void rest_sso__refuse(struct rest_call *c);

/* Send the question to sso/, and call `then` when the answer is in it. The question is in the
 * call's arena. The answer is valid until the question is released. */
void rest_sso__ask(struct rest_call *c, struct sso_ask *ask, void (*then)(struct rest_call *c));
/* Copy the identity in the answer into the call's arena, and release the question. */
struct auth_identity rest_sso__take(struct rest_call *c, struct sso_ask *ask);
