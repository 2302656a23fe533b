/*
 * Outgoing webhooks (http-api.md 16.1): the receivers of events. webhook/ delivers the events. Job
 * ingestion, POST /webhooks/{queue}, is in rest_enqueue.c.
 */
#include <stdlib.h>

#include "base/check.h"
#include "base/limits.h"
#include "core/queue_name.h"
#include "event/event_match.h"
#include "rest/backup/rest_backup_int.h"
#include "rest/rest_page_int.h"
#include "store/store_record.h"
#include "webhook/webhook_url.h"

enum { RETRY_LIMIT = 3 };

#define MASKED STR("***")

struct webhook_in {
    struct str id;
    struct str url;
    struct str *events;
    size_t event_count;
    struct str secret;
    bool enabled;
    int64_t retry_limit;
};

static const struct json_field webhook_rows[] = {
    JSON_STR(struct webhook_in, id, 0, LIMIT_NAME_BYTES, JSON_NO_CONTROL,
             "ID of the webhook; generated if left out. An existing webhook is replaced."),
    JSON_STR(struct webhook_in, url, 0, LIMIT_WEBHOOK_URL_BYTES, JSON_INSISTED,
             "URL that receives the events.", .told_pattern = "^https?://[^ /?#][^ ]*$"),
    JSON_STRS(struct webhook_in, events, event_count, 0, LIMIT_WEBHOOK_EVENTS, LIMIT_NAME_BYTES, 0,
              "Event types. They may start with job. and contain * and ?. All types by default."),
    JSON_STR(struct webhook_in, secret, 0, LIMIT_WEBHOOK_SECRET_BYTES, 0,
             "Secret that signs requests. *** keeps the current secret."),
    JSON_BOOL(struct webhook_in, enabled, 0, "Whether events are delivered."),
    JSON_I64(struct webhook_in, retry_limit, INT32_MIN, INT32_MAX, 0,
             "Maximum number of attempts per event.", .told_max = LIMIT_WEBHOOK_ATTEMPTS),
};
static const struct webhook_in webhook_init = {.enabled = true, .retry_limit = RETRY_LIMIT};
static const struct json_schema webhook_schema =
    JSON_SCHEMA(struct webhook_in, webhook_rows, .init = &webhook_init);

/* ---- list ---- */

struct row {
    struct str id; /* internal name */
    struct store_webhook rec;
};

/* Webhooks have no queue. A caller with a scope therefore sees those created with the same
 * scope. */
static bool sees(const struct rest_call *c, struct str id, const struct store_webhook *rec)
{
    return rest_names__is_of_namespace(c, id) &&
           (c->caller.scope.len == 0 || str_eq(c->caller.scope, rec->scope));
}

static void list_one(void *data, struct str id, struct str value)
{
    struct rest_page *p = data;
    struct rest_call *c = p->call;
    if (!rest_names__is_of_namespace(c, id) ||
        !str_starts_with(rest_names__visible(c, id), p->prefix)) {
        return;
    }
    struct row *row = REST_NEW(c, struct row);
    row->id = arena_str(c->arena, id);
    struct str kept = arena_str(c->arena, value);
    if (kept.len != value.len || !store_record_decode_webhook(kept, &row->rec) ||
        !sees(c, id, &row->rec)) {
        return;
    }
    struct str key = rest_page__time_key(c, row->rec.created_at, false, id);
    if (rest_page__wants(p, key)) {
        rest_page__add(p, key, row);
    }
}

void rest_webhooks__write_events(struct json_write *w, struct str patterns)
{
    rest_document__array(w, "events");
    while (patterns.len > 0) {
        json_write_str(w, str_cut(&patterns, '\n'));
    }
    json_write_end(w);
}

/* The URL as callers see it: every role may list webhooks, so credentials in it are masked. */
static void write_url(struct json_write *w, struct str url)
{
    struct buf shown;
    buf_init(&shown, SIZE_MAX);
    webhook_url_mask(url, &shown);
    rest_document__text(w, "url", buf_str(&shown));
    buf_deinit(&shown);
}

