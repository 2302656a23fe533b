#include "cli/work/cli_relay.h"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include "lib/test.h"

enum { MUCH = 300000 };

static struct cli_relay relay;
static int ends[2];

static int open_pipe(void **state)
{
    (void)state;
    (void)signal(SIGPIPE, SIG_IGN);
    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    assert_int_equal(fcntl(ends[0], F_SETFL, O_NONBLOCK), 0);
    cli_relay_init(&relay, ends[1], false);
    return 0;
}

static int close_pipe(void **state)
{
    (void)state;
    cli_relay_deinit(&relay);
    (void)close(ends[0]);
    (void)close(ends[1]);
    return 0;
}

/* Read what is there; every byte must be the next one of "abc…zabc…". */
static size_t read_all(size_t already)
{
    char room[8192];
    ssize_t n;
    while ((n = read(ends[0], room, sizeof room)) > 0) {
        for (ssize_t i = 0; i < n; i++) {
            assert_int_equal(room[i], 'a' + (int)((already + (size_t)i) % 26));
        }
        already += (size_t)n;
    }
    return already;
}

static void add(size_t from, size_t bytes)
{
    for (size_t i = from; i < from + bytes; i++) {
        char c = (char)('a' + i % 26);
        cli_relay_add(&relay, str_from(&c, 1));
    }
}

static void writes_at_once_if_it_can(void **state)
{
    (void)state;
    add(0, 100);
    assert_false(cli_relay_any(&relay));
    assert_int_equal(read_all(0), 100);
}

static void keeps_what_a_full_pipe_does_not_take(void **state)
{
    (void)state;
    assert_false(cli_relay_is_full(&relay));
    add(0, MUCH);
    assert_true(cli_relay_any(&relay));
    assert_true(cli_relay_is_full(&relay));
    size_t got = 0;
    while (cli_relay_any(&relay)) {
        got = read_all(got);
        cli_relay_turn(&relay);
    }
    assert_int_equal(read_all(got), MUCH);
    assert_false(cli_relay_is_full(&relay));
}

static void a_slow_reader_gets_everything_in_order(void **state)
{
    (void)state;
    size_t got = 0;
    for (size_t sent = 0; sent < 10 * MUCH; sent += MUCH) {
        add(sent, MUCH);
        got = read_all(got);
        cli_relay_turn(&relay);
    }
    while (cli_relay_any(&relay)) {
        got = read_all(got);
        cli_relay_turn(&relay);
    }
    assert_int_equal(read_all(got), 10 * MUCH);
}

static void drops_everything_without_a_reader(void **state)
{
    (void)state;
    add(0, MUCH);
    (void)close(ends[0]);
    cli_relay_turn(&relay);
    add(0, MUCH);
    assert_false(cli_relay_any(&relay));
    assert_false(cli_relay_is_full(&relay));
    ends[0] = open("/dev/null", O_RDONLY | O_CLOEXEC);
}

static void the_end_has_its_limit(void **state)
{
    (void)state;
    add(0, MUCH);
    cli_relay_finish(&relay, -1, 1);
    assert_true(cli_relay_any(&relay));
    int wake[2];
    assert_int_equal(pipe2(wake, O_CLOEXEC), 0);
    assert_int_equal(write(wake[1], "x", 1), 1);
    cli_relay_finish(&relay, wake[0], INT32_MAX);
    assert_true(cli_relay_any(&relay));
    (void)close(wake[0]);
    (void)close(wake[1]);
}

#define ON_A_PIPE(test) cmocka_unit_test_setup_teardown(test, open_pipe, close_pipe)

TEST_GROUP(cli_relay, ON_A_PIPE(writes_at_once_if_it_can),
           ON_A_PIPE(keeps_what_a_full_pipe_does_not_take),
           ON_A_PIPE(a_slow_reader_gets_everything_in_order),
           ON_A_PIPE(drops_everything_without_a_reader), ON_A_PIPE(the_end_has_its_limit));
