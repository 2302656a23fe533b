/*
 * Svc_batch: groups of jobs with one callback when all of them have ended (http-api.md 6.7, 7.4).
 */
#pragma once

#include "fsm/command/command.h"
#include "fsm/command/result.h"
#include "store/store_record.h"
#include "svc/svc_caller.h"

/* A batch as requested. */
struct svc_batch {
    struct str callback_queue; /* the caller's name of the queue; empty: no callback job */
    struct str callback_payload;
};

ATTR_NODISCARD enum err_code svc_batch_open(const struct svc_caller *who,
                                            const struct svc_batch *batch, struct command *out,
                                            struct err *err);
/* The owner of a new batch. Recorded only for a batch without a callback queue, and only if all
 * members of the cluster can read it. */
struct store_owner svc_batch_owner(const struct svc_caller *who, struct str callback_queue);
/* May the caller see a batch of this owner? Only for batches without a callback queue. */
bool svc_batch_is_of(const struct svc_caller *who, const struct store_owner *owner);
/* If the batch has ended, or ends now, the result has the id of the callback job. */
ATTR_NODISCARD enum err_code svc_batch_seal(const struct svc_caller *who, struct str text,
                                            struct command *out, struct err *err);

/* Read the record of a batch that the caller may see. *out points into bytes and has the caller's
 * name of the callback queue. ERR_NOT_FOUND if there is no such batch. */
ATTR_NODISCARD enum err_code svc_batch_read(const struct svc_caller *who, struct str text,
                                            struct buf *bytes, struct id *out_id,
                                            struct store_batch *out, struct err *err);
/* The same, for the id only. */
ATTR_NODISCARD enum err_code svc_batch_find(const struct svc_caller *who, struct str text,
                                            struct id *out, struct err *err);

/* Is there a batch with this id that the caller may not see? Any thread. */
bool svc_batch_is_foreign(const struct svc_caller *who, struct id id);
