/*
 * Backup (http-api.md 20.4): a consistent copy of a namespace as one JSON object, written while it
 * is read.
 *
 * The network thread does this in short turns, so that other requests get theirs. A turn ends when
 * enough was written or examined. The next one begins with a message to itself, or when the client
 * has room again.
 *
 * Ended jobs come first, then waiting jobs, then those in line in their order: a restore puts them
 * into line in that order.
 */
#include <stdlib.h>

#include "backup/backup_verify.h"
#include "base/check.h"
#include "base/crc32c.h"
#include "base/limits.h"
#include "core/queue_name.h"
#include "log/log.h"
#include "os/os_clock.h"
#include "rest/backup/rest_backup_int.h"
#include "rest/backup/rest_backup_sums.h"
#include "rest/rest_budgets_int.h"
#include "store/store_job.h"

enum { TURN_BYTES = 128 << 10, TURN_JOBS = 500, TURN_BATCHES = 1000 };

enum stage {
    STAGE_HEAD, /* namespace, queues, schedules, webhooks */
    STAGE_DONE,
    STAGE_LIVE,
    STAGE_LINE,
    STAGE_SUMS,
    STAGE_BATCHES,
    STAGE_TAIL, /* budgets, policies, meta */
    STAGE_OVER
};

/* A job in line. */
struct waiting {
    uint64_t order;
    struct id id;
};

struct backup {
    struct rest_backup_options options;
    struct rest_call *call;
    struct store_snapshot *snapshot;
    enum stage stage;
    struct buf out; /* output of this turn; kept while the client has no room */
    uint32_t crc;
    uint64_t jobs;
    uint64_t rows_left_out; /* rows omitted from jobs that would be too large to restore */
    struct waiting *line;
    size_t line_count, line_cap, line_at;
    struct rest_backup_sums sums;
    struct id *batches; /* those that the written jobs name */
    size_t batch_count, batch_cap;
    struct id next_batch;  /* where to go on; none: at the beginning, or there are no more */
    unsigned batches_seen; /* in this turn */
    uint64_t batches_written;
    struct msg msg;
    bool posted; /* msg was posted and not delivered */
    bool gone;
    bool damaged; /* a record cannot be decoded: the backup fails */
};

/* Permissions */

bool rest_backup__set_namespace(struct rest_call *c, struct str named)
{
    bool is_default = named.len == 0 || str_eq(named, STR("default"));
    struct str ns = is_default ? STR_EMPTY : named;
    if (named.len == 0 || str_eq(ns, c->ns)) {
        return true; /* the caller's own namespace */
    }
    if (ns.len > 0 && !queue_name_is_namespace(ns)) {
        rest_call__fail(c, ERR_VALIDATION, "namespace: '" STR_FMT "' is not a valid namespace name",
                        STR_ARG(ns));
        return false;
    }
    if (c->ns.len > 0 || c->caller.scope.len > 0) {
        rest_call__fail(c, ERR_FORBIDDEN,
                        "only an admin of the default namespace may use another namespace");
        return false;
    }
    c->ns = ns;
    return true;
}

/* Parts */

static void add_text(struct backup *b, struct str text)
{
    buf_add_str(&b->out, text);
}

/* Begin the next element of the open list. */
static struct json_write next_element(struct backup *b)
{
    add_text(b, b->out.ptr[b->out.len - 1] == '[' ? STR_EMPTY : STR(","));
    return json_write_to(&b->out);
}

static void note_damage(struct backup *b, const char *what)
{
    if (!b->damaged) {
        log_error("backup failed: stored data is damaged", LOG_Z("record", what));
    }
    b->damaged = true;
}

static void write_queue(void *data, struct str name, struct str value)
{
    struct backup *b = data;
    struct store_queue q;
    if (!store_record_decode_queue(value, &q)) {
        note_damage(b, "queue");
    } else if (rest_backup__is_own(b->call, name)) {
        struct json_write w = next_element(b);
        rest_backup_job__write_queue(&w, b->call, name, &q);
    }
}

