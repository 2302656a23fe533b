#include "engine/engine_schedule.h"

#include <stdlib.h>

#include "base/buf.h"
#include "core/cron.h"
#include "os/os_zone.h"

enum { ZONE_BYTES_MAX = 1 << 20 };

enum err_code engine_schedule_zone(struct str name, struct zone **out_zone, struct err *err)
{
    struct buf bytes;
    if (str_eq(name, STR("UTC"))) { /* needs no file */
        *out_zone = zone_new_utc();
        return ERR_OK;
    }
    buf_init(&bytes, ZONE_BYTES_MAX);
    enum err_code code = os_zone_read(name, &bytes, err);
    if (code == ERR_OK) {
        code = zone_new(buf_str(&bytes), out_zone, err);
    }
    buf_deinit(&bytes);
    if (code != ERR_OK) {
        return err_set(err, ERR_VALIDATION, "timezone: '" STR_FMT "' is not a known time zone",
                       STR_ARG(name));
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
        return err_set(err, ERR_VALIDATION,
                       "cron: '" STR_FMT "' does not occur in the next 5 years", STR_ARG(cron));
    }
    return ERR_OK;
}

/* The zone of the variable TZ; POSIX allows a colon before the name. */
static struct str local_zone(void)
{
    struct str name = str_from_z(getenv("TZ")); /* NOLINT(concurrency-mt-unsafe): constant */
    name = str_from_offset(name, str_starts_with(name, STR(":")) ? 1 : 0);
    return name.len > 0 ? name : STR("UTC");
}

enum err_code engine_schedule_local(struct err *err)
{
    ATTR_CLEANUP(zone_freep) struct zone *zone = NULL;
    return engine_schedule_zone(local_zone(), &zone, err);
}

/* Cut off the time zone before the fields. *out is empty if there is none. */
static enum err_code take_zone(struct str *spec, struct str *out, struct err *err)
{
    static const struct str prefixes[] = {{.ptr = "CRON_TZ=", .len = 8}, {.ptr = "TZ=", .len = 3}};
    *out = STR_EMPTY;
    for (size_t i = 0; i < COUNT_OF(prefixes); i++) {
        if (str_starts_with(*spec, prefixes[i])) {
            struct str rest = str_from_offset(*spec, prefixes[i].len);
            *out = str_cut(&rest, ' ');
            *spec = str_trim(rest);
            return out->len == 0 ? err_set(err, ERR_VALIDATION, "the time zone has no name")
                                 : ERR_OK;
        }
    }
    return ERR_OK;
}

/* Is 7, perhaps with leading zeros, a value in the field, rather than a step? */
static bool names_seven(struct str field)
{
    for (size_t i = 0; i < field.len; i++) {
        size_t first = i;
        while (first > 0 && field.ptr[first - 1] == '0') {
            first--;
        }
        int before = first == 0 ? ',' : field.ptr[first - 1];
        int behind = i + 1 == field.len ? ',' : field.ptr[i + 1];
        if (field.ptr[i] == '7' && (before == ',' || before == '-') &&
            (behind == ',' || behind == '-' || behind == '/')) {
            return true;
        }
    }
    return false;
}

static bool has_empty_item(struct str field)
{
    return field.ptr[0] == ',' || field.ptr[field.len - 1] == ',';
}

/* Cut off the first field. cron_parse allows the same separators. */
static struct str cut_field(struct str *spec)
{
    size_t n = 0;
    while (n < spec->len && spec->ptr[n] != ' ' && spec->ptr[n] != '\t') {
        n++;
    }
    struct str field = str_from(spec->ptr, n);
    *spec = str_trim(str_from_offset(*spec, n));
    return field;
}

static enum err_code check_fields(struct str spec, struct err *err)
{
    struct str last = STR_EMPTY;
    unsigned count = 0;
    while (spec.len > 0) {
        last = cut_field(&spec);
        count++;
        if (has_empty_item(last)) {
            return err_set(err, ERR_VALIDATION, "a list has an empty item");
        }
    }
    if (count != 5) {
        return err_set(err, ERR_VALIDATION, "expected exactly 5 fields, found %u", count);
    }
    return names_seven(last) ? err_set(err, ERR_VALIDATION, "day of week: expected 0 to 6, got 7")
                             : ERR_OK;
}

/* An empty name is that of the server. */
static enum err_code open_zone(struct str name, struct zone **out_zone, struct err *err)
{
    return engine_schedule_zone(name.len > 0 ? name : local_zone(), out_zone, err);
}

static struct wall next_pass(const struct cron *c, const struct zone *zone, struct wall after)
{
    struct wall next;
    return cron_next_pass(c, zone, after, &next) ? next : WALL_NONE;
}

enum err_code engine_schedule_recurring(struct str spec, struct wall after, struct wall *out_next,
                                        struct err *err)
{
    ATTR_CLEANUP(zone_freep) struct zone *zone = NULL;
    struct str name;
    struct cron parsed;
    spec = str_trim(spec);
    if (take_zone(&spec, &name, err) != ERR_OK || check_fields(spec, err) != ERR_OK ||
        cron_parse(spec, &parsed, err) != ERR_OK) {
        return err->code;
    }
    if (open_zone(name, &zone, err) != ERR_OK) {
        if (name.len > 0) {
            return err->code;
        }
        zone = zone_new_utc(); /* the client cannot correct the server's environment */
    }
    *out_next = next_pass(&parsed, zone, after);
    return ERR_OK;
}

enum err_code engine_schedule_again(struct str spec, struct wall after, struct wall *out_next,
                                    struct err *err)
{
    ATTR_CLEANUP(zone_freep) struct zone *zone = NULL;
    struct str name;
    struct cron parsed;
    enum err_code code = ERR_OK;
    spec = str_trim(spec);
    if (take_zone(&spec, &name, err) != ERR_OK || cron_parse(spec, &parsed, err) != ERR_OK) {
        return err->code;
    }
    if (open_zone(name, &zone, err) != ERR_OK) {
        zone = zone_new_utc();
        code = err->code = ERR_NOT_FOUND;
    }
    *out_next = next_pass(&parsed, zone, after);
    return code;
}
