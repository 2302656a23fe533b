/*
 * Store_walk: all committed documents as of one moment, in id order.
 *
 * Live and finished jobs are in two families; the walk merges them, so that a copy kept elsewhere
 * can be compared with it in one pass. Any thread, while entries are applied; the store must stay
 * open.
 */
#pragma once

#include "base/attr.h"
#include "base/id.h"
#include "base/str.h"
#include "store/store.h"

struct store_walk;

/* Starts at the first document. */
struct store_walk *store_walk_new(struct store *s);
void store_walk_free(struct store_walk *w); /* NULL is allowed */

/* Return the next document, valid until the next call. False at the end. If the store cannot be
 * read, the process stops. */
ATTR_NODISCARD bool store_walk_next(struct store_walk *w, struct id *out_id, struct str *out_doc);
