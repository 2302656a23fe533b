/*
 * Store_job: encode and decode a job (docs/formats/documents.md).
 *
 * A fixed head has what the in-memory indexes need, so most reads need only the head. The optional
 * members that are set follow, in the order of one table. Version and layout never change: a new
 * member gets a new bit, a new meaning a new version.
 *
 * The document of a large job is stored in two parts, so that a state change does not write the
 * payload again: a head, and a body that is written only when the payload changes (store_body.h).
 * The head followed by the body is a document too, so other code need not distinguish them.
 */
#pragma once

#include "base/buf.h"
#include "base/err.h"
#include "core/job.h"

/* Append the complete document of j to out. */
void store_job_encode(const struct job *j, struct buf *out);

/* A document with texts of at least this size gets a body. The value affects what is written, so a
 * change needs a new version of entries (fsm/command/command_entry.h). */
enum { STORE_JOB_BODY_BYTES = 1024 };

/* What a head stores about its body. */
struct store_job_body {
    uint64_t version; /* of the job when the body was written; also in the body */
    uint32_t bytes;
    uint32_t payload_bytes;
};

bool store_job_is_large(const struct job *j);
/* An upper bound of the size of its body. */
size_t store_job_body_room(const struct job *j);
/* Encode the two parts. */
void store_job_encode_body(const struct job *j, uint64_t version, struct buf *out);
void store_job_encode_head(const struct job *j, const struct store_job_body *body, struct buf *out);

/* Read the head's information about its body. False if the document has no separate body, or cannot
 * be read. */
ATTR_NODISCARD bool store_job_find_body(struct str doc, struct store_job_body *out);
/* Are these bytes the body that belongs to the head? */
ATTR_NODISCARD bool store_job_is_body(struct str bytes, const struct store_job_body *body);

/* Decode a document; texts are views of it. The id is that of the key. ERR_CORRUPT if the bytes are
 * not a known document. */
ATTR_NODISCARD enum err_code store_job_decode(struct id id, struct str doc, struct job *j,
                                              struct err *err);

/* The same, but accepts only complete documents, as in commands. */
ATTR_NODISCARD enum err_code store_job_decode_whole(struct id id, struct str doc, struct job *j,
                                                    struct err *err);

/* The same from two parts. body is empty if head is a complete document. */
ATTR_NODISCARD enum err_code store_job_decode_parts(struct id id, struct str head, struct str body,
                                                    struct job *j, struct err *err);

/* The same from the value stored under the id. Of a head, payload, tags and chain_config are left
 * empty. */
ATTR_NODISCARD enum err_code store_job_decode_stored(struct id id, struct str stored, struct job *j,
                                                     size_t *out_payload_bytes, struct err *err);

/* The same from a document or a head, but only the fixed head and the queue, waits_for and the
 * agent's time-out; for a job that the server delivers, all optional members except tags and
 * chain_config. */
ATTR_NODISCARD enum err_code store_job_decode_head(struct id id, struct str doc, struct job *j,
                                                   struct err *err);
