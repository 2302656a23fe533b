/*
 * Zone: a time zone as data: the past changes of its clocks, and the rule for the future.
 *
 * Created from the bytes of a TZif file (RFC 8536, version 2 or later), which the caller has read.
 * A zone is immutable, so any thread may use it. Instants and local times are seconds since
 * 1970-01-01T00:00:00, instants in UTC, local times on the clocks of the zone. Both must be in the
 * years 100 to 9900, as every struct wall is. Only the leader computes results that depend on a
 * zone, because nodes may have different zone files.
 */
#pragma once

#include <stdint.h>

#include "base/attr.h"
#include "base/err.h"
#include "base/str.h"

struct zone;

/* On success the caller owns *out. ERR_VALIDATION if the bytes are not a usable zone: zones with
 * leap seconds are refused. */
ATTR_NODISCARD enum err_code zone_new(struct str tzif, struct zone **out, struct err *err);

/* UTC, without a file. */
struct zone *zone_new_utc(void);

void zone_free(struct zone *z); /* NULL is allowed */
void zone_freep(struct zone **z);

/* Seconds to add to an instant to get the local time. */
int64_t zone_offset_s(const struct zone *z, int64_t instant_s);

/* The first later instant at which the offset may change; INT64_MAX: never. */
int64_t zone_next_change_s(const struct zone *z, int64_t instant_s);

/* The instants with this local time, the earlier first: one, none if the clocks skip it, or two
 * if they are set back over it. Returns their number. */
unsigned zone_instants(const struct zone *z, int64_t local_s, int64_t out_s[static 2]);

/* The first instant with this local time or, if the clocks skip it, the instant of the change. */
int64_t zone_first_instant(const struct zone *z, int64_t local_s);
