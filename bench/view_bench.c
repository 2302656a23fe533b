/*
 * View bench: the time to fill, rebuild and query the view.
 *
 * It fills an engine with jobs in ten queues. Half of them are done, some have failed, some are
 * scheduled or expire, with all priorities, with and without tags and unique keys. It then
 * measures: building the view, indexing the full text, reopening the view, the feed (new and
 * changed jobs, rows per second until the view is complete), and searches. Each search is repeated
 * many times in sequence: some single searches, and every combination of filters that an index
 * serves, with every sort.
 *
 *   view_bench [--dir DIR] [--jobs N] [--feed N] [--asks N]
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include <uv.h>

#include "base/check.h"
#include "base/limits.h"
#include "engine/engine.h"
#include "jqbox/jqbox_child.h"
#include "lib/meter.h"
#include "os/os_clock.h"
#include "os/os_file.h"
#include "view/view.h"
#include "view/view_search.h"
#include "view/view_words.h"

enum { QUEUES = 10, CHUNK = 512, PAYLOAD_MAX = 512 };

struct bench {
    struct engine *engine;
    struct view *view;
    struct view_config config;
    uv_loop_t loop;
    struct mailbox box;
    bool done;
    uint64_t made; /* number of jobs so far */
    struct wall half_made, half_done;
    struct arena *arena;
};

static void wait_done(struct bench *b)
{
    while (!b->done) {
        (void)uv_run(&b->loop, UV_RUN_ONCE);
    }
}

/* Commands, in sequence */

static void op_done(struct engine_op *op)
{
    ((struct bench *)op->data)->done = true;
}

static struct result submit(struct bench *b, const struct command *command)
{
    struct engine_op op;
    struct err err;
    struct result r;
    engine_op_init(&op);
    op.done = op_done;
    op.data = b;
    op.reply_to = &b->box;
    b->done = false;
    enum err_code code = engine_op_prepare(b->engine, &op, command, &err);
    CHECK(code == ERR_OK);
    engine_submit(b->engine, &op);
    wait_done(b);
    CHECK(op.err.code == ERR_OK);
    arena_reset(b->arena);
    bool decoded = result_decode(buf_str(&op.result), b->arena, &r);
    CHECK(decoded);
    CHECK(r.code == ERR_OK);
    engine_op_deinit(&op);
    return r;
}

static struct str queue_name(uint64_t n, char *out)
{
    return str_from(out, (size_t)snprintf(out, 32, "queue.%d", (int)(n % QUEUES)));
}

