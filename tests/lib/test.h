/*
 * Test: included by every unit test.
 *
 * A test file ends with TEST_GROUP, which registers its tests. tests/lib/main.c runs all groups
 * that are linked into the executable. There is one executable per module and not one per file,
 * because LeakSanitizer's check at exit costs seconds per process.
 */
#pragma once

/* cmocka requires these four headers before its own. IWYU pragma: begin_exports */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
/* IWYU pragma: end_exports */

#include "base/attr.h"

struct test_group {
    const char *name;
    const struct CMUnitTest *test;
    size_t count;
    bool one_thread;                   /* skipped under ThreadSanitizer */
    CMFixtureFunction setup, teardown; /* around the whole group; may be NULL */
    struct test_group *next;
};

void test_register(struct test_group *group);

/* Print the row of a table that is tested, which cmocka shows if an assertion fails. Not inlined:
 * where the name is also used as a str, GCC would assume that it is NULL. */
__attribute__((noinline, unused)) static void test_row(const char *name)
{
    print_message("    row: %s\n", name);
}
#define ROW(name)           test_row(name)

#define TEST_GROUP(id, ...) TEST_GROUP_FIXTURE(id, NULL, NULL, __VA_ARGS__)

/* The same for tests that take long and use only one thread: ThreadSanitizer cannot find anything
 * in them, so they are skipped under it. */
#define TEST_GROUP_ONE_THREAD(id, setup_fn, teardown_fn, ...)                                      \
    TEST_GROUP_OF(id, setup_fn, teardown_fn, true, __VA_ARGS__)

/* The same for tests that share an expensive fixture. setup runs before the first test, teardown
 * after the last. Every test receives the *state that setup has set. */
#define TEST_GROUP_FIXTURE(id, setup_fn, teardown_fn, ...)                                         \
    TEST_GROUP_OF(id, setup_fn, teardown_fn, false, __VA_ARGS__)

#define TEST_GROUP_OF(id, setup_fn, teardown_fn, uses_one_thread, ...)                             \
    static const struct CMUnitTest id##_tests[] = {__VA_ARGS__};                                   \
    static struct test_group id##_group = {.name = #id,                                            \
                                           .test = id##_tests,                                     \
                                           .count = COUNT_OF(id##_tests),                          \
                                           .setup = (setup_fn),                                    \
                                           .teardown = (teardown_fn),                              \
                                           .one_thread = (uses_one_thread)};                       \
    __attribute__((constructor)) static void id##_register(void)                                   \
    {                                                                                              \
        test_register(&id##_group);                                                                \
    }                                                                                              \
    _Static_assert(COUNT_OF(id##_tests) > 0, "a test group has tests")
