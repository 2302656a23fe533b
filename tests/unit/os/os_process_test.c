#include "os/os_process.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

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

static void os_process__counts_the_caller_among_those_that_run(void **state)
{
    (void)state;
    assert_true(os_process_running() >= 1);
    assert_true(os_process_cpus() >= 1);
}

TEST_GROUP(os_process, cmocka_unit_test(os_process__counts_the_caller_among_those_that_run),
           cmocka_unit_test(os_process__says_what_this_process_uses),
           cmocka_unit_test(os_process__sees_a_thread_come));
