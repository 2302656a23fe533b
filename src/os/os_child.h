/*
 * Os_child: another program, run by a shell, with its input given and its output to be read.
 *
 * The child is the leader of a process group of its own, so that a signal reaches whatever it has
 * started too. Its standard input is a file in memory with the bytes given: nobody has to feed it.
 * All descriptors here are for poll(2) and do not block.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/attr.h"
#include "base/err.h"
#include "base/str.h"

struct os_child {
    pid_t pid;
    int exit_fd;   /* readable when the child has ended */
    int stdout_fd; /* what it writes; -1 after its end was seen by the caller, who closes it */
    int stderr_fd;
    int report_fd; /* what it writes to descriptor 3 */
};

/* Run command with /bin/sh -c. environment is a list of NAME=value that NULL ends. On failure
 * nothing is left running or open. */
ATTR_NODISCARD enum err_code os_child_start(const char *command, struct str input,
                                            char *const *environment, struct os_child *out,
                                            struct err *err);

/* Send a signal to the child and all that it has started. */
void os_child_signal(const struct os_child *c, int number);

/* After exit_fd was readable: the exit code, or minus the signal that ended it. Closes what is
 * open; children of the child that linger are killed. */
int os_child_end(struct os_child *c);
