/*
 * Attributes and the few macros that every file needs.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#define ATTR_NODISCARD          __attribute__((warn_unused_result))
#define ATTR_PRINTF(fmt, first) __attribute__((format(printf, fmt, first)))
#define ATTR_CLEANUP(fn)        __attribute__((cleanup(fn)))
#define ATTR_NORETURN           __attribute__((noreturn))
#define ATTR_COLD               __attribute__((cold))
#define ATTR_NOINLINE           __attribute__((noinline))
#define ATTR_UNUSED             __attribute__((unused))
#define ATTR_PACKED             __attribute__((packed))

/* A large local that is written before it is read: the release build zeroes all locals except
 * these. Only for those on the path of every request. */
#if __has_attribute(uninitialized)
#define ATTR_UNINITIALIZED __attribute__((uninitialized))
#else
#define ATTR_UNINITIALIZED
#endif

#define COUNT_OF(a) (sizeof(a) / sizeof((a)[0]))

/* The struct of the given type whose member is at ptr. */
#define CONTAINER_OF(ptr, type, member) ((type *)((uintptr_t)(ptr)-offsetof(type, member)))

/* Return the value of a pointer and set the pointer to NULL, so that a cleanup does nothing. */
#define TAKE(ptr)                                                                                  \
    (__extension__({                                                                               \
        __typeof__(ptr) take_value_ = (ptr);                                                       \
        (ptr) = NULL;                                                                              \
        take_value_;                                                                               \
    }))
