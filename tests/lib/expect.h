/*
 * Expect: what cmocka has no assertion for.
 */
#pragma once

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

/* fn stops the process: it runs in another one. */
static inline void expect_abort(void (*fn)(void))
{
    (void)fflush(NULL);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        (void)freopen("/dev/null", "w", stderr);
        fn();
        _exit(0);
    }
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status));
    assert_int_equal(WTERMSIG(status), SIGABRT);
}
