/*
 * Rest_auth: identifies the caller of a request and checks what the caller may do (auth/).
 */
#pragma once

#include "rest/rest_int.h"

/* Who calls, as far as that is known before it is decided what they may. False when so many guessed
 * from there that the credential is not even looked at: the call has ended. */
ATTR_NODISCARD bool rest_auth__identify(struct rest_call *c);

/* Is there anything to authenticate with? Without, everybody is let in who may be at all. */
bool rest_auth__is_closed(const struct rest_call *c);

/* Who a key, by its hash, or a session belongs to, when it lets somebody in (REST_KNOWN), and until
 * when; 0: for ever. Texts are put into the arena, whatever its limit says. */
enum rest_verdict rest_auth__find_key(const struct rest_call *c,
                                      const uint8_t hash[AUTH_HASH_BYTES], struct arena *arena,
                                      struct auth_caller *out, struct wall *out_until);
enum rest_verdict rest_auth__find_session(const struct rest_call *c, struct str token,
                                          struct arena *arena, struct auth_caller *out,
                                          struct wall *out_until);

/* Why somebody with this verdict is not let in. */
const char *rest_auth__words(enum rest_verdict verdict);
#define REST_AUTH_FORBIDDEN "insufficient role permissions"

/* What a credential is worth; with REST_KNOWN c->caller is who it belongs to. */
enum rest_verdict rest_auth__look_up(struct rest_call *c, struct str credential);

/* Would somebody be let in by this session, as far as can be told without its token? That it was
 * begun with another password cannot. */
bool rest_auth__session_counts(struct rest_call *c, const struct store_session *s);

/* Is this the secret? Takes the same time whatever the difference; what is wrong counts as a guess,
 * and after too many of them from there nothing is right. */
bool rest_auth__is_right(const struct rest_call *c, struct str given, struct str secret);

/* Are they let in at all, and to which namespace? False when the call has ended. */
ATTR_NODISCARD bool rest_auth__admit(struct rest_call *c);

/* May they do what the call's route, or the RPC method of the call, does? False when the call has
 * ended. */
ATTR_NODISCARD bool rest_auth__allows(struct rest_call *c, const struct auth_rule *rule);
ATTR_NODISCARD bool rest_auth__allows_route(struct rest_call *c);
ATTR_NODISCARD bool rest_auth__allows_rpc(struct rest_call *c);

/* The rule of a route, and whether the caller may call it. The call goes on either way. */
struct auth_rule rest_auth__rule(const struct rest_route *route);
bool rest_auth__may(const struct rest_call *c, const struct rest_route *route);

/* The same question later, of the caller as it is by then. The call goes on either way. */
bool rest_auth__still_allows(const struct rest_call *c, const struct auth_caller *who);

/* Does the request say that a page of another server made it? */
bool rest_auth__is_cross_site(const struct rest_call *c);

/* The caller's name, which may be in room. */
struct str rest_auth__principal(struct rest_call *c, struct buf *room);
