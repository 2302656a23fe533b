/*
 * Rest_sessions: browser sessions, for the handlers that start one.
 */
#pragma once

#include "rest/rest_int.h"

enum { REST_SESSION_S = 12 * 3600 };

/* Begin a session of c->caller, and go on with its token, of AUTH_SECRET_BYTES, in c->data. By a
 * provider that vouches: with what ties the session to that (auth_sso_proof); else NULL. */
void rest_sessions__begin(struct rest_call *c, const uint8_t *sso_proof,
                          void (*then)(struct rest_call *c, const struct result *r));

/* The header that gives a browser the session; without a token and time, that takes it away. */
struct http_header rest_sessions__cookie(struct rest_call *c, struct str token, int age_s);

/* Does the client come by TLS, here or at a proxy in front? */
bool rest_sessions__is_by_tls(const struct rest_call *c);
