/*
 * Searches, compared with a plain scan of every document.
 */
#include "view/view_search.h"

#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/limits.h"
#include "json/json_scan.h"
#include "lib/expect.h"
#include "lib/rng.h"
#include "lib/test.h"
#include "store/store_job.h"
#include "store/store_rows.h"
#include "store/store_walk.h"
#include "view/view_int.h"
#include "view/view_jq.h"
#include "view_kit.h"

enum { JOBS = 400, SEARCHES = 3000 };

struct doc {
    struct job job;
    struct buf bytes;
    struct buf errors; /* texts, each followed by a NUL */
};

/* The data of all tests, created once. */
struct world {
    struct view_kit *kit;
    struct doc *docs; /* in the order of ids */
    size_t count;
};

/* Creating jobs of all kinds */

static const char *const queues[] = {"mail", "mail.fast", "ns::a", "ns::b", "other::a"};
#define FILL_128                                                                                   \
    "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"                             \
    "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define FILL_1024 FILL_128 FILL_128 FILL_128 FILL_128 FILL_128 FILL_128 FILL_128 FILL_128
static const char *const payloads[] = {"{\"n\":1,\"word\":\"Hello\"}",
                                       "{\"n\":1,\"word\":\"Hello\",\"fill\":\"" FILL_1024 "\"}",
                                       "{\"n\":2,\"list\":[\"x\",\"y\"]}",
                                       "{\"n\":-3.5,\"s\":\"100%_sure\"}",
                                       "\"just text\"",
                                       "null",
                                       "{\"n\":\"2\",\"deep\":{\"a\":1}}",
                                       "[1,2,3]"};
static const char *const tags[] = {"", "{\"env\":\"prod\"}", "{\"env\":\"test\",\"a\\\"b\":\"c\"}",
                                   "{\"n\":\"5\",\"ok\":\"true\"}"};
static const char *const errors[] = {"Connection refused", "time out after 5s", "100%_sure"};
static const char *const keys[] = {"", "", "key-1", "key-2"};
static const char *const parents[] = {"", "", "job_parent", "it's \"quoted\""};

#define FIRST  "job_00000000000000000000000001"
#define SECOND "job_00000000000000000000000002"
static const char *const configs[] = {"",
                                      "",
                                      "{\"steps\":[]}",
                                      "{\"depends_on\":[\"" FIRST "\"]}",
                                      "{\"depends_on\":[\"" SECOND "\",\"" FIRST "\",\"" SECOND
                                      "\"]}",
                                      "{\"depends_on\":[7,\"no id\",\"" SECOND "\"],\"a\":1}",
                                      "{\"depends_on\":\"" FIRST "\"}"};
static const char *const depended[] = {FIRST, SECOND, "job_00000000000000000000000003"};

static struct str any(struct rng *rng, const char *const *list, size_t count)
{
    return str_from_z(list[rng_below(rng, count)]);
}
#define ANY(rng, list) any((rng), (list), COUNT_OF(list))

static struct command_new random_job(struct rng *rng, unsigned i)
{
    static char unique[JOBS][16];
    const char *queue = queues[rng_below(rng, COUNT_OF(queues))];
    struct command_new n = engine_kit_new_job(queue);
    struct job *j = &n.job;
    j->payload = ANY(rng, payloads);
    j->tags = ANY(rng, tags);
    j->priority = (uint8_t)rng_below(rng, 3);
    j->retry_base_ms = j->retry_max_ms = 3600 * 1000;
    j->max_retries = (uint32_t)rng_below(rng, 3) + 1;
    j->parent_id = ANY(rng, parents);
    j->chain_id = ANY(rng, keys);
    j->chain_config = ANY(rng, configs);
    j->has_chain_step = rng_below(rng, 4) == 0;
    j->chain_step = j->has_chain_step ? (int32_t)rng_below(rng, 3) - 1 : 0;
    if (rng_below(rng, 4) == 0) {
        int len = snprintf(unique[i], sizeof unique[i], "unique-%u", i);
        j->unique_key = str_from(unique[i], (size_t)len);
        j->unique_period_s = 3600;
    }
    if (rng_below(rng, 5) == 0) {
        j->scheduled_at.ns = 4000000000000000000 + (int64_t)rng_below(rng, 1000) * NS_PER_S;
    }
    if (rng_below(rng, 5) == 0) {
        n.expire_after_ms = 3600 * 1000 + (int64_t)rng_below(rng, 1000);
    }
    return n;
}

