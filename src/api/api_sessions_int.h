/*
 * Sessions of browsers, for whoever begins one.
 */
#pragma once

#include "api/api_int.h"

enum { API_SESSION_S = 12 * 3600 };

/* Begin a session of c->caller, and go on with its token, of AUTH_SECRET_BYTES, in c->data. By a
 * provider that vouches: with what ties the session to that (auth_sso_proof); else NULL. */
void api_sessions__begin(struct api_call *c, const uint8_t *sso_proof,
                         void (*then)(struct api_call *c, const struct result *r));

/* The header that gives a browser the session; without a token and time, that takes it away. */
struct http_header api_sessions__cookie(struct api_call *c, struct str token, int age_s);

/* Does the client come by TLS, here or at a proxy in front? */
bool api_sessions__is_by_tls(const struct api_call *c);
