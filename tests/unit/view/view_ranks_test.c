/*
 * Ranks: after any changes of jobs, the number of jobs before a moment is the one that a count
 * finds.
 */
#include "lib/rng.h"
#include "lib/test.h"
#include "lib/tmpdir.h"
#include "view/view_int.h"

enum { JOBS = 24000, TURN = 1024, MOMENTS = 1000000, STATES = 2 };

struct world {
    struct tmpdir dir;
    sqlite3 *db;
    struct view_rows rows;
};

static void begin(struct world *w)
{
    struct err err;
    assert_int_equal(view_rows__begin(&w->rows, &err), ERR_OK);
}

static void commit(struct world *w)
{
    struct err err;
    struct view_mark mark = {.complete = 1};
    assert_int_equal(view_rows__commit(&w->rows, &mark, &err), ERR_OK);
}

static void put(struct world *w, struct job j)
{
    struct err err;
    struct view_item item = {.job = j};
    assert_int_equal(view_rows__write(&w->rows, &item, 1, &err), ERR_OK);
}

static void drop(struct world *w, struct id id)
{
    struct err err;
    struct view_item item = {.job.id = id, .gone = true};
    assert_int_equal(view_rows__write(&w->rows, &item, 1, &err), ERR_OK);
}

static void open_world(struct world *w)
{
    struct err err;
    w->dir = tmpdir_new();
    struct os_file_path path = os_file_join(w->dir.path, "view.db");
    assert_int_equal(view_db__open(path.z, VIEW_DB_BUILD, &w->db, &err), ERR_OK);
    assert_int_equal(view_db__create(w->db, &err), ERR_OK);
    assert_int_equal(view_db__create_indexes(w->db, &err), ERR_OK);
    assert_int_equal(view_rows__open(&w->rows, w->db, NULL, &err), ERR_OK);
}

static void close_world(struct world *w)
{
    view_rows__close(&w->rows);
    view_db__close(w->db);
    tmpdir_remove(&w->dir);
}

/* Return a moment. Thousands of jobs share some moments; others belong to one job. */
static int64_t random_moment(struct rng *rng)
{
    switch (rng_below(rng, 4)) {
    case 0:
        return 0;
    case 1:
        return MOMENTS / 2;
    case 2:
        return MOMENTS / 2 + (int64_t)rng_below(rng, 3);
    default:
        return 1 + (int64_t)rng_below(rng, MOMENTS);
    }
}

static struct job job_number(struct rng *rng, uint64_t n, uint64_t version)
{
    struct wall created = {.ns = (1000 + (int64_t)n / 3) * NS_PER_MS};
    return (struct job){.id = id_make(created, n, 0),
                        .version = version,
                        .queue = n % 2 == 0 ? STR("a") : STR("b"),
                        .state = (enum job_state)(version + n / 5) % STATES,
                        .priority = (uint8_t)rng_below(rng, 3),
                        .payload = STR("{}"),
                        .created_at = created,
                        .completed_at = {.ns = random_moment(rng)},
                        .scheduled_at = {.ns = random_moment(rng)},
                        .started_at = {.ns = random_moment(rng)},
                        .failed_at = {.ns = random_moment(rng)},
                        .expire_at = {.ns = (int64_t)n + 1}};
}

static int64_t count(sqlite3 *db, const char *sql, int64_t moment)
{
    struct err err;
    sqlite3_stmt *st = NULL;
    bool row = false;
    assert_int_equal(view_sql__prepare(db, sql, &st, &err), ERR_OK);
    (void)sqlite3_bind_int64(st, 1, moment);
    assert_int_equal(view_sql__step(db, st, &row, &err), ERR_OK);
    int64_t n = sqlite3_column_int64(st, 0);
    (void)sqlite3_finalize(st);
    return n;
}

/* A line, and the moment of its jobs as an SQL expression. */
struct line {
    struct view_line line;
    const char *moment;
};

static int64_t count_line(struct world *w, const struct line *l, int64_t moment)
{
    char sql[256];
    (void)snprintf(sql, sizeof sql,
                   "SELECT count(*) FROM jobs WHERE %s > 0 AND %s < ? AND state = %d"
                   " AND (%d = 0 OR queue = %d)",
                   l->moment, l->moment, (int)l->line.state, (int)l->line.queue,
                   (int)l->line.queue);
    return count(w->db, sql, moment);
}

static void expect_before(struct world *w, const struct line *l, int64_t moment)
{
    struct err err;
    int64_t n = -1;
    struct view_place place = {.moment = moment};
    if (l->line.kind == VIEW_RANK_CREATED) {
        place.id = id_make((struct wall){.ns = moment * NS_PER_MS}, 0, 0);
    }
    assert_int_equal(view_ranks__before(w->db, l->line, place, &n, &err), ERR_OK);
    assert_int_equal(n, count_line(w, l, moment));
}

