/*
 * Job_fit: the conditions of a bulk operation's filter that are checked again when a job is changed
 * (http-api.md 11.1).
 *
 * The jobs that match a filter are selected before the change is in the log, and may have changed
 * since: their state, queue and priority are checked once more.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/str.h"
#include "base/unpack.h"
#include "core/job.h"

struct job_fit {
    unsigned states;     /* bits 1 << enum job_state; 0: any */
    unsigned priorities; /* bits 1 << priority; 0: any */
    struct str queue;    /* internal name; empty: any */
};

/* Is there no condition? Every job fits then. */
bool job_fit_is_any(const struct job_fit *f);

bool job_fit_has(const struct job_fit *f, const struct job *j);

/* Encode for commands and records. Unpacking sets u bad if there is no condition. */
void job_fit_pack(const struct job_fit *f, struct buf *out);
struct job_fit job_fit_unpack(struct unpack *u);
