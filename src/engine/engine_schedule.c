#include "engine/engine_schedule.h"

#include "base/buf.h"
#include "core/cron.h"
#include "os/os_zone.h"

enum { ZONE_BYTES_MAX = 1 << 20 };

enum err_code engine_schedule_zone(struct str name, struct zone **out_zone, struct err *err)
{
    struct buf bytes;
    buf_init(&bytes, ZONE_BYTES_MAX);
    enum err_code code = os_zone_read(name, &bytes, err);
    if (code == ERR_OK) {
        code = zone_new(buf_str(&bytes), out_zone, err);
    }
    buf_deinit(&bytes);
    if (code != ERR_OK) {
        return err_set(err, ERR_VALIDATION, "timezone: '" STR_FMT "' is not known", STR_ARG(name));
    }
    return ERR_OK;
}

enum err_code engine_schedule_next(struct str cron, const struct zone *zone, struct wall since,
                                   struct wall after, struct wall *out_next, struct err *err)
{
    struct cron parsed;
    if (cron_parse(cron, &parsed, err) != ERR_OK) {
        return err->code;
    }
    if (!cron_next(&parsed, zone, since, after, out_next)) {
        return err_set(err, ERR_VALIDATION, "cron: '" STR_FMT "' never comes in the next 5 years",
                       STR_ARG(cron));
    }
    return ERR_OK;
}
