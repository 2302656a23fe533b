/*
 * Http_loop: one network thread, as a handler sees it.
 *
 * Each has its own libuv loop and owns the connections and requests that live on it. A handler may
 * put its own timers on the loop between on_loop_start and on_loop_stop (http_server.h).
 */
#pragma once

#include <stdbool.h>

#include <uv.h>

#include "loop/mailbox.h"

struct http_loop;

/* From any thread: the loop's mailbox. It accepts messages at least while a request of the loop is
 * unfinished. */
struct mailbox *http_loop_mailbox(struct http_loop *loop);

/* On the loop's own thread. */
uv_loop_t *http_loop_uv(struct http_loop *loop);

/* 0 to threads - 1. */
unsigned http_loop_index(const struct http_loop *loop);

/* On the loop's own thread: is the server stopping? If so, do not park requests. */
bool http_loop_stopping(const struct http_loop *loop);

/* On the loop's own thread: number of open connections. */
size_t http_loop_conn_count(const struct http_loop *loop);
