/*
 * Restore (http-api.md 20.4): restores a backup in pieces, as replicated commands.
 *
 *   receive --> check --> apply --> answer
 *
 * The body is stored in a file in the data directory as it arrives (rest_restore_int.h), so memory
 * is bounded for any size of backup. Then every piece is read, checked and encoded as it would be
 * submitted. A backup that cannot be restored therefore changes nothing. Only then are the pieces
 * submitted, one at a time. From there on the restore continues to its end, even if the client
 * disconnects. If the server stops, sending the same backup again continues the restore: existing
 * jobs are left unchanged.
 *
 * Reading and decoding happen on a thread of the pool, so that the network thread can serve other
 * requests. One restore runs at a time.
 */
#include <stdlib.h>

#include <uv.h>

#include "base/check.h"
#include "base/limits.h"
#include "core/queue_name.h"
#include "fsm/command/command_check.h"
#include "log/log.h"
#include "rest/backup/rest_restore_int.h"

#define ARENA_BYTES_MAX ((size_t)4 * BACKUP_VERIFY_TEXT_BYTES)

enum {
    CHECK_PIECES = 16,  /* per job of the pool; a restore can be cancelled between jobs */
    IDLE_MS = 60000,    /* maximum time without data of the body: it blocks other restores */
    RETRY_MS = 100,     /* after the engine was overloaded */
    RETRIES_MAX = 3000, /* retries in a row: five minutes */
};

enum stage { STAGE_RECEIVE, STAGE_CHECK, STAGE_APPLY };

struct restore {
    struct rest_call *call;
    struct arena *call_arena; /* the call's own arena; meanwhile the call uses one that is reset */
    struct arena *arena;      /* arena of the current piece */
    struct rest_restore_spool *spool;
    enum stage stage;
    bool enqueue;  /* enqueue the jobs as new ones */
    uint64_t skip; /* number of jobs at the beginning that are not applied */

    /* receive */
    struct buf arriving; /* received, not being written yet */
    struct buf writing;
    bool body_ended;

    /* the current piece */
    bool at_end; /* it is the last one */
    struct rest_restore_list items;
    size_t sent; /* items submitted so far */
    struct command_new news[LIMIT_RESTORE_CHUNK_ITEMS];
    size_t new_count, new_bytes;
    struct command command; /* apply: the submitted command */
    bool has_command;

    uint64_t restored, skipped;
    uint64_t names_taken, over_limits; /* records other than jobs that were omitted */
    unsigned retries;
    struct engine_op op;
    struct err err;

    /* work in progress: a job of the pool, a command, or a pause */
    bool busy;
    bool gone;                       /* the client disconnected */
    bool (*run)(struct restore *r);  /* on a thread of the pool; false: failed, see err */
    void (*then)(struct restore *r); /* on the network thread, after success */
    bool good;
    uv_work_t work;
    uv_timer_t timer;
};

/* End of a restore */

static void timer_closed(uv_handle_t *h)
{
    free(h->data);
}

/* Free everything except the call, and return the call, which must be ended. */
static struct rest_call *end(struct restore *r)
{
    struct rest_call *c = r->call;
    c->arena = r->call_arena;
    engine_op_deinit(&r->op);
    arena_free(r->arena);
    buf_deinit(&r->arriving);
    buf_deinit(&r->writing);
    rest_restore_spool__free(r->spool);
    free(r->items.items);
    atomic_store(&c->rest->restoring, false);
    uv_close((uv_handle_t *)&r->timer, timer_closed);
    return c;
}

static void drop(struct restore *r)
{
    rest_call__stream_drop(end(r));
}

