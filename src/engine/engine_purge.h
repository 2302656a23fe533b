/*
 * Engine_purge: the removal of old jobs, and how long it rests between two steps.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/clock.h"

/* What engine_timers.c knows of it. */
struct engine_purge {
    bool busy;     /* a step is under way */
    int64_t at_ns; /* the next step, by engine__now; 0: not known yet */
    bool goes_on;  /* that step is not the first */
    struct mono began, step_began;
    uint64_t applied; /* commands in all, when the last step was over */
    uint64_t errors;
};

/* A step of a purge that is not the last one. */
struct engine_purge_step {
    int64_t took_ms;     /* from its submission to its end */
    int64_t passed_ms;   /* since the first step */
    int64_t interval_ms; /* between the first steps of two purges */
    uint64_t others;     /* commands that were applied since the step before */
};

int64_t engine_purge_rest_ms(const struct engine_purge_step *s);
