#include "os/os_child.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include "base/buf.h"
#include "lib/expect.h"
#include "lib/test.h"

static void read_all(int fd, struct buf *out)
{
    struct pollfd ready = {.fd = fd, .events = POLLIN};
    char room[4096];
    for (;;) {
        ssize_t n = read(fd, room, sizeof room);
        if (n > 0) {
            buf_add(out, room, (size_t)n);
        } else if (n < 0 && errno == EAGAIN) {
            (void)poll(&ready, 1, -1);
        } else {
            return;
        }
    }
}

static int wait_end(struct os_child *c)
{
    struct pollfd ended = {.fd = c->exit_fd, .events = POLLIN};
    assert_int_equal(poll(&ended, 1, -1), 1);
    return os_child_end(c);
}

static void child__gets_input_and_environment_and_is_read(void **state)
{
    (void)state;
    char word[] = "WORD=hello";
    char path[] = "PATH=/usr/bin:/bin";
    char *const environment[] = {word, path, NULL};
    struct os_child c;
    struct err err;
    struct buf out, errors, report;
    buf_init(&out, 1000);
    buf_init(&errors, 1000);
    buf_init(&report, 1000);
    assert_int_equal(os_child_start("cat; printf \" $WORD\"; echo oops >&2; echo up >&3; exit 7",
                                    STR("input"), environment, &c, &err),
                     ERR_OK);
    read_all(c.stdout_fd, &out);
    read_all(c.stderr_fd, &errors);
    read_all(c.report_fd, &report);
    assert_int_equal(wait_end(&c), 7);
    expect_str(buf_str(&out), STR("input hello"));
    expect_str(buf_str(&errors), STR("oops\n"));
    expect_str(buf_str(&report), STR("up\n"));
    buf_deinit(&out);
    buf_deinit(&errors);
    buf_deinit(&report);
}

static void child__with_no_input_sees_its_end(void **state)
{
    (void)state;
    char *const environment[] = {NULL};
    struct os_child c;
    struct err err;
    assert_int_equal(os_child_start("! read -r line", STR_EMPTY, environment, &c, &err), ERR_OK);
    assert_int_equal(wait_end(&c), 0);
}

static void child__and_what_it_started_get_the_signal(void **state)
{
    (void)state;
    char path[] = "PATH=/usr/bin:/bin";
    char *const environment[] = {path, NULL};
    struct os_child c;
    struct err err;
    struct buf out;
    buf_init(&out, 1000);
    assert_int_equal(
        os_child_start("sleep 1000 & echo ready; wait", STR_EMPTY, environment, &c, &err), ERR_OK);
    struct pollfd ready = {.fd = c.stdout_fd, .events = POLLIN};
    assert_int_equal(poll(&ready, 1, -1), 1);
    os_child_signal(&c, SIGTERM);
    read_all(c.stdout_fd, &out); /* ends only when sleep has exited, too */
    assert_int_equal(wait_end(&c), -SIGTERM);
    buf_deinit(&out);
}

static void child__is_not_deaf_to_signals_that_we_block(void **state)
{
    (void)state;
    char *const environment[] = {NULL};
    struct os_child c;
    struct err err;
    sigset_t term, before;
    (void)sigemptyset(&term);
    (void)sigaddset(&term, SIGTERM);
    (void)sigprocmask(SIG_BLOCK, &term, &before);
    enum err_code code = os_child_start("kill -TERM $$; exit 0", STR_EMPTY, environment, &c, &err);
    (void)sigprocmask(SIG_SETMASK, &before, NULL);
    assert_int_equal(code, ERR_OK);
    assert_int_equal(wait_end(&c), -SIGTERM);
}

TEST_GROUP(os_child, cmocka_unit_test(child__gets_input_and_environment_and_is_read),
           cmocka_unit_test(child__with_no_input_sees_its_end),
           cmocka_unit_test(child__and_what_it_started_get_the_signal),
           cmocka_unit_test(child__is_not_deaf_to_signals_that_we_block));