/* Extend the error by what was restored before it, and how to continue. */
static void report_part(const struct restore *r, struct err *err)
{
    const struct backup_verify *backup = rest_restore_spool__report(r->spool);
    unsigned long long done = r->skip + r->restored + r->skipped;
    struct err why = *err;
    const char *hint = r->enqueue ? "send the backup again with skip set to that number"
                                  : "send the backup again: existing jobs are left unchanged";
    bool unknown = r->enqueue && why.code == ERR_UNKNOWN_OUTCOME;
    unsigned long long next = done + (unknown ? r->command.enqueue.count : 0);
    log_warn("restore stopped", LOG_U64("jobs", done), LOG_U64("of", backup->jobs),
             LOG_U64("unknown", next - done), LOG_Z("error", why.msg));
    if (unknown) { /* skipping too few jobs would create duplicates */
        (void)err_set(err, why.code,
                      "%llu of %llu jobs restored; outcome unknown for jobs[%llu] to jobs[%llu]: "
                      "if they are in their queues, send the backup again with skip=%llu, else "
                      "with skip=%llu",
                      done, (unsigned long long)backup->jobs, done, next - 1, next, done);
        return;
    }
    (void)err_set(err, why.code, "%llu of %llu jobs restored, then: %.100s; to continue, %s", done,
                  (unsigned long long)backup->jobs, why.msg, hint);
}

static void fail(struct restore *r)
{
    struct err err = r->err;
    if (r->stage == STAGE_APPLY) {
        report_part(r, &err);
    }
    if (r->gone) {
        drop(r);
    } else {
        rest_call__fail_err(end(r), &err);
    }
}

/* Only a warning: JSON that was decoded and encoded again is equivalent, but has other bytes. */
#define CHECKSUM_DIFFERS                                                                           \
    "meta.checksum does not match: the backup was damaged, edited or reformatted"

static bool has_other_checksum(const struct restore *r)
{
    const struct backup_verify *backup = rest_restore_spool__report(r->spool);
    return backup->has_checksum && !backup->checksum_fits;
}

struct warning {
    uint64_t count; /* 0: no warning */
    const char *text;
};

static void write_warnings(struct json_write *w, bool other_checksum,
                           const struct warning *warnings, size_t count)
{
    bool any = other_checksum;
    for (size_t i = 0; i < count; i++) {
        any = any || warnings[i].count > 0;
    }
    if (!any) {
        return;
    }
    rest_document__array(w, "warnings");
    if (other_checksum) {
        json_write_str(w, STR(CHECKSUM_DIFFERS));
    }
    for (size_t i = 0; i < count; i++) {
        char text[160];
        int n = snprintf(text, sizeof text, "%s: %llu", warnings[i].text,
                         (unsigned long long)warnings[i].count);
        CHECK(n > 0 && (size_t)n < sizeof text);
        if (warnings[i].count > 0) {
            json_write_str(w, str_from(text, (size_t)n));
        }
    }
    json_write_end(w);
}

static void reply(struct restore *r)
{
    const struct warning warnings[] = {
        {r->names_taken, "schedules not restored because other schedules have their names"},
        {r->over_limits,
         "webhooks, approval policies and budgets not restored because the server has reached its "
         "limit for them"},
        {r->items.disabled,
         "schedules disabled because the backup does not contain their credentials"},
        {r->items.cut,
         "jobs restored without their batch or dependencies because these belong to another "
         "namespace"},
        {r->items.rerouted, "jobs whose chains had steps in another namespace; these steps now use "
                            "queues of this one"},
    };
    log_info("restore finished", LOG_U64("restored_jobs", r->restored),
             LOG_U64("skipped_jobs", r->skipped));
    if (r->gone) {
        drop(r);
        return;
    }
    int64_t restored = (int64_t)r->restored;
    int64_t skipped = (int64_t)r->skipped;
    bool differs = has_other_checksum(r);
    struct rest_call *c = end(r);
    struct json_write w = rest_call__json(c);
    json_write_object(&w);
    rest_document__text(&w, "status", STR("ok"));
    rest_document__i64(&w, "restored_jobs", restored);
    rest_document__text(&w, "namespace", c->ns.len > 0 ? c->ns : STR("default"));
    rest_document__i64_if_set(&w, "skipped_jobs", skipped);
    write_warnings(&w, differs, warnings, COUNT_OF(warnings));
    json_write_end(&w);
    rest_call__reply(c, 200, &w);
}

