/*
 * View_words: finding jobs by words (http-api.md 10.6).
 *
 * The query is FTS5's own language: words, "phrases", prefixes*, AND, OR, NOT. It looks at payload,
 * tags and queue; the word of a state, which changes far more often than texts do, is not in the
 * index and is looked up instead. The best matches come first, among the newest ten thousand. When
 * the words find nothing, or the query is not in that language, it is a part of a text.
 */
#pragma once

#include "base/arena.h"
#include "base/err.h"
#include "base/id.h"
#include "base/str.h"
#include "view/view.h"

struct view_words {
    struct str ns;    /* namespace of the caller; empty: the default one */
    struct str scope; /* queues that it may see (core/queue_scope.h); empty: all */
    struct str query;
    uint32_t limit;
    /* result */
    struct id *ids; /* in the arena */
    size_t count;
};

/* Inside view_ask.run, with view_ask.text. */
ATTR_NODISCARD enum err_code view_words_find(struct view_reader *r, struct view_words *w,
                                             struct arena *a, struct err *err);
