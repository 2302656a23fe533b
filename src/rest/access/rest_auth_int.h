/*
 * Rest_auth: identifies the caller of a request and checks what the caller may do (auth/).
 */
#pragma once

#include "rest/rest_int.h"

/* Identify the caller; does not check permissions. False, with the call ended, if the credential
 * was not checked because of too many wrong ones from this address. */
ATTR_NODISCARD bool rest_auth__identify(struct rest_call *c);

/* Is a password, a key or single sign-on configured? Without, callers need no credential. */
bool rest_auth__is_closed(const struct rest_call *c);

/* Find the caller of a key, by its hash, or of a session. With REST_KNOWN, *out is the caller and
 * *out_until the expiry; 0: never. Texts are allocated from the arena regardless of its limit. */
enum rest_verdict rest_auth__find_key(const struct rest_call *c,
                                      const uint8_t hash[AUTH_HASH_BYTES], struct arena *arena,
                                      struct auth_caller *out, struct wall *out_until);
enum rest_verdict rest_auth__find_session(const struct rest_call *c, struct str token,
                                          struct arena *arena, struct auth_caller *out,
                                          struct wall *out_until);

/* The error message for a verdict. */
const char *rest_auth__words(enum rest_verdict verdict);
#define REST_AUTH_FORBIDDEN "insufficient role permissions"

/* Check a credential. With REST_KNOWN, c->caller is its owner. */
enum rest_verdict rest_auth__look_up(struct rest_call *c, struct str credential);

/* Is a stored session still valid, as far as can be checked without its token? A changed password
 * cannot be detected. */
bool rest_auth__session_counts(struct rest_call *c, const struct store_session *s);

/* Compare a secret in constant time. A wrong one counts for the limit on wrong credentials; if that
 * is reached, the result is always false. */
bool rest_auth__is_right(const struct rest_call *c, struct str given, struct str secret);

/* Admit the caller and choose the namespace. False if the call has ended. */
ATTR_NODISCARD bool rest_auth__admit(struct rest_call *c);

/* Is the client on this machine, and not a browser with a page of another site? If not, the call
 * ends (rest_local.c). */
ATTR_NODISCARD bool rest_auth__is_local(struct rest_call *c);

/* Is the caller allowed to use the call's route or RPC method? False if the call has ended. */
ATTR_NODISCARD bool rest_auth__allows(struct rest_call *c, const struct auth_rule *rule);
ATTR_NODISCARD bool rest_auth__allows_route(struct rest_call *c);
ATTR_NODISCARD bool rest_auth__allows_rpc(struct rest_call *c);

/* The rule of a route, and whether the caller may use it. These do not end the call. */
struct auth_rule rest_auth__rule(const struct rest_route *route);
bool rest_auth__may(const struct rest_call *c, const struct rest_route *route);

/* The same check later in the call, for the caller's current permissions. Does not end the call. */
bool rest_auth__still_allows(const struct rest_call *c, const struct auth_caller *who);

/* Was the request made by a page of another site, according to its headers? */
bool rest_auth__is_cross_site(const struct rest_call *c);

/* The caller's name for the audit log; may use room. */
struct str rest_auth__principal(struct rest_call *c, struct buf *room);