static void write_schedule(void *data, struct str rest, struct str value)
{
    struct backup *b = data;
    struct store_schedule s;
    if (rest.len != ID_BYTES || !store_record_decode_schedule(value, &s)) {
        note_damage(b, "schedule");
    } else if (rest_backup__is_own(b->call, s.queue)) {
        struct json_write w = next_element(b);
        rest_backup_job__write_schedule(&w, b->call, id_from_bytes(rest.ptr), &s,
                                        b->options.secrets);
    }
}

static void write_webhook(void *data, struct str id, struct str value)
{
    struct backup *b = data;
    struct store_webhook h;
    if (!store_record_decode_webhook(value, &h)) {
        note_damage(b, "webhook");
    } else if (str_eq(h.ns, b->call->ns) &&
               (b->call->caller.scope.len == 0 || str_eq(h.scope, b->call->caller.scope))) {
        struct json_write w = next_element(b);
        rest_backup_job__write_webhook(&w, b->call, id, &h);
    }
}

static void write_policy(void *data, struct str rest, struct str value)
{
    struct backup *b = data;
    struct store_policy p;
    if (rest.len != ID_BYTES || !store_record_decode_policy(value, &p)) {
        note_damage(b, "approval policy");
    } else if (str_eq(p.ns, b->call->ns) &&
               (b->call->caller.scope.len == 0 || rest_names__is_visible(b->call, p.queue))) {
        struct json_write w = next_element(b);
        rest_policies__write(&w, b->call, id_from_bytes(rest.ptr), &p);
    }
}

static void write_budget(void *data, struct str key, struct str value)
{
    struct backup *b = data;
    struct rest_budgets_row row;
    struct store_access_frame frame;
    if (key.len == 0 || key.ptr[0] != STORE_ACCESS_BUDGET) {
        return; /* an access record of another kind */
    }
    if (key.len < 3 || !store_access_decode_frame(value, &frame) ||
        !rest_budgets__read_row(str_from_offset(key, 1), &frame, &row)) {
        note_damage(b, "budget");
    } else if (str_eq(row.rec.ns, b->call->ns) && rest_budgets__sees(b->call, &row)) {
        struct json_write w = next_element(b);
        rest_budgets__write(&w, b->call, &row);
    }
}

static void write_head(struct backup *b)
{
    struct str ns = b->call->ns.len > 0 ? b->call->ns : STR("default");
    struct json_write w;
    add_text(b, STR("{\"namespace\":"));
    w = json_write_to(&b->out);
    json_write_str(&w, ns);
    add_text(b, STR(","));
    struct buf time;
    buf_init(&time, 64);
    w = json_write_to(&time);
    json_write_object(&w);
    rest_document__time(&w, "created_at", os_clock_wall());
    json_write_end(&w);
    add_text(b, str_from(time.ptr + 1, time.len - 2)); /* only the member, without the braces */
    buf_deinit(&time);
    add_text(b, STR(",\"queues\":["));
    store_snapshot_each(b->snapshot, STORE_KIND_QUEUE, write_queue, b);
    add_text(b, STR("],\"schedules\":["));
    store_snapshot_each(b->snapshot, STORE_KIND_SCHEDULE, write_schedule, b);
    add_text(b, STR("],\"webhooks\":["));
    store_snapshot_each(b->snapshot, STORE_KIND_WEBHOOK, write_webhook, b);
    add_text(b, STR("],\"jobs\":["));
}

static void note_batch(struct backup *b, struct id id)
{
    if (id_is_none(id) || (b->batch_count > 0 && id_eq(b->batches[b->batch_count - 1], id))) {
        return;
    }
    if (b->batch_count == b->batch_cap) {
        b->batch_cap = b->batch_cap == 0 ? 64 : b->batch_cap * 2;
        b->batches = realloc(b->batches, b->batch_cap * sizeof *b->batches);
        CHECK(b->batches != NULL);
    }
    b->batches[b->batch_count++] = id;
}

