/*
 * The list of jobs by status (scheduler.md 2.6).
 */
#include <stdlib.h>

#include "base/check.h"
#include "base/id_uuid.h"
#include "base/limits.h"
#include "rest/rest_page_int.h"
#include "rest/sdb/rest_sdb_int.h"
#include "store/store_given.h"
#include "store/store_job.h"

/* Listing in pieces, so that other requests of the thread get their turn. */

enum { PIECE_JOBS = 500, CURSOR_BYTES_MAX = 2 * (8 + LIMIT_JOB_NAME_BYTES) };

struct listed {
    struct str key; /* creation time in seconds, then the name: the order of the list */
    struct id id;
};

struct listing {
    enum rest_sdb_status status;
    struct str prefix; /* prefix of the keys: the queue and a NUL */
    bool given;        /* second part: names assigned by the server */
    struct str after;  /* the last name seen */
    struct id from;    /* next job with an assigned name */
    struct str cursor; /* key of the last row of the previous page; empty: first page */
    size_t limit;      /* 0: all rows */
    unsigned seen;     /* entries examined in this piece */
    bool more;
    struct listed *rows;
    size_t count, cap;
    bool full; /* memory ran out */
};

struct step {
    struct rest_call *c;
    struct listing *l;
};

/* Is the job in this queue, with an assigned name? */
static bool is_given(const struct listing *l, const struct job *j)
{
    return id_uuid_is(j->name, j->id) &&
           str_eq(j->queue, str_from(l->prefix.ptr, l->prefix.len - 1));
}

/* Add the job if it has the requested status. An empty name stands for the assigned name. */
static void add_row(const struct step *s, struct id id, struct str name)
{
    struct listing *l = s->l;
    struct buf doc;
    struct job j;
    struct err err;
    buf_init(&doc, LIMIT_DOC_BYTES);
    if (engine_read_job(s->c->rest->config.engine, id, &doc) &&
        store_job_decode_head(id, buf_str(&doc), &j, &err) == ERR_OK &&
        (name.len > 0 || is_given(l, &j)) && rest_sdb_show__status(&j) == l->status) {
        struct listed *rows = rest_call__grow(s->c, l->rows, l->count, &l->cap, sizeof *l->rows);
        if (rows != NULL) {
            l->rows = rows;
            struct wall second = {.ns = j.created_at.ns / NS_PER_S * NS_PER_S};
            l->rows[l->count++] = (struct listed){
                .key = rest_page__time_key(s->c, second, false, name.len > 0 ? name : j.name),
                .id = j.id};
        }
        l->full |= rows == NULL;
    }
    buf_deinit(&doc);
}

static bool list_one(void *data, struct str rest, struct str value)
{
    const struct step *s = data;
    struct listing *l = s->l;
    struct str name = str_from_offset(rest, l->prefix.len);
    if (l->seen > 0 || !str_eq(name, l->after)) {
        if (l->seen == PIECE_JOBS) {
            l->more = true;
            return false;
        }
        l->seen++;
        l->after = arena_str(s->c->arena, name);
    } else {
        return true; /* the last one of the previous piece */
    }
    if (value.len == ID_BYTES) {
        add_row(s, id_from_bytes(value.ptr), l->after);
    }
    return !l->full;
}

/* Visit the jobs of one log entry. Other jobs may have numbers in between. */
static bool list_entry(void *data, struct str rest, struct str value)
{
    const struct step *s = data;
    struct listing *l = s->l;
    struct store_given g;
    if (rest.len != l->prefix.len + STORE_GIVEN_ENTRY_BYTES || !store_given_decode(value, &g)) {
        return true;
    }
    const char *entry = rest.ptr + l->prefix.len;
    for (uint64_t number = g.first; number <= g.last && !l->full; number++) {
        struct id id = store_given_id(entry, (uint32_t)number);
        if (id_cmp(id, l->from) < 0) {
            continue;
        }
        if (l->seen == PIECE_JOBS) {
            l->more = true;
            l->from = id;
            return false;
        }
        l->seen++;
        add_row(s, id, STR_EMPTY);
    }
    return !l->full;
}

/* A job is found twice if a client chose the name that the server would assign. */
static void drop_repeated(struct listing *l)
{
    size_t kept = 0;
    for (size_t i = 0; i < l->count; i++) {
        if (kept == 0 || !id_eq(l->rows[kept - 1].id, l->rows[i].id)) {
            l->rows[kept++] = l->rows[i];
        }
    }
    l->count = kept;
}

static int by_key(const void *a, const void *b)
{
    return str_cmp(((const struct listed *)a)->key, ((const struct listed *)b)->key);
}