static void fail_job(struct view_kit *k, struct id id, struct rng *rng)
{
    struct command c = {.type = COMMAND_FAIL, .fail = {.id = id, .error = ANY(rng, errors)}};
    (void)engine_kit_do(k->engine, &c);
}

static void work(struct view_kit *k, struct rng *rng)
{
    struct id id = engine_kit_claim(k->engine, queues[rng_below(rng, COUNT_OF(queues))]);
    if (id_is_none(id)) {
        return;
    }
    switch (rng_below(rng, 4)) {
    case 0:
        break; /* stays active */
    case 1:
        engine_kit_ack(k->engine, id);
        break;
    default:
        fail_job(k, id, rng);
        if (rng_below(rng, 2) == 0) {
            struct command retry = {.type = COMMAND_JOBS,
                                    .jobs = {.action = COMMAND_JOB_RETRY, .ids = &id, .count = 1}};
            (void)engine_kit_do(k->engine, &retry); /* refused unless it is dead */
        }
        break;
    }
}

static void some_action(struct view_kit *k, struct rng *rng, struct id id)
{
    static const enum command_job_action actions[] = {COMMAND_JOB_CANCEL, COMMAND_JOB_HOLD,
                                                      COMMAND_JOB_DELETE};
    struct command c = {
        .type = COMMAND_JOBS,
        .jobs = {.action = actions[rng_below(rng, COUNT_OF(actions))], .ids = &id, .count = 1}};
    (void)engine_kit_do(k->engine, &c);
}

/* The documents */

static void keep_error(void *data, const struct store_error *e)
{
    struct buf *out = data;
    buf_add_str(out, e->error);
    buf_add_char(out, '\0');
}

static void load(struct world *w)
{
    struct store *store = engine_store(w->kit->engine->engine);
    struct store_walk *walk = store_walk_new(store);
    struct err err;
    struct str bytes;
    struct id id;
    w->docs = calloc(JOBS, sizeof *w->docs);
    CHECK(w->docs != NULL);
    while (store_walk_next(walk, &id, &bytes)) {
        struct doc *d = &w->docs[w->count++];
        buf_init(&d->bytes, SIZE_MAX);
        buf_init(&d->errors, SIZE_MAX);
        buf_add_str(&d->bytes, bytes);
        enum err_code code = store_job_decode(id, buf_str(&d->bytes), &d->job, &err);
        CHECK(code == ERR_OK);
        store_rows_each_error(store, id, keep_error, &d->errors);
    }
    store_walk_free(walk);
}

static int make_world(void **state)
{
    struct world *w = calloc(1, sizeof *w);
    struct rng rng = rng_from(7);
    CHECK(w != NULL);
    w->kit = view_kit_open(NULL);
    for (unsigned i = 0; i < JOBS; i++) {
        struct id id = engine_kit_put(w->kit->engine, random_job(&rng, i));
        if (rng_below(&rng, 2) == 0) {
            work(w->kit, &rng);
        }
        if (rng_below(&rng, 8) == 0) {
            some_action(w->kit, &rng, id);
        }
    }
    load(w);
    view_kit_check(w->kit);
    *state = w;
    return 0;
}

static int end_world(void **state)
{
    struct world *w = *state;
    for (size_t i = 0; i < w->count; i++) {
        buf_deinit(&w->docs[i].bytes);
        buf_deinit(&w->docs[i].errors);
    }
    free(w->docs);
    view_kit_close(w->kit);
    free(w);
    return 0;
}

/* The plain scan */

static bool has_part(struct str s, struct str part)
{
    for (size_t i = 0; i + part.len <= s.len; i++) {
        if (str_eq_nocase(str_from(s.ptr + i, part.len), part)) {
            return true;
        }
    }
    return false;
}

