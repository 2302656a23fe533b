/*
 * Command_take: shared by the decoders of commands.
 */
#pragma once

#include <stddef.h>

#include "base/arena.h"
#include "base/pack.h"

/* A number of things that each take at least min bytes, so that the count cannot be a lie. */
size_t command_take_count(struct unpack *u, size_t min);

/* Zeroed room for n things of a decoded command. NULL, and u is bad, when the arena is full; a
 * reader that stops when u is bad needs no other test. */
void *command_take_array(struct unpack *u, struct arena *a, size_t n, size_t size);
