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
void store_docs_free(struct store_docs *d); /* NULL is fine */

/* The job with this id, from the family that the caller knows it to be in. False when there is
 * none. A document that cannot be read stops the process. */
ATTR_NODISCARD bool store_docs_get(struct store_docs *d, enum store_family family, struct id id,
                                   struct job *out);

/* The same without taking the document into memory, for who wants a few numbers of many: what out
 * has in text is not to be used, and payload, tags and chain_config may be empty. */
ATTR_NODISCARD bool store_docs_glance(struct store_docs *d, enum store_family family, struct id id,
                                      struct job *out);

/* The state in it alone: what is large is read once for an entry, and counts each time. */
ATTR_NODISCARD bool store_docs_state(struct store_docs *d, enum store_family family, struct id id,
                                     enum job_state *out);

enum { STORE_DOCS_FETCH_MAX = KV_NEAR_MAX };

/* Bring those of these live documents into memory that are not there, for whoever is about to ask
 * for them. Where they follow one another in the store, that is far cheaper than one by one. */
void store_docs_fetch(struct store_docs *d, const struct id *ids, size_t count);

/* The done document of a job as the store had it before this entry, from who has walked over it: it
 * is not read once more. What the entry has made of it since goes first. */
void store_docs_take_done(struct store_docs *d, struct id id, struct str stored);

/* Write j's document: among the live ones, or among the done when its state is terminal. `was_in`
 * is the family that holds it so far, or STORE_FAMILY_COUNT for a new job. */
void store_docs_put(struct store_docs *d, const struct job *j, enum store_family was_in);

/* Remove a document. */
void store_docs_remove(struct store_docs *d, enum store_family family, struct id id);

/* Is it in memory: put in this entry, or cached? */
bool store_docs_has(const struct store_docs *d, struct id id);

/* The document of a job that is, in its two parts: what is stored under its id, which is a whole
 * document or a head, and the body of the latter. Empty when there is none. */
struct str store_docs_head(const struct store_docs *d, struct id id);
struct str store_docs_body(struct store_docs *d, struct id id);

/* Bytes of the documents that store_docs_get has handed out in this entry, bodies included, and of
 * what store_docs_glance looked at, from wherever they came: the same on every node. */
uint64_t store_docs_read_bytes(const struct store_docs *d);

/* The entry is on its way to disk: forget what was kept for it and shrink to the limit. */
void store_docs_committed(struct store_docs *d);

/* From any thread: the committed documents of those jobs for which that is cheap, because they are
 * small and their ids follow one another; of STORE_DOCS_FETCH_MAX at most. A job that moves
 * meanwhile may be left out. For the others ask store_docs_read. */
void store_docs_read_some(struct store *s, const struct id *ids, size_t count,
                          const struct kv_visitor *visitor);

/* From any thread: append the committed document of a job to out; false when there is none. */
ATTR_NODISCARD bool store_docs_read(struct store *s, struct id id, struct buf *out);
