#include "base/check.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

void check_failed(const char *file, int line, const char *what)
{
    (void)fprintf(stderr, "corvo: broken invariant at %s:%d: %s\n", file, line, what);
    abort();
}

void check_fatal(const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    (void)fputs("corvo: fatal: ", stderr);
    (void)vfprintf(stderr, fmt, args);
    (void)fputc('\n', stderr);
    va_end(args);
    abort();
}
