/*
 * Store_body: the part of a large job that does not change, stored separately from its head.
 *
 * It is a row of the job (docs/formats/documents.md), written and removed in the same batch as its
 * head. Every committed state therefore has both or neither; together they are a document. If a
 * body is missing or belongs to another head, the process stops.
 */
#pragma once

#include "base/attr.h"
#include "base/buf.h"
#include "base/id.h"
#include "base/str.h"
#include "kv/kv.h"
#include "store/store_job.h"

enum { STORE_BODY_KIND = 'b', STORE_BODY_KEY_LEN = ID_BYTES + 1 + 4 };

struct store_body_key {
    char bytes[STORE_BODY_KEY_LEN];
};

/* The key of a body in the family `rows`. */
struct store_body_key store_body_key_of(struct id id);
struct str store_body_key_str(const struct store_body_key *key);

/* Append the body that belongs to the head to out, as of the view (NULL: newest). False if it is
 * missing or belongs to another head. */
ATTR_NODISCARD bool store_body_read(struct kv *kv, const struct kv_view *view, struct id id,
                                    const struct store_job_body *known, struct buf *out);

/* Return the complete document: `stored` itself, or a head followed by its body. rows is an
 * iterator over the family `rows` as of the same moment as `stored`; it is moved. The result is
 * valid as long as `stored`, and until joined changes. */
struct str store_body_join(struct id id, struct str stored, struct kv_iter *rows,
                           struct buf *joined);

/* Stop the process: a body is missing. */
ATTR_NORETURN void store_body_missing(struct id id);
