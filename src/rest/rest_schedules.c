/*
 * Schedules (http-api.md 13): recurring jobs. Cron expressions are evaluated here and in the
 * engine's timers, with this node's time zones. The state machine receives only the resulting
 * times.
 */
#include <stdlib.h>

#include "base/check.h"
#include "base/limits.h"
#include "core/cron.h"
#include "core/queue_name.h"
#include "core/timestamp.h"
#include "engine/engine_schedule.h"
#include "fsm/command/push_target.h"
#include "rest/rest_int.h"
#include "rest/rest_page_int.h"
#include "store/store_record.h"
#include "svc/svc_push.h"

enum {
    UPCOMING_HOURS = 24,
    UPCOMING_RUNS_MAX = 48, /* for each schedule */
    EVERY_DAYS_MAX = 1827,  /* of an @every: five years, with two leap days */
};

struct schedule_in {
    struct str name;
    struct str queue;
    struct str cron;
    struct str timezone;
    struct str payload;
    struct str unique_key;
    int64_t max_retries;
    bool enabled;
    int priority;
    struct str tags;
    struct svc_push *push;
    uint64_t set;
};

/* Rows, as bits of set. */
enum {
    SET_NAME,
    SET_QUEUE,
    SET_CRON,
    SET_TIMEZONE,
    SET_PAYLOAD,
    SET_UNIQUE_KEY,
    SET_MAX_RETRIES,
    SET_ENABLED,
    SET_PRIORITY,
    SET_TAGS,
    SET_PUSH,
};

/* A new schedule requires some members that an update may omit. */
#define SCHEDULE_ROWS(insisted)                                                                    \
    [SET_NAME] = JSON_STR(struct schedule_in, name, 0, LIMIT_NAME_BYTES,                           \
                          JSON_NO_CONTROL | (insisted), "Unique name."),                           \
    [SET_QUEUE] = JSON_STR(struct schedule_in, queue, 0, LIMIT_INTERNAL_NAME_BYTES,                \
                           JSON_NO_CONTROL | (insisted), "Queue of the created jobs.",             \
                           .told_max = LIMIT_QUEUE_NAME_BYTES),                                    \
    [SET_CRON] = JSON_STR(                                                                         \
        struct schedule_in, cron, 0, LIMIT_NAME_BYTES, insisted,                                   \
        "Cron expression with five fields, a macro such as @daily, or @every with a duration."),   \
    [SET_TIMEZONE] = JSON_STR(struct schedule_in, timezone, 0, LIMIT_NAME_BYTES, 0,                \
                              "IANA time zone. UTC by default."),                                  \
    [SET_PAYLOAD] =                                                                                \
        JSON_RAW(struct schedule_in, payload, 0, JSON_KEEP_NULL, "Payload of the created jobs."),  \
    [SET_UNIQUE_KEY] =                                                                             \
        JSON_STR(struct schedule_in, unique_key, 0, LIMIT_UNIQUE_KEY_BYTES, 0,                     \
                 "Unique key of the created jobs. A run is skipped while the key is held."),       \
    [SET_MAX_RETRIES] = JSON_I64(struct schedule_in, max_retries, 0, INT32_MAX, 0,                 \
                                 "Maximum number of attempts of each job, including the first."),  \
    [SET_ENABLED] =                                                                                \
        JSON_BOOL(struct schedule_in, enabled, 0, "Whether the schedule creates jobs."),           \
    [SET_PRIORITY] =                                                                               \
        JSON_WORD(struct schedule_in, priority, rest_names__priorities,                            \
                  JSON_OR_NUMBER | JSON_NUMBER_APART, "Priority of the created jobs."),            \
    [SET_TAGS] = JSON_RAW(struct schedule_in, tags, 0, 0, "Tags of the created jobs.",             \
                          .told_type = "{any}", .told_max = LIMIT_TAGS),                           \
    [SET_PUSH] =                                                                                   \
        JSON_OBJECT(struct schedule_in, push, struct svc_push, &svc_push_schema, JSON_KEEP_NULL,   \
                    "Target URL if the server delivers the jobs. null: workers fetch them.")

static const struct json_field create_rows[] = {SCHEDULE_ROWS(JSON_INSISTED)};
static const struct json_field update_rows[] = {SCHEDULE_ROWS(0)};
#undef SCHEDULE_ROWS
static const struct schedule_in schedule_init = {
    .max_retries = JOB_MAX_RETRIES, .enabled = true, .priority = JOB_PRIORITY_NORMAL};
