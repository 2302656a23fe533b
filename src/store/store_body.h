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

/* The key among the rows. */
struct store_body_key store_body_key_of(struct id id);
struct str store_body_key_str(const struct store_body_key *key);

/* Append the body that the head knows to out, as it is in the view (NULL: now). False when it is
 * not there or is another's. */
ATTR_NODISCARD bool store_body_read(struct kv *kv, const struct kv_view *view, struct id id,
                                    const struct store_job_body *known, struct buf *out);

/* The document of what is stored: that, or a head with its body behind it. The parts come from one
 * moment: rows is a walk over the rows, of the same moment as what is stored, and is moved. The
 * document lives as long as what is stored, and until joined is changed. */
struct str store_body_join(struct id id, struct str stored, struct kv_iter *rows,
                           struct buf *joined);

/* There is none where one has to be. */
ATTR_NORETURN void store_body_missing(struct id id);