static void put_in(struct bench *b, uint64_t count)
{
    struct command_new *jobs = calloc(CHUNK, sizeof *jobs);
    char(*payloads)[PAYLOAD_MAX] = calloc(CHUNK, PAYLOAD_MAX);
    char(*names)[32] = calloc(CHUNK, 32);
    char(*keys)[32] = calloc(CHUNK, 32);
    CHECK(jobs != NULL);
    CHECK(payloads != NULL);
    CHECK(names != NULL);
    CHECK(keys != NULL);
    for (uint64_t left = count; left > 0;) {
        b->half_made = left > count / 2 ? os_clock_wall() : b->half_made;
        size_t n = left < CHUNK ? (size_t)left : CHUNK;
        for (size_t i = 0; i < n; i++, b->made++) {
            uint64_t x = b->made * 2654435761U;
            int len = snprintf(payloads[i], PAYLOAD_MAX,
                               "{\"user\":{\"id\":%" PRIu64 ",\"name\":\"customer %" PRIu64
                               "\"},\"action\":\"send_mail\",\"template\":\"welcome-%" PRIu64
                               "\",\"locale\":\"en_GB\",\"body\":\"the quick brown fox jumps over "
                               "the lazy dog again and again\",\"amount\":%" PRIu64 ".50}",
                               b->made, x % 100000, x % 50, x % 1000);
            jobs[i] = (struct command_new){.job = {.queue = queue_name(b->made, names[i]),
                                                   .payload = str_from(payloads[i], (size_t)len),
                                                   .priority = JOB_PRIORITY_NORMAL,
                                                   .backoff = JOB_BACKOFF_EXPONENTIAL,
                                                   .max_retries = JOB_MAX_RETRIES,
                                                   .retry_base_ms = 3600 * 1000,
                                                   .retry_max_ms = 3600 * 1000}};
            if (b->made % 20 == 5 || b->made % 100 == 1) {
                jobs[i].job.priority =
                    b->made % 20 == 5 ? JOB_PRIORITY_HIGH : JOB_PRIORITY_CRITICAL;
            }
            if (b->made % 25 == 11) {
                jobs[i].job.scheduled_at.ns = os_clock_wall().ns + 3600 * NS_PER_S;
            }
            if (b->made % 25 == 13) {
                jobs[i].expire_after_ms = 3600 * 1000;
            }
            if (b->made % 10 == 3) {
                jobs[i].job.tags = STR("{\"env\":\"production\",\"team\":\"growth\"}");
            }
            if (b->made % 20 == 7) {
                int key = snprintf(keys[i], 32, "key-%" PRIu64, b->made);
                jobs[i].job.unique_key = str_from(keys[i], (size_t)key);
                jobs[i].job.unique_period_s = 60;
            }
        }
        struct command c = {.type = COMMAND_ENQUEUE, .enqueue = {.jobs = jobs, .count = n}};
        (void)submit(b, &c);
        left -= n;
    }
    free(jobs);
    free(payloads);
    free(names);
    free(keys);
}

/* Claim and finish this many jobs. One of a thousand fails. */
static void work_off(struct bench *b, uint64_t count)
{
    struct command_ack_item *acks = calloc(CHUNK, sizeof *acks);
    char name[32];
    CHECK(acks != NULL);
    for (uint64_t done = 0; done < count;) {
        b->half_done = done < count / 2 ? os_clock_wall() : b->half_done;
        struct str queue = queue_name(done / CHUNK, name);
        struct command claim = {.type = COMMAND_CLAIM,
                                .claim = {.queues = &queue,
                                          .queue_count = 1,
                                          .worker_id = STR("bench-worker"),
                                          .lease_ms = 3600 * 1000,
                                          .count = CHUNK}};
        struct result r = submit(b, &claim);
        size_t n = r.count;
        for (size_t i = 0; i < n; i++) {
            acks[i] = (struct command_ack_item){.id = r.items[i].id};
        }
        done += CHUNK;
        if (n == 0) {
            continue;
        }
        struct command fail = {.type = COMMAND_FAIL,
                               .fail = {.id = acks[0].id, .error = STR("connection refused")}};
        (void)submit(b, &fail);
        struct command ack = {.type = COMMAND_ACK,
                              .ack = {.items = acks + 1, .count = n - 1, .lenient = true}};
        if (n > 1) {
            (void)submit(b, &ack);
        }
    }
    free(acks);
}

/* The view */

static void open_view(struct bench *b)
{
    struct err err;
    enum err_code code = view_open(&b->config, &b->view, &err);
    CHECK(code == ERR_OK);
}

static void asked(struct view_ask *ask)
{
    ((struct bench *)ask->data)->done = true;
}

static void run_nothing(struct view_ask *ask, struct view_reader *r)
{
    (void)ask;
    (void)r;
}

static void ask(struct bench *b, struct view_ask *a)
{
    a->done = asked;
    a->reply_to = &b->box;
    a->data = b;
    b->done = false;
    view_ask(b->view, a);
    wait_done(b);
}

