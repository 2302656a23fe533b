/*
 * Jqbox: runs a jq program on many JSON texts, in a separate process.
 *
 * libjq limits nothing: a program may loop forever, use all memory, or make the library abort.
 * Therefore it does not run in the server. A child (this same executable, see jqbox_child.h)
 * compiles the program once and then answers a stream of texts with one byte each. The child has no
 * environment, no files and at most LIMIT_JQ_BYTES of memory, and it is killed after its deadline.
 * Only output in this form is accepted. If the child ends or writes anything else, the result is an
 * error, never an answer.
 *
 *   jqbox_add, jqbox_add, … jqbox_ask --[texts]--> child
 *                                     <--[0/1]----
 *
 * A text matches if the first value that the program returns for it is true. No other value counts:
 * a mistake such as `.n = 1` returns the whole text, and must not match all of them. A text for
 * which the program returns nothing or fails does not match.
 *
 * One thread at a time. The child dies with the thread that opened it.
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/err.h"
#include "base/str.h"

struct jqbox;

enum { JQBOX_TEXTS_MAX = 4096 }; /* in a block */

/* Start a child and compile the program. Times are those of os_clock_mono. Fails with
 * ERR_VALIDATION, "unsupported payload_jq expression: …", for an invalid program; ERR_SEARCH
 * after the deadline; ERR_IO if no child could be started. */
ATTR_NODISCARD enum err_code jqbox_open(struct str program, int64_t deadline_ns, struct jqbox **out,
                                        struct err *err);
/* The child has ended when this returns. NULL is allowed. */
void jqbox_close(struct jqbox *b);

/* Can it be reused for this program? Not if it runs another program, has failed, or is old. */
bool jqbox_fits(const struct jqbox *b, struct str program);

/* Add a text to the block that the next jqbox_ask sends. False if the block is full: call jqbox_ask
 * first. A text always fits into an empty block. */
ATTR_NODISCARD bool jqbox_add(struct jqbox *b, struct str text);

/* In addition to the deadlines, stop soon after *until_ns, which any thread may change. NULL:
 * remove this deadline. */
void jqbox_watch(struct jqbox *b, const atomic_int_fast64_t *until_ns);

/* Send the block and wait for its answers, in the order of the texts; they are valid until the
 * next call. Fails with ERR_SEARCH after the deadline, and with ERR_VALIDATION if the program
 * has terminated its child; then only jqbox_close may be called. */
ATTR_NODISCARD enum err_code jqbox_ask(struct jqbox *b, int64_t deadline_ns, const bool **out,
                                       size_t *out_count, struct err *err);
