/*
 * The rate limiter: a bucket of tokens per client and kind of request (http-api.md 1.7). Any
 * thread.
 */
#pragma once

#include "api/api.h"
#include "base/clock.h"
#include "http/http_request.h"

struct api_limiter;

/* api_credential.c: the key, password or token that the caller shows; empty when it shows none. A
 * view of the request, or in its arena. */
struct str api_credential__of(const struct http_request *req);
/* The token of an Authorization header; empty when its scheme is not Bearer. */
struct str api_credential__bearer(struct str authorization);

struct api_limiter *api_limiter__new(const struct api_config *config);
void api_limiter__free(struct api_limiter *l);
/* Take cost tokens from the client's bucket, after giving back those that the request has paid so
 * far; false, and nothing taken, when there are too few. */
ATTR_NODISCARD bool api_limiter__take(struct api_limiter *l, const struct http_request *req,
                                      bool read, uint64_t paid, uint64_t cost);
/* The same in pieces: who the client is, and its bucket at a moment. */
struct str api_limiter__key(struct api_limiter *l, const struct http_request *req);
ATTR_NODISCARD bool api_limiter__take_at(struct api_limiter *l, struct str key, bool read,
                                         uint64_t paid, uint64_t cost, struct mono now);
size_t api_limiter__clients(struct api_limiter *l);
