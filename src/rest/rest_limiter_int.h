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

/* rest_credential.c: what the caller shows of itself. Views of the request, or in its arena. */
struct rest_credential {
    struct str text;    /* a key, the password or a token; empty: none */
    bool by_cookie;     /* that was in a cookie */
    struct str session; /* the token of a session; empty: none */
};
struct rest_credential rest_credential__of(const struct http_request *req);
/* The decoded value of a cookie; empty when there is none. */
struct str rest_credential__cookie(const struct http_request *req, struct str name);
/* The token of an Authorization header; empty when its scheme is not Bearer. */
struct str rest_credential__bearer(struct str authorization);

struct rest_limiter *rest_limiter__new(const struct rest_limiter_config *config);
void rest_limiter__free(struct rest_limiter *l);

/* Who calls. Whatever is shown and not known to be right counts for the address: else everybody
 * could invent a new client for each request. */
struct rest_limiter_caller {
    struct str address;             /* of the connection */
    struct str client;              /* what a trusted proxy says is its client's; else empty */
    struct str known;               /* the credential, when it is right; else empty */
    uint64_t mark;                  /* of it, another for each; 0: none was made */
    bool shows_nothing;             /* neither a credential nor that it comes through a proxy */
    struct rest_limiter_config own; /* rates of its namespace; 0: the usual ones */
};

/* Take cost tokens from the client's bucket, after giving back those that the request has paid so
 * far; false, and nothing taken, when there are too few. */
ATTR_NODISCARD bool rest_limiter__take(struct rest_limiter *l,
                                       const struct rest_limiter_caller *who, bool read,
                                       uint64_t paid, uint64_t cost);

/* May a credential be looked at, for this address? Not while too many wrong ones came from there,
 * unless this one was right there before: a worker with an old key must not lock out its
 * neighbours. */
ATTR_NODISCARD bool rest_limiter__may_try(struct rest_limiter *l, struct str address,
                                          struct str credential);
/* One was wrong. Logged once a minute. */
void rest_limiter__was_wrong(struct rest_limiter *l, struct str address);
/* One was right, for which rest_limiter__take is not asked. */
void rest_limiter__was_right(struct rest_limiter *l, struct str address, struct str credential);

/* The same in pieces: the name of a client's bucket, of at most REST_LIMITER_KEY_MAX bytes in room,
 * empty for one that is not counted; and what happens at a moment. */
enum { REST_LIMITER_KEY_MAX = 64 };
struct str rest_limiter__key(struct rest_limiter *l, const struct rest_limiter_caller *who,
                             char room[REST_LIMITER_KEY_MAX]);
ATTR_NODISCARD bool rest_limiter__take_at(struct rest_limiter *l, struct str key, bool read,
                                          uint64_t paid, uint64_t cost, struct mono now);
ATTR_NODISCARD bool rest_limiter__may_try_at(struct rest_limiter *l, struct str address,
                                             struct str credential, struct mono now);
void rest_limiter__was_wrong_at(struct rest_limiter *l, struct str address, struct mono now);
bool rest_limiter__is_loopback(struct str address);
/* The first address of an X-Forwarded-For header; empty when that is none. */
struct str rest_limiter__first_forwarded(struct str header);
size_t rest_limiter__clients(struct rest_limiter *l);
