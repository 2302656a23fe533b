/*
 * Compute a page and its total in one scan of everything that can match. Of the rows, only the
 * first ones in sort order are kept, in a heap with the last of them on top.
 */
#include <stdlib.h>

#include "base/check.h"
#include "view/view_query_int.h"

struct item {
    int64_t value;
    struct id id;
};

struct pass {
    struct item *items; /* a heap: each item is behind its children, 2i + 1 and 2i + 2 */
    size_t count, max;
    bool ascending;
    uint64_t total;
};

static bool is_behind(const struct pass *p, const struct item *a, const struct item *b)
{
    bool later = a->value != b->value ? a->value > b->value : id_cmp(a->id, b->id) > 0;
    return later == p->ascending;
}

static void swap(struct item *a, struct item *b)
{
    struct item t = *a;
    *a = *b;
    *b = t;
}

static void sink(struct pass *p, size_t at)
{
    for (;;) {
        size_t child = 2 * at + 1;
        if (child >= p->count) {
            return;
        }
        if (child + 1 < p->count && is_behind(p, &p->items[child + 1], &p->items[child])) {
            child++;
        }
        if (!is_behind(p, &p->items[child], &p->items[at])) {
            return;
        }
        swap(&p->items[child], &p->items[at]);
        at = child;
    }
}

static void keep(struct pass *p, const struct item *item)
{
    p->total++;
    if (p->count < p->max) {
        size_t at = p->count++;
        p->items[at] = *item;
        while (at > 0 && is_behind(p, &p->items[at], &p->items[(at - 1) / 2])) {
            swap(&p->items[at], &p->items[(at - 1) / 2]);
            at = (at - 1) / 2;
        }
    } else if (p->max > 0 && is_behind(p, &p->items[0], item)) {
        p->items[0] = *item;
        sink(p, 0);
    }
}

static enum err_code look(struct view_query *q, struct pass *p, struct err *err)
{
    sqlite3 *db = q->r->db;
    sqlite3_stmt *st = NULL;
    bool row = false;
    enum err_code code = view_query__prepare(q, &st, err);
    if (code == ERR_OK) {
        code = view_sql__step(db, st, &row, err);
    }
    while (code == ERR_OK && row) {
        struct item item = {.value = sqlite3_column_int64(st, 1), .id = view_sql__id(st, 0)};
        keep(p, &item);
        code = view_sql__step(db, st, &row, err);
    }
    (void)sqlite3_finalize(st);
    return code;
}

/* Fill the page from its end, because the last item is on top. */
static void read_page(struct pass *p, struct view_search *s)
{
    size_t found = p->count;
    s->count = found > s->offset ? found - (size_t)s->offset : 0;
    while (p->count > s->offset) {
        p->count--;
        s->ids[p->count - (size_t)s->offset] = p->items[0].id;
        p->items[0] = p->items[p->count];
        sink(p, 0);
    }
}

enum err_code view_pass__run(struct view_query *q, struct view_search *s, struct err *err)
{
    char what[64];
    struct pass p = {.ascending = q->ascending, .max = (size_t)s->offset + s->limit};
    /* Usually the first rows in sort order are read first, and nearly all others are not kept. */
    struct view_plan_cells cells = {.end = q->cell_count, .wanted = true, .by_id = true};
    enum err_code code = ERR_OK;
    CHECK(p.max <= VIEW_PASS_MAX);
    p.items = calloc(p.max == 0 ? 1 : p.max, sizeof *p.items);
    CHECK(p.items != NULL);
    (void)snprintf(what, sizeof what, "j.id, %s", view_plan__sort_column(q));
    while (code == ERR_OK && view_plan__write_scan(q, what, &cells)) {
        code = look(q, &p, err);
    }
    if (code == ERR_OK) {
        s->total = p.total;
        read_page(&p, s);
    }
    free(p.items);
    return code;
}
