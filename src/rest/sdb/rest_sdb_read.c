/*
 * Decodes the body of a creation, with the contract's order of checks and its messages
 * (scheduler.md 2.3 to 2.5).
 */
#include <stdarg.h>
#include <stdio.h>

#include "base/id_uuid.h"
#include "base/limits.h"
#include "core/timestamp.h"
#include "engine/engine_schedule.h"
#include "json/json_compact.h"
#include "json/json_scan.h"
#include "rest/sdb/rest_sdb_int.h"

static bool refuse(struct rest_call *c, struct str *out, const char *fmt, ...) ATTR_PRINTF(3, 4);
static bool refuse(struct rest_call *c, struct str *out, const char *fmt, ...)
{
    char text[512];
    va_list args;
    va_start(args, fmt);
    int n = vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    size_t len = n < 0 ? 0 : (size_t)n < sizeof text ? (size_t)n : sizeof text - 1;
    *out = arena_str(c->arena, str_from(text, len));
    return false;
}

/* Does the time end with a zone, Z or +hh:mm? timestamp_parse_s does not require one. */
static bool has_zone(struct str text)
{
    char last = text.ptr[text.len - 1];
    char sign = text.ptr[text.len - (sizeof "+hh:mm" - 1)];
    return last == 'Z' || last == 'z' || sign == '+' || sign == '-';
}

bool rest_sdb_read__time(struct str text, int64_t *out_s)
{
    char rfc[sizeof "2024-12-25T10:00:00Z"];
    struct err err;
    if (str_to_i64(text, out_s)) {
        return true;
    }
    bool plain = text.len == sizeof rfc - 2 && text.ptr[10] == ' ';
    if (plain) { /* "2024-12-25 10:00:00", in UTC */
        memcpy(rfc, text.ptr, text.len);
        rfc[10] = 'T';
        rfc[text.len] = 'Z';
        text = str_from(rfc, text.len + 1);
    }
    return text.len >= 20 && text.ptr[10] == 'T' && has_zone(text) &&
           timestamp_parse_s(text, out_s, &err) == ERR_OK;
}

/* Members of the body. */

enum member { ID, TYPE, TIMESTAMP, LAST_DATE, CRON, URL, TOKEN, PAYLOAD, MEMBER_COUNT };

static const struct str member_names[MEMBER_COUNT] = {
    [ID] = {.ptr = "id", .len = sizeof "id" - 1},
    [TYPE] = {.ptr = "type", .len = sizeof "type" - 1},
    [TIMESTAMP] = {.ptr = "timestamp", .len = sizeof "timestamp" - 1},
    [LAST_DATE] = {.ptr = "last_date", .len = sizeof "last_date" - 1},
    [CRON] = {.ptr = "cron_expression", .len = sizeof "cron_expression" - 1},
    [URL] = {.ptr = "webhook_url", .len = sizeof "webhook_url" - 1},
    [TOKEN] = {.ptr = "webhook_token", .len = sizeof "webhook_token" - 1},
    [PAYLOAD] = {.ptr = "payload", .len = sizeof "payload" - 1},
};

/* Read a string member; false for other types. Null counts as absent. */
static bool take_text(struct rest_call *c, struct json_value v, struct str *out)
{
    ATTR_UNINITIALIZED struct err err;
    *out = STR_EMPTY;
    return v.type == JSON_TYPE_NULL ||
           (v.type == JSON_TYPE_STRING && json_value_text(v, c->arena, out, &err) == ERR_OK);
}

/* A time as sent: a string, empty for none, or a number of seconds. */
struct given_time {
    struct str text;
    int64_t s;
    bool is_number;
};

/* The same for a time, which may also be an integer. */
static bool take_time(struct rest_call *c, struct json_value v, struct given_time *out)
{
    out->is_number = v.type == JSON_TYPE_NUMBER;
    return out->is_number ? json_value_i64(v, &out->s) : take_text(c, v, &out->text);
}

static bool take_payload(struct rest_call *c, struct json_value v, struct str *out)
{
    struct err err;
    bool is_object = v.type == JSON_TYPE_OBJECT && json_scan_check_value(v.text, &err) == ERR_OK;
    *out = is_object ? json_compact_in(c->arena, v.text) : STR_EMPTY;
    return is_object || v.type == JSON_TYPE_NULL;
}

bool rest_sdb_read__text(struct rest_call *c, struct str *out)
{
    uint64_t limit = c->rest->config.sdb.body_limit;
    *out = str_trim(c->req->body);
    return limit == 0 || out->len <= limit;
}

