/*
 * Svc_caller: who requests an operation, and the memory to use for it.
 *
 * The svc module implements the operations of the server, independent of the protocol. A dialect
 * decodes its bytes into the plain structs of these headers. svc applies defaults, checks,
 * namespaces and limits, and builds a command. The dialect submits it, has the result converted to
 * an answer struct, and writes that. Texts, including raw JSON, are views of memory that the
 * dialect keeps until it has answered; they are copied only if necessary.
 *
 *     bytes --dialect--> struct svc_… --svc_…--> struct command --engine--> struct result
 *     bytes <--dialect-- answer struct <--svc_…_answer--------------------------'
 *
 * A function that can refuse returns an error code and fills a struct err, whose text starts with
 * the field. Running out of the caller's memory is such a refusal.
 */
#pragma once

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"
#include "engine/engine.h"

struct svc_caller {
    struct engine *engine; /* used to look up jobs and batches */
    struct str ns;         /* namespace; empty for the default one */
    struct str scope;      /* queues that the caller may use (core/queue_scope.h); empty: all */
    struct str version;    /* version of the client program, from its headers; empty: unknown */
    const struct command_names *names; /* of fields, for error messages; NULL: HTTP */
    bool urgencies;                    /* uses priorities from 0 to 100 */
    bool restores;       /* names come from a backup: reserved and old forms are accepted */
    struct arena *arena; /* valid until the response is written */
};

/* Allocate zeroed memory; NULL, with err, if the limit is reached. */
ATTR_NODISCARD void *svc_caller_alloc(const struct svc_caller *who, size_t count, size_t size,
                                      struct err *err);
#define SVC_CALLER_ARRAY(who, type, count, err)                                                    \
    ((type *)svc_caller_alloc((who), (count), sizeof(type), (err)))

/* The same, not zeroed, to avoid writing it twice: for memory that is fully assigned before it is
 * read. */
ATTR_NODISCARD void *svc_caller_room(const struct svc_caller *who, size_t count, size_t size,
                                     struct err *err);
#define SVC_CALLER_ROOM(who, type, count, err)                                                     \
    ((type *)svc_caller_room((who), (count), sizeof(type), (err)))

/* Report which limit a request's arena has reached: its own, or that of all requests together. */
enum err_code svc_caller_refuse_full(const struct arena *arena, struct err *err);

/* Copy the buffer's content into the arena. Frees the buffer, also after an error. */
ATTR_NODISCARD enum err_code svc_caller_keep(const struct svc_caller *who, struct buf *b,
                                             struct str *out, struct err *err);
