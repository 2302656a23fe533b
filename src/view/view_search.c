/*
 * Searches: a page with its total, a number, or the next page of a walk.
 */
#include "view/view_search.h"

#include "base/check.h"
#include "base/limits.h"
#include "view/view_jq.h"
#include "view/view_program_int.h"
#include "view/view_query_int.h"

static enum err_code make_room(struct view_query *q, uint32_t max, struct id **out, struct err *err)
{
    *out = ARENA_ARRAY(q->arena, struct id, max == 0 ? 1 : max);
    return *out != NULL ? ERR_OK : err_set(err, ERR_TOO_LARGE, "there is no room for %u ids", max);
}

/* Run a search with a program: page and total. */
static enum err_code ask_program(struct view_query *q, struct view_program *p, struct err *err)
{
    sqlite3_stmt *st = NULL;
    enum { NUM = 2 };
    p->text = q->program;
    if (make_room(q, p->max, &p->ids, err) != ERR_OK) {
        return err->code;
    }
    enum err_code code = view_plan__write_ordered(q, ", j.num AS num", err);
    if (code == ERR_OK) {
        code = view_query__prepare(q, &st, err);
    }
    if (code == ERR_OK) {
        code = view_program__select(q->r, p, st, NUM, err);
    }
    (void)sqlite3_finalize(st);
    return code;
}

/* Read the ids of the page into the arena. */
static enum err_code read_page(struct view_query *q, uint32_t max, struct id **out_ids,
                               size_t *out_count, struct err *err)
{
    sqlite3_stmt *st = NULL;
    bool row = false;
    struct id *ids = NULL;
    *out_count = 0;
    if (make_room(q, max, &ids, err) != ERR_OK || view_plan__write_ordered(q, "", err) != ERR_OK) {
        return err->code;
    }
    buf_printf(&q->sql, " LIMIT ?%d", q->limit);
    if (q->offset > 0) {
        buf_printf(&q->sql, " OFFSET ?%d", q->offset);
    }
    *out_ids = ids;
    if (view_query__prepare(q, &st, err) != ERR_OK) {
        (void)sqlite3_finalize(st);
        return err->code;
    }
    enum err_code code = view_sql__step(q->r->db, st, &row, err);
    while (code == ERR_OK && row && *out_count < max) {
        ids[(*out_count)++] = view_sql__id(st, 0);
        code = view_sql__step(q->r->db, st, &row, err);
    }
    (void)sqlite3_finalize(st);
    return code;
}

/* Public functions */

enum err_code view_search_check(const struct view_filter *f, struct err *err)
{
    struct view_jq jq;
    struct arena *a;
    if (f->tag_count > LIMIT_TAGS) {
        return err_set(err, ERR_VALIDATION, "tags: expected at most %d", LIMIT_TAGS);
    }
    if (f->payload_jq.len == 0) {
        return ERR_OK;
    }
    a = arena_new((size_t)VIEW_JQ_BYTES_MAX * 2);
    enum err_code code = view_jq_parse(f->payload_jq, a, &jq, err);
    arena_free(a);
    return code;
}

enum view_kind view_search_kind(const struct view_filter *f)
{
    struct view_jq jq = {.kind = VIEW_JQ_NULL};
    struct err err;
    if (f->payload_jq.len > 0) {
        struct arena *a = arena_new((size_t)VIEW_JQ_BYTES_MAX * 2);
        bool program =
            view_jq_parse(f->payload_jq, a, &jq, &err) == ERR_OK && jq.kind == VIEW_JQ_PROGRAM;
        arena_free(a);
        return program ? VIEW_KIND_PROGRAM : VIEW_KIND_TEXTS;
    }
    bool texts = f->payload_contains.len > 0 || f->error_contains.len > 0 || f->tag_count > 0 ||
                 f->error_fingerprint.len > 0;
    return texts ? VIEW_KIND_TEXTS : VIEW_KIND_ROWS;
}

enum {
    TRY_SHARE = 32,  /* a scan above 1/TRY_SHARE of its maximum is preceded by an attempt to walk */
    TRY_LOOK = 4000, /* scan entries per clock check of the attempt: a tenth of the scan's time */
};

static enum err_code walk(struct view_query *q, struct view_search *s, struct err *err)
{
    q->limit = view_query__add_i64(q, s->limit);
    q->offset = view_query__add_i64(q, s->offset > INT64_MAX ? INT64_MAX : (int64_t)s->offset);
    return read_page(q, s->limit, &s->ids, &s->count, err);
}

