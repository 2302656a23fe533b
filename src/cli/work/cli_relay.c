#include "cli/work/cli_relay.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

#include "base/clock.h"
#include "os/os_clock.h"

enum {
    KEPT_BYTES_MAX = 64 << 20, /* the last output of many programs that have ended */
    FULL_BYTES = 64 << 10,
    TERMINAL_PIECE_BYTES = 256,
    NOTE_BYTES = 12 << 10,
};

void cli_relay_init(struct cli_relay *r, int fd, bool is_terminal)
{
    *r = (struct cli_relay){.fd = fd, .piece_bytes = is_terminal ? TERMINAL_PIECE_BYTES : PIPE_BUF};
    buf_init(&r->text, KEPT_BYTES_MAX);
}

void cli_relay_deinit(struct cli_relay *r)
{
    buf_deinit(&r->text);
}

static size_t left_bytes(const struct cli_relay *r)
{
    return r->text.len - r->written;
}

bool cli_relay_any(const struct cli_relay *r)
{
    return left_bytes(r) > 0;
}

bool cli_relay_is_full(const struct cli_relay *r)
{
    return left_bytes(r) >= FULL_BYTES;
}

/* The descriptor is writable, or broken: then a write reports it. */
static bool is_ready(const struct cli_relay *r)
{
    struct pollfd fd = {.fd = r->fd, .events = POLLOUT};
    return poll(&fd, 1, 0) == 1;
}

void cli_relay_turn(struct cli_relay *r)
{
    while (!r->dead && left_bytes(r) > 0 && is_ready(r)) {
        size_t len = left_bytes(r) < r->piece_bytes ? left_bytes(r) : r->piece_bytes;
        ssize_t n = write(r->fd, r->text.ptr + r->written, len);
        if (n < 0 && (errno == EINTR || errno == EAGAIN)) {
            break;
        }
        r->dead = n < 0;
        r->written += n > 0 ? (size_t)n : 0;
    }
    if (r->dead || left_bytes(r) == 0) {
        buf_clear(&r->text);
        r->written = 0;
    } else if (r->written >= FULL_BYTES) {
        r->text.len -= r->written;
        memmove(r->text.ptr, r->text.ptr + r->written, r->text.len);
        r->written = 0;
    }
}

void cli_relay_add(struct cli_relay *r, struct str text)
{
    if (!r->dead) {
        buf_add_str(&r->text, text);
        cli_relay_turn(r);
    }
}

void cli_relay_note(struct cli_relay *r, const char *fmt, ...)
{
    char note[NOTE_BYTES];
    va_list args;
    va_start(args, fmt);
    int n = vsnprintf(note, sizeof note, fmt, args);
    va_end(args);
    size_t len = n < 0 ? 0 : (size_t)n < sizeof note ? (size_t)n : sizeof note - 1;
    cli_relay_add(r, str_from(note, len));
}

void cli_relay_finish(struct cli_relay *r, int wake_fd, int64_t patience_ms)
{
    struct pollfd fds[] = {{.fd = r->fd, .events = POLLOUT}, {.fd = wake_fd, .events = POLLIN}};
    int64_t until = os_clock_mono().ns + patience_ms * NS_PER_MS;
    cli_relay_turn(r);
    while (cli_relay_any(r) && fds[1].revents == 0) {
        int64_t ms = (until - os_clock_mono().ns) / NS_PER_MS;
        if (ms <= 0) {
            break;
        }
        (void)poll(fds, COUNT_OF(fds), ms < INT_MAX ? (int)ms : INT_MAX);
        cli_relay_turn(r);
    }
}
