/*
 * Rest_sso: callers authenticated elsewhere, by a provider's token or by the headers of a proxy.
 */
#pragma once

#include "rest/rest_int.h"
#include "sso/sso.h"

/* What became of the token that a request shows. */
struct rest_sso {
    struct sso_ask ask;
    struct auth_identity identity; /* when err is ERR_OK */
    struct err err;
    uint64_t version; /* of the settings, before the token was looked at */
    bool by_proxy;    /* it was none: the headers of a proxy say who it is */
};

/* True when the request shows a token that has to be looked at first: then it goes on with `then`,
 * when c->sso says what it is worth. False: it goes on at once. */
ATTR_NODISCARD bool rest_sso__waits(struct rest_call *c, void (*then)(struct rest_call *c));

/* Does the request come from a proxy whose headers are believed? */
bool rest_sso__is_by_proxy(const struct rest_call *c);

/* Is the caller one whom the provider, or a trusted proxy, vouches for? Then c->caller and
 * c->verdict say so. */
ATTR_NODISCARD bool rest_sso__vouches(struct rest_call *c);

/* Of a caller for whom one of them did: do the settings still say so? Whether its token has expired
 * is in identity.until. */
bool rest_sso__still_vouches(const struct rest_call *c);

/* The end of a call whose token was not right. */
void rest_sso__refuse(struct rest_call *c);

/* Ask, and go on with `then` when the answer is in it. The question lives in the call's memory, and
 * what it was answered with until the call ends or it is released. */
void rest_sso__ask(struct rest_call *c, struct sso_ask *ask, void (*then)(struct rest_call *c));
/* Who it was answered to be, in the call's memory; the question is released. */
struct auth_identity rest_sso__take(struct rest_call *c, struct sso_ask *ask);
