/*
 * Zone: a time zone as data: when its clocks jumped, and the rule for the years to come.
 *
 * Made from the bytes of a TZif file (RFC 8536, version 2 or later), which somebody else has read.
 * A zone does not change once it is made, so that any thread may use it. Instants and local times
 * are seconds from 1970-01-01T00:00:00, the first in UTC, the second on the clocks of the zone;
 * both lie in the years 100 to 9900, which every struct wall does. Rules that follow from it run on
 * the leader only, because nodes may differ in their zone files.
 */
#pragma once

#include <stdint.h>

#include "base/attr.h"
#include "base/err.h"
#include "base/str.h"

struct zone;

/* On success the caller owns *out. ERR_VALIDATION when the bytes are not a zone that we can use:
 * zones with leap seconds are refused. */
ATTR_NODISCARD enum err_code zone_new(struct str tzif, struct zone **out, struct err *err);

/* The zone that needs no file. */
struct zone *zone_new_utc(void);

void zone_free(struct zone *z); /* NULL is fine */
void zone_freep(struct zone **z);

/* Seconds to add to the instant to have the local time. */
int64_t zone_offset_s(const struct zone *z, int64_t instant_s);

/* The first instant after this one from which on the offset may be another; INT64_MAX: never. */
int64_t zone_next_change_s(const struct zone *z, int64_t instant_s);

/* The instants at which the clocks show that local time, the earlier first: one, or none when they
 * jump over it, or two when they are set back. Returns how many. */
unsigned zone_instants(const struct zone *z, int64_t local_s, int64_t out_s[static 2]);

/* The first instant at which the clocks show that local time or, when they jump over it, the
 * instant of the jump. */
int64_t zone_first_instant(const struct zone *z, int64_t local_s);
