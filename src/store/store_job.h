/*
 * Store_job: a job as bytes (docs/formats/documents.md).
 *
 * A fixed head with what the memory indexes need, so that most questions read no more than that;
 * then the optional members that are set, each in the order of one table. Version and layout
 * are for ever: a new member is a new bit, a new meaning a new version.
 */
#pragma once

#include "base/buf.h"
#include "base/err.h"
#include "core/job.h"

/* Append j's document to out. */
void store_job_encode(const struct job *j, struct buf *out);

/* Fill j from a document; the texts are views of it. The id is the key's and is given. ERR_CORRUPT
 * when the bytes are not a document that we know. */
ATTR_NODISCARD enum err_code store_job_decode(struct id id, struct str doc, struct job *j,
                                              struct err *err);

/* The same without the payload; of the optional members only waits_for and the agent's time-out are
 * filled, and in a job that the server itself delivers all of them. */
ATTR_NODISCARD enum err_code store_job_decode_head(struct id id, struct str doc, struct job *j,
                                                   struct err *err);
