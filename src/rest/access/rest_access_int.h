/*
 * Rest_access: access records, for the handlers that change and list them.
 */
#pragma once

#include "rest/access/rest_auth_int.h"

/* A record to be put, or deleted, and where its body is written. */
struct command_access_item *rest_access__items(struct rest_call *c, size_t count);
/* The bytes of a body or a name, in the call's memory; the buf is freed. */
struct str rest_access__keep(struct rest_call *c, struct buf *b);

/* Submit; a broken rule ends the call with the code and these words for it. */
void rest_access__submit(struct rest_call *c, struct command_access_item *items, size_t count,
                         void (*on_result)(struct rest_call *c, const struct result *r));
/* The usual ends. */
void rest_access__reply_ok(struct rest_call *c, const struct result *r);
void rest_access__reply_deleted(struct rest_call *c, const struct result *r);
void rest_access__reply_updated(struct rest_call *c, const struct result *r);

/* The committed record; the frame's body is in the call's memory. */
ATTR_NODISCARD bool rest_access__read(struct rest_call *c, char kind, struct str name,
                                      struct store_access_frame *out);

/* Each committed record of a kind, in the order of names; name and body are in the call's memory.
 */
void rest_access__each(struct rest_call *c, char kind, struct str prefix,
                       void (*fn)(void *data, struct str name, const struct store_access_frame *f),
                       void *data);

/* Hashes as clients see them. */
struct str rest_access__hex(struct rest_call *c, struct str bytes);
ATTR_NODISCARD bool rest_access__unhex(struct str hex, uint8_t out[AUTH_HASH_BYTES]);

/* A text that is "default" or empty is no namespace of its own. */
struct str rest_access__ns(struct str ns);

/* Lower-case ASCII, in the call's memory. */
struct str rest_access__lower(struct rest_call *c, struct str text);

/* Is the feature on (http-api.md 3.7)? When not the call has ended. */
ATTR_NODISCARD bool rest_access__has_feature(struct rest_call *c, const char *feature);

/* rest_org.c: make the organisation; ERR_CONFLICT when somebody else has. */
void rest_org__seed(struct rest_call *c, void (*then)(struct rest_call *c, const struct result *r));
