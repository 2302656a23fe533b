#include "log/log.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "lib/test.h"

enum { LINES = 1000, PIPE_BYTES = 16384 };

/* Standard error, redirected to a pipe that only read_some reads. */
struct unread {
    int saved;
    int from;
};

static void begin(struct unread *u)
{
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    assert_true(fcntl(ends[1], F_SETPIPE_SZ, PIPE_BYTES) >= PIPE_BYTES);
    u->saved = dup(STDERR_FILENO);
    u->from = ends[0];
    assert_int_equal(dup2(ends[1], STDERR_FILENO), STDERR_FILENO);
    assert_int_equal(close(ends[1]), 0);
}

static size_t read_some(const struct unread *u, char *out, size_t size)
{
    ssize_t n = read(u->from, out, size - 1);
    out[n < 0 ? 0 : n] = '\0';
    return n < 0 ? 0 : (size_t)n;
}

static void end(struct unread *u)
{
    assert_int_equal(dup2(u->saved, STDERR_FILENO), STDERR_FILENO);
    assert_int_equal(close(u->saved), 0);
    assert_int_equal(close(u->from), 0);
}

static unsigned count_of(const char *text, const char *what)
{
    unsigned count = 0;
    for (const char *at = strstr(text, what); at != NULL; at = strstr(at + 1, what)) {
        count++;
    }
    return count;
}

/* The test would hang if a line waited for room in the pipe. */
static void a_full_pipe__loses_lines_and_says_how_many(void **state)
{
    static char text[1 << 17];
    struct unread u;
    char expected[64];
    (void)state;
    begin(&u);
    for (unsigned i = 0; i < LINES; i++) {
        log_info("many", LOG_U64("i", i));
    }
    (void)read_some(&u, text, sizeof text);
    unsigned written = count_of(text, "many");
    log_info("after");
    (void)read_some(&u, text, sizeof text);
    end(&u);
    assert_true(written > 0 && written < LINES);
    (void)snprintf(expected, sizeof expected, "\"count\":%u}", LINES - written);
    assert_int_equal(count_of(text, "log lines lost"), 1);
    assert_int_equal(count_of(text, expected), 1);
    assert_int_equal(count_of(text, "\"after\""), 1);
}

static void a_line__has_every_kind_of_value(void **state)
{
    static char text[4096];
    static const char values[] =
        ",\"level\":\"WARN\",\"msg\":\"an event\",\"s\":\"a \\\"b\\\\\\u000ac\","
        "\"empty\":\"\",\"min\":-9223372036854775808,"
        "\"max\":18446744073709551615,\"a_name\":true}\n";
    struct unread u;
    (void)state;
    begin(&u);
    log_warn("an event", LOG_STR("s", STR("a \"b\\\nc")), LOG_STR("empty", STR_EMPTY),
             LOG_I64("min", INT64_MIN), LOG_U64("max", UINT64_MAX), LOG_BOOL("a_name", true));
    size_t len = read_some(&u, text, sizeof text);
    end(&u);
    static const char time[] = "{\"time\":\"2026-11-18T21:35:08.161Z\"";
    assert_int_equal(len, sizeof time - 1 + sizeof values - 1);
    for (size_t i = 0; i < sizeof time - 1; i++) {
        bool digit = time[i] >= '0' && time[i] <= '9';
        assert_true(digit ? text[i] >= '0' && text[i] <= '9' : text[i] == time[i]);
    }
    assert_string_equal(text + sizeof time - 1, values);
}

static void a_batch__is_written_when_it_is_flushed(void **state)
{
    static char text[1 << 17];
    struct log_batch lines;
    struct unread u;
    (void)state;
    begin(&u);
    assert_int_equal(fcntl(u.from, F_SETFL, O_NONBLOCK), 0);
    log_collect(&lines);
    log_info("first");
    log_info("second");
    assert_int_equal(read_some(&u, text, sizeof text), 0);
    log_flush();
    (void)read_some(&u, text, sizeof text);
    assert_int_equal(count_of(text, "first"), 1);
    assert_int_equal(count_of(text, "second"), 1);
    log_flush();
    assert_int_equal(read_some(&u, text, sizeof text), 0);
    log_collect(NULL);
    end(&u);
}

static void a_batch__is_written_early_for_a_warning_or_a_long_line(void **state)
{
    static char text[1 << 17];
    static char value[2000];
    struct log_batch lines;
    struct unread u;
    (void)state;
    begin(&u);
    log_collect(&lines);
    log_info("before");
    log_warn("warning");
    (void)read_some(&u, text, sizeof text);
    assert_true(strstr(text, "before") < strstr(text, "warning"));
    memset(value, 'v', sizeof value);
    struct str v = str_from(value, sizeof value);
    log_info("fits", LOG_STR("v", v));
    log_info("too long", LOG_STR("v", v), LOG_STR("v", v), LOG_STR("v", v));
    log_info("last");
    log_collect(NULL);
    (void)read_some(&u, text, sizeof text);
    end(&u);
    assert_true(strstr(text, "fits") < strstr(text, "too long"));
    assert_true(strstr(text, "too long") < strstr(text, "last"));
}

static void a_full_pipe__loses_all_lines_of_a_batch(void **state)
{
    static char text[1 << 17];
    struct log_batch lines;
    struct unread u;
    (void)state;
    begin(&u);
    log_collect(&lines);
    for (unsigned i = 0; i < LINES; i++) {
        log_info("many", LOG_U64("i", i));
    }
    log_collect(NULL);
    (void)read_some(&u, text, sizeof text);
    char expected[64];
    (void)snprintf(expected, sizeof expected, "\"count\":%u}", LINES - count_of(text, "many"));
    log_info("after");
    (void)read_some(&u, text, sizeof text);
    end(&u);
    assert_int_equal(count_of(text, expected), 1);
}

TEST_GROUP(log, cmocka_unit_test(a_line__has_every_kind_of_value),
           cmocka_unit_test(a_full_pipe__loses_lines_and_says_how_many),
           cmocka_unit_test(a_batch__is_written_when_it_is_flushed),
           cmocka_unit_test(a_batch__is_written_early_for_a_warning_or_a_long_line),
           cmocka_unit_test(a_full_pipe__loses_all_lines_of_a_batch));
