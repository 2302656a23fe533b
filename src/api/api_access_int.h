/*
 * Records of who may do what, for the handlers that change and list them.
 */
#pragma once

#include "api/api_auth_int.h"

/* A record to be put, or deleted, and where its body is written. */
struct command_access_item *api_access__items(struct api_call *c, size_t count);
/* The bytes of a body or a name, in the call's memory; the buf is freed. */
struct str api_access__keep(struct api_call *c, struct buf *b);

/* Submit; a broken rule ends the call with the code and these words for it. */
void api_access__submit(struct api_call *c, struct command_access_item *items, size_t count,
                        void (*on_result)(struct api_call *c, const struct result *r));
/* The usual ends. */
void api_access__reply_ok(struct api_call *c, const struct result *r);
void api_access__reply_deleted(struct api_call *c, const struct result *r);
void api_access__reply_updated(struct api_call *c, const struct result *r);

/* The committed record; the frame's body is in the call's memory. */
ATTR_NODISCARD bool api_access__read(struct api_call *c, char kind, struct str name,
                                     struct store_access_frame *out);

/* Each committed record of a kind, in the order of names; name and body are in the call's memory.
 */
void api_access__each(struct api_call *c, char kind, struct str prefix,
                      void (*fn)(void *data, struct str name, const struct store_access_frame *f),
                      void *data);

/* Hashes as clients see them. */
struct str api_access__hex(struct api_call *c, struct str bytes);
ATTR_NODISCARD bool api_access__unhex(struct str hex, uint8_t out[AUTH_HASH_BYTES]);

/* A text that is "default" or empty is no namespace of its own. */
struct str api_access__ns(struct str ns);

/* Lower-case ASCII, in the call's memory. */
struct str api_access__lower(struct api_call *c, struct str text);

/* Is the feature on (http-api.md 3.7)? When not the call has ended. */
ATTR_NODISCARD bool api_access__has_feature(struct api_call *c, const char *feature);

/* Only the default namespace's admins look after all of them, and of these no key that is limited
 * to queues; others get 403 and the call ends. */
ATTR_NODISCARD bool api_access__is_default(struct api_call *c);

/* api_org.c: make the organisation; ERR_CONFLICT when somebody else has. */
void api_org__seed(struct api_call *c, void (*then)(struct api_call *c, const struct result *r));