bool rest_sdb_read__body(struct rest_call *c, struct str *out_object)
{
    struct json_value v;
    struct err err;
    struct str text;
    if (!rest_sdb_read__text(c, &text) || json_scan_first(text, &v, &err) != ERR_OK ||
        v.type != JSON_TYPE_OBJECT) {
        return false;
    }
    *out_object = v.text;
    return true;
}

static bool decode(struct rest_call *c, struct str object, struct rest_sdb_new *out,
                   struct given_time *out_at, struct given_time *out_until)
{
    ATTR_UNINITIALIZED struct json_value m[MEMBER_COUNT];
    return json_scan_members(object, member_names, MEMBER_COUNT, m) &&
           take_text(c, m[ID], &out->id) && take_text(c, m[TYPE], &out->type) &&
           take_time(c, m[TIMESTAMP], out_at) && take_time(c, m[LAST_DATE], out_until) &&
           take_text(c, m[CRON], &out->cron) && take_text(c, m[URL], &out->url) &&
           take_text(c, m[TOKEN], &out->token) && take_payload(c, m[PAYLOAD], &out->payload) &&
           out->id.len <= LIMIT_JOB_NAME_BYTES && out->url.len <= LIMIT_PUSH_URL_BYTES &&
           out->cron.len <= LIMIT_CRON_BYTES && out->token.len <= LIMIT_PUSH_HEADER_BYTES / 2 &&
           !str_has_control(out->token);
}

/* Convert a time to seconds; *out_set is whether there is one. */
static bool settle_time(struct rest_call *c, const char *name, const struct given_time *given,
                        int64_t *out_s, bool *out_set, struct str *out)
{
    *out_s = given->s;
    *out_set = given->is_number || given->text.len > 0;
    return given->is_number || given->text.len == 0 || rest_sdb_read__time(given->text, out_s) ||
           refuse(c, out, "Invalid job data: invalid %s: invalid timestamp format: " STR_FMT, name,
                  STR_ARG(given->text));
}

static bool validate(struct rest_call *c, struct wall now, struct rest_sdb_new *n, struct str *out)
{
    static const char said[] = "Job validation failed: ";
    struct wall ignored;
    ATTR_UNINITIALIZED struct err err;
    if (str_has_control(n->id)) { /* it would be changed in the headers of the job's calls */
        return refuse(c, out, "%sid must not contain control characters", said);
    }
    if (!n->recurring && !n->has_at) {
        return refuse(c, out, "%stimestamp is required for unico jobs", said);
    }
    if (!n->recurring && n->at_s <= now.ns / NS_PER_S) {
        return refuse(c, out, "%stimestamp must be in the future", said);
    }
    if (n->recurring && n->cron.len == 0) {
        return refuse(c, out, "%scron_expression is required for recurrente jobs", said);
    }
    if (n->recurring && engine_schedule_recurring(n->cron, now, &ignored, &err) != ERR_OK) {
        return refuse(c, out, "%sinvalid cron expression: %s", said, err.msg);
    }
    return true;
}

bool rest_sdb_read__new(struct rest_call *c, struct str object, struct wall now,
                        struct rest_sdb_new *out, struct str *out_text)
{
    struct given_time at = {.s = 0};
    struct given_time until = {.s = 0};
    *out = (struct rest_sdb_new){.has_at = false};
    if (!decode(c, object, out, &at, &until)) {
        return refuse(c, out_text, "Invalid request body");
    }
    out->recurring = str_eq(out->type, STR("recurrente"));
    if (!out->recurring && !str_eq(out->type, STR("unico"))) {
        return refuse(c, out_text, "Job validation failed: invalid job type: " STR_FMT,
                      STR_ARG(out->type));
    }
    if (!settle_time(c, "timestamp", &at, &out->at_s, &out->has_at, out_text) ||
        !settle_time(c, "last_date", &until, &out->until_s, &out->has_until, out_text) ||
        !validate(c, now, out, out_text)) {
        return false;
    }
    out->has_until &= out->recurring; /* ignored for jobs that run once */
    return true;
}

uint64_t rest_sdb_read__size(const struct rest_sdb_new *n)
{
    enum { JOB_BYTES = 128, STATE_BYTES = 64 }; /* fixed by the contract */
    size_t id_bytes = n->id.len > 0 ? n->id.len : ID_UUID_LEN;
    return JOB_BYTES + STATE_BYTES + id_bytes + n->url.len + n->cron.len + n->payload.len;
}