static void compare(struct world *w, struct rng *rng)
{
    static const struct {
        enum view_rank kind;
        int64_t queue;
        const char *moment;
        int64_t most;
    } rows[] = {
        {VIEW_RANK_CREATED, 0, "created_at / 1000000", 1000 + JOBS / 3},
        {VIEW_RANK_CREATED, 1, "created_at / 1000000", 1000 + JOBS / 3},
        {VIEW_RANK_CREATED, 2, "created_at / 1000000", 1000 + JOBS / 3},
        {VIEW_RANK_COMPLETED, 0, "completed_at", MOMENTS},
        {VIEW_RANK_SCHEDULED, 0, "scheduled_at", MOMENTS},
        {VIEW_RANK_EXPIRE, 0, "expire_at", JOBS},
        {VIEW_RANK_STARTED, 0, "started_at", MOMENTS},
        {VIEW_RANK_FAILED, 0, "failed_at", MOMENTS},
    };
    for (size_t i = 0; i < COUNT_OF(rows) * STATES; i++) {
        const struct line l = {{rows[i / STATES].kind, rows[i / STATES].queue, (int64_t)i % STATES},
                               rows[i / STATES].moment};
        struct err err;
        int64_t all = -1;
        assert_int_equal(view_ranks__all(w->db, l.line, &all, &err), ERR_OK);
        assert_int_equal(all, count_line(w, &l, INT64_MAX));
        for (int64_t d = -1; d <= 4; d++) {
            expect_before(w, &l, MOMENTS / 2 + d);
        }
        for (int n = 0; n < 20; n++) {
            expect_before(w, &l, (int64_t)rng_below(rng, (uint64_t)rows[i / STATES].most + 2));
        }
    }
}

static void ranks__are_what_a_count_finds(void **state)
{
    struct world w = {0};
    struct rng rng = rng_from(7);
    struct err err;
    (void)state;
    open_world(&w);
    for (uint64_t n = 0; n < JOBS;) {
        begin(&w);
        for (unsigned i = 0; i < TURN; i++, n++) {
            put(&w, job_number(&rng, n, 1));
        }
        commit(&w);
    }
    compare(&w, &rng);
    assert_true(count(w.db, "SELECT count(*) FROM ranks WHERE kind = 0", 0) > 3); /* it was split */
    for (uint64_t version = 2; version < 10; version++) {
        begin(&w);
        for (unsigned i = 0; i < TURN; i++) {
            struct job j = job_number(&rng, rng_below(&rng, JOBS), version);
            if (rng_below(&rng, 3) == 0) {
                drop(&w, j.id);
            } else {
                put(&w, j);
            }
        }
        commit(&w);
    }
    compare(&w, &rng);
    /* The same after the file was reopened, and changed again. */
    view_rows__close(&w.rows);
    assert_int_equal(view_rows__open(&w.rows, w.db, NULL, &err), ERR_OK);
    begin(&w);
    for (uint64_t n = 0; n < JOBS; n += 2) {
        drop(&w, job_number(&rng, n, 1).id);
    }
    commit(&w);
    compare(&w, &rng);
    /* Buckets without jobs are removed. */
    int64_t buckets = count(w.db, "SELECT count(*) FROM ranks", 0);
    begin(&w);
    for (uint64_t n = 0; n < JOBS + TURN; n++) {
        drop(&w, job_number(&rng, n, 1).id);
    }
    commit(&w);
    compare(&w, &rng);
    assert_true(count(w.db, "SELECT count(*) FROM ranks", 0) < buckets / 2);
    assert_int_equal(count(w.db, "SELECT count(*) FROM counts", 0), 0);
    close_world(&w);
}

/* A moment that many jobs share is one bucket, so that a count before or after it reads no job. */
static void ranks__give_a_crowd_a_bucket_of_its_own(void **state)
{
    struct world w = {0};
    struct rng rng = rng_from(1);
    (void)state;
    open_world(&w);
    begin(&w);
    for (uint64_t n = 0; n < 3 * 8192; n++) {
        struct job j = job_number(&rng, n, 1);
        j.completed_at.ns = n < 5 ? 70 + (int64_t)n : 80;
        j.state = JOB_PENDING;
        put(&w, j);
    }
    commit(&w);
    assert_int_equal(count(w.db, "SELECT n FROM ranks WHERE kind = 1 AND first = 0", 0), 5);
    assert_int_equal(count(w.db, "SELECT n FROM ranks WHERE kind = 1 AND first = 80", 0),
                     3 * 8192 - 5);
    assert_int_equal(count(w.db, "SELECT n FROM ranks WHERE kind = 1 AND first = 81", 0), 0);
    assert_int_equal(count(w.db, "SELECT count(*) FROM ranks WHERE kind = 1", 0), 3);
    close_world(&w);
}

TEST_GROUP_ONE_THREAD(view_ranks, NULL, NULL, cmocka_unit_test(ranks__are_what_a_count_finds),
                      cmocka_unit_test(ranks__give_a_crowd_a_bucket_of_its_own));
