/*
 * Os_child: runs a shell command with given input, and lets the caller read its output.
 *
 * The child is the leader of a separate process group, so that a signal also reaches the processes
 * that it has started. Its standard input is a memory file with the given bytes, so no thread has
 * to write it. All descriptors here are for poll(2) and do not block.
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
    int stdout_fd; /* its output; the caller closes it at its end and sets -1 */
    int stderr_fd;
    int report_fd; /* its output on descriptor 3 */
};

/* Run command with /bin/sh -c. environment is a NULL-terminated list of NAME=value. On failure
 * nothing is left running or open. */
ATTR_NODISCARD enum err_code os_child_start(const char *command, struct str input,
                                            char *const *environment, struct os_child *out,
                                            struct err *err);

/* Send a signal to the child and all processes of its group. */
void os_child_signal(const struct os_child *c, int number);

/* Call when exit_fd is readable. Returns the exit status, or minus the number of the signal that
 * ended the child. Closes the descriptors and kills remaining processes of the group. */
int os_child_end(struct os_child *c);
