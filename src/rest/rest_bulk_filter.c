/*
 * Bulk operations by filter (http-api.md 11, 10.1): the view finds the jobs.
 *
 * An operation must not miss a matching job, so the query is repeated if the view is behind. A
 * request does this a limited number of times, and then gets the view's lag.
 */
#include <stdlib.h>

#include "base/check.h"
#include "base/limits.h"
#include "engine/engine_cluster.h"
#include "rest/rest_bulk_int.h"
#include "rest/rest_search_int.h"
#include "svc/svc_bulk.h"

enum { LATE_MAX = 4 }; /* retries; each waits for the view as a search does */

/* A decoded filter needs a few times its own size. */
enum { FIND_ARENA_BYTES = 16 * LIMIT_BULK_FILTER_BYTES };

/* Decode a filter for the caller. The sort order is ignored, but an unknown one is refused as in a
 * search. */
static bool read_filter(struct rest_call *c, struct str json, struct view_filter *out,
                        struct err *err)
{
    struct rest_search_in in;
    enum view_sort ignored;
    return json_schema_decode(&rest_search__schema, json, c->arena, &in, err) == ERR_OK &&
           rest_search__sort(in.sort, &ignored, err) && rest_search__filter(c, &in, out, err) &&
           view_search_check(out, err) == ERR_OK;
}

/* A request */

/* The conditions that the state machine checks again, since a job may change after the query of the
 * view. None while a member of the cluster cannot read them. */
static struct job_fit fit_of(const struct rest_call *c, const struct view_filter *f)
{
    if (engine_cluster_reads(c->rest->config.engine) < COMMAND_ENTRY_STRICT_NAMED) {
        return (struct job_fit){0};
    }
    return (struct job_fit){.states = f->states,
                            .priorities = f->has_priority ? 1U << f->priority : 0,
                            .queue = f->queue};
}

struct found {
    struct view_filter filter;
    uint64_t matched, applicable;
    struct view_page page;
    unsigned late; /* how often the view was behind */
    void (*then)(struct rest_call *c, const struct rest_bulk_found *f);
};

/* Count the matching jobs, and those that the action would change. */
static enum err_code count_both(const struct rest_call *c, struct view_reader *r, struct found *f,
                                struct err *err)
{
    const struct rest_bulk *b = c->data;
    struct view_filter narrow = f->filter;
    narrow.states = b->states;
    narrow.states &= f->filter.states == 0 ? narrow.states : f->filter.states;
    if (view_search_count(r, &f->filter, c->arena, &f->matched, err) != ERR_OK) {
        return err->code;
    }
    return narrow.states == 0 ? ERR_OK
                              : view_search_count(r, &narrow, c->arena, &f->applicable, err);
}

/* Find the jobs, on the view's thread; if there are many, count them instead. */
static void look(struct rest_call *c, struct view_reader *r)
{
    const struct rest_bulk *b = c->data;
    struct found *f = b->found;
    enum err_code code = ERR_OK;
    f->matched = f->applicable = 0;
    if (b->dry_run) {
        code = count_both(c, r, f, &c->ask_err);
    } else if (!b->async) {
        f->page = (struct view_page){.filter = &f->filter, .max = LIMIT_BULK_SYNC + 1};
        code = view_search_page(r, &f->page, c->arena, &c->ask_err);
    }
    if (code == ERR_OK && !b->dry_run && (b->async || f->page.count > LIMIT_BULK_SYNC)) {
        code = view_search_count(r, &f->filter, c->arena, &f->matched, &c->ask_err);
    }
    c->ask_err.code = code;
    if (code == ERR_VALIDATION) { /* an invalid payload_jq program, which only the view detects */
        (void)err_wrap(&c->ask_err, "filter");
        c->ask_err.code = ERR_BULK;
    }
}

