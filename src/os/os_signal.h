/*
 * Os_signal: signals as a descriptor that can be polled together with others.
 *
 * The signals are blocked and read from the descriptor, so they no longer interrupt the process. It
 * must therefore never wait without polling that descriptor too.
 */
#pragma once

#include <signal.h>
#include <stdbool.h>

/* Block SIGINT and SIGTERM (and SIGWINCH if wanted) and return a descriptor that is readable
 * when a signal is pending; -1 if the system has none. For a process with one thread. */
int os_signal_open(bool window_size);

/* Return the pending signal, without waiting; 0 if there is none. */
int os_signal_read(int fd);

/* Unblock the signals, as another program expects before exec. */
void os_signal_restore(void);
