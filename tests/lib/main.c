/*
 * Runs every group of tests that is linked into the executable, or the one named on the command
 * line.
 */
#include <string.h>

#include "jqbox/jqbox_child.h"
#include "lib/test.h"

static struct test_group *groups;

void test_register(struct test_group *group)
{
    group->next = groups;
    groups = group;
}

#if defined(__SANITIZE_THREAD__)
enum { SKIPS_ONE_THREAD = true };
/* Tests of code that aborts run it in a child, which may start threads. */
const char *__tsan_default_options(void);
const char *__tsan_default_options(void) /* NOLINT: the sanitizer's name */
{
    return "die_after_fork=0";
}
#else
enum { SKIPS_ONE_THREAD = false };
#endif

int main(int argc, char **argv)
{
    int failed = 0;
    if (jqbox_child_is_asked(argc, argv)) {
        return jqbox_child_main();
    }
    for (struct test_group *g = groups; g != NULL; g = g->next) {
        if (SKIPS_ONE_THREAD && g->one_thread) {
            continue;
        }
        if (argc < 2 || strcmp(argv[1], g->name) == 0) {
            failed += _cmocka_run_group_tests(g->name, g->test, g->count, g->setup, g->teardown);
        }
    }
    return failed == 0 ? 0 : 1;
}
