/*
 * Command_take: shared by the decoders of commands.
 */
#pragma once

#include <stddef.h>

#include "base/arena.h"
#include "base/pack.h"

/* Read a count of items that take at least min bytes each. A count that the remaining bytes cannot
 * hold makes u bad. */
size_t command_take_count(struct unpack *u, size_t min);

/* Zeroed memory for n items of a decoded command. If the arena is full, returns NULL and makes u
 * bad; a reader that stops when u is bad needs no other test. */
void *command_take_array(struct unpack *u, struct arena *a, size_t n, size_t size);

/* The same, not zeroed: for items that are decoded as a whole, so that they are not written twice.
 */
void *command_take_room(struct unpack *u, struct arena *a, size_t n, size_t size);
