/*
 * Expect: assertions that cmocka does not have.
 */
#pragma once

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/str.h"
#include "lib/test.h"

/* got has exactly the bytes of want. */
static inline void expect_str(struct str got, struct str want)
{
    if (!str_eq(got, want)) {
        fail_msg("got '" STR_FMT "', want '" STR_FMT "'", STR_ARG(got), STR_ARG(want));
    }
}

enum { EXPECT_TRIES = 5, EXPECT_PATIENCE_S = 30 };

/* Run fn in a child process and return its exit status (see waitpid). */
static inline int expect_end_of(void (*fn)(void))
{
    int status = 0;
    (void)fflush(NULL);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        (void)freopen("/dev/null", "w", stderr);
        (void)alarm(EXPECT_PATIENCE_S);
        fn();
        _exit(0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    return status;
}

/*
 * Check that fn aborts. It runs in a child process.
 *
 * The child has a copy of the test's memory, but not the threads of RocksDB. A lock that one of
 * these threads held at the moment of the fork is never released in the child. A child that hangs
 * proves nothing, so another one is started.
 */
static inline void expect_abort(void (*fn)(void))
{
    int status = 0;
    for (unsigned i = 0; i < EXPECT_TRIES; i++) {
        status = expect_end_of(fn);
        if (!WIFSIGNALED(status) || WTERMSIG(status) != SIGALRM) {
            break;
        }
        print_message("    a child hung, and is tried again\n");
    }
    assert_true(WIFSIGNALED(status));
    assert_int_equal(WTERMSIG(status), SIGABRT);
}