static bool in_span(struct view_span span, struct wall at)
{
    return (span.after.ns == 0 || (at.ns != 0 && at.ns > span.after.ns)) &&
           (span.before.ns == 0 || (at.ns != 0 && at.ns < span.before.ns));
}

static bool is_or_unset(struct str wanted, struct str got)
{
    return wanted.len == 0 || str_eq(wanted, got);
}

static bool tags_match(const struct view_filter *f, const struct job *j)
{
    for (size_t i = 0; i < f->tag_count; i++) {
        struct json_value v;
        if (!json_scan_member(j->tags, f->tags[i].key, &v)) {
            return false;
        }
        bool equal = v.type == JSON_TYPE_STRING ? json_value_text_eq(v, f->tags[i].value)
                                                : str_eq(v.text, f->tags[i].value);
        if (!equal) {
            return false;
        }
    }
    return true;
}

static bool errors_match(const struct view_filter *f, const struct doc *d)
{
    if (f->has_errors_set && (d->errors.len > 0) != f->has_errors) {
        return false;
    }
    if (f->error_contains.len == 0) {
        return true;
    }
    for (size_t at = 0; at < d->errors.len;) {
        struct str text = str_from_z(d->errors.ptr + at);
        if (has_part(text, f->error_contains)) {
            return true;
        }
        at += text.len + 1;
    }
    return false;
}

static bool place_matches(const struct view_filter *f, const struct job *j)
{
    char prefix[64];
    int len = snprintf(prefix, sizeof prefix, STR_FMT "::", STR_ARG(f->ns));
    return (f->ns.len == 0 || str_starts_with(j->queue, str_from(prefix, (size_t)len))) &&
           is_or_unset(f->queue, j->queue) && (f->states == 0 || (f->states & 1U << j->state) != 0);
}

static bool times_match(const struct view_filter *f, const struct job *j)
{
    return in_span(f->created, j->created_at) && in_span(f->scheduled, j->scheduled_at) &&
           in_span(f->started, j->started_at) && in_span(f->completed, j->completed_at) &&
           in_span(f->expire, j->expire_at);
}

/* The id must be in a list. As a plain text, it is not a dependency. */
static bool depends_matches(const struct view_filter *f, const struct job *j)
{
    return f->depends_on.len == 0 || (has_part(j->chain_config, f->depends_on) &&
                                      has_part(j->chain_config, STR("depends_on\":[")));
}

static bool origin_matches(const struct view_filter *f, const struct job *j)
{
    char id[ID_TEXT_MAX];
    size_t len = id_format(j->id, ID_JOB, id);
    return is_or_unset(f->unique_key, j->unique_key) && is_or_unset(f->worker_id, j->worker_id) &&
           is_or_unset(f->parent_id, j->parent_id) && is_or_unset(f->chain_id, j->chain_id) &&
           depends_matches(f, j) && str_starts_with(str_from(id, len), f->job_id_prefix) &&
           (!f->has_chain_step || (j->has_chain_step && j->chain_step == f->chain_step));
}

/* Programs, and equivalent expressions in the small language. */
static const struct {
    const char *program, *expression;
} programs[] = {
    {"(.n) == 2", ".n == 2"},
    {"(.n | type) == \"number\" and .n > 0", ".n > 0"},
    {"select((.n | type) == \"number\" and .n > 0) | true", ".n > 0"},
};

static struct str in_small_language(struct str expression)
{
    for (size_t i = 0; i < COUNT_OF(programs); i++) {
        if (str_eq(expression, str_from_z(programs[i].program))) {
            return str_from_z(programs[i].expression);
        }
    }
    return expression;
}

static bool payload_matches(const struct view_filter *f, const struct job *j)
{
    struct arena *a = arena_new(1 << 16);
    struct view_jq jq;
    struct err err;
    bool match = has_part(j->payload, f->payload_contains);
    if (f->payload_jq.len > 0) {
        enum err_code code = view_jq_parse(in_small_language(f->payload_jq), a, &jq, &err);
        CHECK(code == ERR_OK);
        match = match && view_jq_matches(&jq, j->payload);
    }
    arena_free(a);
    return match;
}

