/*
 * Pool: libuv's worker threads, which all loops of the process share.
 *
 * libuv starts them with the first job of any loop, and they inherit the name of the thread that
 * starts them. They are therefore started here, under their own name.
 */
#pragma once

#include <uv.h>

/* On the loop's own thread, before its first job and before the thread is named: it is left with
 * the pool's name. */
void pool_start(uv_loop_t *loop);
