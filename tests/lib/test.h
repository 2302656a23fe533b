/*
 * What every unit test includes.
 *
 * A test file ends with TEST_GROUP, which registers its tests; tests/lib/main.c runs all groups
 * linked into the executable. There is one executable per module and not one per file, because
 * LeakSanitizer's check at exit costs seconds per process.
 */
#pragma once

/* cmocka wants these four before itself. IWYU pragma: begin_exports */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
/* IWYU pragma: end_exports */

#include "base/attr.h"

struct test_group {
    const char *name;
    const struct CMUnitTest *test;
    size_t count;
    CMFixtureFunction setup, teardown; /* around the whole group; NULL is fine */
    struct test_group *next;
};

void test_register(struct test_group *group);

/* Say which row of a table is tested: shown when an assertion below it fails. Not inlined: where
 * the name is used as a str, too, GCC would take it for NULL. */
__attribute__((noinline, unused)) static void test_row(const char *name)
{
    print_message("    row: %s\n", name);
}
#define ROW(name)           test_row(name)

#define TEST_GROUP(id, ...) TEST_GROUP_FIXTURE(id, NULL, NULL, __VA_ARGS__)

/* The same for tests that share something which is dear to make: setup runs before the first of
 * them, teardown after the last, and what setup leaves in *state is every test's. */
#define TEST_GROUP_FIXTURE(id, setup_fn, teardown_fn, ...)                                         \
    static const struct CMUnitTest id##_tests[] = {__VA_ARGS__};                                   \
    static struct test_group id##_group = {.name = #id,                                            \
                                           .test = id##_tests,                                     \
                                           .count = COUNT_OF(id##_tests),                          \
                                           .setup = (setup_fn),                                    \
                                           .teardown = (teardown_fn)};                             \
    __attribute__((constructor)) static void id##_register(void)                                   \
    {                                                                                              \
        test_register(&id##_group);                                                                \
    }                                                                                              \
    _Static_assert(COUNT_OF(id##_tests) > 0, "a test group has tests")
