/*
 * Svc_batch: groups of jobs with one callback when all of them have ended (http-api.md 6.7, 7.4).
 */
#pragma once

#include "fsm/command/command.h"
#include "fsm/command/result.h"
#include "store/store_record.h"
#include "svc/svc_caller.h"

/* A batch as it is asked for. */
struct svc_batch {
    struct str callback_queue; /* as the caller names it; empty: nobody is told */
    struct str callback_payload;
};

ATTR_NODISCARD enum err_code svc_batch_open(const struct svc_caller *who,
                                            const struct svc_batch *batch, struct command *out,
                                            struct err *err);
/* Who makes a batch: it is told only of one without a callback queue, and not while a member of the
 * cluster could not read it. */
struct store_owner svc_batch_owner(const struct svc_caller *who, struct str callback_queue);
/* Whether the caller may see a batch of this owner, which has no callback queue. */
bool svc_batch_is_of(const struct svc_caller *who, const struct store_owner *owner);
/* *out_queue is where the job that tells of the end goes, as the caller names it, in the caller's
 * memory; empty when nobody is told. When the seal was the end, the result has that job's id. */
ATTR_NODISCARD enum err_code svc_batch_seal(const struct svc_caller *who, struct str text,
                                            struct command *out, struct str *out_queue,
                                            struct err *err);

/* The record of a batch that the caller may see, put into bytes, which *out points into; the queue
 * in it is as the caller names it. ERR_NOT_FOUND when there is none. */
ATTR_NODISCARD enum err_code svc_batch_read(const struct svc_caller *who, struct str text,
                                            struct buf *bytes, struct id *out_id,
                                            struct store_batch *out, struct err *err);
/* Only its id. */
ATTR_NODISCARD enum err_code svc_batch_find(const struct svc_caller *who, struct str text,
                                            struct id *out, struct err *err);