/* Jobs of the pool */

static void work_cb(uv_work_t *w)
{
    struct restore *r = w->data;
    r->good = r->run(r);
}

/* Has the restore been cancelled, because the client disconnected? After the first change it
 * continues, until the server stops. */
static bool is_over(const struct restore *r)
{
    return r->gone && (r->stage != STAGE_APPLY || http_loop_stopping(r->call->req->loop));
}

static void after_work_cb(uv_work_t *w, int status)
{
    struct restore *r = w->data;
    CHECK(status == 0); /* it is never cancelled */
    r->busy = false;
    if (is_over(r)) {
        drop(r);
    } else if (!r->good) {
        fail(r);
    } else {
        r->then(r);
    }
}

static void in_pool(struct restore *r, bool (*run)(struct restore *r),
                    void (*then)(struct restore *r))
{
    r->busy = true;
    r->run = run;
    r->then = then;
    int code = uv_queue_work(http_loop_uv(r->call->req->loop), &r->work, work_cb, after_work_cb);
    CHECK(code == 0); /* fails only without a function */
}

/* Pieces, on a thread of the pool */

static bool read_element(struct restore *r, const struct rest_restore_element *e)
{
    struct rest_call *c = r->call;
    struct str text = arena_str(r->arena, e->text); /* items point into it */
    size_t first = r->items.count;
    struct err *err = &r->err;
    if (text.len != e->text.len) {
        (void)err_set(err, ERR_TOO_LARGE, "larger than the memory limit of a restore");
    } else if (r->enqueue) {
        struct command_new *new = &r->news[r->new_count];
        struct command alone = {.type = COMMAND_ENQUEUE, .enqueue = {.jobs = new, .count = 1}};
        if (rest_restore_job__read_new(c, text, new, err) &&
            (r->stage == STAGE_APPLY ||
             command_check(&alone, &engine_settings(c->rest->config.engine)->limits, err) ==
                 ERR_OK)) {
            r->new_count++;
            r->new_bytes += text.len;
            return true;
        }
    } else if (rest_restore_job__read(c, e->what, text, &r->items, err)) {
        struct command alone = {
            .type = COMMAND_RESTORE,
            .restore = {.items = r->items.items + first, .count = r->items.count - first}};
        if (r->stage == STAGE_APPLY ||
            command_check(&alone, &engine_settings(c->rest->config.engine)->limits, err) ==
                ERR_OK) {
            return true;
        }
    }
    (void)err_wrap(err, "%s[%llu]", e->list, (unsigned long long)e->index);
    return false;
}

static bool is_full(const struct restore *r)
{
    return r->new_count == LIMIT_RESTORE_CHUNK_ITEMS || r->new_bytes >= LIMIT_RESTORE_CHUNK_BYTES ||
           r->items.count >= LIMIT_RESTORE_CHUNK_ITEMS ||
           r->items.bytes >= LIMIT_RESTORE_CHUNK_BYTES;
}

static bool is_skipped(const struct restore *r, const struct rest_restore_element *e)
{
    return r->stage == STAGE_APPLY && e->what == REST_RESTORE_JOB && e->index < r->skip;
}

/* Read the next piece; empty at the end. */
static bool read_piece(struct restore *r)
{
    struct rest_restore_element e;
    arena_reset(r->arena);
    r->items.count = r->items.bytes = r->sent = r->new_count = r->new_bytes = 0;
    while (!is_full(r)) {
        if (rest_restore_spool__next(r->spool, &e, &r->err) != ERR_OK) {
            return false;
        }
        if (e.end) {
            r->at_end = true;
            return true;
        }
        if (!is_skipped(r, &e) && !read_element(r, &e)) {
            return false;
        }
    }
    return true;
}

