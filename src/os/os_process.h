/*
 * Os_process: what the process uses of the machine, and what it may use.
 *
 * Any thread. Usage is what the system and the allocator say: reads a file of /proc and asks the
 * allocator, which takes some tens of microseconds: for a page of numbers now and then, not for
 * every request.
 */
#pragma once

#include <stdint.h>

struct os_process_usage {
    uint64_t threads;
    uint64_t cpus;        /* online */
    uint64_t heap_bytes;  /* given out by the allocator */
    uint64_t stack_bytes; /* address space set aside for the stacks of all threads */
    int64_t cpu_user_ns;
    int64_t cpu_system_ns;
};

/* What cannot be found out is 0. */
void os_process_usage(struct os_process_usage *out);

/* Bytes of memory that the process has at this moment; 0 where the system does not say. Some
 * microseconds. */
uint64_t os_process_resident(void);

/* Processors that are online. */
uint64_t os_process_cpus(void);

/* Bytes of memory that the process may have: those of its control group, else of the machine; 0
 * where the system does not say. */
uint64_t os_process_memory(void);

/* Large pieces of the heap go back to the system when they are freed. Before there are threads. */
void os_process_tune_heap(void);
/* Give what is free in the heap back to the system; some milliseconds. */
void os_process_trim_heap(void);

/* Allow the process as many open files as the system lets it have; returns how many that are. A
 * login shell's limit of 1024 is one connection each short of a busy server. */
uint64_t os_process_raise_files(void);

/* Put something at each of the descriptors 0, 1 and 2 that the caller of the program has closed.
 * Else the next file that is opened is there, and what is printed or logged is written into it.
 * Reading and writing fail as on a closed descriptor. Before anything else is opened. */
void os_process_fill_standard(void);

/* Files and folders that the process makes from now on, libraries included, are for its user alone:
 * they hold payloads and secrets. */
void os_process_keep_private(void);
