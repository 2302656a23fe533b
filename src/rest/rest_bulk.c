/*
 * Bulk operations (http-api.md 11): one action on many jobs, now or in the background.
 */
#include <stdlib.h>

#include "base/check.h"
#include "base/limits.h"
#include "core/job_move.h"
#include "json/json_scan.h"
#include "os/os_clock.h"
#include "rest/rest_bulk_int.h"
#include "store/store_job.h"
#include "svc/svc_bulk.h"
#include "svc/svc_names.h"

enum { SET_FILTER = 2 };

static const struct json_word action_words[] = {
    [COMMAND_JOB_RETRY] = {"retry", COMMAND_JOB_RETRY},
    [COMMAND_JOB_REQUEUE] = {"requeue", COMMAND_JOB_REQUEUE},
    [COMMAND_JOB_CANCEL] = {"cancel", COMMAND_JOB_CANCEL},
    [COMMAND_JOB_HOLD] = {"hold", COMMAND_JOB_HOLD},
    [COMMAND_JOB_APPROVE] = {"approve", COMMAND_JOB_APPROVE},
    [COMMAND_JOB_REJECT] = {"reject", COMMAND_JOB_REJECT},
    [COMMAND_JOB_MOVE] = {"move", COMMAND_JOB_MOVE},
    [COMMAND_JOB_CHANGE_PRIORITY] = {"change_priority", COMMAND_JOB_CHANGE_PRIORITY},
    [COMMAND_JOB_DELETE] = {"delete", COMMAND_JOB_DELETE},
    [COMMAND_JOB_ACTION_LAST + 1] = {NULL, 0},
};

static const struct json_field bulk_rows[] = {
    JSON_STR(struct rest_bulk_in, action, 0, LIMIT_NAME_BYTES, JSON_INSISTED,
             "Action to apply to each job.", .words = &action_words[COMMAND_JOB_RETRY]),
    /* a truncated id matches no job */
    JSON_STRS(struct rest_bulk_in, job_ids, job_ids_count, 0, LIMIT_BULK_IDS, LIMIT_NAME_BYTES,
              JSON_CUT,
              "IDs of the jobs. Takes precedence over filter. An empty array counts as absent."),
    [SET_FILTER] = JSON_RAW(struct rest_bulk_in, filter, LIMIT_BULK_FILTER_BYTES, JSON_ONLY_OBJECT,
                            "All jobs that match this search. Unknown members are refused."),
    JSON_STR(struct rest_bulk_in, move_to_queue, 0, LIMIT_INTERNAL_NAME_BYTES, JSON_NO_CONTROL,
             "Target queue of move.", .told_max = LIMIT_QUEUE_NAME_BYTES),
    JSON_RAW(struct rest_bulk_in, priority, LIMIT_NAME_BYTES, JSON_OR_NUMBER,
             "New priority for change_priority.", .words = rest_names__priorities),
    JSON_STR(struct rest_bulk_in, reason, 0, LIMIT_REASON_BYTES, JSON_CUT,
             "Reason for hold and reject, shown with the job."),
    JSON_BOOL(struct rest_bulk_in, reset_attempts, 0, "For move: reset the number of attempts."),
    JSON_BOOL(struct rest_bulk_in, async, 0,
              "Run in the background, regardless of the number of jobs."),
    JSON_BOOL(struct rest_bulk_in, dry_run, 0, "Count the matching jobs without changing them."),
};
static const struct json_schema bulk_schema =
    JSON_SCHEMA(struct rest_bulk_in, bulk_rows, JSON_SET(struct rest_bulk_in, set));

/* Effect of each action on a job in a given state (http-api.md 5.2). */
static const struct {
    bool moves_state;
    enum job_move move;
    unsigned states; /* if it does not change the state */
} actions[] = {
    [COMMAND_JOB_RETRY] = {true, JOB_MOVE_RETRY, 0},
    [COMMAND_JOB_REQUEUE] = {true, JOB_MOVE_REQUEUE, 0},
    [COMMAND_JOB_CANCEL] = {true, JOB_MOVE_CANCEL, 0},
    [COMMAND_JOB_HOLD] = {true, JOB_MOVE_HOLD, 0},
    [COMMAND_JOB_APPROVE] = {true, JOB_MOVE_APPROVE, 0},
    [COMMAND_JOB_REJECT] = {true, JOB_MOVE_REJECT, 0},
    [COMMAND_JOB_MOVE] = {false, 0, (1U << JOB_STATE_COUNT) - 1},
    [COMMAND_JOB_CHANGE_PRIORITY] = {false, 0, 1U << JOB_SCHEDULED | 1U << JOB_PENDING},
    [COMMAND_JOB_DELETE] = {false, 0, (1U << JOB_STATE_COUNT) - 1},
};
_Static_assert(COUNT_OF(actions) == COMMAND_JOB_ACTION_LAST + 1, "every action has a row");