/* Wait until the view is complete, with or without the full text. */
static void wait_complete(struct bench *b, bool text)
{
    struct view_ask a;
    do {
        a = (struct view_ask){.run = run_nothing, .text = text};
        ask(b, &a);
    } while (a.err.code != ERR_OK || a.lag > 0);
    struct view_status s;
    do {
        view_status(b->view, &s);
        if (text && s.text_lag > 0) {
            a = (struct view_ask){.run = run_nothing, .text = text};
            ask(b, &a);
        }
    } while (text && s.text_lag > 0);
}

static void say(const char *what, uint64_t n, struct meter m)
{
    printf("%-28s %9" PRIu64 " %8.2f s %10.0f /s %8.2f µs CPU\n", what, n, (double)m.wall_ns / 1e9,
           (double)n / ((double)m.wall_ns / 1e9), (double)m.cpu_ns / (double)n / 1e3);
    (void)fflush(stdout);
}

/* Searches */

struct search_ask {
    struct view_ask ask;
    struct view_search search;
    struct view_words words;
    struct arena *arena;
    struct err err;
    bool by_words;
    int64_t cpu_ns; /* sum of all searches */
};

static void run_search(struct view_ask *a, struct view_reader *r)
{
    struct search_ask *s = CONTAINER_OF(a, struct search_ask, ask);
    struct meter start = meter_now();
    s->err.code = ERR_OK;
    enum err_code code = s->by_words ? view_words_find(r, &s->words, s->arena, &s->err)
                                     : view_search_run(r, &s->search, s->arena, &s->err);
    s->cpu_ns += meter_since(start).thread_cpu_ns;
    if (code != ERR_OK) {
        printf("   %s\n", s->err.msg);
    }
}