static const struct json_schema create_schema = JSON_SCHEMA(
    struct schedule_in, create_rows, .init = &schedule_init, JSON_SET(struct schedule_in, set));
static const struct json_schema update_schema =
    JSON_SCHEMA(struct schedule_in, update_rows, JSON_SET(struct schedule_in, set));

/* A stored schedule. */
struct found {
    struct id id;
    struct store_schedule rec;
};

struct search {
    struct rest_call *call;
    struct str wanted; /* text of the id, or internal name */
    struct id id;
    bool by_id;
    bool any;
    struct found found;
};

/* The name must be in the caller's namespace, and the queue visible to the caller. */
static bool sees(const struct rest_call *c, const struct store_schedule *s)
{
    return rest_names__is_of_namespace(c, s->name) && rest_names__is_visible(c, s->queue);
}

static void look(void *data, struct str rest, struct str value)
{
    struct search *s = data;
    struct found f;
    if (s->any || rest.len != ID_BYTES || !store_record_decode_schedule(value, &f.rec) ||
        !sees(s->call, &f.rec)) {
        return;
    }
    f.id = id_from_bytes(rest.ptr);
    if ((s->by_id && id_eq(f.id, s->id)) || str_eq(f.rec.name, s->wanted)) {
        struct str kept = arena_str(s->call->arena, value); /* only the match is copied */
        s->any = kept.len == value.len && store_record_decode_schedule(kept, &f.rec);
        s->found = f;
    }
}

/* Find a schedule by id or name. False, with the call ended by 404, if there is none. */
static bool find(struct rest_call *c, struct found *out)
{
    struct search s = {.call = c};
    struct err err;
    s.by_id = id_parse(c->param[0], ID_SCHEDULE, &s.id);
    if (!rest_names__internal(c, "name", c->param[0], &s.wanted, &err)) {
        s.wanted = c->param[0];
    }
    store_each(engine_store(c->rest->config.engine), STORE_KIND_SCHEDULE, look, &s);
    if (!s.any) {
        rest_call__fail(c, ERR_NOT_FOUND, "schedule \"" STR_FMT "\" not found",
                        STR_ARG(c->param[0]));
        return false;
    }
    *out = s.found;
    return true;
}

/* Responses */

static void write_schedule(struct json_write *w, const struct rest_call *c, struct id id,
                           const struct store_schedule *s)
{
    json_write_object(w);
    rest_document__id(w, "id", id, ID_SCHEDULE);
    rest_document__text(w, "name", rest_names__visible(c, s->name));
    rest_document__text(w, "queue", rest_names__visible(c, s->queue));
    rest_document__text(w, "cron", s->cron);
    rest_document__text(w, "timezone", s->timezone);
    rest_document__raw(w, "payload", s->payload);
    rest_document__text(w, "unique_key", s->unique_key);
    rest_document__i64(w, "max_retries", s->max_retries);
    rest_document__time(w, "last_run", s->last_run);
    if (s->enabled) {
        rest_document__time(w, "next_run", s->next_run);
    }
    rest_document__time(w, "created_at", s->created_at);
    rest_document__bool(w, "enabled", s->enabled);
    if (s->priority != JOB_PRIORITY_NORMAL) {
        struct svc_caller who = rest_call__caller(c);
        rest_document__i64(w, "priority", svc_enqueue_priority(&who, s->priority));
    }
    rest_document__raw(w, "tags", s->tags);
    rest_document__time(w, "updated_at", s->updated_at);
    if (s->push.len > 0) {
        json_write_key(w, STR("push"));
        push_target_show(s->push, w);
    }
    json_write_end(w);
}

static bool read_record(struct rest_call *c, struct id id, struct buf *bytes,
                        struct store_schedule *out)
{
    return store_get(engine_store(c->rest->config.engine), STORE_KIND_SCHEDULE,
                     str_from(id.b, ID_BYTES), bytes) &&
           store_record_decode_schedule(buf_str(bytes), out);
}

static void reply_schedule(struct rest_call *c, int status, struct id id)
{
    struct buf bytes;
    struct store_schedule rec;
    buf_init(&bytes, LIMIT_OP_BYTES);
    if (read_record(c, id, &bytes, &rec)) {
        struct json_write w = rest_call__json(c);
        write_schedule(&w, c, id, &rec);
        rest_call__reply(c, status, &w);
    } else {
        rest_call__fail(c, ERR_NOT_FOUND, "schedule not found");
    }
    buf_deinit(&bytes);
}

