/*
 * Several jobs in one request (scheduler.md 22). Each is created or refused separately. Their
 * commands are sent together, so that one log entry contains them.
 */
#include <stdio.h>

#include "base/check.h"
#include "base/limits.h"
#include "json/json_scan.h"
#include "rest/sdb/rest_sdb_int.h"
#include "store/store_job.h"

enum { BATCH_JOBS_MAX = 100, REFUSAL_BYTES_MAX = 2 * REST_SDB_TEXT_BYTES };

struct item {
    struct front_op op;
    struct rest_sdb_creation made;
    struct rest_call *call;
    struct str id;    /* as sent */
    struct id job_id; /* id of the created job */
    bool is_new;
    struct str error; /* why it was not created; empty: it was */
    int status;
};

struct batch {
    struct item *items;
    size_t count;
    size_t under_way;
};

static void refuse(struct item *it, int status, struct str text)
{
    struct buf b;
    buf_init(&b, REFUSAL_BYTES_MAX);
    rest_sdb_text__sanitize(str_at_most(text, REST_SDB_TEXT_BYTES), &b);
    it->error = arena_str(it->call->arena, buf_str(&b));
    it->status = status;
    buf_deinit(&b);
}

static void refuse_full(struct item *it, bool bytes, uint64_t current)
{
    char text[REST_SDB_TEXT_BYTES];
    rest_sdb_create__full(it->call, bytes, current);
    rest_sdb_create__full_text(it->call, bytes, current, it->made.size, text);
    refuse(it, 507, str_from_z(text));
}

static void write_job(struct json_write *w, struct item *it)
{
    struct rest_call *c = it->call;
    struct buf doc;
    struct job j;
    struct err err;
    buf_init(&doc, LIMIT_DOC_BYTES);
    if (it->is_new) {
        rest_sdb_show__new(w, &it->made, it->job_id);
    } else if (engine_read_job(c->rest->config.engine, it->job_id, &doc) &&
               store_job_decode(it->job_id, buf_str(&doc), &j, &err) == ERR_OK) {
        rest_sdb_show__job(w, &j);
    }
    buf_deinit(&doc);
}

static void reply(struct rest_call *c)
{
    struct batch *b = c->data;
    struct json_write w = rest_call__json(c);
    json_write_object(&w);
    rest_document__array(&w, "jobs");
    for (size_t i = 0; i < b->count; i++) {
        if (b->items[i].error.len == 0) {
            write_job(&w, &b->items[i]);
        }
    }
    json_write_end(&w);
    rest_document__array(&w, "errors");
    for (size_t i = 0; i < b->count; i++) {
        const struct item *it = &b->items[i];
        if (it->error.len > 0) {
            json_write_object(&w);
            rest_document__i64(&w, "index", (int64_t)i);
            rest_document__text(&w, "id", it->id);
            rest_document__text(&w, "error", it->error);
            rest_document__i64(&w, "status", it->status);
            json_write_end(&w);
        }
    }
    json_write_end(&w);
    json_write_end(&w);
    rest_call__reply(c, 200, &w);
}

static void note(struct item *it, const struct result *r)
{
    struct rest_call *c = it->call;
    const struct err *err = &it->op.op.err;
    if (r == NULL) {
        refuse(it, err_http_status(err->code), STR("Failed to create job"));
    } else if (r->code == ERR_CONFLICT) {
        refuse(it, 409, STR("Job already exists"));
    } else if (r->code != ERR_OK) {
        refuse(it, err_http_status(r->code), r->message);
    } else if (r->items[0].status == RESULT_NO_BYTES || r->items[0].status == RESULT_NO_PLACE) {
        refuse_full(it, r->items[0].status == RESULT_NO_BYTES, r->items[0].order);
    } else {
        it->job_id = r->items[0].id;
        it->is_new = r->items[0].status != RESULT_DUPLICATE;
        if (it->is_new) {
            (void)atomic_fetch_add(&c->rest->sdb.created[it->made.asked.recurring ? 1 : 0], 1);
        }
    }
}

static void landed(struct front_op *o, const struct result *r)
{
    struct item *it = o->data;
    struct rest_call *c = it->call;
    struct batch *b = c->data;
    note(it, r);
    front_op_deinit(o);
    if (--b->under_way == 0) {
        rest_call__later(c, reply); /* not called if the client disconnected meanwhile */
    }
}

static void send_one(struct rest_call *c, struct str queue, struct wall now, struct json_value v,
                     struct item *it)
{
    struct batch *b = c->data;
    struct command command;
    struct rest_sdb_new *n = &it->made.asked;
    struct str text;
    struct err err;
    it->call = c;
    if (v.type != JSON_TYPE_OBJECT) {
        refuse(it, 400, STR("Invalid request body"));
        return;
    }
    bool sound = rest_sdb_read__new(c, v.text, now, n, &text);
    it->id = n->id;
    if (!sound) {
        refuse(it, 400, text);
        return;
    }
    rest_sdb_create__command(c, queue, now, &it->made, &command);
    it->op.client = &c->client;
    it->op.data = it;
    if (front_op_send(&it->op, c->arena, &command, 0, landed, &err) != ERR_OK) {
        refuse(it, err_http_status(err.code), str_from_z(err.msg));
    } else {
        b->under_way++;
    }
}

/* Count the elements of the array; false if it is not an array. */
static bool count_jobs(struct str object, struct json_value *out, size_t *out_count)
{
    struct json_value v;
    *out_count = 0;
    if (!json_scan_member(object, STR("jobs"), out) || out->type != JSON_TYPE_ARRAY) {
        return false;
    }
    struct json_scan s = json_scan_from(out->text);
    bool sound = json_scan_enter_array(&s);
    while (sound && json_scan_next_element(&s) && json_scan_value(&s, &v)) {
        (*out_count)++;
    }
    return sound;
}

static void send_all(struct rest_call *c, struct str queue, struct str array)
{
    struct wall now = engine_time(c->rest->config.engine);
    struct batch *b = c->data;
    struct json_scan s = json_scan_from(array);
    struct json_value v;
    bool sound = json_scan_enter_array(&s);
    for (size_t i = 0; sound && json_scan_next_element(&s) && json_scan_value(&s, &v); i++) {
        send_one(c, queue, now, v, &b->items[i]);
    }
}

void rest_sdb_batch__handle(struct rest_call *c)
{
    struct batch *b = REST_NEW(c, struct batch);
    struct str object;
    struct str queue;
    struct json_value jobs;
    if (!rest_sdb_read__body(c, &object) || !count_jobs(object, &jobs, &b->count)) {
        rest_sdb_text__fail(c, ERR_VALIDATION, STR("Invalid request body"));
        return;
    }
    if (b->count > BATCH_JOBS_MAX) {
        rest_sdb_text__fail(c, ERR_VALIDATION, STR("jobs: at most 100 per request"));
        return;
    }
    b->items = REST_ARRAY(c, struct item, b->count);
    if (!rest_call__has_memory(c) || !rest_sdb_create__queue(c, &queue)) {
        return;
    }
    c->data = b;
    b->under_way = 1; /* counts this function, until all are sent */
    rest_call__wait(c, reply);
    send_all(c, queue, jobs.text);
    if (--b->under_way == 0) {
        rest_call__later(c, reply);
    }
}