/* Has the whole piece been submitted? */
static bool is_sent(const struct restore *r)
{
    return r->enqueue ? r->new_count == 0 : r->sent == r->items.count;
}

/* Build the next command of the piece. A job may have more rows than one command can hold. */
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
        bytes += rest_restore_job__item_bytes(&r->items.items[r->sent++]);
    }
    return (struct command){.type = COMMAND_RESTORE,
                            .restore = {.items = r->items.items + from, .count = r->sent - from}};
}

static bool prepare(struct restore *r)
{
    return engine_op_prepare(r->call->rest->config.engine, &r->op, &r->command, &r->err) == ERR_OK;
}

/* Check some pieces, encoding each as it would be submitted, so that nothing can be refused
 * later. */
static bool check_some(struct restore *r)
{
    bool good = true;
    for (unsigned i = 0; i < CHECK_PIECES && good && !r->at_end; i++) {
        good = read_piece(r);
        while (good && !is_sent(r)) {
            r->command = next_command(r);
            good = prepare(r);
        }
    }
    return good;
}

/* Prepare the next command, from this piece or the next one; none at the end. */
static bool prepare_next(struct restore *r)
{
    while (is_sent(r) && !r->at_end) {
        if (!read_piece(r)) {
            return false;
        }
    }
    r->has_command = !is_sent(r);
    if (r->has_command) {
        r->command = next_command(r);
    }
    return !r->has_command || prepare(r);
}

/* Apply */

static void submit(struct restore *r)
{
    if (!r->has_command) {
        reply(r);
        return;
    }
    r->busy = true;
    engine_submit(r->call->rest->config.engine, &r->op);
}

static void retry_cb(uv_timer_t *t)
{
    struct restore *r = t->data;
    if (is_over(r)) {
        drop(r);
    } else {
        in_pool(r, prepare, submit);
    }
}

static void start_timer(struct restore *r, uv_timer_cb cb, uint64_t ms)
{
    int code = uv_timer_start(&r->timer, cb, ms, 0);
    CHECK(code == 0); /* fails only for a closing timer */
}

static void piece_done(struct engine_op *op)
{
    struct restore *r = op->data;
    struct result result = {0};
    r->busy = false;
    if (op->err.code == ERR_OVERLOADED && r->retries++ < RETRIES_MAX) {
        r->busy = true; /* until the timer fires */
        start_timer(r, retry_cb, RETRY_MS);
        return;
    }
    r->retries = 0;
    r->err = op->err;
    if (r->err.code == ERR_OK && !result_decode(buf_str(&op->result), r->arena, &result)) {
        (void)err_set(&r->err, ERR_INTERNAL,
                      "the response is larger than the memory limit of a restore");
    } else if (r->err.code == ERR_OK && result.code != ERR_OK) {
        (void)err_set(&r->err, result.code, STR_FMT, STR_ARG(result.message));
    }
    if (r->err.code == ERR_OK) {
        r->restored += r->enqueue ? result.count : result.affected;
        r->skipped += r->enqueue ? 0 : result.missing;
        r->names_taken += r->enqueue ? 0 : result.remaining;
        r->over_limits += r->enqueue ? 0 : result.attempt;
    }
    if (is_over(r)) {
        drop(r);
    } else if (r->err.code != ERR_OK) {
        fail(r);
    } else {
        in_pool(r, prepare_next, submit);
    }
}

/* Check */

static void checked(struct restore *r)
{
    if (!r->at_end) {
        in_pool(r, check_some, checked);
        return;
    }
    r->stage = STAGE_APPLY;
    r->at_end = false;
    r->items.count = r->items.disabled = r->items.cut = r->items.rerouted = r->sent = r->new_count =
        0;
    rest_restore_spool__rewind(r->spool, r->enqueue);
    in_pool(r, prepare_next, submit);
}

/* Query */

enum { MODE_KEEP, MODE_ENQUEUE };

