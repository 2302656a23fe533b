/*
 * Os_signal: signals as something to wait for, beside everything else one waits for.
 *
 * A process that opens this is no longer interrupted anywhere: the signals are blocked and read
 * from a descriptor. It must therefore never block without looking at that descriptor too.
 */
#pragma once

#include <signal.h>
#include <stdbool.h>

/* Block SIGINT and SIGTERM (and SIGWINCH if wanted) and return a descriptor that is readable when
 * one has come; -1 when the system has none. For a process with one thread. */
int os_signal_open(bool window_size);

/* The signal that came, without waiting; 0 when there is none. */
int os_signal_read(int fd);

/* Let signals through again, as a child expects before it runs another program. */
void os_signal_restore(void);
