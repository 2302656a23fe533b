/*
 * Rest_sessions: browser sessions, for the handlers that start one.
 */
#pragma once

#include "rest/rest_int.h"

enum { REST_SESSION_S = 12 * 3600 };

/* Begin a session for c->caller, then call `then` with its token (AUTH_SECRET_BYTES) in c->data.
 * For single sign-on, sso_proof ties the session to the provider's settings (auth_sso_proof);
 * otherwise NULL. */
void rest_sessions__begin(struct rest_call *c, const uint8_t *sso_proof,
                          void (*then)(struct rest_call *c, const struct result *r));

/* The header that sets the session cookie. With an empty token and age 0, it deletes the cookie. */
struct http_header rest_sessions__cookie(struct rest_call *c, struct str token, int age_s);

/* Does the client use TLS, to this server or to a proxy in front of it? */
bool rest_sessions__is_by_tls(const struct rest_call *c);
