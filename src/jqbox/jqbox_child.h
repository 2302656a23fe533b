/*
 * Jqbox_child: the child process of a jqbox. The only file that uses libjq.
 *
 * The child is this executable with JQBOX_CHILD_ARGUMENT as its only argument: main checks for it
 * first. The child communicates through its standard input, a socket:
 *
 *   from the parent   frames: a length (4 bytes) and that many bytes. The first is the
 *                     program, each of the others a JSON text.
 *   to the parent     one frame: the error in the program, empty if there is none; then for each
 *                     text a byte, '1' if it matches and '0' if not.
 *
 * It ends when the parent closes the socket, at the end of its CPU time, or by a signal if the
 * program crashes libjq or exceeds the memory limit.
 */
#pragma once

#include <stdbool.h>

#define JQBOX_CHILD_ARGUMENT "--jqbox-child"

/* Are these the arguments of a child? */
bool jqbox_child_is_asked(int argc, char **argv);

/* The main function of a child; returns the exit code. */
int jqbox_child_main(void);