static void write_job(struct backup *b, const struct job *j)
{
    add_text(b, b->jobs++ == 0 ? STR_EMPTY : STR(","));
    struct json_write w = json_write_to(&b->out);
    b->rows_left_out += rest_backup_job__write(&w, b->call, j, b->snapshot, &b->options);
    note_batch(b, j->batch_id);
}

static bool decode(struct backup *b, struct id id, struct str doc, struct job *out)
{
    struct err err;
    if (store_job_decode(id, doc, out, &err) != ERR_OK) {
        note_damage(b, "job");
        return false;
    }
    return true;
}

static void note_line(struct backup *b, const struct job *j)
{
    if (b->line_count == b->line_cap) {
        b->line_cap = b->line_cap == 0 ? 1024 : b->line_cap * 2;
        b->line = realloc(b->line, b->line_cap * sizeof *b->line);
        CHECK(b->line != NULL);
    }
    b->line[b->line_count++] = (struct waiting){.order = j->order, .id = j->id};
}

/* Write the next jobs of a family; jobs in line are saved for later. True at its end. */
static bool write_family(struct backup *b, enum store_family family)
{
    for (unsigned seen = 0; seen < TURN_JOBS && b->out.len < TURN_BYTES; seen++) {
        struct id id;
        struct str doc;
        struct job j;
        if (!store_snapshot_next(b->snapshot, family, &id, &doc)) {
            return true;
        }
        if (!decode(b, id, doc, &j)) {
            return true;
        }
        if (!rest_backup__is_own(b->call, j.queue)) {
            continue;
        }
        if (j.order != 0) {
            note_line(b, &j);
        } else {
            write_job(b, &j);
        }
    }
    return false;
}

static int compare_orders(const void *a, const void *b)
{
    uint64_t x = ((const struct waiting *)a)->order;
    uint64_t y = ((const struct waiting *)b)->order;
    return (x > y) - (x < y);
}

static bool write_line(struct backup *b)
{
    if (b->line_at == 0 && b->line_count > 0) {
        qsort(b->line, b->line_count, sizeof *b->line, compare_orders);
    }
    while (b->line_at < b->line_count && b->out.len < TURN_BYTES) {
        struct id id = b->line[b->line_at++].id;
        struct str doc;
        struct job j;
        bool found = store_snapshot_get(b->snapshot, STORE_LIVE, id, &doc);
        CHECK(found);
        /* copied, because the next read reuses the document's memory */
        char *copy = malloc(doc.len + 1);
        CHECK(copy != NULL);
        memcpy(copy, doc.ptr, doc.len);
        if (decode(b, id, str_from(copy, doc.len), &j)) {
            write_job(b, &j);
        }
        free(copy);
    }
    return b->line_at == b->line_count;
}

static int compare_ids(const void *a, const void *b)
{
    return memcmp(a, b, ID_BYTES);
}

/* Does the batch belong to the namespace? Its callback queue decides, or its owner. In old data,
 * where the owner is unknown, its jobs do. */
static bool is_own_batch(const struct backup *b, struct id id, const struct store_batch *rec)
{
    const struct rest_call *c = b->call;
    if (rec->callback_queue.len > 0) {
        return rest_backup__is_own(c, rec->callback_queue);
    }
    if (rec->owner.known) {
        return str_eq(rec->owner.ns, c->ns) &&
               (c->caller.scope.len == 0 || str_eq(rec->owner.scope, c->caller.scope));
    }
    return b->batch_count > 0 &&
           bsearch(&id, b->batches, b->batch_count, sizeof id, compare_ids) != NULL;
}

static bool write_batch(void *data, struct str rest, struct str value)
{
    struct backup *b = data;
    struct store_batch rec;
    if (rest.len != ID_BYTES || !store_record_decode_batch(value, &rec)) {
        note_damage(b, "batch");
        return false;
    }
    struct id id = id_from_bytes(rest.ptr);
    if (b->out.len >= TURN_BYTES || b->batches_seen++ == TURN_BATCHES) {
        b->next_batch = id;
        return false;
    }
    if (is_own_batch(b, id, &rec)) {
        add_text(b, b->batches_written++ == 0 ? STR_EMPTY : STR(","));
        struct json_write w = json_write_to(&b->out);
        rest_backup_job__write_batch(&w, b->call, id, &rec);
    }
    return true;
}

