/*
 * Exact: copies that end where their memory ends. AddressSanitizer detects a read of even one byte
 * past the end, also if the copy is empty.
 */
#pragma once

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/str.h"

/* End with exact_free. */
static inline struct str exact_copy(const char *bytes, size_t len)
{
    /* The spare byte is in front: malloc(0) would return memory with a byte that can be read. */
    char *memory = malloc(len + 1);
    CHECK(memory != NULL);
    if (len > 0) {
        memcpy(memory + 1, bytes, len);
    }
    return str_from(memory + 1, len);
}

static inline void exact_free(struct str copy)
{
    free((char *)(uintptr_t)copy.ptr - 1);
}
