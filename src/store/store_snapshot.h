/*
 * Store_snapshot: the committed state at one moment, for whoever reads all of it while entries go
 * on being applied.
 *
 * Every entry is one atomic write, so a moment of the store is the state behind some entry: all
 * documents, rows and records in it fit together. Belongs to one thread, which may be any; the
 * store must stay open. What is handed out lives until the next call. A store that cannot be read
 * stops the process.
 */
#pragma once

#include "base/attr.h"
#include "base/id.h"
#include "core/job.h"
#include "store/store.h"
#include "store/store_rows.h"

struct store_snapshot;

struct store_snapshot *store_snapshot_new(struct store *s);
void store_snapshot_free(struct store_snapshot *sn); /* NULL is fine */

/* The next document of the family (STORE_LIVE or STORE_DONE), by id; the walk begins anew when
 * another family is asked for. False at its end. */
ATTR_NODISCARD bool store_snapshot_next(struct store_snapshot *sn, enum store_family family,
                                        struct id *out_id, struct str *out_doc);

/* One document of the family; false when there is none. */
ATTR_NODISCARD bool store_snapshot_get(struct store_snapshot *sn, enum store_family family,
                                       struct id id, struct str *out_doc);

/* The rows of a job, of each kind oldest first. */
void store_snapshot_each_row(struct store_snapshot *sn, struct id job,
                             const struct store_rows_visitor *visitor);

/* The records of a kind in key order, and one of them. */
void store_snapshot_each(struct store_snapshot *sn, char kind,
                         void (*fn)(void *data, struct str rest, struct str value), void *data);
ATTR_NODISCARD bool store_snapshot_record(struct store_snapshot *sn, char kind, struct str rest,
                                          struct str *out_value);