/* The state machine's message has the internal name; use the caller's name. */
static void refuse_namesake(struct rest_call *c)
{
    const struct schedule_in *in = c->in;
    rest_call__fail(c, ERR_CONFLICT, "schedule name '" STR_FMT "' already exists",
                    STR_ARG(rest_names__visible(c, in->name)));
}

static void created(struct rest_call *c, const struct result *r)
{
    if (r->code == ERR_CONFLICT) {
        refuse_namesake(c);
    } else if (!rest_call__refused(c, r)) {
        reply_schedule(c, 201, r->id);
    }
}

static void deleted(struct rest_call *c, const struct result *r)
{
    if (!rest_call__refused(c, r)) {
        rest_call__reply_status(c, "deleted");
    }
}

/* The next run after now. */
static enum err_code next_run(const struct rest_call *c, const struct store_schedule *s,
                              struct wall created_at, struct wall *out, struct err *err)
{
    struct zone *zone = NULL;
    struct wall now = engine_time(c->rest->config.engine);
    enum err_code code = engine_schedule_zone(s->timezone, &zone, err);
    if (code == ERR_OK) {
        struct wall created = created_at.ns == 0 ? now : created_at;
        code = engine_schedule_next(s->cron, zone, created, now, out, err);
    }
    zone_free(zone);
    return code;
}

/* Handlers */

/* The names are sorted first. The records are read again when they are written, so that memory
 * never holds all payloads. */

static void list_one(void *data, struct str rest, struct str value)
{
    struct rest_page *p = data;
    struct store_schedule rec;
    if (rest.len != ID_BYTES || !store_record_decode_schedule(value, &rec) ||
        !sees(p->call, &rec) ||
        !str_starts_with(rest_names__visible(p->call, rec.name), p->prefix) ||
        !rest_page__wants(p, rec.name)) {
        return;
    }
    struct id *id = REST_NEW(p->call, struct id);
    *id = id_from_bytes(rest.ptr);
    rest_page__add(p, rec.name, id);
}

typedef void row_writer(struct json_write *w, const struct rest_call *c, struct id id,
                        const struct store_schedule *s);

static void write_rows(struct json_write *w, const struct rest_page *p, row_writer *write)
{
    struct store *store = engine_store(p->call->rest->config.engine);
    struct store_schedule rec;
    struct buf bytes;
    buf_init(&bytes, LIMIT_OP_BYTES);
    json_write_array(w);
    for (size_t i = 0; i < p->count; i++) {
        const struct id *id = p->rows[i].data;
        buf_clear(&bytes);
        if (store_get(store, STORE_KIND_SCHEDULE, str_from(id->b, ID_BYTES), &bytes) &&
            store_record_decode_schedule(buf_str(&bytes), &rec)) {
            write(w, p->call, *id, &rec);
        }
    }
    json_write_end(w);
    buf_deinit(&bytes);
}

typedef void row_visit(void *data, struct str rest, struct str value);

static void reply_list(struct rest_call *c, row_visit *visit, row_writer *write)
{
    struct rest_page page;
    if (!rest_page__begin(c, &page)) {
        return;
    }
    store_each(engine_store(c->rest->config.engine), STORE_KIND_SCHEDULE, visit, &page);
    rest_page__finish(&page);
    struct json_write w = rest_call__json(c);
    write_rows(&w, &page, write);
    rest_page__reply(&page, &w);
}

static void handle_list(struct rest_call *c)
{
    reply_list(c, list_one, write_schedule);
}

static void list_enabled(void *data, struct str rest, struct str value)
{
    struct store_schedule rec;
    if (store_record_decode_schedule(value, &rec) && rec.enabled) {
        list_one(data, rest, value);
    }
}

/* Write the runs before `end`, at most UPCOMING_RUNS_MAX. Returns whether there are more. */
static bool write_runs(struct json_write *w, const struct store_schedule *s, struct wall end)
{
    struct zone *zone = NULL;
    struct err err;
    struct wall at = s->next_run;
    int count = 0;
    bool known = engine_schedule_zone(s->timezone, &zone, &err) == ERR_OK;
    bool more = at.ns != 0 && at.ns < end.ns;
    rest_document__array(w, "runs");
    while (more && count < UPCOMING_RUNS_MAX) {
        char text[TIMESTAMP_TEXT_MAX];
        json_write_str(w, str_from(text, timestamp_format(at, text)));
        count++;
        more = known && engine_schedule_next(s->cron, zone, at, at, &at, &err) == ERR_OK &&
               at.ns < end.ns;
    }
    json_write_end(w);
    zone_free(zone);
    return more;
}