struct restore_in {
    int mode;
    bool verify;
    int64_t skip;
};

static const struct json_word mode_words[] = {
    {"keep", MODE_KEEP},
    {"enqueue", MODE_ENQUEUE},
    {NULL, 0},
};

static const struct json_field restore_rows[] = {
    JSON_WORD(
        struct restore_in, mode, mode_words, 0,
        "enqueue creates new pending jobs. keep restores jobs with their IDs and states, if the "
        "backup's format supports it."),
    JSON_BOOL(struct restore_in, verify, 0,
              "true refuses a backup whose checksum does not match. By default such a backup is "
              "restored and the response has a warning."),
    JSON_I64(
        struct restore_in, skip, 0, INT64_MAX, 0,
        "Number of jobs to skip, counted from the first job of the backup. Use it to continue an "
        "interrupted restore."),
};
static const struct restore_in restore_init = {.mode = MODE_KEEP};
static const struct json_schema restore_schema =
    JSON_SCHEMA(struct restore_in, restore_rows, .init = &restore_init);

/* The body for the API description; it is read as a stream. */
struct body_in {
    struct str jobs;
};

static const struct json_field body_rows[] = {
    JSON_RAW(struct body_in, jobs, 0, JSON_INSISTED | JSON_DEEP,
             "Jobs of the backup. The other members are those of a backup.",
             .told_type = "[{any}]"),
};
static const struct json_schema body_schema = JSON_SCHEMA(struct body_in, body_rows);

/* May the caller restore this backup? */
static bool may_restore(struct restore *r, struct str ns)
{
    const struct rest_call *c = r->call;
    const struct restore_in *in = c->query;
    err_clear(&r->err);
    if (has_other_checksum(r) && in->verify) {
        (void)err_set(&r->err, ERR_VALIDATION,
                      CHECKSUM_DIFFERS "; use verify=false to restore it anyway");
    } else if (ns.len > 0 && !queue_name_is_namespace(ns)) {
        (void)err_set(&r->err, ERR_VALIDATION,
                      "namespace: '" STR_FMT "' is not a valid namespace name", STR_ARG(ns));
    } else if (c->ns.len > 0 && ns.len > 0 && !str_eq(ns, c->ns)) {
        (void)err_set(&r->err, ERR_FORBIDDEN,
                      "only an admin of the default namespace may use another namespace");
    }
    return r->err.code == ERR_OK;
}

static void ended(struct restore *r)
{
    const struct backup_verify *backup = rest_restore_spool__report(r->spool);
    const struct restore_in *in = r->call->query;
    struct str ns = arena_str(r->call_arena, backup_verify_namespace(backup));
    if (!may_restore(r, ns)) {
        fail(r);
        return;
    }
    if (!rest_backup__set_namespace(r->call, ns)) {
        UNREACHABLE("it was looked at");
    }
    r->enqueue = backup->format < BACKUP_VERIFY_FORMAT || in->mode == MODE_ENQUEUE;
    r->skip = (uint64_t)in->skip < backup->jobs ? (uint64_t)in->skip : backup->jobs;
    r->stage = STAGE_CHECK;
    rest_restore_spool__rewind(r->spool, r->enqueue);
    in_pool(r, check_some, checked);
}

/* Receive */

static void idle_cb(uv_timer_t *t)
{
    struct restore *r = t->data;
    if (!r->busy) {
        (void)err_set(&r->err, ERR_VALIDATION, "no data of the backup arrived for %d s",
                      IDLE_MS / 1000);
        fail(r);
    } else {
        start_timer(r, idle_cb, IDLE_MS);
    }
}

static bool write_some(struct restore *r)
{
    return rest_restore_spool__append(r->spool, buf_str(&r->writing), &r->err) == ERR_OK;
}

static bool check_end(struct restore *r)
{
    return rest_restore_spool__end(r->spool, &r->err) == ERR_OK;
}