/* Bits of the states in which the action changes a job. */
static unsigned states_of(enum command_job_action action)
{
    unsigned states = actions[action].states;
    for (unsigned s = 0; s < JOB_STATE_COUNT && actions[action].moves_state; s++) {
        enum job_state to;
        states |= job_move_target((enum job_state)s, actions[action].move, &to) ? 1U << s : 0;
    }
    return states;
}

/* Reading the request */

static bool find_action(struct str word, enum command_job_action *out, struct err *err)
{
    int action;
    if (svc_names_find(&action_words[COMMAND_JOB_RETRY], word, "action", ERR_BULK, &action, err) !=
        ERR_OK) {
        return false;
    }
    *out = (enum command_job_action)action;
    return true;
}

/* Read a priority: a word or a number. */
static bool read_priority(struct rest_call *c, struct str json, uint8_t *out, struct err *err)
{
    struct json_scan scan = json_scan_from(json);
    struct json_value v;
    struct str word;
    int64_t number;
    if (json.len == 0 || str_eq(json, STR("\"\"")) || !json_scan_value(&scan, &v)) {
        (void)err_set(err, ERR_BULK, "priority is required for change_priority");
        return false;
    }
    if (v.type == JSON_TYPE_STRING && json_value_text(v, c->arena, &word, err) == ERR_OK) {
        int priority;
        if (svc_names_find(rest_names__priorities, word, "priority", ERR_BULK, &priority, err) !=
            ERR_OK) {
            return false;
        }
        *out = (uint8_t)priority;
        return true;
    }
    int priority;
    if (!json_value_i64(v, &number)) {
        (void)err_set(err, ERR_BULK, "priority: expected a string or an integer");
        return false;
    }
    if (!rest_names__priority(c, number, &priority, err)) {
        err->code = ERR_BULK;
        return false;
    }
    *out = (uint8_t)priority;
    return true;
}

static bool read_request(struct rest_call *c, const struct rest_bulk_in *in, struct rest_bulk *b,
                         struct err *err)
{
    if (in->action.len == 0) {
        (void)err_set(err, ERR_VALIDATION, "action is required");
        return false;
    }
    if (!find_action(in->action, &b->action, err)) {
        return false;
    }
    if (b->action == COMMAND_JOB_MOVE && in->move_to_queue.len == 0) {
        (void)err_set(err, ERR_BULK, "move_to_queue is required for move");
        return false;
    }
    if (b->action == COMMAND_JOB_CHANGE_PRIORITY &&
        !read_priority(c, in->priority, &b->priority, err)) {
        return false;
    }
    b->reason = in->reason;
    b->reset_attempts = in->reset_attempts;
    b->filter = in->filter;
    b->async = in->async;
    b->dry_run = in->dry_run;
    b->states = states_of(b->action);
    return rest_names__target(c, "move_to_queue", in->move_to_queue, &b->queue, err);
}

/* An id and its position in the request. */
struct ranked {
    struct id id;
    size_t rank;
};

static int compare_ids(const void *a, const void *b)
{
    const struct ranked *x = a;
    const struct ranked *y = b;
    int order = id_cmp(x->id, y->id);
    return order != 0 ? order : (x->rank > y->rank) - (x->rank < y->rank);
}

static int compare_ranks(const void *a, const void *b)
{
    const struct ranked *x = a;
    const struct ranked *y = b;
    return (x->rank > y->rank) - (x->rank < y->rank);
}

/* Read the ids without duplicates, in the order of the request. Invalid ids are counted as
 * errors. */