static bool matches(const struct view_filter *f, const struct doc *d)
{
    const struct job *j = &d->job;
    return place_matches(f, j) && times_match(f, j) && origin_matches(f, j) && tags_match(f, j) &&
           errors_match(f, d) && payload_matches(f, j) &&
           (!f->has_priority || j->priority == f->priority) &&
           (!f->has_attempt_min || j->attempt >= f->attempt_min) &&
           (!f->has_attempt_max || j->attempt <= f->attempt_max);
}

static int64_t sort_value(enum view_sort sort, const struct job *j)
{
    switch (sort) {
    case VIEW_SORT_CREATED_AT:
        return j->created_at.ns;
    case VIEW_SORT_PRIORITY:
        return j->priority;
    case VIEW_SORT_STARTED_AT:
        return j->started_at.ns;
    case VIEW_SORT_COMPLETED_AT:
        return j->completed_at.ns;
    case VIEW_SORT_ATTEMPT:
        return j->attempt;
    case VIEW_SORT_SCHEDULED_AT:
        return j->scheduled_at.ns;
    case VIEW_SORT_FAILED_AT:
        return j->failed_at.ns;
    }
    UNREACHABLE("a sort that does not exist");
}

struct order {
    int64_t value;
    struct id id;
};

static int by_order(const void *a, const void *b)
{
    const struct order *x = a;
    const struct order *y = b;
    int order = (x->value > y->value) - (x->value < y->value);
    return order != 0 ? order : id_cmp(x->id, y->id);
}

/* Write all matches to out, in order. Returns their number. */
static size_t plain_search(const struct world *w, const struct view_search *s, struct order *out)
{
    size_t n = 0;
    for (size_t i = 0; i < w->count; i++) {
        if (matches(s->filter, &w->docs[i])) {
            out[n++] = (struct order){.value = sort_value(s->sort, &w->docs[i].job),
                                      .id = w->docs[i].job.id};
        }
    }
    qsort(out, n, sizeof *out, by_order);
    for (size_t i = 0; !s->ascending && i < n / 2; i++) {
        struct order swap = out[i];
        out[i] = out[n - 1 - i];
        out[n - 1 - i] = swap;
    }
    return n;
}

/* Random filters */

static bool one_in(struct rng *rng, uint64_t n)
{
    return rng_below(rng, n) == 0;
}

static struct view_span span_around(struct rng *rng, struct wall at)
{
    struct view_span span = {0};
    int64_t shift = (int64_t)rng_below(rng, 3) - 1; /* to test that both ends are exclusive */
    if (at.ns != 0 && one_in(rng, 2)) {
        span.after.ns = at.ns + shift;
    }
    if (at.ns != 0 && one_in(rng, 2)) {
        span.before.ns = at.ns - shift;
    }
    return span;
}

static void random_origin(struct rng *rng, const struct job *like, struct view_filter *f,
                          char *prefix)
{
    f->unique_key = one_in(rng, 15) ? like->unique_key : STR_EMPTY;
    f->worker_id = one_in(rng, 15) ? like->worker_id : STR_EMPTY;
    f->parent_id = one_in(rng, 10) ? like->parent_id : STR_EMPTY;
    f->chain_id = one_in(rng, 10) ? like->chain_id : STR_EMPTY;
    f->depends_on = one_in(rng, 10) ? ANY(rng, depended) : STR_EMPTY;
    f->has_chain_step = one_in(rng, 15);
    f->chain_step = like->chain_step;
    if (one_in(rng, 8)) {
        size_t len = id_format(like->id, ID_JOB, prefix);
        f->job_id_prefix = str_from(prefix, rng_below(rng, len + 1));
    }
}

