/*
 * Store_docs: the documents of jobs, written through, with the newest ones in memory.
 *
 * Reads inside an entry see its own writes before the batch is committed. Live documents stay in
 * the cache afterwards, up to a number of bytes, because a new job is usually fetched and finished
 * soon; most of them are never read from disk. If the cache is full, new documents are not added,
 * because their jobs are last in line. A document that is read replaces the oldest one that was not
 * read.
 *
 * Returned bytes stay valid until the entry is committed, even if the document is replaced or
 * removed: a struct job made from them can still be used.
 *
 * Only this unit writes documents. Those of large jobs are written in two parts, if the entry
 * allows it (struct store, bodies): a body, which is written only if it has changed, and a head. A
 * document that was stored in one part is split at its next change.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/id.h"
#include "base/str.h"
#include "core/job.h"
#include "store/store.h"

struct store_docs;

struct store_docs *store_docs_new(struct store *s, size_t limit_bytes);
void store_docs_free(struct store_docs *d); /* NULL is allowed */

/* Read a job from the given family. False if it is not there. A document that cannot be read stops
 * the process. */
ATTR_NODISCARD bool store_docs_get(struct store_docs *d, enum store_family family, struct id id,
                                   struct job *out);

/* The same without caching the document, for callers that need a few numbers of many jobs. Do not
 * use the texts of out; payload, tags and chain_config may be empty. */
ATTR_NODISCARD bool store_docs_glance(struct store_docs *d, enum store_family family, struct id id,
                                      struct job *out);

/* Only the state of the job. A large document is read once per entry, but counts each time
 * (store_docs_read_bytes). */
ATTR_NODISCARD bool store_docs_state(struct store_docs *d, enum store_family family, struct id id,
                                     enum job_state *out);

enum { STORE_DOCS_FETCH_MAX = KV_NEAR_MAX };

/* Read these live documents into the cache in advance. If they are next to each other in the store,
 * this is much faster than reading them separately. */
void store_docs_fetch(struct store_docs *d, const struct id *ids, size_t count);

/* Add the finished document of a job that the caller has already read from the store, as it was
 * before this entry, so that it is not read again. A newer version written by this entry takes
 * precedence. */
void store_docs_take_done(struct store_docs *d, struct id id, struct str stored);

/* Write the document of j into STORE_LIVE or, if its state is terminal, STORE_DONE. `was_in` is the
 * family that contained it before; STORE_FAMILY_COUNT for a new job. */
void store_docs_put(struct store_docs *d, const struct job *j, enum store_family was_in);

/* Remove a document. */
void store_docs_remove(struct store_docs *d, enum store_family family, struct id id);

/* Is the document in memory (written in this entry, or cached)? */
bool store_docs_has(const struct store_docs *d, struct id id);

/* The two parts of the document of an existing job: the value stored under its id, a complete
 * document or a head; and the body of that head, empty if there is none. */
struct str store_docs_head(const struct store_docs *d, struct id id);
struct str store_docs_body(struct store_docs *d, struct id id);

/* Bytes of the documents that store_docs_get and store_docs_glance read in this entry, bodies
 * included, whether they were cached or not: the same on every node. */
uint64_t store_docs_read_bytes(const struct store_docs *d);

/* The entry was committed: release its memory and shrink the cache to its limit. */
void store_docs_committed(struct store_docs *d);

/* The committed documents of those jobs that can be read cheaply: small ones with neighboring ids,
 * at most STORE_DOCS_FETCH_MAX. A job that changes its family meanwhile may be left out. Use
 * store_docs_read for the others. Any thread. */
void store_docs_read_some(struct store *s, const struct id *ids, size_t count,
                          const struct kv_visitor *visitor);

/* Append the committed document of a job to out; false if it does not exist. Any thread. */
ATTR_NODISCARD bool store_docs_read(struct store *s, struct id id, struct buf *out);