/* Write the rows whose jobs have not changed since. Returns the number of rows written. */
static size_t write_page(struct rest_call *c, struct json_write *w, const struct listing *l,
                         size_t from, size_t to)
{
    struct engine *e = c->rest->config.engine;
    struct buf doc;
    struct err err;
    size_t written = 0;
    buf_init(&doc, LIMIT_DOC_BYTES);
    for (size_t i = from; i < to; i++) {
        struct job j;
        buf_clear(&doc);
        if (engine_read_job(e, l->rows[i].id, &doc) &&
            store_job_decode(l->rows[i].id, buf_str(&doc), &j, &err) == ERR_OK &&
            rest_sdb_show__status(&j) == l->status) {
            rest_sdb_show__state(w, &j, engine_store(e));
            written++;
        }
    }
    buf_deinit(&doc);
    return written;
}

static void reply_list(struct rest_call *c, struct listing *l)
{
    size_t from = 0;
    if (l->count > 1) {
        qsort(l->rows, l->count, sizeof *l->rows, by_key);
        drop_repeated(l);
    }
    while (from < l->count && l->cursor.len > 0 && str_cmp(l->rows[from].key, l->cursor) <= 0) {
        from++;
    }
    size_t to = l->limit > 0 && l->limit < l->count - from ? from + l->limit : l->count;
    struct json_write w = rest_call__json(c);
    json_write_object(&w);
    rest_document__array(&w, "jobs");
    size_t written = write_page(c, &w, l, from, to);
    json_write_end(&w);
    /* jobs that changed between the two reads are not counted */
    rest_document__i64(&w, "total", (int64_t)(l->count - (to - from - written)));
    if (to < l->count) {
        rest_document__text(&w, "next_cursor", rest_page__write_cursor(c, l->rows[to - 1].key));
    }
    json_write_end(&w);
    rest_call__reply(c, 200, &w);
}

static void list_piece(struct rest_call *c)
{
    struct listing *l = c->data;
    struct step s = {.c = c, .l = l};
    struct buf from;
    buf_init(&from, SIZE_MAX);
    buf_add_str(&from, l->prefix);
    l->seen = 0;
    l->more = false;
    if (l->given) {
        buf_add(&from, l->from.b, STORE_GIVEN_ENTRY_BYTES);
        store_each_from(engine_store(c->rest->config.engine), STORE_KIND_GIVEN, l->prefix,
                        buf_str(&from), list_entry, &s);
    } else {
        buf_add_str(&from, l->after);
        store_each_from(engine_store(c->rest->config.engine), STORE_KIND_NAME, l->prefix,
                        buf_str(&from), list_one, &s);
        l->given = !l->more;
        l->more = true;
    }
    buf_deinit(&from);
    if (l->full) {
        rest_call__fail_memory(c, ERR_OVERLOADED);
    } else if (l->more) {
        rest_call__later(c, list_piece);
    } else {
        reply_list(c, l);
    }
}

struct list_in {
    struct str status;
    int64_t limit;
    struct str cursor;
};

static const struct json_field list_rows[] = {
    /* no length limit: an unknown word gets a special response */
    JSON_STR(struct list_in, status, 0, INT32_MAX, 0,
             "pending, in_progress, completed, failed, timeout or cancelled."),
    JSON_I64(struct list_in, limit, 0, INT32_MAX, 0,
             "Maximum number of jobs. Default 0: all jobs."),
    JSON_STR(struct list_in, cursor, 0, CURSOR_BYTES_MAX, 0,
             "Value of next_cursor in the previous response."),
};
const struct json_schema rest_sdb_list__schema = JSON_SCHEMA(struct list_in, list_rows);

void rest_sdb_list__handle(struct rest_call *c)
{
    const struct list_in *in = c->query;
    struct listing *l = REST_NEW(c, struct listing);
    struct str queue;
    struct buf prefix;
    if (in->status.len == 0) {
        rest_sdb_text__fail(c, ERR_VALIDATION, STR("status query parameter is required"));
        return;
    }
    if (!rest_sdb_show__parse(in->status, &l->status)) {
        rest_sdb_text__fail(c, ERR_VALIDATION, STR("invalid status parameter"));
        return;
    }
    if (!rest_page__read_cursor(c, in->cursor, &l->cursor)) {
        rest_sdb_text__fail(c, ERR_VALIDATION, STR("invalid cursor parameter"));
        return;
    }
    l->limit = (size_t)in->limit;
    if (!rest_sdb_create__queue(c, &queue)) {
        return;
    }
    buf_init(&prefix, SIZE_MAX);
    buf_add_str(&prefix, queue);
    buf_add_char(&prefix, '\0');
    l->prefix = rest_call__keep(c, &prefix);
    c->data = l;
    list_piece(c);
}
