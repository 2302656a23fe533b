/*
 * Jqbox_child: what a jqbox runs in its child. The only file that knows libjq.
 *
 * The child is this executable with JQBOX_CHILD_ARGUMENT as its only argument: main asks first
 * whether that is what it was started for. It talks through its standard input, a socket:
 *
 *   from the parent   frames: a length (4 bytes) and as many bytes. The first is the
 *                     program, each of the others a JSON text.
 *   to the parent     one frame: what is wrong with the program, nothing when it is good; then for
 *                     each text a byte, '1' when it matches and '0' when not.
 *
 * It ends when the parent closes the socket, at the end of its CPU time, or by a signal when the
 * program was too much for libjq or for its memory.
 */
#pragma once

#include <stdbool.h>

#define JQBOX_CHILD_ARGUMENT "--jqbox-child"

/* Are these main's arguments for a child? */
bool jqbox_child_is_asked(int argc, char **argv);

/* The whole life of a child; returns the exit code. */
int jqbox_child_main(void);
