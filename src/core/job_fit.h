/*
 * Job_fit: what the filter of a bulk operation says about a job that is seen again when the job is
 * changed (http-api.md 11.1).
 *
 * Which jobs a filter means is found before the change is in the log, and a job may have gone on
 * since: its state, its queue and its priority are looked at once more.
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

/* It says nothing: every job fits. */
bool job_fit_is_any(const struct job_fit *f);

bool job_fit_has(const struct job_fit *f, const struct job *j);

/* As bytes, in commands and records. What is unpacked says something, or u is bad. */
void job_fit_pack(const struct job_fit *f, struct buf *out);
struct job_fit job_fit_unpack(struct unpack *u);