/* Write the next batches. All are examined, because the jobs of a batch may be in other namespaces.
 * True at the end. */
static bool write_batches(struct backup *b)
{
    struct id from = b->next_batch;
    bool first = id_is_none(from);
    if (first) {
        add_text(b, STR("],\"batches\":["));
        if (b->batch_count > 0) {
            qsort(b->batches, b->batch_count, sizeof *b->batches, compare_ids);
        }
    }
    b->next_batch = ID_NONE;
    b->batches_seen = 0;
    store_snapshot_each_from(b->snapshot, STORE_KIND_BATCH,
                             first ? STR_EMPTY : str_from(from.b, ID_BYTES), write_batch, b);
    return id_is_none(b->next_batch);
}

/* The next sums of usage. True at their end. */
static bool write_sums(struct backup *b)
{
    if (b->sums.written == 0 && b->sums.from.len == 0) {
        add_text(b, STR("],\"usage_sums\":["));
    }
    bool end = rest_backup_sums__write(&b->sums, b->call, b->snapshot, &b->out, TURN_BYTES);
    if (b->sums.damaged) {
        note_damage(b, "sum of usage");
    }
    return end;
}

static void write_tail(struct backup *b)
{
    char checksum[BACKUP_VERIFY_CHECKSUM_BYTES];
    add_text(b, STR("],\"budgets\":["));
    store_snapshot_each(b->snapshot, STORE_KIND_ACCESS, write_budget, b);
    add_text(b, STR("],\"approval_policies\":["));
    store_snapshot_each(b->snapshot, STORE_KIND_POLICY, write_policy, b);
    add_text(b, STR("],"));
    backup_verify_checksum(crc32c_update(b->crc, b->out.ptr, b->out.len), checksum);
    buf_printf(&b->out, "\"meta\":{\"format\":%d,\"jobs\":%llu,", BACKUP_VERIFY_FORMAT,
               (unsigned long long)b->jobs);
    if (b->rows_left_out > 0) {
        buf_printf(&b->out, "\"rows_left_out\":%llu,", (unsigned long long)b->rows_left_out);
        log_warn("backup is missing the oldest rows of jobs that are too large to be restored",
                 LOG_U64("rows", b->rows_left_out));
    }
    buf_printf(&b->out, "\"checksum\":\"%.*s\"}}\n", (int)sizeof checksum, checksum);
}

/* Turns */

static void backup_free(struct backup *b)
{
    store_snapshot_free(b->snapshot);
    buf_deinit(&b->out);
    buf_deinit(&b->sums.from);
    free(b->line);
    free(b->batches);
}

static void produce(struct backup *b)
{
    switch (b->stage) {
    case STAGE_HEAD:
        write_head(b);
        b->stage = STAGE_DONE;
        break;
    case STAGE_DONE:
        b->stage = write_family(b, STORE_DONE) ? STAGE_LIVE : STAGE_DONE;
        break;
    case STAGE_LIVE:
        b->stage = write_family(b, STORE_LIVE) ? STAGE_LINE : STAGE_LIVE;
        break;
    case STAGE_LINE:
        b->stage = write_line(b) ? STAGE_SUMS : STAGE_LINE;
        break;
    case STAGE_SUMS:
        b->stage = write_sums(b) ? STAGE_BATCHES : STAGE_SUMS;
        break;
    case STAGE_BATCHES:
        b->stage = write_batches(b) ? STAGE_TAIL : STAGE_BATCHES;
        break;
    case STAGE_TAIL:
        write_tail(b);
        b->stage = STAGE_OVER;
        break;
    case STAGE_OVER:
        break;
    }
    CHECK(!b->out.overflow);
}

static void deliver_turn(struct msg *m);

