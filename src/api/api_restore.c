/*
 * Restore (http-api.md 20.4): a backup comes back, piece by piece, as replicated commands.
 *
 * The body is taken whole, and all of it is looked at before the first piece is submitted: a backup
 * that cannot be restored changes nothing. Then one piece is under way at a time. Whoever is cut
 * off half-way sends the same backup again: what exists is left as it is.
 *
 * The network thread does it in turns, so that its other requests have theirs.
 */
#include <stdlib.h>

#include "api/api_backup_int.h"
#include "backup/backup_verify.h"
#include "base/check.h"
#include "base/limits.h"
#include "core/queue_name.h"
#include "fsm/command_check.h"
#include "json/json_scan.h"
#include "os/os_clock.h"

#define BODY_BYTES_MAX  ((size_t)1 << 30)
#define ARENA_BYTES_MAX ((size_t)256 << 20)

/* The lists of a backup, in the order in which they are restored: limits of queues hold before
 * there are jobs, and schedules fire into queues that are complete. */
static const struct {
    const char *key;
    enum api_restore_what what;
} lists[] = {
    {"queues", API_RESTORE_QUEUE},     {"batches", API_RESTORE_BATCH},
    {"jobs", API_RESTORE_JOB},         {"schedules", API_RESTORE_SCHEDULE},
    {"webhooks", API_RESTORE_WEBHOOK}, {"approval_policies", API_RESTORE_POLICY},
};

struct restore {
    struct api_call *call;
    struct arena *call_arena; /* the call's own; meanwhile it uses one that is emptied */
    struct arena *arena;
    struct buf text;
    bool enqueue; /* as new jobs */
    bool checked; /* all of it was looked at */

    struct str lists[COUNT_OF(lists)]; /* their texts; empty where there is none */

    /* where we are */
    size_t list;
    bool open; /* scan is inside the list */
    struct json_scan scan;
    size_t index; /* of the next element */

    struct api_restore_list items;
    size_t sent; /* of the items */
    struct command_new news[LIMIT_RESTORE_CHUNK_ITEMS];
    size_t new_count;
    uint64_t restored, skipped, failed;

    struct engine_op op;
    bool busy; /* op or msg is under way */
    bool gone;
    struct msg msg;
};

static void restore_free(struct restore *r)
{
    r->call->arena = r->call_arena;
    engine_op_deinit(&r->op);
    arena_free(r->arena);
    buf_deinit(&r->text);
    free(r->items.items);
    free(r);
}

/* The end, one way or another. */
static void fail(struct restore *r, const struct err *err)
{
    struct api_call *c = r->call;
    restore_free(r);
    api_call__fail_err(c, err);
}

static void drop(struct restore *r)
{
    struct api_call *c = r->call;
    restore_free(r);
    api_call__stream_drop(c);
}

static void reply(struct restore *r)
{
    struct api_call *c = r->call;
    c->arena = r->call_arena; /* the answer outlives the other */
    struct json_write w = api_call__json(c);
    json_write_object(&w);
    api_document__text(&w, "status", STR("ok"));
    api_document__i64(&w, "restored_jobs", (int64_t)r->restored);
    api_document__text(&w, "namespace", c->ns.len > 0 ? c->ns : STR("default"));
    api_document__i64_if_set(&w, "skipped_jobs", (int64_t)r->skipped);
    api_document__i64_if_set(&w, "failed_jobs", (int64_t)r->failed);
    json_write_end(&w);
    restore_free(r);
    api_call__reply(c, 200, &w);
}

/* Reading */

/* Where each list is, found in one pass over a text that was checked. */
static void find_lists(struct restore *r)
{
    struct json_scan scan = json_scan_from(buf_str(&r->text));
    struct json_value key;
    struct json_value value;
    bool entered = json_scan_enter_object(&scan);
    while (entered && json_scan_next_key(&scan, &key) && json_scan_value(&scan, &value)) {
        for (size_t i = 0; i < COUNT_OF(lists); i++) {
            bool meant = lists[i].what == API_RESTORE_JOB || !r->enqueue;
            if (meant && json_value_text_eq(key, str_from_z(lists[i].key))) {
                r->lists[i] = value.text;
            }
        }
    }
}

