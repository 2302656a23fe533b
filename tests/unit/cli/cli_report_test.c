#include "cli/work/cli_report.h"

#include "base/limits.h"
#include "lib/test.h"

static const struct str job = {.ptr = "job_1", .len = 5};

static void says(struct cli_report *r, const char *text)
{
    cli_report_hear(r, job, str_from_z(text));
}

/* Pass a line whose member is a string of this many bytes, including the quotes. */
static void says_long(struct cli_report *r, const char *member, size_t bytes)
{
    struct buf b;
    buf_init(&b, bytes + 64);
    buf_printf(&b, "{\"%s\":\"", member);
    for (size_t i = 2; i < bytes; i++) {
        buf_add_char(&b, 'x');
    }
    buf_add_str(&b, STR("\"}\n"));
    cli_report_hear(r, job, buf_str(&b));
    buf_deinit(&b);
}

/* Check the content of the next heartbeat. */
static void assert_carries(struct cli_report *r, const char *wanted)
{
    struct buf b;
    buf_init(&b, 1024);
    struct json_write w = json_write_to(&b);
    json_write_object(&w);
    cli_report_write(r, &w);
    json_write_end(&w);
    assert_int_equal(b.len, strlen(wanted));
    assert_memory_equal(b.ptr, wanted, b.len);
    buf_deinit(&b);
}

static void hear__keeps_the_newest_of_each(void **state)
{
    (void)state;
    struct cli_report r;
    cli_report_init(&r);
    says(&r, "{\"progress\":1,\"che");
    assert_false(cli_report_any(&r));
    says(&r, "ckpoint\":2}\n{\"progress\":3}\nno JSON\n\n7\n{\"checkpoint\":null}\n{\"progress\":");
    assert_true(cli_report_any(&r));
    assert_carries(&r, "{\"progress\":3,\"checkpoint\":2}");
    cli_report_clear(&r);
    assert_false(cli_report_any(&r));
    says(&r, "4}\n"); /* the rest of a line of the previous job */
    assert_false(cli_report_any(&r));
    cli_report_deinit(&r);
}

static void hear__drops_what_is_larger_than_the_server_takes(void **state)
{
    (void)state;
    struct cli_report r;
    cli_report_init(&r);
    says_long(&r, "progress", LIMIT_PROGRESS_BYTES + 1);
    says_long(&r, "checkpoint", LIMIT_RESULT_BYTES + 1);
    says_long(&r, "checkpoint", (size_t)LIMIT_RESULT_BYTES * 5);
    assert_false(cli_report_any(&r));
    says_long(&r, "progress", LIMIT_PROGRESS_BYTES);
    says_long(&r, "checkpoint", LIMIT_RESULT_BYTES);
    assert_int_equal(r.progress.text.len, LIMIT_PROGRESS_BYTES);
    assert_int_equal(r.checkpoint.text.len, LIMIT_RESULT_BYTES);
    says(&r, "{\"progress\":1,\"checkpoint\":2}\n");
    says_long(&r, "checkpoint", LIMIT_RESULT_BYTES + 1);
    assert_carries(&r, "{\"progress\":1,\"checkpoint\":2}");
    cli_report_deinit(&r);
}

static void over__forgets_what_was_answered_and_nothing_newer(void **state)
{
    (void)state;
    struct cli_report r;
    cli_report_init(&r);
    says(&r, "{\"progress\":1,\"checkpoint\":2}\n");
    assert_carries(&r, "{\"progress\":1,\"checkpoint\":2}");
    cli_report_over(&r, job, CLI_REPORT_UNSENT);
    assert_carries(&r, "{\"progress\":1,\"checkpoint\":2}");
    says(&r, "{\"checkpoint\":3}\n");
    cli_report_over(&r, job, CLI_REPORT_SAVED);
    assert_carries(&r, "{\"checkpoint\":3}");
    says(&r, "{\"progress\":4}\n");
    cli_report_over(&r, job, CLI_REPORT_REFUSED);
    assert_carries(&r, "{\"progress\":4}");
    cli_report_over(&r, job, CLI_REPORT_SAVED);
    assert_false(cli_report_any(&r));
    says(&r, "{\"progress\":5}\n");
    cli_report_over(&r, job, CLI_REPORT_SAVED); /* of a heartbeat that did not contain it */
    assert_carries(&r, "{\"progress\":5}");
    cli_report_deinit(&r);
}

TEST_GROUP(cli_report, cmocka_unit_test(hear__keeps_the_newest_of_each),
           cmocka_unit_test(hear__drops_what_is_larger_than_the_server_takes),
           cmocka_unit_test(over__forgets_what_was_answered_and_nothing_newer));