static void read_ids(const struct rest_bulk_in *in, struct rest_bulk *b)
{
    struct ranked *all = calloc(in->job_ids_count + 1, sizeof *all);
    size_t count = 0;
    size_t kept = 0;
    CHECK(all != NULL);
    for (size_t i = 0; i < in->job_ids_count; i++) {
        if (id_parse(in->job_ids[i], ID_JOB, &all[count].id)) {
            all[count++].rank = i;
        } else {
            b->errors++;
        }
    }
    qsort(all, count, sizeof *all, compare_ids);
    for (size_t i = 0; i < count; i++) {
        if (i == 0 || !id_eq(all[i].id, all[i - 1].id)) {
            all[kept++] = all[i];
        }
    }
    qsort(all, kept, sizeof *all, compare_ranks);
    b->count = kept;
    for (size_t i = 0; i < kept; i++) {
        b->ids[i] = all[i].id;
    }
    free(all);
}

/* Responses */

static void reply_counts(struct rest_call *c, const struct rest_bulk *b)
{
    struct json_write w = rest_call__json(c);
    json_write_object(&w);
    rest_document__i64(&w, "affected", (int64_t)b->affected);
    rest_document__i64(&w, "errors", (int64_t)b->errors);
    rest_document__i64(&w, "duration_ms", (os_clock_mono().ns - c->started.ns) / NS_PER_MS);
    json_write_end(&w);
    rest_call__reply(c, 200, &w);
}

/* Respond to a dry run. */
static void reply_dry(struct rest_call *c, uint64_t matched, uint64_t applicable)
{
    const struct rest_bulk *b = c->data;
    struct json_write w = rest_call__json(c);
    json_write_object(&w);
    rest_document__i64(&w, "affected", 0);
    rest_document__i64(&w, "matched", (int64_t)matched);
    rest_document__i64(&w, "applicable", (int64_t)applicable);
    rest_document__i64(&w, "errors", (int64_t)b->errors);
    rest_document__bool(&w, "dry_run", true);
    rest_document__i64(&w, "duration_ms", (os_clock_mono().ns - c->started.ns) / NS_PER_MS);
    json_write_end(&w);
    rest_call__reply(c, 200, &w);
}

/* Immediate: one command, so that all jobs change at the same time, or none */

static void all_done(struct rest_call *c, const struct result *r)
{
    struct rest_bulk *b = c->data;
    if (!rest_call__refused(c, r)) {
        b->affected += r->affected;
        b->errors += r->missing;
        reply_counts(c, b);
    }
}

static void do_all(struct rest_call *c)
{
    struct rest_bulk *b = c->data;
    if (b->count == 0) {
        reply_counts(c, b);
        return;
    }
    struct command command = {.type = COMMAND_JOBS,
                              .jobs = {.action = b->action,
                                       .lenient = true,
                                       .reset_attempts = b->reset_attempts,
                                       .priority = b->priority,
                                       .queue = b->queue,
                                       .reason = b->reason,
                                       .fit = b->fit,
                                       .ids = b->ids,
                                       .count = b->count}};
    rest_call__submit(c, &command, 0, all_done);
}

/* The state of a job; false if there is none that the caller may change. */
static bool state_of(const struct rest_call *c, struct id id, struct buf *doc, enum job_state *out)
{
    struct job j;
    struct err err;
    buf_clear(doc);
    if (!engine_read_job(c->rest->config.engine, id, doc) ||
        store_job_decode_head(id, buf_str(doc), &j, &err) != ERR_OK ||
        !rest_names__is_visible(c, j.queue)) {
        return false;
    }
    *out = j.state;
    return true;
}

/* Remove jobs that the caller may not change. In the default namespace without a scope there are
 * none. */
static void drop_invisible(const struct rest_call *c, struct rest_bulk *b)
{
    struct buf doc;
    size_t kept = 0;
    if (c->ns.len == 0 && c->caller.scope.len == 0) {
        return;
    }
    buf_init(&doc, SIZE_MAX);
    for (size_t i = 0; i < b->count; i++) {
        enum job_state state;
        if (state_of(c, b->ids[i], &doc, &state)) {
            b->ids[kept++] = b->ids[i];
        } else {
            b->errors++;
        }
    }
    b->count = kept;
    buf_deinit(&doc);
}

static void run(struct rest_call *c)
{
    struct rest_bulk *b = c->data;
    drop_invisible(c, b);
    do_all(c);
}

/* In the background */

