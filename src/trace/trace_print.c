/*
 * Standard output. A reader that does not read must not hold up the server's end, so each write
 * waits only for a limited time.
 */
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <unistd.h>

#include "os/os_clock.h"
#include "trace/trace_int.h"

static bool await_room(struct mono until)
{
    struct pollfd fd = {.fd = STDOUT_FILENO, .events = POLLOUT};
    int64_t left_ms = (until.ns - os_clock_mono().ns) / NS_PER_MS;
    return left_ms > 0 && poll(&fd, 1, left_ms > INT_MAX ? INT_MAX : (int)left_ms) == 1;
}

bool trace_print__write(struct str text, struct mono until)
{
    while (text.len > 0) {
        /* A pipe that has room takes this much without blocking. */
        size_t piece = text.len < PIPE_BUF ? text.len : PIPE_BUF;
        ssize_t n = await_room(until) ? write(STDOUT_FILENO, text.ptr, piece) : -1;
        if (n < 0 && errno != EINTR) {
            return false;
        }
        text = str_from_offset(text, n < 0 ? 0 : (size_t)n);
    }
    return true;
}
