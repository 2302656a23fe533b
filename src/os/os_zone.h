/*
 * Os_zone: the system's time zone files, by the names of the IANA database.
 *
 * Reads bytes only; what they mean is core/zone.h's. Whoever asks keeps the result: nothing is
 * cached here.
 */
#pragma once

#include "base/attr.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"

/* Put the file of the zone ("Europe/Berlin") behind what is in out. The name comes from a client:
 * it can only lead into the zone folder. ERR_VALIDATION when there is no such zone, ERR_TOO_LARGE
 * past the limit of out, ERR_IO when the file cannot be read. */
ATTR_NODISCARD enum err_code os_zone_read(struct str name, struct buf *out, struct err *err);
