/*
 * Engine_purge: state of the removal of old jobs, and the pause between two steps.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/clock.h"

/* The purge as engine_timers.c tracks it. */
struct engine_purge {
    bool busy;     /* a step is in progress */
    int64_t at_ns; /* time of the next step by engine__now; 0: unknown */
    bool goes_on;  /* the next step is not the first */
    struct mono began, step_began;
    uint64_t applied; /* total number of commands at the end of the last step */
    uint64_t errors;
};

/* A step of a purge that is not its last. */
struct engine_purge_step {
    int64_t took_ms;     /* from its submission to its end */
    int64_t passed_ms;   /* since the first step */
    int64_t interval_ms; /* between the first steps of two purges */
    uint64_t others;     /* other commands applied since the previous step */
};

int64_t engine_purge_rest_ms(const struct engine_purge_step *s);