static void receive_on(struct restore *r);

static void wrote(struct restore *r)
{
    http_request_consume(r->call->req, r->writing.len);
    buf_clear(&r->writing);
    receive_on(r);
}

static void receive_on(struct restore *r)
{
    if (r->arriving.len > 0) {
        struct buf empty = r->writing;
        r->writing = r->arriving;
        r->arriving = empty;
        in_pool(r, write_some, wrote);
    } else if (r->body_ended) {
        int code = uv_timer_stop(&r->timer);
        CHECK(code == 0);
        in_pool(r, check_end, ended);
    }
}

static void on_body(struct http_request *req, struct str bytes)
{
    struct rest_call *c = req->data;
    struct restore *r = c->data;
    buf_add_str(&r->arriving, bytes); /* bounded by body_window_bytes until consumed */
    start_timer(r, idle_cb, IDLE_MS);
    if (!r->busy) {
        receive_on(r);
    }
}

static void on_body_end(struct http_request *req)
{
    struct rest_call *c = req->data;
    struct restore *r = c->data;
    r->body_ended = true;
    if (!r->busy) {
        receive_on(r);
    }
}

static void on_gone(struct http_request *req)
{
    struct rest_call *c = req->data;
    struct restore *r = c->data;
    r->gone = true;
    if (!r->busy) {
        drop(r);
    }
}

static const struct http_handlers restore_handlers = {
    .gone = on_gone, .body = on_body, .body_end = on_body_end};

static void handle_restore(struct rest_call *c)
{
    const struct engine_config *settings = engine_settings(c->rest->config.engine);
    struct rest_restore_spool *spool;
    struct err err;
    if (c->caller.scope.len > 0) { /* chains and policies in a backup may name any queue */
        rest_call__fail(c, ERR_FORBIDDEN,
                        "a key that is limited to queues cannot restore a backup");
        return;
    }
    if (atomic_exchange(&c->rest->restoring, true)) {
        rest_call__fail(c, ERR_CONFLICT,
                        "another restore is running; try again when it has finished");
        return;
    }
    spool = rest_restore_spool__open(settings->data_dir, settings->node.free_bytes_min, &err);
    if (spool == NULL) {
        atomic_store(&c->rest->restoring, false);
        rest_call__fail_err(c, &err);
        return;
    }
    struct restore *r = calloc(1, sizeof *r);
    CHECK(r != NULL);
    r->call = c;
    c->data = r;
    c->restores = true;
    r->spool = spool;
    r->call_arena = c->arena;
    r->arena = arena_new(ARENA_BYTES_MAX);
    c->arena = r->arena;
    buf_init(&r->arriving, SIZE_MAX);
    buf_init(&r->writing, SIZE_MAX);
    engine_op_init(&r->op);
    r->op.done = piece_done;
    r->op.data = r;
    r->op.reply_to = http_loop_mailbox(c->req->loop);
    int code = uv_timer_init(http_loop_uv(c->req->loop), &r->timer);
    CHECK(code == 0);
    r->timer.data = r->work.data = r;
    start_timer(r, idle_cb, IDLE_MS);
    c->req->on = &restore_handlers;
    http_request_stream(c->req);
}

/* clang-format off */
static const struct rest_route rows[] = {
    /* method    pattern                  roles       flags                        in            handler         cost  answer                                    doc */
    {HTTP_POST, "/api/v1/admin/restore",  ROLE_ADMIN, ROUTE_LEADER | ROUTE_STREAM, &body_schema, handle_restore, NULL, "200 {status, restored_jobs, namespace}", "Restore a backup. The request body is the backup."},
};
/* clang-format on */

static const struct rest_query queries[] = {
    {HTTP_POST, "/api/v1/admin/restore", &restore_schema},
};

const struct rest_routes rest_restore_routes = {
    .rows = rows, .count = COUNT_OF(rows), .queries = queries, .query_count = COUNT_OF(queries)};
