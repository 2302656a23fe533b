/*
 * Server_signals: handles SIGTERM, SIGINT and SIGHUP on a separate thread.
 *
 * The first SIGTERM or SIGINT requests a stop, whatever the server is doing: code that waits checks
 * the flag here, or also waits for the descriptor. A second one ends the process immediately with
 * status 130 (scheduler.md 14.5), without help from any other thread.
 */
#pragma once

#include <stdbool.h>

#include <uv.h>

struct server_signals;

/* Sends wake when a signal arrives; wake must live longer than this. */
struct server_signals *server_signals_start(uv_async_t *wake);
/* From now on, signals have their default effect. NULL is allowed. */
void server_signals_end(struct server_signals *s);

/* The signal that requests a stop; 0 if none has arrived. Any thread. */
int server_signals_stop(const struct server_signals *s);
/* Readable after such a signal. */
int server_signals_stop_fd(const struct server_signals *s);

/* Has SIGHUP arrived since the last call? Any thread. */
bool server_signals_take_reload(struct server_signals *s);
