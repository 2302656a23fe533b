/*
 * Cli_ids: reads job ids from the standard input of corvo bulk.
 *
 * The first character that is not blank determines the format: lines with one id each; a JSON array
 * of strings or of objects with "id"; an object with "jobs" or "job_ids" (the response of a
 * search); or lines of JSON, each a string or an object with "id".
 */
#pragma once

#include "base/arena.h"
#include "base/attr.h"
#include "base/err.h"
#include "base/str.h"

struct cli_ids {
    struct str *id;
    size_t count;
};

/* Read the ids in order. They are in the arena or point into text. ERR_VALIDATION if the input has
 * none of these formats. */
ATTR_NODISCARD enum err_code cli_ids_read(struct str text, struct arena *arena, struct cli_ids *out,
                                          struct err *err);