static void write_upcoming(struct json_write *w, const struct rest_call *c, struct id id,
                           const struct store_schedule *s)
{
    struct wall end = engine_time(c->rest->config.engine);
    end.ns += (int64_t)UPCOMING_HOURS * 3600 * 1000000000;
    json_write_object(w);
    rest_document__id(w, "id", id, ID_SCHEDULE);
    rest_document__text(w, "name", rest_names__visible(c, s->name));
    rest_document__text(w, "queue", rest_names__visible(c, s->queue));
    rest_document__text(w, "cron", s->cron);
    rest_document__text(w, "timezone", s->timezone);
    bool more = write_runs(w, s, end);
    rest_document__bool(w, "more", more);
    json_write_end(w);
}

static void handle_upcoming(struct rest_call *c)
{
    reply_list(c, list_enabled, write_upcoming);
}

static void handle_get(struct rest_call *c)
{
    struct found f;
    if (find(c, &f)) {
        reply_schedule(c, 200, f.id);
    }
}

static bool is_set(const struct schedule_in *in, unsigned row)
{
    return (in->set >> row & 1) != 0;
}

/* Convert a name to the form for rest_names__internal. A schedule stays in its namespace ns (empty:
 * the default one), even if a caller of the default namespace creates or changes it. A name without
 * a prefix is in the schedule's namespace; any other prefix is refused. */
static bool name_in(struct rest_call *c, struct str ns, const char *field, struct str given,
                    struct str *out, struct err *err)
{
    struct str own = queue_name_visible(ns, given);
    bool foreign = ns.len > 0 ? queue_name_has_mark(own) : queue_name_namespace(given).len > 0;
    *out = given;
    if (c->ns.len > 0 || given.len == 0) {
        return true;
    }
    if (foreign) {
        (void)err_set(err, ERR_VALIDATION, "%s '" STR_FMT "' belongs to another namespace", field,
                      STR_ARG(given));
        return false;
    }
    struct buf text;
    rest_call__buf(c, &text);
    queue_name_add_internal(&text, ns, own);
    *out = rest_call__keep(c, &text);
    return true;
}

static bool name_schedule(struct rest_call *c, struct str ns, struct str given, struct str *out,
                          struct err *err)
{
    struct str name;
    if (!name_in(c, ns, "name", given, &name, err) ||
        !rest_names__internal(c, "name", name, out, err)) {
        return false;
    }
    struct str prefix = queue_name_namespace(*out);
    if (prefix.len > 0 && queue_name_home(*out).len == 0) {
        (void)err_set(err, ERR_VALIDATION, "name '" STR_FMT "': %s", STR_ARG(given),
                      str_eq(prefix, STR("default"))
                          ? "schedules of the namespace default have no prefix"
                          : "a name must follow '::'");
        return false;
    }
    return true;
}

/* The jobs of a schedule in the default namespace may go to any queue. */
static bool name_queue(struct rest_call *c, struct str ns, struct str given, struct str *out,
                       struct err *err)
{
    struct str name = given;
    return (ns.len == 0 || name_in(c, ns, "queue", given, &name, err)) &&
           rest_names__target(c, "queue", name, out, err);
}

/* An @every must recur within five years, as any expression must. Only asked of new ones: existing
 * schedules with longer periods keep running. */
static bool recurs(struct str cron, struct err *err)
{
    struct cron parsed;
    if (cron_parse(cron, &parsed, err) != ERR_OK) {
        return false;
    }
    if (parsed.every_ms > (int64_t)EVERY_DAYS_MAX * 24 * 3600 * 1000) {
        (void)err_set(err, ERR_VALIDATION, "cron: '" STR_FMT "' does not occur in the next 5 years",
                      STR_ARG(cron));
        return false;
    }
    return true;
}

