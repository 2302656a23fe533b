/*
 * Store_job: a job as bytes (docs/formats/documents.md).
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

/* Append j's document to out, whole. */
void store_job_encode(const struct job *j, struct buf *out);

/* Texts of this many bytes are worth a body. It decides what is written, so it belongs to the
 * version of an entry (fsm/command/command_entry.h): to change it is a new one. */
enum { STORE_JOB_BODY_BYTES = 1024 };

/* What a head knows of its body. */
struct store_job_body {
    uint64_t version; /* of the job when it was written; the body has it, too */
    uint32_t bytes;
    uint32_t payload_bytes;
};

bool store_job_is_large(const struct job *j);
/* As many bytes as its body has, or some more. */
size_t store_job_body_room(const struct job *j);
/* The two parts. */
void store_job_encode_body(const struct job *j, uint64_t version, struct buf *out);
void store_job_encode_head(const struct job *j, const struct store_job_body *body, struct buf *out);

/* False when the document has no body stored apart, or cannot be read. */
ATTR_NODISCARD bool store_job_find_body(struct str doc, struct store_job_body *out);
/* Are these bytes the body that a head knows? */
ATTR_NODISCARD bool store_job_is_body(struct str bytes, const struct store_job_body *body);

/* Fill j from a document; the texts are views of it. The id is the key's and is given. ERR_CORRUPT
 * when the bytes are not a document that we know. */
ATTR_NODISCARD enum err_code store_job_decode(struct id id, struct str doc, struct job *j,
                                              struct err *err);

/* The same of whole documents only: commands have no others. */
ATTR_NODISCARD enum err_code store_job_decode_whole(struct id id, struct str doc, struct job *j,
                                                    struct err *err);

/* The same from the two parts; the body is empty when the first is a whole document. */
ATTR_NODISCARD enum err_code store_job_decode_parts(struct id id, struct str head, struct str body,
                                                    struct job *j, struct err *err);

/* The same from what is stored under the id: of a head all but payload, tags and chain_config. */
ATTR_NODISCARD enum err_code store_job_decode_stored(struct id id, struct str stored, struct job *j,
                                                     size_t *out_payload_bytes, struct err *err);

/* The same, of a document or a head, without the payload; of the optional members waits_for and the
 * agent's time-out are filled, and in a job that the server itself delivers all but tags and
 * chain_config. */
ATTR_NODISCARD enum err_code store_job_decode_head(struct id id, struct str doc, struct job *j,
                                                   struct err *err);
