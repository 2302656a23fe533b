/*
 * Os_process: the resources that the process uses, and their limits.
 *
 * Any thread may call these. Usage is read from /proc and the allocator, which takes tens of
 * microseconds: fine for metrics, too slow for every request.
 */
#pragma once

#include <stdint.h>

struct os_process_usage {
    uint64_t threads;
    uint64_t cpus;        /* online */
    uint64_t heap_bytes;  /* allocated */
    uint64_t stack_bytes; /* address space reserved for the stacks of all threads */
    int64_t cpu_user_ns;
    int64_t cpu_system_ns;
};

/* Values that cannot be determined are 0. */
void os_process_usage(struct os_process_usage *out);

/* Return resident memory in bytes; 0 if the system does not report it. Takes some microseconds. */
uint64_t os_process_resident(void);

/* Return the number of processors that are online. */
uint64_t os_process_cpus(void);

/* Return the memory limit in bytes: of the control group, or the machine's memory if that is less;
 * 0 if unknown. */
uint64_t os_process_memory(void);

/* Return large pieces of the heap to the system when they are freed. Call before there are
 * threads. */
void os_process_tune_heap(void);
/* Return free heap memory to the system; takes some milliseconds. */
void os_process_trim_heap(void);

/* Raise the limit of open files to the system's maximum; returns the new limit. The default of
 * 1024 is too low for a busy server with one descriptor per connection. */
uint64_t os_process_raise_files(void);

/* Open /dev/null at each of the descriptors 0, 1 and 2 that is closed. Otherwise the next opened
 * file would get that number, and output and log lines would be written to it. Reading and writing
 * fail as on a closed descriptor. Call before anything else is opened. */
void os_process_fill_standard(void);

/* Make files and folders created from now on, also by libraries, accessible only to the owner: they
 * contain payloads and secrets. */
void os_process_keep_private(void);