void rest_bulk__reply_put(struct rest_call *c, struct id task, uint64_t total)
{
    char id[ID_TEXT_MAX];
    size_t len = id_format(task, ID_BULK, id);
    struct json_write w = rest_call__json(c);
    json_write_object(&w);
    rest_document__text(&w, "bulk_operation_id", str_from(id, len));
    rest_document__text(&w, "status", STR("queued"));
    rest_document__i64(&w, "estimated_total", (int64_t)total);
    struct buf url;
    buf_init(&url, 128);
    buf_printf(&url, "/api/v1/bulk/%.*s/progress", (int)len, id);
    rest_document__text(&w, "progress_url", buf_str(&url));
    buf_deinit(&url);
    json_write_end(&w);
    rest_call__reply(c, 202, &w);
}

static void was_put(struct rest_call *c, const struct result *r)
{
    const uint64_t *total = c->data;
    if (!rest_call__refused(c, r)) {
        rest_bulk__reply_put(c, r->id, *total);
    }
}

static void put(struct rest_call *c, uint64_t total)
{
    struct rest_bulk *b = c->data;
    if (c->caller.scope.len > 0 && b->filter.len == 0) {
        drop_invisible(c, b);
    }
    struct command command = {.type = COMMAND_BULK_PUT,
                              .bulk_put = {.action = b->action,
                                           .reset_attempts = b->reset_attempts,
                                           .priority = b->priority,
                                           .queue = b->queue,
                                           .reason = b->reason,
                                           .ns = c->ns,
                                           .scope = c->caller.scope,
                                           .filter = b->filter,
                                           .fit = b->fit,
                                           .total = total,
                                           .errors = b->errors,
                                           .ids = b->ids,
                                           .count = b->count}};
    uint64_t *kept = REST_NEW(c, uint64_t);
    *kept = total;
    c->data = kept;
    rest_call__submit(c, &command, 0, was_put);
}

/* By ids */

static void dry_run(struct rest_call *c, size_t sent)
{
    struct rest_bulk *b = c->data;
    uint64_t matched = 0;
    uint64_t applicable = 0;
    struct buf doc;
    if (sent > LIMIT_BULK_SYNC) {
        rest_call__fail(c, ERR_BULK, "dry_run accepts at most %d job_ids", LIMIT_BULK_SYNC);
        return;
    }
    buf_init(&doc, SIZE_MAX);
    for (size_t i = 0; i < b->count; i++) {
        enum job_state state;
        if (state_of(c, b->ids[i], &doc, &state)) {
            matched++;
            applicable += (b->states >> state & 1U) != 0 ? 1 : 0;
        } else {
            b->errors++;
        }
    }
    buf_deinit(&doc);
    reply_dry(c, matched, applicable);
}

/* The limit applies to the list as sent, including duplicates and invalid ids. */
static void begin_ids(struct rest_call *c, const struct rest_bulk_in *in)
{
    struct rest_bulk *b = c->data;
    b->filter = STR_EMPTY;
    b->ids = REST_ARRAY(c, struct id, in->job_ids_count);
    read_ids(in, b);
    if (b->dry_run) {
        dry_run(c, in->job_ids_count);
    } else if (b->async || in->job_ids_count > LIMIT_BULK_SYNC) {
        put(c, b->count + b->errors);
    } else {
        run(c);
    }
}

/* By filter. If the view is behind, a dry run fails; other operations run in the background, which
 * waits for the view. */
static void found(struct rest_call *c, const struct rest_bulk_found *f)
{
    struct rest_bulk *b = c->data;
    bool late = f->lag > 0;
    if (late && b->dry_run) {
        rest_call__fail(c, ERR_UNHEALTHY,
                        "the search index is %llu changes behind; try again later",
                        (unsigned long long)f->lag);
    } else if (late) {
        put(c, f->matched > f->count ? f->matched : f->count);
    } else if (b->dry_run) {
        reply_dry(c, f->matched, f->applicable);
    } else if (b->async || f->count > LIMIT_BULK_SYNC) {
        put(c, f->matched);
    } else {
        b->ids = f->ids;
        b->count = f->count;
        run(c);
    }
}

