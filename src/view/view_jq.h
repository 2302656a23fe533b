/*
 * View_jq: the small language of `payload_jq` (http-api.md 10.4).
 *
 * An expression is one path into the payload and one condition on the value there. It is parsed
 * once into a struct and then evaluated on many payloads; it never becomes part of an SQL text.
 * Values are compared as the contract defines: numbers with numbers, text by bytes, booleans with
 * booleans. A value of another type does not match, unless the operator is "!=".
 *
 * An expression outside this language can be a program in the complete jq language, which is
 * evaluated differently (view_program.c).
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/attr.h"
#include "base/err.h"
#include "base/str.h"

enum { VIEW_JQ_BYTES_MAX = 4096 }; /* of an expression */

enum view_jq_kind {
    VIEW_JQ_NULL,   /* path op null */
    VIEW_JQ_BOOL,   /* path op true */
    VIEW_JQ_NUMBER, /* path op 12.5 */
    VIEW_JQ_TEXT,   /* path op "text" */
    VIEW_JQ_STARTS, /* path | startswith("text") */
    VIEW_JQ_HAS,    /* path | contains("text") */
    VIEW_JQ_LENGTH, /* path | length op 3 */
    VIEW_JQ_PROGRAM /* none of these: a program, or an invalid expression */
};

enum view_jq_op {
    VIEW_JQ_EQ,
    VIEW_JQ_NE,
    VIEW_JQ_GE,
    VIEW_JQ_LE,
    VIEW_JQ_GT,
    VIEW_JQ_LT,
};

/* A parsed expression. Texts are views of the expression or in the arena. */
struct view_jq {
    struct str path; /* without the leading dot; parts separated by dots */
    enum view_jq_kind kind;
    enum view_jq_op op;
    struct str text; /* to compare with, or of the program */
    double number;
    bool is_whole; /* number is an integer, in whole */
    int64_t whole;
    bool truth;
    int64_t length;
};

/* ERR_VALIDATION, "unsupported payload_jq expression", if text is a meaningless comparison of this
 * language (`.a > null`), empty, too long or not UTF-8. */
ATTR_NODISCARD enum err_code view_jq_parse(struct str text, struct arena *a, struct view_jq *out,
                                           struct err *err);

/* Does the payload (JSON) match? Not for programs. Any thread. */
bool view_jq_matches(const struct view_jq *jq, struct str payload);
