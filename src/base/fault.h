/*
 * Fault: named points where a test can make something fail.
 *
 * A test arms a point with a number n; the n-th time the code passes it, and every time after, it
 * reports a fault. In a release build the points compile to nothing. The state is static, because a
 * fault must reach code that the test cannot see.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define FAULT_LIST(X)                                                                              \
    X(DISK_WRITE)       /* a write to a log segment fails with EIO */                              \
    X(DISK_WRITE_SHORT) /* a write to a log segment writes a half, then fails with EIO */          \
    X(DISK_WRITE_FULL)  /* a write to a log segment fails with ENOSPC */                           \
    X(DISK_FLUSH)       /* a flush of a log segment fails with EIO */                              \
    X(DISK_FLUSH_DIR)   /* a flush of a folder fails with EIO */                                   \
    X(DISK_SPACE_LOW)   /* the free-space check returns the armed value */                         \
    X(DISK_META_WRITE)  /* writing the term and vote file fails */                                 \
    X(PEER_THREAD)      /* a thread that another node causes cannot be started */                  \
    X(BULK_STEP)        /* a step of a bulk operation is refused before it is proposed */          \
    X(KV_COMMIT)        /* the store refuses a write batch */                                      \
    X(KV_READ)          /* reading a value or walking the store fails with EIO */                  \
    X(KV_CHECKPOINT)    /* creating a checkpoint fails */                                          \
    X(ARENA)            /* the memory of a request is exhausted */

enum fault {
#define FAULT_ENUM(name) FAULT_##name,
    FAULT_LIST(FAULT_ENUM)
#undef FAULT_ENUM
        FAULT_COUNT
};

/* Make the point fail from its nth passing on, counted from 1; 0 disarms it. */
void fault_arm(enum fault point, unsigned nth);
/* Make the point fail at once, and set the value for points that return one. The value is 0 unless
 * armed this way. */
void fault_arm_value(enum fault point, uint64_t value);
uint64_t fault_value(enum fault point);
void fault_reset(void);
bool fault_passes(enum fault point);

#ifdef CORVO_FAULTS
#define FAULT(name) (!fault_passes(FAULT_##name))
#else
#define FAULT(name) false
#endif