static void post_turn(struct backup *b)
{
    b->msg.deliver = deliver_turn;
    b->posted = true;
    bool posted = mailbox_post(http_loop_mailbox(b->call->req->loop), &b->msg);
    CHECK(posted);
}

/* Write the output and continue, unless the client has no room. */
static void turn(struct backup *b)
{
    if (b->out.len == 0) {
        produce(b);
    }
    if (b->damaged) {
        struct rest_call *c = b->call;
        backup_free(b);
        rest_call__stream_drop(c); /* so that the backup is seen to be incomplete */
        return;
    }
    if (b->out.len > 0) {
        if (http_request_write(b->call->req, buf_str(&b->out)) == HTTP_WRITE_FULL) {
            return; /* continues in on_writable */
        }
        b->crc = crc32c_update(b->crc, b->out.ptr, b->out.len);
        buf_clear(&b->out);
    }
    if (b->stage == STAGE_OVER) {
        struct rest_call *c = b->call;
        backup_free(b);
        rest_call__stream_end(c);
    } else {
        post_turn(b);
    }
}

static void deliver_turn(struct msg *m)
{
    struct backup *b = CONTAINER_OF(m, struct backup, msg);
    b->posted = false;
    if (b->gone) {
        struct rest_call *c = b->call;
        backup_free(b);
        rest_call__stream_drop(c);
    } else {
        turn(b);
    }
}

static void on_gone(struct http_request *req)
{
    struct rest_call *c = req->data;
    struct backup *b = c->data;
    b->gone = true;
    if (!b->posted) {
        backup_free(b);
        rest_call__stream_drop(c);
    }
}

static void on_writable(struct http_request *req)
{
    struct rest_call *c = req->data;
    struct backup *b = c->data;
    if (!b->posted) {
        turn(b);
    }
}

static const struct http_handlers backup_handlers = {.gone = on_gone, .writable = on_writable};

struct backup_in {
    struct str named;
    bool include_secrets;
};

static const struct json_field backup_rows[] = {
    {JSON_ROW("namespace", "Namespace to back up. The caller's namespace by default.",
              JSON_KIND_STR, 0),
     JSON_RANGE(0, LIMIT_NAME_BYTES), .offset = JSON_OFFSET(struct backup_in, named, struct str)},
    JSON_BOOL(struct backup_in, include_secrets, 0,
              "Include the credentials of jobs that the server delivers."),
};
static const struct json_schema backup_schema = JSON_SCHEMA(struct backup_in, backup_rows);

static void handle_backup(struct rest_call *c)
{
    const struct backup_in *in = c->query;
    if (!rest_backup__set_namespace(c, in->named)) {
        return;
    }
    struct backup *b = REST_NEW(c, struct backup);
    if (!rest_call__has_memory(c)) {
        return;
    }
    b->call = c;
    b->options.secrets = in->include_secrets;
    c->data = b;
    buf_init(&b->out, SIZE_MAX);
    buf_init(&b->sums.from, STORE_TALLY_KEY_BYTES_MAX);
    rest_call__stream_begin(c, STR("application/json"), NULL, 0, &backup_handlers);
    if (c->req->head) {
        rest_call__stream_end(c);
        return;
    }
    b->snapshot = store_snapshot_new(engine_store(c->rest->config.engine));
    b->options.first_summed = rest_backup_sums__first_row(b->snapshot);
    post_turn(b);
}

/* clang-format off */
static const struct rest_route rows[] = {
    /* method   pattern                 roles       flags         in    handler        cost  answer                                    doc */
    {HTTP_GET, "/api/v1/admin/backup",  ROLE_ADMIN, ROUTE_LEADER, NULL, handle_backup, NULL, "200 {namespace, created_at, jobs, meta}", "Back up a namespace as a consistent snapshot."},
};
/* clang-format on */

static const struct rest_query queries[] = {
    {HTTP_GET, "/api/v1/admin/backup", &backup_schema},
};

const struct rest_routes rest_backup_routes = {
    .rows = rows, .count = COUNT_OF(rows), .queries = queries, .query_count = COUNT_OF(queries)};
