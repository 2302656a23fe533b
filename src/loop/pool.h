/*
 * Pool: libuv's worker threads, which all loops of the process share.
 *
 * libuv starts them with the first job of any loop, and they inherit the name of the thread that
 * submits it. They are started here so that they get the name "pool".
 */
#pragma once

#include <uv.h>

/* Start the threads. Call on the loop's own thread, before its first job. Leaves the calling thread
 * with the pool's name: set its name afterwards. */
void pool_start(uv_loop_t *loop);
