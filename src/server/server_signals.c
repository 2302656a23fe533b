#include "server/server_signals.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/check.h"

enum { SIGNALS = 3, STATUS_AT_ONCE = 130 };

struct server_signals {
    uv_async_t *wake; /* belongs to the owner */
    int stop_fd;
    atomic_int stop;
    atomic_bool reload;
    /* used by the thread only */
    uv_thread_t thread;
    uv_loop_t loop;
    uv_signal_t signals[SIGNALS];
    uv_async_t end;
};

/* Logs nothing: the process may hang in the log. */
static void on_signal(uv_signal_t *handle, int number)
{
    struct server_signals *s = handle->data;
    if (number == SIGHUP) {
        atomic_store(&s->reload, true);
    } else if (atomic_exchange(&s->stop, number) != 0) {
        _exit(STATUS_AT_ONCE);
    } else {
        CHECK(eventfd_write(s->stop_fd, 1) == 0);
    }
    CHECK(uv_async_send(s->wake) == 0);
}

static void on_end(uv_async_t *handle)
{
    struct server_signals *s = handle->data;
    for (size_t i = 0; i < SIGNALS; i++) {
        uv_close((uv_handle_t *)&s->signals[i], NULL);
    }
    uv_close((uv_handle_t *)&s->end, NULL);
}

static void run(void *data)
{
    struct server_signals *s = data;
    (void)pthread_setname_np(pthread_self(), "signals");
    (void)uv_run(&s->loop, UV_RUN_DEFAULT);
}

struct server_signals *server_signals_start(uv_async_t *wake)
{
    static const int numbers[SIGNALS] = {SIGTERM, SIGINT, SIGHUP};
    struct server_signals *s = calloc(1, sizeof *s);
    CHECK(s != NULL);
    s->wake = wake;
    s->stop_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    CHECK(s->stop_fd >= 0);
    CHECK(uv_loop_init(&s->loop) == 0);
    for (size_t i = 0; i < SIGNALS; i++) {
        CHECK(uv_signal_init(&s->loop, &s->signals[i]) == 0);
        s->signals[i].data = s;
        CHECK(uv_signal_start(&s->signals[i], on_signal, numbers[i]) == 0);
    }
    CHECK(uv_async_init(&s->loop, &s->end, on_end) == 0);
    s->end.data = s;
    CHECK(uv_thread_create(&s->thread, run, s) == 0);
    return s;
}

void server_signals_end(struct server_signals *s)
{
    if (s == NULL) {
        return;
    }
    CHECK(uv_async_send(&s->end) == 0);
    CHECK(uv_thread_join(&s->thread) == 0);
    CHECK(uv_loop_close(&s->loop) == 0);
    (void)close(s->stop_fd);
    free(s);
}

int server_signals_stop(const struct server_signals *s)
{
    return atomic_load(&s->stop);
}

int server_signals_stop_fd(const struct server_signals *s)
{
    return s->stop_fd;
}

bool server_signals_take_reload(struct server_signals *s)
{
    return atomic_exchange(&s->reload, false);
}