static void looked(struct rest_call *c)
{
    const struct rest_bulk *b = c->data;
    struct found *f = b->found;
    if (c->ask.lag > 0 && ++f->late <= LATE_MAX) {
        buf_deinit(&c->answer);
        rest_call__on_view(c, look, looked);
        return;
    }
    f->then(c, &(struct rest_bulk_found){.ids = f->page.ids,
                                         .count = f->page.count,
                                         .matched = f->matched,
                                         .applicable = f->applicable,
                                         .lag = c->ask.lag});
}

void rest_bulk_filter__find(struct rest_call *c,
                            void (*then)(struct rest_call *c, const struct rest_bulk_found *f))
{
    struct rest_bulk *b = c->data;
    struct found *f = REST_NEW(c, struct found);
    struct err err;
    b->found = f;
    f->then = then;
    if (!rest_search__members_known(b->filter, &err)) {
        rest_call__fail(c, ERR_VALIDATION, "filter: %s", err.msg);
        return;
    }
    if (!read_filter(c, b->filter, &f->filter, &err)) {
        rest_call__fail(c, err.code == ERR_FORBIDDEN ? ERR_FORBIDDEN : ERR_BULK, "filter: %s",
                        err.msg);
        return;
    }
    b->fit = fit_of(c, &f->filter);
    c->ask_kind = view_search_kind(&f->filter);
    c->ask_patient = true;
    rest_call__on_view(c, look, looked);
}

/* In the background */

struct finder {
    struct view_ask ask;
    struct svc_bulk_page *page;
    struct rest_call call; /* without a client: only a namespace, a scope and an arena */
    struct view_filter filter;
};

static void run_find(struct view_ask *ask, struct view_reader *r)
{
    struct finder *f = ask->data;
    struct svc_bulk_page *p = f->page;
    struct view_page page = {
        .filter = &f->filter, .after = p->after, .until = p->until, .max = LIMIT_BULK_CHUNK};
    if (view_search_page(r, &page, f->call.arena, &p->err) != ERR_OK) {
        return;
    }
    if (arena_error(f->call.arena) != ERR_OK) {
        (void)err_set(&p->err, ERR_TOO_LARGE, "the filter needs too much memory");
        return;
    }
    CHECK(page.count <= LIMIT_BULK_CHUNK);
    p->err.code = ERR_OK;
    p->count = page.count;
    if (page.count > 0) {
        memcpy(p->ids, page.ids, page.count * sizeof *page.ids);
    }
}

static void find_done(struct view_ask *ask)
{
    struct finder *f = ask->data;
    struct svc_bulk_page *p = f->page;
    if (ask->err.code != ERR_OK) {
        p->err = ask->err;
    } else if (p->err.code == ERR_OK && ask->lag > 0) {
        (void)err_set(&p->err, ERR_OVERLOADED, "the search index is behind"); /* retried */
    }
    arena_free(f->call.arena);
    free(f);
    svc_bulk_found(p);
}

void rest_bulk_filter_find(void *view, struct svc_bulk_page *page)
{
    struct finder *f = calloc(1, sizeof *f);
    CHECK(f != NULL);
    f->page = page;
    f->call.arena = arena_new(FIND_ARENA_BYTES);
    f->call.ns = page->ns;
    f->call.caller.scope = page->scope;
    /* Older versions stored filters with unknown members, which they ignored. */
    bool good = rest_search__members_known(page->filter, &page->err) &&
                read_filter(&f->call, page->filter, &f->filter, &page->err);
    if (good && arena_error(f->call.arena) != ERR_OK) {
        (void)err_set(&page->err, ERR_TOO_LARGE, "the filter needs too much memory");
        good = false;
    }
    if (!good) {
        arena_free(f->call.arena);
        free(f);
        svc_bulk_found(page);
        return;
    }
    f->ask = (struct view_ask){.run = run_find,
                               .done = find_done,
                               .reply_to = page->reply_to,
                               .data = f,
                               .patient = true,
                               .kind = view_search_kind(&f->filter)};
    view_ask(view, &f->ask);
}
