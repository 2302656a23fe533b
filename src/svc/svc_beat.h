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

/* One job, and what is said of it. */
struct svc_beat {
    struct str job_id; /* as it was sent */
    struct str progress;
    struct str checkpoint;
    struct svc_usage *usage;
    int64_t lease_token;
    /* the answer */
    enum svc_beat_status status;
    bool budget_exceeded;
    struct wall lease_expires_at; /* with SVC_BEAT_OK; 0: not known */
    /* private */
    struct map_node by_id;
    bool asked; /* it is in the command */
};

struct svc_beats {
    struct svc_beat *list;
    size_t count;
};

/* Room for count beats, of which none is there yet. */
ATTR_NODISCARD enum err_code svc_beat_room(const struct svc_caller *who, size_t count,
                                           struct svc_beats *out, struct err *err);

/* The command. Of several beats of one job the last counts, at the place of the first; the list has
 * each job once from then on. Jobs that the caller may not name are answered without being asked
 * for: when all are, the command is empty, and nothing is to be submitted. */
ATTR_NODISCARD enum err_code svc_beat_command(const struct svc_caller *who, struct svc_beats *beats,
                                              struct command *out, struct err *err);

/* The answers into the list. ERR_INTERNAL when they are not those of its command. */
ATTR_NODISCARD enum err_code svc_beat_answer(struct svc_beats *beats, const struct result *r,
                                             struct err *err);
