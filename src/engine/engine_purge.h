/*
 * Engine_purge: how long the removal of old jobs rests between two steps.
 */
#pragma once

#include <stdint.h>

/* A step of a purge that is not the last one. */
struct engine_purge_step {
    int64_t took_ms;     /* from its submission to its end */
    int64_t passed_ms;   /* since the first step */
    int64_t interval_ms; /* between the first steps of two purges */
    uint64_t others;     /* commands that were applied since the step before */
};

int64_t engine_purge_rest_ms(const struct engine_purge_step *s);
