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

/* wake is sent whenever there is something to see; it outlives this. */
struct server_signals *server_signals_start(uv_async_t *wake);
/* From here on a signal does what it does to any process. NULL is fine. */
void server_signals_end(struct server_signals *s);

/* The number of the signal that asks to stop; 0: none has come. Any thread. */
int server_signals_stop(const struct server_signals *s);
/* Readable once it is not 0. */
int server_signals_stop_fd(const struct server_signals *s);

/* Was there a SIGHUP since this was asked last? Any thread. */
bool server_signals_take_reload(struct server_signals *s);
