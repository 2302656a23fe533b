#include "os/os_process.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/check.h"
#include "lib/test.h"

static void os_process__says_what_this_process_uses(void **state)
{
    struct os_process_usage usage;
    (void)state;
    os_process_usage(&usage);
    assert_true(usage.threads >= 1);
    assert_true(usage.cpus >= 1);
    assert_true(usage.stack_bytes > 0);
    assert_true(usage.cpu_user_ns + usage.cpu_system_ns >= 0);
}

static void *wait_for_barrier(void *barrier)
{
    (void)pthread_barrier_wait(barrier);
    return NULL;
}

static void os_process__sees_a_thread_come(void **state)
{
    struct os_process_usage before;
    struct os_process_usage after;
    pthread_barrier_t barrier;
    pthread_t thread;
    (void)state;
    CHECK(pthread_barrier_init(&barrier, NULL, 2) == 0);
    os_process_usage(&before);
    CHECK(pthread_create(&thread, NULL, wait_for_barrier, &barrier) == 0);
    os_process_usage(&after);
    assert_true(after.threads > before.threads);
    assert_true(after.stack_bytes > before.stack_bytes);
    (void)pthread_barrier_wait(&barrier);
    CHECK(pthread_join(thread, NULL) == 0);
    CHECK(pthread_barrier_destroy(&barrier) == 0);
}

static void os_process__counts_the_processors(void **state)
{
    (void)state;
    assert_true(os_process_cpus() >= 1);
}

/* In a child process: close the given standard descriptors and fill them. Returns 0 if the closed
 * ones are in use again, but can be neither read nor written. */
static int fill(const bool closed[static 3])
{
    for (int fd = 0; fd < 3; fd++) {
        if (closed[fd]) {
            (void)close(fd);
        }
    }
    os_process_fill_standard();
    int next = open("/dev/null", O_RDONLY);
    char byte = 0;
    bool in_fails = read(STDIN_FILENO, &byte, 1) < 0 && errno == EBADF;
    bool out_fails = write(STDOUT_FILENO, "", 0) < 0 && errno == EBADF;
    bool err_fails = write(STDERR_FILENO, "", 0) < 0 && errno == EBADF;
    return next > STDERR_FILENO && (!closed[0] || in_fails) && out_fails == closed[1] &&
                   err_fails == closed[2]
               ? 0
               : 1;
}

static void os_process__leaves_no_standard_descriptor_to_the_next_file(void **state)
{
    static const bool rows[][3] = {
        {false, false, false}, {true, false, false}, {false, true, false},
        {false, false, true},  {true, true, true},
    };
    (void)state;
    for (unsigned i = 0; i < COUNT_OF(rows); i++) {
        int status = -1;
        pid_t child = fork();
        if (child == 0) {
            _exit(fill(rows[i]));
        }
        assert_true(child > 0);
        assert_int_equal(waitpid(child, &status, 0), child);
        if (status != 0) {
            fail_msg("row %u: status %d", i, status);
        }
    }
}

TEST_GROUP(os_process, cmocka_unit_test(os_process__leaves_no_standard_descriptor_to_the_next_file),
           cmocka_unit_test(os_process__counts_the_processors),
           cmocka_unit_test(os_process__says_what_this_process_uses),
           cmocka_unit_test(os_process__sees_a_thread_come));
