/*
 * Crash_dump: the whole state of an engine, as lines that the driver compares.
 *
 *   H <applied index> <state hash> <digest> <time>
 *   J <id> <queue> <state> <attempt> <lease token> <unique key> <batch> <counted> <errors>
 *     <progress> <lease end> <scheduled> <started> <payload>
 *   B <id> <total> <pending> <succeeded> <failed> <finished>
 *   L <queue> <key> <job>
 *   Q <queue> <one number per job state>
 *   E
 *
 * Fields are separated by spaces and contain none. "-" is an empty field.
 */
#pragma once

#include "base/buf.h"
#include "fsm/machine.h"

/* Append the lines. Call on the machine's thread, between two entries. */
void crash_dump(struct machine *m, struct buf *out);

/* Append an id as text, "-" for none. */
void crash_dump_id(struct buf *out, struct str prefix, struct id id);

/* The tags of a job with this payload. They are long for some payloads. */
struct str crash_dump_tags(struct str payload);
