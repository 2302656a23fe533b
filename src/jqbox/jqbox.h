/*
 * Jqbox: programs in the jq language, asked about many JSON texts, in a process of their own.
 *
 * libjq runs whatever it is given: a program may loop for ever, take all memory, or make the
 * library abort. So it does not run here. A child (this very executable, see jqbox_child.h)
 * compiles the program once and then answers a stream of texts with one byte each; it has no
 * environment, no files, no more memory than LIMIT_JQ_BYTES, and it is killed when its time is
 * over. What it says is believed only in this form; a child that ends or says anything else is an
 * error, never an answer.
 *
 *   jqbox_add, jqbox_add, … jqbox_ask --[texts]--> child
 *                                     <--[0/1]----
 *
 * A text matches when the first value that the program gives for it is true, and nothing else: a
 * slip such as `.n = 1` gives the whole text, and must not match all of them. A program that gives
 * nothing or fails for a text does not match it.
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

/* Start a child and have the program compiled. Times are those of os_clock_mono. Fails with
 * ERR_VALIDATION, "unsupported payload_jq expression: …", for what is no program; ERR_SEARCH when
 * the time was over; ERR_IO when no child could be started. */
ATTR_NODISCARD enum err_code jqbox_open(struct str program, int64_t deadline_ns, struct jqbox **out,
                                        struct err *err);
/* The child is gone when this returns. NULL is fine. */
void jqbox_close(struct jqbox *b);

/* Can it be asked on behalf of this program? Not when it is of another, has failed, or is old. */
bool jqbox_fits(const struct jqbox *b, struct str program);

/* Put a text into the block that the next jqbox_ask sends. False: the block is full, ask first. A
 * text always fits into an empty block. */
ATTR_NODISCARD bool jqbox_add(struct jqbox *b, struct str text);

/* From now on the time is over soon after *until_ns, too, which any thread may change. NULL: no
 * more. */
void jqbox_watch(struct jqbox *b, const atomic_int_fast64_t *until_ns);

/* Send the block and wait for its answers, in the order of the texts; they live until the next
 * call. Fails with ERR_SEARCH when the time was over, and with ERR_VALIDATION when the program has
 * ended its child; then nothing but jqbox_close is left to do. */
ATTR_NODISCARD enum err_code jqbox_ask(struct jqbox *b, int64_t deadline_ns, const bool **out,
                                       size_t *out_count, struct err *err);