/* The next element of the backup; false at its end. */
static bool next_element(struct restore *r, struct str *out)
{
    struct json_value v;
    for (; r->list < COUNT_OF(lists); r->list++, r->open = false) {
        if (!r->open) {
            r->index = 0;
            r->scan = json_scan_from(r->lists[r->list]);
            r->open = r->lists[r->list].len > 0 && json_scan_enter_array(&r->scan);
        }
        if (r->open && json_scan_next_element(&r->scan) && json_scan_value(&r->scan, &v)) {
            *out = v.text;
            r->index++;
            return true;
        }
    }
    return false;
}

static bool read_element(struct restore *r, struct str json, struct err *err)
{
    bool good = r->enqueue
                    ? api_restore_job__read_new(r->call, json, &r->news[r->new_count], err)
                    : api_restore_job__read(r->call, lists[r->list].what, json, &r->items, err);
    if (!good) {
        (void)err_wrap(err, "%s[%zu]", lists[r->list].key, r->index - 1);
    }
    r->new_count += good && r->enqueue ? 1 : 0;
    return good;
}

static bool is_full(const struct restore *r)
{
    return r->new_count == LIMIT_RESTORE_CHUNK_ITEMS ||
           r->items.count >= LIMIT_RESTORE_CHUNK_ITEMS ||
           r->items.bytes >= LIMIT_RESTORE_CHUNK_BYTES;
}

/* Jobs whose ids lie in the future would be passed over; their rows go with them. */
static void leave_out_future(struct restore *r)
{
    struct id now = id_make(os_clock_wall(), 0, 0);
    size_t kept = 0;
    for (size_t i = 0; i < r->items.count; i++) {
        const struct command_restore_item *it = &r->items.items[i];
        if (it->kind == COMMAND_RESTORE_JOB && id_cmp(it->id, now) > 0) {
            r->failed += r->checked ? 1 : 0;
        } else {
            r->items.items[kept++] = *it;
        }
    }
    r->items.count = kept;
}

/* About what an item takes in a command. */
static size_t item_bytes(const struct command_restore_item *it)
{
    const struct job *j = &it->job;
    switch ((int)it->kind) {
    case COMMAND_RESTORE_JOB:
        return j->payload.len + j->result.len + j->checkpoint.len + j->chain_config.len +
               j->tags.len + j->progress.len + j->waits_for.len;
    case COMMAND_RESTORE_ERROR:
        return it->error.error.len + it->error.backtrace.len;
    case COMMAND_RESTORE_ITERATION:
        return it->iteration.checkpoint.len + it->iteration.result.len;
    case COMMAND_RESTORE_SCHEDULE:
        return it->schedule.payload.len;
    case COMMAND_RESTORE_BATCH:
        return it->batch.callback_payload.len;
    default:
        return 0;
    }
}

/* What goes into one command: a job may have more rows than that. */
static struct command next_command(struct restore *r)
{
    size_t from = r->sent;
    size_t bytes = 0;
    if (r->enqueue) {
        size_t count = r->new_count;
        r->new_count = 0;
        return (struct command){.type = COMMAND_ENQUEUE,
                                .enqueue = {.jobs = r->news, .count = count}};
    }
    while (r->sent < r->items.count && r->sent - from < LIMIT_RESTORE_CHUNK_ITEMS &&
           bytes < LIMIT_RESTORE_CHUNK_BYTES) {
        bytes += item_bytes(&r->items.items[r->sent++]);
    }
    return (struct command){.type = COMMAND_RESTORE,
                            .restore = {.items = r->items.items + from, .count = r->sent - from}};
}

/* The next piece; empty at the end. */
static bool read_piece(struct restore *r, struct err *err)
{
    struct str json;
    arena_reset(r->arena);
    r->items.count = r->items.bytes = r->sent = r->new_count = 0;
    while (!is_full(r) && next_element(r, &json)) {
        if (!read_element(r, json, err)) {
            return false;
        }
        if (arena_used_bytes(r->arena) > ARENA_BYTES_MAX / 2) {
            (void)err_set(err, ERR_TOO_LARGE, "%s[%zu] is too large", lists[r->list].key,
                          r->index - 1);
            return false;
        }
    }
    leave_out_future(r);
    return true;
}

