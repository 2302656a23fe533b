/*
 * Svc_beat: heartbeats, with which workers extend their leases and learn which jobs to stop
 * (http-api.md 8.6).
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/clock.h"
#include "base/map.h"
#include "fsm/command/command.h"
#include "fsm/command/result.h"
#include "svc/svc_caller.h"
#include "svc/svc_usage.h"

enum svc_beat_status {
    SVC_BEAT_OK,      /* the lease is renewed */
    SVC_BEAT_CANCEL,  /* stop: the job is no longer the worker's */
    SVC_BEAT_UNKNOWN, /* stop: there is no such job */
};

/* The report on one job. */
struct svc_beat {
    struct str job_id; /* as received */
    struct str progress;
    struct str checkpoint;
    struct svc_usage *usage;
    int64_t lease_token;
    /* result */
    enum svc_beat_status status;
    bool budget_exceeded;
    struct wall lease_expires_at; /* with SVC_BEAT_OK; 0: unknown */
    /* private */
    struct map_node by_id;
    bool asked; /* the command includes it */
};

struct svc_beats {
    struct svc_beat *list;
    size_t count;
};

/* Allocate an empty list with room for count beats. */
ATTR_NODISCARD enum err_code svc_beat_room(const struct svc_caller *who, size_t count,
                                           struct svc_beats *out, struct err *err);

/* Build the command. Afterwards the list has each job once: the last beat of a job replaces earlier
 * ones, at the place of the first. Jobs that the caller may not name are left out of the command
 * and get SVC_BEAT_UNKNOWN. If the command is empty, do not submit it. */
ATTR_NODISCARD enum err_code svc_beat_command(const struct svc_caller *who, struct svc_beats *beats,
                                              struct command *out, struct err *err);

/* Copy the results into the list. ERR_INTERNAL if the command has more jobs than there are
 * results. */
ATTR_NODISCARD enum err_code svc_beat_answer(struct svc_beats *beats, const struct result *r,
                                             struct err *err);