static void write_webhook(struct json_write *w, const struct rest_call *c, const struct row *row)
{
    const struct store_webhook *rec = &row->rec;
    json_write_object(w);
    rest_document__text(w, "id", rest_names__visible(c, row->id));
    write_url(w, rec->url);
    rest_webhooks__write_events(w, rec->events);
    if (rec->secret.len > 0) {
        rest_document__text(w, "secret", MASKED);
    }
    rest_document__bool(w, "enabled", rec->enabled);
    rest_document__i64(w, "retry_limit", rec->retry_limit);
    if (rec->scope.len > 0) {
        rest_document__text(w, "queue_scope", rec->scope);
    }
    rest_document__time(w, "created_at", rec->created_at);
    rest_document__i64(w, "position", (int64_t)rec->position);
    if (rec->last_delivery_at.ns != 0) {
        rest_document__i64(w, "last_status_code", rec->last_status);
        rest_document__text(w, "last_error", rec->last_error);
        rest_document__time(w, "last_delivery_at", rec->last_delivery_at);
    }
    json_write_end(w);
}

static void handle_list(struct rest_call *c)
{
    struct rest_page page;
    if (!rest_page__begin(c, &page)) {
        return;
    }
    store_each(engine_store(c->rest->config.engine), STORE_KIND_WEBHOOK, list_one, &page);
    rest_page__finish(&page);
    struct json_write w = rest_call__json(c);
    json_write_array(&w);
    for (size_t i = 0; i < page.count; i++) {
        write_webhook(&w, c, page.rows[i].data);
    }
    json_write_end(&w);
    rest_page__reply(&page, &w);
}

/* ---- changes ---- */

static void reply_done(struct rest_call *c, struct str status, struct str id)
{
    struct json_write w = rest_call__json(c);
    json_write_object(&w);
    rest_document__text(&w, "status", status);
    rest_document__text(&w, "id", id);
    json_write_end(&w);
    rest_call__reply(c, 200, &w);
}

static void put_done(struct rest_call *c, const struct result *r)
{
    const struct webhook_in *in = c->in;
    char made[ID_TEXT_MAX];
    if (!rest_call__refused(c, r)) {
        reply_done(c, STR("ok"),
                   in->id.len > 0 ? in->id : str_from(made, id_format(r->id, ID_WEBHOOK, made)));
    }
}

/* A name without wildcards must be a known event type. A pattern may match types of later
 * versions. False with the refusal. */
static bool is_pattern(struct str pattern, struct buf *refusal)
{
    if (pattern.len == 0 || str_has_control(pattern)) {
        buf_add_str(refusal, STR("events: an event type is empty or has control characters"));
        return false;
    }
    bool wild = memchr(pattern.ptr, '*', pattern.len) != NULL ||
                memchr(pattern.ptr, '?', pattern.len) != NULL;
    if (!wild && event_match_types(pattern) == 0) {
        event_match_refuse("events", pattern, refusal);
        return false;
    }
    return true;
}

/* Join the patterns in the stored form, one per line. */
static bool join_events(struct rest_call *c, const struct webhook_in *in, struct str *out,
                        struct buf *refusal)
{
    struct buf lines;
    buf_init(&lines, (size_t)LIMIT_WEBHOOK_EVENTS * (LIMIT_NAME_BYTES + 1));
    bool ok = true;
    for (size_t i = 0; i < in->event_count && ok; i++) {
        struct str pattern = str_trim(in->events[i]);
        ok = is_pattern(pattern, refusal);
        if (i > 0) {
            buf_add_char(&lines, '\n');
        }
        buf_add_str(&lines, pattern);
    }
    struct str kept = rest_call__keep(c, &lines);
    *out = in->event_count == 0 ? STR("*") : kept;
    return ok;
}

/* A new webhook must not have a name that looks like one of another namespace. An existing one may
 * be changed by the default namespace. */
static bool may_put(struct rest_call *c, struct str id)
{
    struct buf value;
    if (!queue_name_has_mark(id)) {
        return true;
    }
    buf_init(&value, LIMIT_OP_BYTES);
    bool known = store_get(engine_store(c->rest->config.engine), STORE_KIND_WEBHOOK, id, &value);
    buf_deinit(&value);
    return known;
}

/* A URL with masked credentials means the current URL. False if that is another one. */
static bool settle_url(struct rest_call *c, struct command_webhook_put *put)
{
    struct store_webhook rec;
    struct buf value;
    struct buf shown;
    if (!str_eq(webhook_url_credentials(put->webhook.url), MASKED)) {
        return true;
    }
    buf_init(&value, LIMIT_OP_BYTES);
    buf_init(&shown, SIZE_MAX);
    bool known =
        store_get(engine_store(c->rest->config.engine), STORE_KIND_WEBHOOK, put->id, &value) &&
        store_record_decode_webhook(buf_str(&value), &rec);
    if (known) {
        webhook_url_mask(rec.url, &shown);
        known = str_eq(buf_str(&shown), put->webhook.url);
    }
    if (known) {
        put->webhook.url = arena_str(c->arena, rec.url);
    }
    buf_deinit(&value);
    buf_deinit(&shown);
    return known;
}

