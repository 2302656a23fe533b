#include "core/job_fit.h"

#include "lib/expect.h"
#include "lib/test.h"

enum { ANY = 0, DEAD = 1 << JOB_DEAD, PENDING = 1 << JOB_PENDING, HIGH = 1 << JOB_PRIORITY_HIGH };

static void fit__has_the_jobs_that_all_of_it_means(void **state)
{
    static const struct {
        unsigned states, priorities;
        const char *queue;
        bool has;
    } rows[] = {
        {ANY, ANY, "", true},
        {DEAD, ANY, "", true},
        {PENDING, ANY, "", false},
        {PENDING | DEAD, ANY, "", true},
        {ANY, HIGH, "", true},
        {ANY, 1 << JOB_PRIORITY_CRITICAL, "", false},
        {ANY, ANY, "acme::mail", true},
        {ANY, ANY, "mail", false},
        {ANY, ANY, "acme::mail2", false},
        {DEAD, HIGH, "acme::mail", true},
        {PENDING, HIGH, "acme::mail", false},
        {DEAD, 1 << JOB_PRIORITY_NORMAL, "acme::mail", false},
    };
    const struct job j = {
        .state = JOB_DEAD, .priority = JOB_PRIORITY_HIGH, .queue = STR("acme::mail")};
    (void)state;
    for (unsigned i = 0; i < COUNT_OF(rows); i++) {
        ROW(rows[i].queue);
        struct job_fit f = {.states = rows[i].states,
                            .priorities = rows[i].priorities,
                            .queue = str_from_z(rows[i].queue)};
        assert_int_equal(job_fit_has(&f, &j), rows[i].has);
        assert_int_equal(job_fit_is_any(&f), i == 0);
    }
}

static bool unpacks(const struct job_fit *f, struct job_fit *out)
{
    struct buf bytes;
    buf_init(&bytes, 1024);
    job_fit_pack(f, &bytes);
    struct unpack u = unpack_from(buf_str(&bytes));
    *out = job_fit_unpack(&u);
    bool good = unpack_done(&u);
    out->queue = good ? f->queue : STR_EMPTY; /* it points into the bytes, which are freed */
    buf_deinit(&bytes);
    return good;
}

static void bytes__say_something_about_states_that_there_are(void **state)
{
    struct job_fit got;
    (void)state;
    for (unsigned s = 0; s < JOB_STATE_COUNT; s++) {
        assert_true(unpacks(&(struct job_fit){.states = 1U << s}, &got));
        assert_int_equal(got.states, 1U << s);
    }
    assert_true(unpacks(&(struct job_fit){.queue = STR("q")}, &got));
    assert_true(unpacks(&(struct job_fit){.priorities = 7}, &got));
    assert_int_equal(got.priorities, 7);
    assert_false(unpacks(&(struct job_fit){0}, &got));
    assert_false(unpacks(&(struct job_fit){.states = 1U << JOB_STATE_COUNT}, &got));
    assert_false(unpacks(&(struct job_fit){.priorities = 8}, &got));
}

TEST_GROUP(job_fit, cmocka_unit_test(fit__has_the_jobs_that_all_of_it_means),
           cmocka_unit_test(bytes__say_something_about_states_that_there_are));
