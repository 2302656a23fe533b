/*
 * Pool: libuv's worker threads, which every loop of the process shares.
 *
 * libuv starts them with the first job of any loop, and a thread begins with the name of the one
 * that starts it: whoever looks at the process would take them for that thread. So they are started
 * here, under a name of their own.
 */
#pragma once

#include <uv.h>

/* On the loop's own thread, before its first job and before the thread is named: it is left with
 * the pool's name. */
void pool_start(uv_loop_t *loop);