static void handle_bulk(struct rest_call *c)
{
    const struct rest_bulk_in *in = c->in;
    struct rest_bulk *b = REST_NEW(c, struct rest_bulk);
    struct err err;
    c->data = b;
    if (!read_request(c, in, b, &err)) {
        rest_call__fail_err(c, &err);
    } else if (in->job_ids_count > 0) {
        begin_ids(c, in);
    } else if ((in->set >> SET_FILTER & 1U) != 0) {
        rest_bulk_filter__find(c, found);
    } else {
        rest_call__fail(c, ERR_VALIDATION,
                        "job_ids or filter is required; an empty filter {} selects every job");
    }
}

/* Reading and cancelling an operation */

static const char *action_word(const struct store_bulk *rec)
{
    if (store_bulk_is_queue(rec)) {
        return rec->action == STORE_BULK_CLEAR_QUEUE ? "clear_queue" : "delete_queue";
    }
    return action_words[rec->action].word;
}

static void write_record(struct json_write *w, struct id id, const struct store_bulk *rec)
{
    json_write_object(w);
    rest_document__id(w, "id", id, ID_BULK);
    rest_document__text(w, "status", str_from_z(rest_bulk_progress__status_word(rec->status)));
    rest_document__text(w, "action", str_from_z(action_word(rec)));
    rest_document__i64(w, "total", (int64_t)rec->total);
    rest_document__i64(w, "processed", (int64_t)rec->processed);
    rest_document__i64(w, "affected", (int64_t)rec->affected);
    rest_document__i64(w, "errors", (int64_t)rec->errors);
    rest_document__text(w, "error", rec->error);
    rest_document__time(w, "created_at", rec->created_at);
    rest_document__time(w, "updated_at", rec->updated_at);
    rest_document__time(w, "finished_at", rec->finished_at);
    json_write_end(w);
}

static void handle_get(struct rest_call *c)
{
    struct store_bulk rec;
    struct id id;
    struct buf value;
    rest_call__buf(c, &value);
    if (rest_bulk_progress__record(c, &id, &value, &rec)) {
        struct json_write w = rest_call__json(c);
        write_record(&w, id, &rec);
        rest_call__reply(c, 200, &w);
    }
    buf_deinit(&value);
}

static void was_cancelled(struct rest_call *c, const struct result *r)
{
    if (!rest_call__refused(c, r)) {
        svc_bulk_changed(c->rest->config.bulk, r->id);
        rest_call__reply_status(c, "cancelled");
    }
}

static void handle_cancel(struct rest_call *c)
{
    struct store_bulk rec;
    struct command command = {.type = COMMAND_BULK_END,
                              .bulk_end = {.cancelled = true, .error = STR("cancelled")}};
    struct buf value;
    rest_call__buf(c, &value);
    if (rest_bulk_progress__record(c, &command.bulk_end.id, &value, &rec)) {
        rest_call__submit(c, &command, 0, was_cancelled);
    }
    buf_deinit(&value);
}

/* clang-format off */
static const struct rest_route rows[] = {
    /* method      pattern                          roles      flags                      in            handler                    cost  answer                                                                       doc */
    {HTTP_POST,   "/api/v1/jobs/bulk",              ROLES_AO,  ROUTE_LEADER | ROUTE_BODY | ROUTE_GENERATION, &bulk_schema, handle_bulk,               NULL, "200 {affected, errors, duration_ms}, 202 {bulk_operation_id, progress_url}", "Apply one action to many jobs, selected by IDs or by a filter."},
    {HTTP_GET,    "/api/v1/bulk/{id}",              ROLES_AOR, ROUTE_LEADER,              NULL,         handle_get,                NULL, "200 {id, status, total, processed, affected}",                               "Return the status of a bulk operation."},
    {HTTP_GET,    "/api/v1/bulk/{id}/progress",     ROLES_AOR, ROUTE_LEADER,              NULL,         rest_bulk_progress__handle, NULL, "200 text/event-stream",                                                                 "Stream the progress of a bulk operation as server-sent events."},
    {HTTP_DELETE, "/api/v1/bulk/{id}",              ROLES_AO,  ROUTE_LEADER,              NULL,         handle_cancel,             NULL, "200 {status}, 409 the operation has already ended",                                             "Stop a bulk operation after the current chunk."},
};
/* clang-format on */

const struct rest_routes rest_bulk_routes = {.rows = rows, .count = COUNT_OF(rows)};
