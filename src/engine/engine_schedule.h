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

/* Read a time zone by name; the caller owns it. ERR_VALIDATION if the system does not have it. UTC
 * needs no file. */
ATTR_NODISCARD enum err_code engine_schedule_zone(struct str name, struct zone **out_zone,
                                                  struct err *err);

/* Check the zone of jobs that name none: the variable TZ, otherwise UTC. ERR_VALIDATION if the
 * system does not have it; UTC applies then. */
ATTR_NODISCARD enum err_code engine_schedule_local(struct err *err);

/* The next run of a recurring Scheduled-DB job (scheduler.md 3): five fields after an optional
 * "TZ=" or "CRON_TZ=", no macros with @, Sunday only as 0. Without a zone, the local one applies.
 * *out_next is 0 if there is no run in the next five years. ERR_VALIDATION if the expression is
 * invalid. */
ATTR_NODISCARD enum err_code engine_schedule_recurring(struct str spec, struct wall after,
                                                       struct wall *out_next, struct err *err);

/* The same for a job that exists. It must not end because this node lacks its time zone: *out_next
 * is then computed in UTC, with ERR_NOT_FOUND. Expressions that older versions accepted are valid.
 */
ATTR_NODISCARD enum err_code engine_schedule_again(struct str spec, struct wall after,
                                                   struct wall *out_next, struct err *err);

/* The first run strictly after `after`; @every counts from `since`. ERR_VALIDATION if the
 * expression is invalid or has no run in the next five years. */
ATTR_NODISCARD enum err_code engine_schedule_next(struct str cron, const struct zone *zone,
                                                  struct wall since, struct wall after,
                                                  struct wall *out_next, struct err *err);
