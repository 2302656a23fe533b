/*
 * Engine_schedule: computes when a schedule is due next, for the code that creates a schedule and
 * for the timer that fires it. The rules are in core (cron.h, zone.h); time zones are files of the
 * node.
 */
#pragma once

#include "base/attr.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/str.h"
#include "core/zone.h"

/* Read the zone of that name; the caller owns it. ERR_VALIDATION when the system has none. */
ATTR_NODISCARD enum err_code engine_schedule_zone(struct str name, struct zone **out_zone,
                                                  struct err *err);

/* The same for the expression of one recurring job (scheduler.md 3): five fields behind an optional
 * "TZ=" or "CRON_TZ=", no words with @, Sunday only as 0. Without a zone by the variable TZ, else
 * UTC. *out_next is 0 when none comes in the next five years; ERR_VALIDATION when it is no
 * expression. */
ATTR_NODISCARD enum err_code engine_schedule_recurring(struct str spec, struct wall after,
                                                       struct wall *out_next, struct err *err);

/* The first run strictly after `after`; an @every counts from `since`. ERR_VALIDATION when the
 * text is no expression, or none of its runs comes in the next five years. */
ATTR_NODISCARD enum err_code engine_schedule_next(struct str cron, const struct zone *zone,
                                                  struct wall since, struct wall after,
                                                  struct wall *out_next, struct err *err);