/* Replace the members that the request has. */
static bool merge(struct rest_call *c, const struct schedule_in *in, struct store_schedule *s,
                  struct err *err)
{
    struct {
        unsigned row;
        struct str from;
        struct str *to;
    } texts[] = {
        {SET_CRON, in->cron, &s->cron},          {SET_TIMEZONE, in->timezone, &s->timezone},
        {SET_PAYLOAD, in->payload, &s->payload}, {SET_UNIQUE_KEY, in->unique_key, &s->unique_key},
        {SET_TAGS, in->tags, &s->tags},
    };
    for (size_t i = 0; i < COUNT_OF(texts); i++) {
        bool none = texts[i].row == SET_TIMEZONE && texts[i].from.len == 0;
        if (is_set(in, texts[i].row) && !none) {
            *texts[i].to = texts[i].from;
        }
    }
    if (is_set(in, SET_CRON) && !recurs(in->cron, err)) {
        return false;
    }
    if (is_set(in, SET_MAX_RETRIES)) {
        s->max_retries = (uint32_t)in->max_retries;
    }
    if (is_set(in, SET_ENABLED)) {
        s->enabled = in->enabled;
    }
    if (is_set(in, SET_PRIORITY)) {
        int priority = in->priority;
        if (!rest_names__priority_apart(c, &priority, err)) {
            return false;
        }
        s->priority = (uint8_t)priority;
    }
    if (is_set(in, SET_PUSH)) {
        struct svc_caller who = rest_call__caller(c);
        s->push = STR_EMPTY;
        if (in->push != NULL && svc_push_define(&who, in->push, &s->push, err) != ERR_OK) {
            return false;
        }
    }
    /* The namespace of a new schedule follows from its name. */
    struct str ns = queue_name_namespace(s->name.len > 0 ? s->name : in->name);
    return (!is_set(in, SET_NAME) || name_schedule(c, ns, in->name, &s->name, err)) &&
           (!is_set(in, SET_QUEUE) || name_queue(c, ns, in->queue, &s->queue, err));
}

static void handle_create(struct rest_call *c)
{
    const struct schedule_in *in = c->in;
    struct command command = {.type = COMMAND_SCHEDULE_PUT};
    struct store_schedule *s = &command.schedule_put.schedule;
    struct err err;
    *s = (struct store_schedule){.timezone = STR("UTC"),
                                 .payload = STR("{}"),
                                 .max_retries = JOB_MAX_RETRIES,
                                 .priority = JOB_PRIORITY_NORMAL,
                                 .enabled = true};
    if (in->name.len == 0 || in->queue.len == 0 || in->cron.len == 0) {
        rest_call__fail(c, ERR_VALIDATION, "%s is required",
                        in->name.len == 0    ? "name"
                        : in->queue.len == 0 ? "queue"
                                             : "cron");
        return;
    }
    if (!merge(c, in, s, &err) || next_run(c, s, WALL_NONE, &s->next_run, &err) != ERR_OK) {
        rest_call__fail_err(c, &err);
        return;
    }
    rest_call__submit(c, &command, 0, created);
}

/* An update in progress. Only the members in the request change, so the record is read first. The
 * state machine accepts the new record only if the old one has not changed since; otherwise the
 * update is repeated with the changed record. */
struct update {
    struct id id;
    struct wall seen; /* updated_at of the record read */
    unsigned tries;
};

/* Each failed attempt means that another update succeeded, so this limit is reached only under
 * extreme load. */
enum { UPDATE_TRIES_MAX = 1000 };

static void changed(struct rest_call *c, const struct result *r);

/* Merge the request into the record read, and submit it. */
static void submit_update(struct rest_call *c, const struct store_schedule *read)
{
    const struct schedule_in *in = c->in;
    struct update *u = c->data;
    struct command command = {.type = COMMAND_SCHEDULE_PUT};
    struct store_schedule *s = &command.schedule_put.schedule;
    struct err err;
    *s = *read;
    u->seen = read->updated_at;
    u->tries++;
    command.schedule_put.id = u->id;
    command.schedule_put.expected_updated_at = u->seen;
    bool again = is_set(in, SET_CRON) || is_set(in, SET_TIMEZONE) ||
                 (is_set(in, SET_ENABLED) && in->enabled && !read->enabled);
    if (!merge(c, in, s, &err) ||
        (again && next_run(c, s, read->created_at, &s->next_run, &err) != ERR_OK)) {
        rest_call__fail_err(c, &err);
        return;
    }
    rest_call__submit(c, &command, 0, changed);
}