static int compare_ns(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a;
    int64_t y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

struct answer_times {
    double p50_ms, p99_ms, cpu_ms;
};

static struct answer_times ask_often(struct bench *b, struct search_ask *s, unsigned times)
{
    int64_t *ns = calloc(times, sizeof *ns);
    CHECK(ns != NULL);
    s->arena = arena_new(16 << 20);
    for (unsigned i = 0; i < times; i++) {
        arena_reset(s->arena);
        s->ask = (struct view_ask){.run = run_search};
        int64_t start = os_clock_mono().ns;
        ask(b, &s->ask);
        ns[i] = os_clock_mono().ns - start;
    }
    qsort(ns, times, sizeof *ns, compare_ns);
    struct answer_times t = {.p50_ms = (double)ns[times / 2] / 1e6,
                             .p99_ms = (double)ns[times * 99 / 100] / 1e6,
                             .cpu_ms = (double)s->cpu_ns / times / 1e6};
    arena_free(s->arena);
    free(ns);
    return t;
}

static void measure(struct bench *b, const char *what, struct search_ask *s, unsigned times)
{
    struct answer_times t = ask_often(b, s, times);
    printf("%-44s %9" PRIu64 " %9.2f ms %9.2f ms %9.2f ms\n", what,
           s->by_words ? (uint64_t)s->words.count : s->search.total, t.p50_ms, t.p99_ms, t.cpu_ms);
    (void)fflush(stdout);
}

/* Measure a filter with every sort, in both directions. The table shows the processor time of the
 * slower direction. The last columns are the worst wall time (p99) of all, and the number of
 * results. */
static void measure_sorts(struct bench *b, const char *what, const struct view_filter *f,
                          unsigned asks)
{
    struct answer_times worst = {0};
    uint64_t total = 0;
    printf("%-37s", what);
    for (enum view_sort sort = 0; sort <= VIEW_SORT_FAILED_AT; sort++) {
        double cpu_ms = 0;
        for (unsigned ascending = 0; ascending < 2; ascending++) {
            struct search_ask s = {
                .search = {.filter = f, .sort = sort, .ascending = ascending == 1, .limit = 50}};
            struct answer_times t = ask_often(b, &s, asks);
            cpu_ms = t.cpu_ms > cpu_ms ? t.cpu_ms : cpu_ms;
            worst.p99_ms = t.p99_ms > worst.p99_ms ? t.p99_ms : worst.p99_ms;
            total = s.search.total;
        }
        printf(" %6.2f", cpu_ms);
    }
    printf(" %7.2f %8" PRIu64 "\n", worst.p99_ms, total);
    (void)fflush(stdout);
}

struct filter_row {
    const char *what;
    struct view_filter filter;
};

static void measure_rows(struct bench *b, const struct filter_row *rows, size_t count,
                         unsigned asks)
{
    for (size_t i = 0; i < count; i++) {
        measure_sorts(b, rows[i].what, &rows[i].filter, asks < 10 ? 1 : asks / 10);
    }
}

/* Two tables, so that neither is too large for the stack. */
#define DONE  (1U << JOB_COMPLETED)
#define QUEUE .queue = STR("queue.3")

ATTR_NOINLINE static void measure_states(struct bench *b, unsigned asks)
{
    const struct view_span made = {.after = b->half_made};
    const struct view_span made_before = {.before = b->half_made};
    const struct filter_row rows[] = {
        {"nothing", {.states = 0}},
        {"queue", {QUEUE}},
        {"state", {.states = DONE}},
        {"three states", {.states = DONE | 1U << JOB_PENDING | 1U << JOB_ACTIVE}},
        {"queue, state", {QUEUE, .states = DONE}},
        {"priority", {.has_priority = true, .priority = JOB_PRIORITY_HIGH}},
        {"priority, most have it", {.has_priority = true, .priority = JOB_PRIORITY_NORMAL}},
        {"queue, priority", {QUEUE, .has_priority = true, .priority = JOB_PRIORITY_NORMAL}},
        {"state, priority", {.states = DONE, .has_priority = true, .priority = 2}},
        {"attempt", {.has_attempt_min = true, .attempt_min = 1}},
        {"state, attempt", {.states = DONE, .has_attempt_max = true, .attempt_max = 1}},
        {"queue, state, attempt",
         {QUEUE, .states = DONE, .has_attempt_max = true, .attempt_max = 1}},
        {"errors", {.has_errors_set = true, .has_errors = true}},
        {"no errors", {.has_errors_set = true}},
        {"state, no errors", {.states = DONE, .has_errors_set = true}},
        {"created", {.created = made}},
        {"created, before", {.created = made_before}},
        {"queue, created", {QUEUE, .created = made}},
        {"state, created", {.states = DONE, .created = made_before}},
        {"queue, state, created", {QUEUE, .states = DONE, .created = made_before}},
        {"priority, created", {.has_priority = true, .priority = 2, .created = made}},
        {"state, priority, created",
         {.states = DONE, .has_priority = true, .priority = 2, .created = made_before}},
    };
    measure_rows(b, rows, COUNT_OF(rows), asks);
}

ATTR_NOINLINE static void measure_times(struct bench *b, unsigned asks)
{
    const struct view_span made_before = {.before = b->half_made};
    const struct view_span done = {.after = b->half_done};
    const struct view_span done_before = {.before = b->half_done};
    const struct view_span later = {.after = b->half_made};
    const struct filter_row rows[] = {
        {"completed", {.completed = done}},
        {"completed, before", {.completed = done_before}},
        {"queue, completed", {QUEUE, .completed = done}},
        {"state, completed", {.states = DONE, .completed = done}},
        {"queue, state, completed", {QUEUE, .states = DONE, .completed = done}},
        {"priority, completed", {.has_priority = true, .priority = 2, .completed = done}},
        {"started", {.started = done}},
        {"queue, started", {QUEUE, .started = done}},
        {"state, started", {.states = DONE, .started = done}},
        {"scheduled", {.scheduled = later}},
        {"queue, scheduled", {.queue = STR("queue.1"), .scheduled = later}},
        {"expire", {.expire = later}},
        {"state, expire", {.states = 1U << JOB_PENDING, .expire = later}},
        {"created, completed", {.created = made_before, .completed = done}},
        {"state, started, completed", {.states = DONE, .started = done, .completed = done}},
        {"queue, created, completed", {QUEUE, .created = made_before, .completed = done}},
        {"unique_key", {.unique_key = STR("key-207")}},
    };
    measure_rows(b, rows, COUNT_OF(rows), asks);
}

#undef QUEUE
#undef DONE

static void measure_table(struct bench *b, unsigned asks)
{
    printf("\n%-37s %6s %6s %6s %6s %6s %6s %6s %7s %8s\n", "CPU ms, by", "creatd", "prior",
           "startd", "compl", "attmpt", "schedl", "failed", "p99", "total");
    measure_states(b, asks);
    measure_times(b, asks);
}

static void measure_searches(struct bench *b, unsigned asks)
{
    const struct view_tag tag = {STR("env"), STR("production")};
    const struct wall hour = {.ns = os_clock_wall().ns - 3600 * NS_PER_S};
    const struct {
        const char *what;
        struct view_filter filter;
        enum view_sort sort;
        unsigned share; /* divisor of the number of searches: slow searches run less often */
    } rows[] = {
        {"everything", {.states = 0}, VIEW_SORT_CREATED_AT, 1},
        {"queue", {.queue = STR("queue.3")}, VIEW_SORT_CREATED_AT, 1},
        {"state", {.states = 1U << JOB_COMPLETED}, VIEW_SORT_CREATED_AT, 1},
        {"queue and state",
         {.queue = STR("queue.3"), .states = 1U << JOB_PENDING},
         VIEW_SORT_CREATED_AT,
         1},
        {"failing", {.has_errors_set = true, .has_errors = true}, VIEW_SORT_CREATED_AT, 1},
        {"unique_key", {.unique_key = STR("key-207")}, VIEW_SORT_CREATED_AT, 1},
        {"error_contains", {.error_contains = STR("REFUSED")}, VIEW_SORT_CREATED_AT, 1},
        {"queue, created within the hour",
         {.queue = STR("queue.3"), .created = {.after = hour}},
         VIEW_SORT_CREATED_AT,
         1},
        {"created within the hour", {.created = {.after = hour}}, VIEW_SORT_CREATED_AT, 1},
        {"completed within the hour", {.completed = {.after = hour}}, VIEW_SORT_COMPLETED_AT, 1},
        {"state, completed within the hour",
         {.states = 1U << JOB_COMPLETED, .completed = {.after = hour}},
         VIEW_SORT_COMPLETED_AT,
         1},
        {"state, created within the hour",
         {.states = 1U << JOB_COMPLETED, .created = {.after = hour}},
         VIEW_SORT_CREATED_AT,
         1},
        {"queue and state by attempt",
         {.queue = STR("queue.3"), .states = 1U << JOB_PENDING},
         VIEW_SORT_ATTEMPT,
         1},
        {"queue and tag", {.queue = STR("queue.3"), .tags = &tag, .tag_count = 1}, 0, 10},
        {"queue and part of the payload",
         {.queue = STR("queue.3"), .payload_contains = STR("Welcome-17")},
         VIEW_SORT_CREATED_AT,
         10},
        {"queue and payload_jq",
         {.queue = STR("queue.3"), .payload_jq = STR(".amount > 900")},
         VIEW_SORT_CREATED_AT,
         10},
        {"queue and a program for jq",
         {.queue = STR("queue.3"), .payload_jq = STR(".amount > 900 and .user.id > 5")},
         VIEW_SORT_CREATED_AT,
         50},
        {"everywhere: part of the payload", {.payload_contains = STR("customer 4711")}, 0, 50},
    };
    printf("\n%-44s %9s %12s %12s %12s\n", "search", "total", "p50", "p99", "CPU");
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct search_ask s = {
            .search = {.filter = &rows[i].filter, .sort = rows[i].sort, .limit = 50}};
        unsigned n = asks / rows[i].share;
        measure(b, rows[i].what, &s, n == 0 ? 1 : n);
    }
    static const char *const words[] = {"welcome", "4711", "\"customer 4711\"", "nosuchword"};
    for (size_t i = 0; i < COUNT_OF(words); i++) {
        struct search_ask s = {.by_words = true,
                               .words = {.query = str_from_z(words[i]), .limit = 50}};
        measure(b, words[i], &s, asks / 50 == 0 ? 1 : asks / 50);
    }
}