/* Turns */

static void deliver_turn(struct msg *m);

static void post_turn(struct restore *r)
{
    r->busy = true;
    r->msg.deliver = deliver_turn;
    bool posted = mailbox_post(http_loop_mailbox(r->call->req->loop), &r->msg);
    CHECK(posted);
}

static bool at_end(const struct restore *r)
{
    return r->list == COUNT_OF(lists);
}

static void piece_done(struct engine_op *op)
{
    struct restore *r = op->data;
    struct result result;
    r->busy = false;
    if (r->gone) {
        drop(r);
        return;
    }
    if (op->err.code == ERR_OK && !result_decode(buf_str(&op->result), r->arena, &result)) {
        (void)err_set(&op->err, ERR_INTERNAL, "the answer is larger than the request's memory");
    } else if (op->err.code == ERR_OK && result.code != ERR_OK) {
        (void)err_set(&op->err, result.code, STR_FMT, STR_ARG(result.message));
    }
    if (op->err.code != ERR_OK) {
        struct err err = op->err;
        fail(r, &err);
        return;
    }
    r->restored += r->enqueue ? result.count : result.affected;
    r->skipped += r->enqueue ? 0 : result.missing;
    post_turn(r);
}

/* Everything of the piece is on its way. */
static bool is_sent(const struct restore *r)
{
    return r->enqueue ? r->new_count == 0 : r->sent == r->items.count;
}

/* Look at the next piece. */
static void check_piece(struct restore *r)
{
    struct err err;
    if (!read_piece(r, &err)) {
        fail(r, &err);
        return;
    }
    while (!is_sent(r)) {
        struct command c = next_command(r);
        if (command_check(&c, &engine_settings(r->call->api->config.engine)->limits, &err) !=
            ERR_OK) {
            (void)err_wrap(&err, "in the piece that ends with %s[%zu]",
                           lists[at_end(r) ? COUNT_OF(lists) - 1 : r->list].key, r->index);
            fail(r, &err);
            return;
        }
    }
    post_turn(r);
}

/* Submit the next piece, or more of this one. */
static void send_piece(struct restore *r)
{
    struct err err;
    if (is_sent(r) && !read_piece(r, &err)) {
        fail(r, &err);
        return;
    }
    if (is_sent(r)) {
        post_turn(r);
        return;
    }
    struct command c = next_command(r);
    if (engine_op_prepare(r->call->api->config.engine, &r->op, &c, &err) != ERR_OK) {
        fail(r, &err);
        return;
    }
    r->busy = true;
    engine_submit(r->call->api->config.engine, &r->op);
}

static void turn(struct restore *r)
{
    if (!r->checked && at_end(r)) {
        r->checked = true;
        r->list = 0;
        r->open = false;
    }
    if (!r->checked) {
        check_piece(r);
    } else if (at_end(r) && is_sent(r)) {
        reply(r);
    } else {
        send_piece(r);
    }
}

static void deliver_turn(struct msg *m)
{
    struct restore *r = CONTAINER_OF(m, struct restore, msg);
    r->busy = false;
    if (r->gone) {
        drop(r);
    } else {
        turn(r);
    }
}

/* The request */

/* What the query says */

enum { MODE_KEEP, MODE_ENQUEUE };

struct restore_in {
    int mode;
    bool verify;
};

static const struct json_word mode_words[] = {
    {"keep", MODE_KEEP},
    {"enqueue", MODE_ENQUEUE},
    {NULL, 0},
};

static const struct json_field restore_rows[] = {
    JSON_WORD(struct restore_in, mode, mode_words, JSON_LAX,
              "enqueue makes new pending jobs; keep brings them back as they were, where the "
              "backup's format can."),
    JSON_BOOL(struct restore_in, verify, 0, "false restores a backup whose checksum is wrong."),
};
static const struct restore_in restore_init = {.mode = MODE_KEEP, .verify = true};
static const struct json_schema restore_schema =
    JSON_SCHEMA(struct restore_in, restore_rows, .init = &restore_init);