static void random_texts(struct rng *rng, struct view_filter *f, struct view_tag *tag)
{
    static const char *const parts[] = {"hello", "HELLO", "%", "_", "\"n\":2", "x", "nothing"};
    static const char *const error_parts[] = {"REFUSED", "5s", "%_", "nothing"};
    static const char *const expressions[] = {
        ".n == 2", ".n != 2", ".n > 0", ".s == null", ".list | contains(\"x\")", ".deep.a >= 1"};
    static const struct view_tag known_tags[] = {
        {{"env", 3}, {"prod", 4}}, {{"env", 3}, {"nope", 4}}, {{"a\"b", 3}, {"c", 1}},
        {{"n", 1}, {"5", 1}},      {{"ok", 2}, {"true", 4}},  {{"' OR 1=1", 8}, {"x", 1}},
    };
    f->payload_contains = one_in(rng, 6) ? ANY(rng, parts) : STR_EMPTY;
    f->payload_jq = one_in(rng, 6) ? ANY(rng, expressions) : STR_EMPTY;
    if (one_in(rng, 200)) {
        f->payload_jq = str_from_z(programs[rng_below(rng, COUNT_OF(programs))].program);
    }
    f->error_contains = one_in(rng, 8) ? ANY(rng, error_parts) : STR_EMPTY;
    f->has_errors_set = one_in(rng, 6);
    f->has_errors = one_in(rng, 2);
    if (one_in(rng, 6)) {
        *tag = known_tags[rng_below(rng, COUNT_OF(known_tags))];
        f->tags = tag;
        f->tag_count = 1;
    }
}

static void random_filter(const struct world *w, struct rng *rng, struct view_filter *f,
                          struct view_tag *tag, char *prefix)
{
    const struct job *like = &w->docs[rng_below(rng, w->count)].job;
    *f = (struct view_filter){0};
    if (one_in(rng, 3)) {
        f->queue = ANY(rng, queues);
    }
    if (one_in(rng, 4)) {
        f->ns = one_in(rng, 3) ? STR("n") : STR("ns");
    }
    if (one_in(rng, 2)) {
        f->states = (unsigned)rng_below(rng, 1U << (JOB_STATE_COUNT + 1));
    }
    f->has_priority = one_in(rng, 5);
    f->priority = like->priority;
    f->has_attempt_min = one_in(rng, 6);
    f->attempt_min = like->attempt;
    f->has_attempt_max = one_in(rng, 6);
    f->attempt_max = like->attempt;
    f->created = one_in(rng, 5) ? span_around(rng, like->created_at) : (struct view_span){0};
    f->scheduled = one_in(rng, 8) ? span_around(rng, like->scheduled_at) : (struct view_span){0};
    f->started = one_in(rng, 8) ? span_around(rng, like->started_at) : (struct view_span){0};
    f->completed = one_in(rng, 8) ? span_around(rng, like->completed_at) : (struct view_span){0};
    f->expire = one_in(rng, 8) ? span_around(rng, like->expire_at) : (struct view_span){0};
    random_origin(rng, like, f, prefix);
    random_texts(rng, f, tag);
}

static void compare(const struct world *w, struct view_search *s)
{
    struct order wanted[JOBS];
    size_t total = plain_search(w, s, wanted);
    view_kit_search(w->kit, s);
    assert_int_equal(s->total, total);
    size_t from = s->offset < total ? (size_t)s->offset : total;
    size_t left = total - from;
    assert_int_equal(s->count, left < s->limit ? left : s->limit);
    for (size_t i = 0; i < s->count; i++) {
        assert_memory_equal(s->ids[i].b, wanted[from + i].id.b, ID_BYTES);
    }
    assert_int_equal(view_kit_count(w->kit, s->filter), total);
    view_kit_forget(w->kit);
}

static void finds_what_a_look_at_every_document_finds(void **state)
{
    /* All ways to find a page: by a scan, by a walk, by a scan after a walk was tried. */
    static const int64_t scans[] = {1 << 20, 0, 2 * JOBS};
    const struct world *w = *state;
    struct rng rng = rng_from(11);
    for (unsigned i = 0; i < SEARCHES; i++) {
        w->kit->view->config.scan_max = scans[i % COUNT_OF(scans)];
        struct view_filter f;
        struct view_tag tag;
        char prefix[ID_TEXT_MAX];
        random_filter(w, &rng, &f, &tag, prefix);
        struct view_search s = {.filter = &f,
                                .sort = (enum view_sort)rng_below(&rng, VIEW_SORT_FAILED_AT + 1),
                                .ascending = one_in(&rng, 2),
                                .offset = one_in(&rng, 3) ? rng_below(&rng, 60) : 0,
                                .limit = (uint32_t)rng_below(&rng, 50) + 1};
        compare(w, &s);
    }
}

