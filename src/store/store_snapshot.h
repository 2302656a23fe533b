/*
 * Store_snapshot: the committed state at one moment, for reading all of it while further entries
 * are applied.
 *
 * Every entry is one atomic write, so the store at any moment has the state after some entry: all
 * its documents, rows and records are consistent. Belongs to one thread, which can be any; the
 * store must stay open. Returned data is valid until the next call. If the store cannot be read,
 * the process stops.
 */
#pragma once

#include "base/attr.h"
#include "base/id.h"
#include "core/job.h"
#include "store/store.h"
#include "store/store_rows.h"

struct store_snapshot;

struct store_snapshot *store_snapshot_new(struct store *s);
void store_snapshot_free(struct store_snapshot *sn); /* NULL is allowed */

/* Read the next document of the family (STORE_LIVE or STORE_DONE), in id order. Starts again if the
 * family changes. False at the end. */
ATTR_NODISCARD bool store_snapshot_next(struct store_snapshot *sn, enum store_family family,
                                        struct id *out_id, struct str *out_doc);

/* Read a document of the family. False if it does not exist. */
ATTR_NODISCARD bool store_snapshot_get(struct store_snapshot *sn, enum store_family family,
                                       struct id id, struct str *out_doc);

/* Visit the rows of a job; those of each kind oldest first. */
void store_snapshot_each_row(struct store_snapshot *sn, struct id job,
                             const struct store_rows_visitor *visitor);

/* Call fn for the records of a kind, in key order. */
void store_snapshot_each(struct store_snapshot *sn, char kind,
                         void (*fn)(void *data, struct str rest, struct str value), void *data);
/* The same from the record `from` on, until fn returns false. */
void store_snapshot_each_from(struct store_snapshot *sn, char kind, struct str from,
                              bool (*fn)(void *data, struct str rest, struct str value),
                              void *data);
ATTR_NODISCARD bool store_snapshot_record(struct store_snapshot *sn, char kind, struct str rest,
                                          struct str *out_value);
