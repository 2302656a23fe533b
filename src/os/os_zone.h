/*
 * Os_zone: the system's time zone files, by the names of the IANA database.
 *
 * Reads bytes only; core/zone.h interprets them. Nothing is cached here.
 */
#pragma once

#include "base/attr.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"

/* Append the zone's file ("Europe/Berlin") to out. The name may come from a client: it cannot
 * leave the zone folder. ERR_VALIDATION if there is no such zone, ERR_TOO_LARGE past the limit
 * of out, ERR_IO if the file cannot be read. */
ATTR_NODISCARD enum err_code os_zone_read(struct str name, struct buf *out, struct err *err);
