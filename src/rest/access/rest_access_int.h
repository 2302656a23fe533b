/*
 * Rest_access: reads, lists and changes access records; shared by the handlers.
 */
#pragma once

#include "rest/access/rest_auth_int.h"

/* Notes in the response to the first key of a server that needed no credentials before. */
#define REST_ACCESS_CLOSED_NOTE                                                                    \
    "the server accepted requests without a key until now; from now on every request needs a key"
#define REST_ACCESS_FIRST_KEY_NOTE REST_ACCESS_CLOSED_NOTE ". This is the first one"

/* Allocate items for a command that puts or deletes records. */
struct command_access_item *rest_access__items(struct rest_call *c, size_t count);
/* Copy the encoded body or name into the call's arena and free the buf. */
struct str rest_access__keep(struct rest_call *c, struct buf *b);

/* Submit the items. An error of the engine ends the call. */
void rest_access__submit(struct rest_call *c, struct command_access_item *items, size_t count,
                         void (*on_result)(struct rest_call *c, const struct result *r));
/* Change a record only if it is still as it was read: was is NULL if there was none. Otherwise the
 * change is refused with ERR_CONFLICT, and rest_access__again begins anew. While some members of
 * the cluster cannot compare, the record only has to exist. */
void rest_access__expect(struct rest_call *c, struct command_access_item *item,
                         const struct store_access_frame *was);
/* Another request has changed the record first? Then call the handler of the route again. */
ATTR_NODISCARD bool rest_access__again(struct rest_call *c, const struct result *r);
/* Result functions with the usual responses. */
void rest_access__reply_ok(struct rest_call *c, const struct result *r);
void rest_access__reply_deleted(struct rest_call *c, const struct result *r);
void rest_access__reply_updated(struct rest_call *c, const struct result *r);

/* Read a committed record; the frame's body is in the call's arena. */
ATTR_NODISCARD bool rest_access__read(struct rest_call *c, char kind, struct str name,
                                      struct store_access_frame *out);

/* Call fn for each committed record of a kind whose name begins with prefix, in the order of names.
 * Name and body are in the call's arena. */
void rest_access__each(struct rest_call *c, char kind, struct str prefix,
                       void (*fn)(void *data, struct str name, const struct store_access_frame *f),
                       void *data);

/* Convert hashes to hexadecimal and back. */
struct str rest_access__hex(struct rest_call *c, struct str bytes);
ATTR_NODISCARD bool rest_access__unhex(struct str hex, uint8_t out[AUTH_HASH_BYTES]);

/* Convert a namespace in a request to the stored form: empty for "default". */
struct str rest_access__ns(struct str ns);

/* Copy the text into the call's arena with ASCII letters in lower case. */
struct str rest_access__lower(struct rest_call *c, struct str text);

/* Is the feature enabled (http-api.md 3.7)? If not, the call has ended. */
ATTR_NODISCARD bool rest_access__has_feature(struct rest_call *c, const char *feature);

/* rest_org.c: create the organisation; ERR_CONFLICT if it exists already. */
void rest_org__seed(struct rest_call *c, void (*then)(struct rest_call *c, const struct result *r));
