/*
 * Pool: libuv's worker threads, which all loops of the process share.
 *
 * libuv starts them with the first job of any loop, and they inherit the name of the thread that
 * submits it. Therefore they are started here, under a name of their own.
 */
#pragma once

#include <uv.h>

/* On the loop's own thread, before its first job. Leaves the thread with the pool's name: name
 * the thread afterwards. */
void pool_start(uv_loop_t *loop);