static void changed(struct rest_call *c, const struct result *r)
{
    const struct update *u = c->data;
    struct store_schedule rec;
    struct buf bytes;
    buf_init(&bytes, LIMIT_OP_BYTES);
    if (r->code == ERR_CONFLICT && u->tries < UPDATE_TRIES_MAX &&
        read_record(c, u->id, &bytes, &rec) && rec.updated_at.ns != u->seen.ns && sees(c, &rec)) {
        submit_update(c, &rec);
    } else if (r->code == ERR_CONFLICT && is_set(c->in, SET_NAME) && u->tries < UPDATE_TRIES_MAX) {
        refuse_namesake(c);
    } else if (!rest_call__refused(c, r)) {
        reply_schedule(c, 200, r->id);
    }
    buf_deinit(&bytes);
}

static void handle_update(struct rest_call *c)
{
    struct found f;
    if (find(c, &f)) {
        struct update *u = REST_NEW(c, struct update);
        *u = (struct update){.id = f.id};
        c->data = u;
        submit_update(c, &f.rec);
    }
}

static void handle_delete(struct rest_call *c)
{
    struct command command = {.type = COMMAND_SCHEDULE_DELETE};
    struct found f;
    if (find(c, &f)) {
        command.schedule_delete.id = f.id;
        rest_call__submit(c, &command, 0, deleted);
    }
}

static void ran(struct rest_call *c, const struct result *r)
{
    const struct found *f = c->data;
    if (!rest_call__refused(c, r)) {
        rest_enqueue__reply(c, r->id, f->rec.queue,
                            r->affected == 0 ? RESULT_DUPLICATE : RESULT_PENDING);
    }
}

static void handle_run(struct rest_call *c)
{
    struct command command = {.type = COMMAND_SCHEDULE_FIRE, .schedule_fire = {.manual = true}};
    struct found *f = REST_NEW(c, struct found);
    struct svc_caller who = rest_call__caller(c);
    struct svc_once once = rest_enqueue__once(c, SVC_ONCE_RUN);
    struct err err;
    if (!find(c, f)) {
        return;
    }
    command.schedule_fire.id = f->id;
    c->data = f;
    /* older members of the cluster cannot read the command with a key */
    if (engine_cluster_reads(who.engine) >= COMMAND_ENTRY_EXACT_NAMED &&
        svc_enqueue_once(&who, &command, &once, &err) != ERR_OK) {
        rest_call__fail_err(c, &err);
        return;
    }
    rest_call__submit(c, &command, 0, ran);
}

/* clang-format off */
static const struct rest_route rows[] = {
    /* method      pattern                       roles      flags                      in                handler        cost  answer                  doc */
    {HTTP_GET,    "/api/v1/schedules",           ROLES_AOR, ROUTE_GENERATION,          NULL,             handle_list,   NULL, "200 [schedule]",       "List schedules by name."},
    {HTTP_GET,    "/api/v1/upcoming",            ROLES_AOR, 0,                         NULL,             handle_upcoming, NULL, "200 [upcoming]",     "List the runs of the next 24 hours, by name of the schedule."},
    {HTTP_GET,    "/api/v1/schedules/{id}",      ROLES_AOR, ROUTE_GENERATION,          NULL,             handle_get,    NULL, "200 schedule",         "Return a schedule, by ID or name."},
    {HTTP_POST,   "/api/v1/schedules",           ROLES_AO,  ROUTE_LEADER | ROUTE_BODY | ROUTE_GENERATION, &create_schema,   handle_create, NULL, "201 schedule, 409 the name is already in use", "Create a schedule."},
    {HTTP_PUT,    "/api/v1/schedules/{id}",      ROLES_AO,  ROUTE_LEADER | ROUTE_BODY | ROUTE_GENERATION, &update_schema,   handle_update, NULL, "200 schedule, 409 the name is already in use", "Change a schedule. Members that are left out keep their values."},
    {HTTP_DELETE, "/api/v1/schedules/{id}",      ROLES_AO,  ROUTE_LEADER,              NULL,             handle_delete, NULL, "200 {status}",         "Delete a schedule. Jobs that it created are kept."},
    {HTTP_POST,   "/api/v1/schedules/{id}/run",  ROLES_AO,  ROUTE_LEADER | ROUTE_KEY | ROUTE_GENERATION,  NULL,             handle_run,    NULL, "201 enqueued, 200 enqueued, 409", "Run a schedule once, now."},
};
/* clang-format on */

static const struct rest_query queries[] = {
    {HTTP_GET, "/api/v1/schedules", &rest_page__schema},
    {HTTP_GET, "/api/v1/upcoming", &rest_page__schema},
};

const struct rest_routes rest_schedules_routes = {
    .rows = rows, .count = COUNT_OF(rows), .queries = queries, .query_count = COUNT_OF(queries)};
