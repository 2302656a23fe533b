/*
 * Os_signal: signals as a descriptor that can be polled together with others.
 *
 * The signals are blocked and read from the descriptor, so they no longer interrupt the process. It
 * must therefore never wait without polling that descriptor too.
 */
#pragma once

#include <signal.h>
#include <stdbool.h>

enum os_signal_more {
    OS_SIGNAL_NO_MORE = 0,
    OS_SIGNAL_WINDOW = 1, /* SIGWINCH */
    OS_SIGNAL_HANGUP = 2, /* SIGHUP, unless it is ignored (nohup) */
};

/* Block SIGINT, SIGTERM and those of more (enum os_signal_more, combined), and return a descriptor
 * that is readable when a signal is pending; -1 if the system has none. For a process with one
 * thread. */
int os_signal_open(unsigned more);

/* Return the pending signal, without waiting; 0 if there is none. */
int os_signal_read(int fd);

/* Writing to a pipe that nobody reads fails from now on, and does not end the process. */
void os_signal_ignore_pipe(void);

/* Unblock the signals, as another program expects before exec. */
void os_signal_restore(void);
