/*
 * View_words: full-text search (http-api.md 10.6).
 *
 * The query uses FTS5's syntax: words, "phrases", prefixes*, AND, OR, NOT. It searches payload,
 * tags and queue. Names of states are not in the index, because states change far more often than
 * texts; they are looked up instead. The escapes in payload and tags are decoded first. The best
 * matches among the newest ten thousand come first. If the words match nothing, or the query is not
 * valid FTS5, it is used as a substring of the texts, decoded or as they are.
 */
#pragma once

#include "base/arena.h"
#include "base/err.h"
#include "base/id.h"
#include "base/str.h"
#include "view/view.h"

struct view_words {
    struct str ns;    /* namespace of the caller; empty: default */
    struct str scope; /* queues that the caller may see (core/queue_scope.h); empty: all */
    struct str query;
    uint32_t limit;
    /* result */
    struct id *ids; /* in the arena */
    size_t count;
};

/* Inside view_ask.run, with view_ask.text. */
ATTR_NODISCARD enum err_code view_words_find(struct view_reader *r, struct view_words *w,
                                             struct arena *a, struct err *err);