/* What of the body is told; it is read below, as it comes. */
struct body_in {
    struct str jobs;
};

static const struct json_field body_rows[] = {
    JSON_RAW(struct body_in, jobs, 0, JSON_INSISTED, "The jobs; the rest is as a backup has it.",
             .told_type = "[{any}]"),
};
static const struct json_schema body_schema = JSON_SCHEMA(struct body_in, body_rows);

static bool verify(struct restore *r, struct backup_verify *out, struct err *err)
{
    const struct restore_in *in = r->call->query;
    if (backup_verify_text(buf_str(&r->text), out, err) != ERR_OK) {
        return false;
    }
    if (out->has_checksum && !out->checksum_fits && in->verify) {
        (void)err_set(err, ERR_VALIDATION,
                      "meta.checksum does not fit: the backup was damaged or edited; "
                      "verify=false restores it nevertheless");
        return false;
    }
    if (out->ns.len > 0 && !queue_name_is_namespace(out->ns)) {
        (void)err_set(err, ERR_VALIDATION, "namespace: '" STR_FMT "' is not a name",
                      STR_ARG(out->ns));
        return false;
    }
    return true;
}

static void watch_body_end(struct http_request *req)
{
    struct api_call *c = req->data;
    struct restore *r = c->data;
    struct backup_verify report;
    const struct restore_in *in = c->query;
    struct err err;
    if (!verify(r, &report, &err)) {
        fail(r, &err);
        return;
    }
    r->enqueue = report.format < BACKUP_VERIFY_FORMAT || in->mode == MODE_ENQUEUE;
    c->arena = r->call_arena;
    struct str ns = arena_str(c->arena, report.ns);
    c->arena = r->arena;
    if (c->ns.len > 0 && ns.len > 0 && !str_eq(ns, c->ns)) {
        (void)err_set(&err, ERR_FORBIDDEN, "another namespace needs an admin of the default one");
        fail(r, &err);
        return;
    }
    if (!api_backup__set_namespace(c, ns)) {
        UNREACHABLE("it was looked at");
    }
    find_lists(r);
    turn(r);
}

static void watch_body(struct http_request *req, struct str bytes)
{
    struct api_call *c = req->data;
    struct restore *r = c->data;
    struct err err;
    buf_add_str(&r->text, bytes);
    if (r->text.overflow) {
        (void)err_set(&err, ERR_TOO_LARGE, "a backup may have %zu bytes", BODY_BYTES_MAX);
        fail(r, &err);
        return;
    }
    http_request_consume(req, bytes.len);
}

static void watch_gone(struct http_request *req)
{
    struct api_call *c = req->data;
    struct restore *r = c->data;
    r->gone = true;
    if (!r->busy) {
        drop(r);
    }
}

static const struct http_watch restore_watch = {
    .gone = watch_gone, .body = watch_body, .body_end = watch_body_end};

static void handle_restore(struct api_call *c)
{
    struct restore *r = calloc(1, sizeof *r);
    CHECK(r != NULL);
    r->call = c;
    c->data = r;
    r->call_arena = c->arena;
    r->arena = arena_new(ARENA_BYTES_MAX);
    c->arena = r->arena;
    buf_init(&r->text, BODY_BYTES_MAX);
    engine_op_init(&r->op);
    r->op.done = piece_done;
    r->op.data = r;
    r->op.reply_to = http_loop_mailbox(c->req->loop);
    c->req->on = &restore_watch;
    http_request_stream(c->req);
}

/* clang-format off */
static const struct api_route rows[] = {
    /* method    pattern                  roles       flags                        in            handler         cost  answer                                    doc */
    {HTTP_POST, "/api/v1/admin/restore",  ROLE_ADMIN, ROUTE_LEADER | ROUTE_STREAM, &body_schema, handle_restore, NULL, "200 {status, restored_jobs, namespace}", "Bring a backup back; the body is one."},
};
/* clang-format on */

static const struct api_query queries[] = {
    {HTTP_POST, "/api/v1/admin/restore", &restore_schema},
};

const struct api_routes api_restore_routes = {
    .rows = rows, .count = COUNT_OF(rows), .queries = queries, .query_count = COUNT_OF(queries)};
