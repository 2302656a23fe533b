/*
 * Trace: print commands and results, to analyze a mismatch.
 */
#pragma once

#include <stdio.h>

#include "fsm/command/command.h"
#include "fsm/command/result.h"

/* One line, without the line break. */
void trace_command(FILE *out, const struct command *c);
void trace_result(FILE *out, const struct result *r);

void trace_id(FILE *out, struct id id);
