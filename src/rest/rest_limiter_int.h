/*
 * Rest_limiter_int: the rate limiter, with a token bucket per client and kind of request
 * (http-api.md 1.7), and one per address for wrong credentials. Any thread.
 */
#pragma once

#include "base/clock.h"
#include "http/http_request.h"
#include "rest/rest_limiter.h"

struct rest_limiter;

#define REST_SESSION_COOKIE STR("corvo_session")

/* rest_credential.c: the credentials in a request. Views of the request, or in its arena. */
struct rest_credential {
    struct str text;    /* a key, the password or a token; empty: none */
    bool by_cookie;     /* text was in a cookie */
    struct str session; /* the token of a session; empty: none */
};
struct rest_credential rest_credential__of(const struct http_request *req);
/* The decoded value of a cookie; empty if there is none. */
struct str rest_credential__cookie(const struct http_request *req, struct str name);
/* The token of an Authorization header; empty if its scheme is not Bearer. */
struct str rest_credential__bearer(struct str authorization);

struct rest_limiter *rest_limiter__new(const struct rest_limiter_config *config);
void rest_limiter__free(struct rest_limiter *l);

/* A caller. Credentials that are not known to be valid count for the address: otherwise a client
 * could invent a new one for each request. */
struct rest_limiter_caller {
    struct str address;             /* of the connection */
    struct str client;              /* client address reported by a trusted proxy; else empty */
    struct str known;               /* the credential, if it is valid; else empty */
    uint64_t mark;                  /* identifies the credential; 0: unset */
    bool shows_nothing;             /* the request has neither a credential nor a proxy's header */
    struct rest_limiter_config own; /* rates of its namespace; 0: the default */
};

/* Take cost tokens from the client's bucket, minus those that the request has already paid. False,
 * and nothing is taken, if there are too few. */
ATTR_NODISCARD bool rest_limiter__take(struct rest_limiter *l,
                                       const struct rest_limiter_caller *who, bool read,
                                       uint64_t paid, uint64_t cost);

/* May a credential from this address be checked? Not after too many wrong ones from there, unless
 * this credential was valid there before: a worker with an old key must not lock out others at the
 * same address. */
ATTR_NODISCARD bool rest_limiter__may_try(struct rest_limiter *l, struct str address,
                                          struct str credential);
/* Count a wrong credential. Logged once a minute. */
void rest_limiter__was_wrong(struct rest_limiter *l, struct str address);
/* Record a valid credential; only for requests for which rest_limiter__take is not called. */
void rest_limiter__was_right(struct rest_limiter *l, struct str address, struct str credential);

/* The same in parts, for tests: the key of a client's bucket, in room, or empty if the client is
 * not limited; and the functions with an explicit time. */
enum { REST_LIMITER_KEY_MAX = 64 };
struct str rest_limiter__key(struct rest_limiter *l, const struct rest_limiter_caller *who,
                             char room[REST_LIMITER_KEY_MAX]);
ATTR_NODISCARD bool rest_limiter__take_at(struct rest_limiter *l, struct str key, bool read,
                                          uint64_t paid, uint64_t cost, struct mono now);
ATTR_NODISCARD bool rest_limiter__may_try_at(struct rest_limiter *l, struct str address,
                                             struct str credential, struct mono now);
void rest_limiter__was_wrong_at(struct rest_limiter *l, struct str address, struct mono now);
bool rest_limiter__is_loopback(struct str address);
/* The first address of an X-Forwarded-For header; empty if it is not an address. */
struct str rest_limiter__first_forwarded(struct str header);
size_t rest_limiter__clients(struct rest_limiter *l);
