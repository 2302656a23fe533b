/*
 * Crash_dump: everything that the state of an engine has, as lines for the driver to compare.
 *
 *   H <applied index> <state hash> <digest>
 *   J <id> <queue> <state> <attempt> <lease token> <unique key> <batch> <counted> <errors>
 *     <progress> <payload>
 *   B <id> <total> <pending> <succeeded> <failed> <finished>
 *   L <queue> <key> <job>
 *   Q <queue> <one number per job state>
 *   E
 *
 * Fields are separated by blanks, none of ours has one; "-" stands for nothing.
 */
#pragma once

#include "base/buf.h"
#include "fsm/machine.h"

/* Append the lines. On the thread of the machine, between two entries. */
void crash_dump(struct machine *m, struct buf *out);

/* Append an id as text, "-" for none. */
void crash_dump_id(struct buf *out, struct str prefix, struct id id);

/* The tags of a job with this payload: long ones, for some. */
struct str crash_dump_tags(struct str payload);