/* Walking all matches in pages */

static void run_page(struct view_kit *k, struct view_reader *r, void *data)
{
    (void)(view_search_page(r, data, k->arena, &k->err) == ERR_OK);
}

static void walks_all_matches_in_pages(void **state)
{
    const struct world *w = *state;
    struct rng rng = rng_from(13);
    for (unsigned i = 0; i < 200; i++) {
        struct order wanted[JOBS];
        struct view_filter f;
        struct view_tag tag;
        char prefix[ID_TEXT_MAX];
        random_filter(w, &rng, &f, &tag, prefix);
        struct view_search all = {.filter = &f, .ascending = true};
        size_t total = plain_search(w, &all, wanted);
        struct id until = w->docs[rng_below(&rng, w->count)].job.id;
        size_t seen = 0;
        struct view_page p = {.filter = &f, .until = until, .max = 7};
        do {
            view_kit_ask(w->kit, false, run_page, &p);
            assert_int_equal(w->kit->err.code, ERR_OK);
            assert_true(p.count <= p.max);
            for (size_t n = 0; n < p.count; n++) {
                assert_true(seen < total);
                assert_true(id_cmp(p.ids[n], until) < 0);
                assert_memory_equal(p.ids[n].b, wanted[seen++].id.b, ID_BYTES);
            }
            p.after = p.count > 0 ? p.ids[p.count - 1] : p.after;
        } while (p.count > 0);
        assert_true(seen == total || id_cmp(wanted[seen].id, until) >= 0);
        view_kit_forget(w->kit);
    }
}

/* Texts with special characters */

static void hostile_texts_are_only_texts(void **state)
{
    static const char *const texts[] = {
        "' OR 1=1 --", "\"; DROP TABLE jobs; --", "%", "_", "?1", ":a", "\x01", "\\", "*", "))((",
    };
    const struct world *w = *state;
    for (size_t i = 0; i < COUNT_OF(texts); i++) {
        struct str t = str_from_z(texts[i]);
        struct view_tag tag = {t, t};
        const struct view_filter rows[] = {
            {.queue = t},
            {.ns = t},
            {.unique_key = t},
            {.worker_id = t},
            {.parent_id = t},
            {.chain_id = t},
            {.depends_on = t},
            {.batch_id = t},
            {.tags = &tag, .tag_count = 1},
            {.job_id_prefix = t},
            {.payload_contains = t},
            {.error_contains = t},
        };
        for (size_t r = 0; r < COUNT_OF(rows) - 2; r++) {
            assert_int_equal(view_kit_count(w->kit, &rows[r]), 0);
        }
        for (size_t r = COUNT_OF(rows) - 2; r < COUNT_OF(rows); r++) {
            struct view_search s = {.filter = &rows[r], .limit = 10};
            compare(w, &s);
        }
    }
    view_kit_check(w->kit);
}

static void a_filter_that_cannot_be_asked_is_refused_before(void **state)
{
    struct view_filter bad = {.payload_jq = STR(".a > null")};
    struct view_filter good = {.payload_jq = STR(".a == 1")};
    struct view_filter many = {.tag_count = LIMIT_TAGS + 1};
    struct err err;
    (void)state;
    assert_int_equal(view_search_check(&bad, &err), ERR_VALIDATION);
    assert_string_equal(err.msg, "unsupported payload_jq expression");
    assert_int_equal(view_search_check(&many, &err), ERR_VALIDATION);
    assert_int_equal(view_search_check(&good, &err), ERR_OK);
}

TEST_GROUP_FIXTURE(view_search, make_world, end_world,
                   cmocka_unit_test(finds_what_a_look_at_every_document_finds),
                   cmocka_unit_test(walks_all_matches_in_pages),
                   cmocka_unit_test(hostile_texts_are_only_texts),
                   cmocka_unit_test(a_filter_that_cannot_be_asked_is_refused_before));