static void run(struct bench *b, uint64_t jobs, uint64_t feed, unsigned asks)
{
    put_in(b, jobs);
    work_off(b, jobs / 2);
    struct meter start = meter_now();
    open_view(b);
    wait_complete(b, false);
    say("made anew", jobs, meter_since(start));
    start = meter_now();
    wait_complete(b, true);
    say("its full text", jobs, meter_since(start));
    view_close(b->view);
    start = meter_now();
    open_view(b);
    wait_complete(b, false);
    say("opened again", jobs, meter_since(start));
    view_close(b->view);
    work_off(b, 1000);
    start = meter_now();
    open_view(b);
    wait_complete(b, false);
    say("opened again, 2000 behind", jobs, meter_since(start));
    start = meter_now();
    put_in(b, feed);
    struct meter load = meter_since(start);
    wait_complete(b, false);
    struct meter all = meter_since(start);
    say("feed: load", feed, load);
    say("feed: load and rows", feed, all);
    start = meter_now();
    wait_complete(b, true);
    say("feed: full text", feed, meter_since(start));
    start = meter_now();
    work_off(b, feed);
    wait_complete(b, true);
    say("feed: worked off", feed, meter_since(start));
    measure_searches(b, asks);
    measure_table(b, asks);
    view_close(b->view);
}