static void handle_put(struct rest_call *c)
{
    const struct webhook_in *in = c->in;
    struct command command = {.type = COMMAND_WEBHOOK_PUT};
    struct command_webhook_put *put = &command.webhook_put;
    struct buf refusal;
    struct err err;
    buf_init(&refusal, EVENT_MATCH_REFUSAL_BYTES);
    put->webhook = (struct store_webhook){
        .scope = c->caller.scope,
        .url = in->url,
        .secret = in->secret,
        .retry_limit = in->retry_limit > 0 ? (uint32_t)in->retry_limit : RETRY_LIMIT,
        .enabled = in->enabled};
    put->keep_secret = str_eq(in->secret, MASKED);
    if (webhook_url_check(c->rest->config.webhook_guard, in->url, &err) != ERR_OK) {
        rest_call__fail_err(c, &err);
    } else if (!join_events(c, in, &put->webhook.events, &refusal)) {
        rest_call__fail_with(c, ERR_WEBHOOK, buf_str(&refusal), 1, NULL);
    } else if (!rest_names__internal(c, "id", in->id, &put->id, &err)) {
        rest_call__fail(c, ERR_WEBHOOK, "%s", err.msg);
    } else if (c->ns.len == 0 && !may_put(c, put->id)) {
        rest_call__fail(c, ERR_WEBHOOK, "id '" STR_FMT "' must not contain '::'", STR_ARG(in->id));
    } else if (!settle_url(c, put)) {
        rest_call__fail(c, ERR_WEBHOOK,
                        "url has masked credentials, and is not that of the webhook: send them "
                        "again");
    } else {
        /* The default namespace may change a webhook of another namespace, but not its
         * namespace. */
        put->webhook.ns = c->ns.len > 0 ? c->ns : queue_name_namespace(put->id);
        rest_call__submit(c, &command, 0, put_done);
    }
    buf_deinit(&refusal);
}

static void delete_done(struct rest_call *c, const struct result *r)
{
    if (!rest_call__refused(c, r)) {
        reply_done(c, STR("deleted"), c->param[0]);
    }
}

/* A caller with a scope may delete only webhooks that it can see. For others the state machine
 * checks whether the webhook exists. */
static bool may_delete(struct rest_call *c, struct str id)
{
    struct store_webhook rec;
    struct buf value;
    if (c->caller.scope.len == 0) {
        return true;
    }
    buf_init(&value, LIMIT_OP_BYTES);
    bool may = store_get(engine_store(c->rest->config.engine), STORE_KIND_WEBHOOK, id, &value) &&
               store_record_decode_webhook(buf_str(&value), &rec) && sees(c, id, &rec);
    buf_deinit(&value);
    return may;
}

static void handle_delete(struct rest_call *c)
{
    struct command command = {.type = COMMAND_WEBHOOK_DELETE};
    struct err err;
    if (!rest_names__internal(c, "id", c->param[0], &command.webhook_delete.id, &err) ||
        !may_delete(c, command.webhook_delete.id)) {
        rest_call__fail(c, ERR_NOT_FOUND, "webhook \"" STR_FMT "\" not found",
                        STR_ARG(c->param[0]));
    } else {
        rest_call__submit(c, &command, 0, delete_done);
    }
}

/* clang-format off */
static const struct rest_route rows[] = {
    /* method      pattern                  roles      flags                      in               handler        cost  answer                doc */
    {HTTP_GET,    "/api/v1/webhooks",       ROLES_AOR, 0,                         NULL,            handle_list,   NULL, "200 [webhook]",      "List webhooks, oldest first."},
    {HTTP_POST,   "/api/v1/webhooks",       ROLES_AO,  ROUTE_LEADER | ROUTE_BODY, &webhook_schema, handle_put,    NULL, "200 {status, id}",   "Create or replace a webhook."},
    {HTTP_DELETE, "/api/v1/webhooks/{id}",  ROLES_AO,  ROUTE_LEADER,              NULL,            handle_delete, NULL, "200 {status, id}",   "Delete a webhook. Requests in progress are aborted."},
};
/* clang-format on */

static const struct rest_query queries[] = {
    {HTTP_GET, "/api/v1/webhooks", &rest_page__schema},
};

const struct rest_routes rest_webhooks_routes = {
    .rows = rows, .count = COUNT_OF(rows), .queries = queries, .query_count = COUNT_OF(queries)};
