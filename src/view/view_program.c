/*
 * Payload_jq in the complete jq language. Payloads of rows that match all other conditions are sent
 * to a child process in blocks. One walk over the statement gives both page and total, so that each
 * row is evaluated once.
 *
 * The child of a reader is kept for some time after the search. A client that reads page after
 * page, or changes all matches in chunks, uses the same program again, and starting and compiling
 * takes as long as evaluating five thousand rows.
 */
#include <stdlib.h>

#include "base/check.h"
#include "base/clock.h"
#include "base/limits.h"
#include "os/os_clock.h"
#include "view/view_program_int.h"

enum { KEEP_S = 10 };

struct walk {
    struct view_reader *r;
    struct view_program *p;
    sqlite3_stmt *rows, *payload;
    int num;          /* column with the number of the texts */
    struct id *asked; /* jobs whose payloads are in the block; at most JQBOX_TEXTS_MAX */
    size_t asked_count;
};

static enum err_code open_box(struct view_reader *r, struct str program, struct err *err)
{
    if (jqbox_fits(r->box, program)) {
        return ERR_OK;
    }
    jqbox_close(TAKE(r->box));
    return jqbox_open(program, r->deadline_ns, &r->box, err);
}

/* Evaluate the block and add its matches to the result. */
static enum err_code judge(struct walk *w, struct err *err)
{
    struct view_program *p = w->p;
    const bool *match = NULL;
    size_t count = 0;
    if (jqbox_ask(w->r->box, w->r->deadline_ns, &match, &count, err) != ERR_OK) {
        return err->code;
    }
    CHECK(count == w->asked_count);
    for (size_t i = 0; i < count; i++) {
        if (match[i] && p->total++ >= p->skip && p->count < p->max) {
            p->ids[p->count++] = w->asked[i];
        }
    }
    w->asked_count = 0;
    return ERR_OK;
}

/* Add the payload of the row to the block. A full block is evaluated first. If that fails, the
 * block is still full, and the row must not be counted in it. */
static enum err_code add_payload(struct walk *w, struct str text, struct err *err)
{
    if (text.len > LIMIT_OP_BYTES) {
        return err_set(err, ERR_CORRUPT, "view: a payload has %zu bytes", text.len);
    }
    if (!jqbox_add(w->r->box, text)) {
        if (judge(w, err) != ERR_OK) {
            return err->code;
        }
        bool added = jqbox_add(w->r->box, text);
        CHECK(added); /* a text always fits into an empty block */
    }
    CHECK(w->asked_count < JQBOX_TEXTS_MAX);
    w->asked[w->asked_count++] = view_sql__id(w->rows, 0);
    return ERR_OK;
}

static enum err_code put_row(struct walk *w, struct err *err)
{
    bool there = false;
    (void)sqlite3_bind_int64(w->payload, 1, sqlite3_column_int64(w->rows, w->num));
    enum err_code code = view_sql__step(w->r->db, w->payload, &there, err);
    if (code == ERR_OK && there) {
        code = add_payload(w, view_sql__text(w->payload, 0), err);
    }
    (void)sqlite3_reset(w->payload);
    return code;
}

static enum err_code walk_rows(struct walk *w, struct err *err)
{
    sqlite3 *db = w->r->db;
    bool row = false;
    bool enough = false;
    enum err_code code = view_sql__step(db, w->rows, &row, err);
    while (code == ERR_OK && row && !enough) {
        code = put_row(w, err);
        enough = !w->p->all && w->p->count == w->p->max;
        if (code == ERR_OK && !enough) {
            code = view_sql__step(db, w->rows, &row, err);
        }
    }
    return code == ERR_OK ? judge(w, err) : code; /* the block must be empty for the next search */
}

enum err_code view_program__check(struct view_reader *r, struct str program, struct err *err)
{
    enum err_code code = open_box(r, program, err);
    r->box_until_ns = os_clock_mono().ns + KEEP_S * NS_PER_S;
    return code;
}

enum err_code view_program__select(struct view_reader *r, struct view_program *p,
                                   sqlite3_stmt *rows, int num, struct err *err)
{
    struct walk w = {.r = r, .p = p, .rows = rows, .num = num};
    p->count = 0;
    p->total = 0;
    w.asked = calloc(JQBOX_TEXTS_MAX, sizeof *w.asked);
    CHECK(w.asked != NULL);
    enum err_code code = view_sql__prepare(
        r->db, "SELECT " VIEW_PAYLOAD " FROM texts t WHERE t.num = ?", &w.payload, err);
    if (code == ERR_OK) {
        code = open_box(r, p->text, err);
    }
    if (code == ERR_OK) {
        jqbox_watch(r->box, r->ask == NULL ? NULL : &r->ask->until_ns);
        code = walk_rows(&w, err);
    }
    (void)sqlite3_finalize(w.payload);
    free(w.asked);
    if (code != ERR_OK) {
        jqbox_close(TAKE(r->box));
    } else {
        jqbox_watch(r->box, NULL);
    }
    r->box_until_ns = os_clock_mono().ns + KEEP_S * NS_PER_S;
    return code;
}