/* The same, but give up after a short time. Returns false in that case. */
static bool walk_soon(struct view_query *q, struct view_search *s, enum err_code *out_code,
                      struct err *err)
{
    struct err failure = {.code = ERR_OK};
    q->r->looks_left = 1 + (unsigned)(q->scan_n / TRY_LOOK);
    *out_code = walk(q, s, &failure);
    bool done = q->r->looks_left > 0;
    q->r->looks_left = 0;
    if (done && *out_code != ERR_OK) {
        *err = failure;
    }
    return done;
}

static enum err_code run_statements(struct view_query *q, struct view_search *s, struct err *err)
{
    enum err_code code = ERR_OK;
    bool known = false;
    bool fits = s->offset <= VIEW_PASS_MAX - (uint64_t)s->limit;
    if (view_total__known(q, &known, &s->total, err) != ERR_OK) {
        return err->code;
    }
    if (q->scan_n == 0) {
        return ERR_OK;
    }
    int64_t scan_max = q->r->view->config.scan_max;
    if (fits && !view_plan__is_straight(q) && (!known || q->scan_n <= scan_max)) {
        if (known && q->scan_n > scan_max / TRY_SHARE && walk_soon(q, s, &code, err)) {
            return code;
        }
        return make_room(q, s->limit, &s->ids, err) == ERR_OK ? view_pass__run(q, s, err)
                                                              : err->code;
    }
    if (walk(q, s, err) != ERR_OK) {
        return err->code;
    }
    return known ? ERR_OK : view_total__count(q, &s->total, err);
}

static enum err_code run_program(struct view_query *q, struct view_search *s, struct err *err)
{
    struct view_program p = {.skip = s->offset, .max = s->limit, .all = true};
    enum err_code code = ask_program(q, &p, err);
    s->ids = p.ids;
    s->count = p.count;
    s->total = p.total;
    return code;
}

enum err_code view_search_run(struct view_reader *r, struct view_search *s, struct arena *a,
                              struct err *err)
{
    struct view_query q;
    enum err_code code = view_query__begin(&q, r, s->filter, a, err);
    s->ids = NULL;
    s->count = 0;
    s->total = 0;
    if (code == ERR_OK && !q.nothing) {
        q.sort = s->sort;
        q.ascending = s->ascending;
        code = view_plan__choose(&q, err);
        if (code == ERR_OK) {
            code = q.program.len > 0 ? run_program(&q, s, err) : run_statements(&q, s, err);
        }
    }
    view_query__end(&q);
    return view__asked(r, code, err);
}

static enum err_code count(struct view_query *q, uint64_t *out, struct err *err)
{
    bool known = false;
    if (view_total__known(q, &known, out, err) != ERR_OK) {
        return err->code;
    }
    return known ? ERR_OK : view_total__count(q, out, err);
}

enum err_code view_search_count(struct view_reader *r, const struct view_filter *f, struct arena *a,
                                uint64_t *out, struct err *err)
{
    struct view_query q;
    enum err_code code = view_query__begin(&q, r, f, a, err);
    *out = 0;
    if (code == ERR_OK && !q.nothing) {
        struct view_program p = {.all = true};
        code = view_plan__choose(&q, err);
        if (code == ERR_OK) {
            code = q.program.len > 0 ? ask_program(&q, &p, err) : count(&q, out, err);
        }
        *out += p.total;
    }
    view_query__end(&q);
    return view__asked(r, code, err);
}

static enum err_code page_of_rows(struct view_query *q, struct view_page *p, struct err *err)
{
    q->limit = view_query__add_i64(q, p->max);
    return read_page(q, p->max, &p->ids, &p->count, err);
}

static enum err_code page_of_program(struct view_query *q, struct view_page *p, struct err *err)
{
    struct view_program program = {.max = p->max};
    enum err_code code = ask_program(q, &program, err);
    p->ids = program.ids;
    p->count = program.count;
    return code;
}

enum err_code view_search_page(struct view_reader *r, struct view_page *p, struct arena *a,
                               struct err *err)
{
    struct view_query q;
    enum err_code code = view_query__begin(&q, r, p->filter, a, err);
    p->ids = NULL;
    p->count = 0;
    if (code == ERR_OK && !q.nothing) {
        q.ascending = true;
        view_query__where(&q, "j.id >", view_query__add_id(&q, p->after));
        if (!id_is_none(p->until)) {
            view_query__where(&q, "j.id <", view_query__add_id(&q, p->until));
        }
        code = view_plan__choose(&q, err);
        if (code == ERR_OK) {
            code = q.program.len > 0 ? page_of_program(&q, p, err) : page_of_rows(&q, p, err);
        }
    }
    view_query__end(&q);
    return view__asked(r, code, err);
}