int main(int argc, char **argv)
{
    struct bench b = {.config = view_config_default()};
    struct err err = {0};
    const char *dir = "bench-data";
    int64_t jobs = 1000000;
    int64_t feed = 100000;
    int64_t asks = 500;
    struct engine_config config = engine_config_default();
    if (jqbox_child_is_asked(argc, argv)) {
        return jqbox_child_main();
    }
    for (int i = 1; i < argc; i++) {
        struct str arg = str_from_z(argv[i]);
        bool has_value = i + 1 < argc;
        if (has_value && str_eq(arg, STR("--dir"))) {
            dir = argv[++i];
        } else if (!(has_value &&
                     ((str_eq(arg, STR("--jobs")) && str_to_i64(str_from_z(argv[++i]), &jobs)) ||
                      (str_eq(arg, STR("--feed")) && str_to_i64(str_from_z(argv[++i]), &feed)) ||
                      (str_eq(arg, STR("--asks")) && str_to_i64(str_from_z(argv[++i]), &asks))))) {
            (void)fprintf(stderr, "view_bench: do not know '%s'\n", argv[i]);
            return 2;
        }
    }
    config.data_dir = dir;
    config.node.durable = false;
    config.retention_ms = 0;
    os_file_discard(dir);
    if (engine_open(&config, &b.engine, &err) != ERR_OK) {
        (void)fprintf(stderr, "view_bench: %s\n", err.msg);
        return 1;
    }
    b.config.engine = b.engine;
    b.config.dir = dir;
    b.config.wait_ms = 60000;
    b.config.ask_ms = 60000;
    b.arena = arena_new(LIMIT_OP_BYTES);
    CHECK(uv_loop_init(&b.loop) == 0);
    mailbox_open(&b.box, &b.loop);
    run(&b, (uint64_t)jobs, (uint64_t)feed, (unsigned)asks);
    engine_close(b.engine);
    mailbox_close(&b.box);
    (void)uv_run(&b.loop, UV_RUN_DEFAULT);
    mailbox_deinit(&b.box);
    CHECK(uv_loop_close(&b.loop) == 0);
    arena_free(b.arena);
    os_file_discard(dir);
    return 0;
}
