/*
 * View_errors: failures grouped by pattern.
 *
 * Two errors belong together if they differ only in numbers, ids, addresses and paths. The rest of
 * the first line of the text is the pattern; its hash is the fingerprint.
 */
#pragma once

#include "base/arena.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/id.h"
#include "base/str.h"
#include "view/view.h"

enum {
    VIEW_ERRORS_PATTERN_MAX = 240, /* bytes of a pattern */
    VIEW_ERRORS_MARK_TEXT = 16,    /* characters of a fingerprint */
    VIEW_ERRORS_GROUPS_MAX = 200,
    VIEW_ERRORS_QUEUES = 5,   /* per group: those with the most failures */
    VIEW_ERRORS_VERSIONS = 5, /* per group: worker versions with the most failures */
    VIEW_ERRORS_STEPS = 24,   /* of the chart of a group */
};

/* The fingerprint of an error. If out is not NULL, the pattern is appended to it. */
int64_t view_errors_mark(struct str error, struct buf *out);

/* Convert a fingerprint to text (VIEW_ERRORS_MARK_TEXT characters) and back. */
void view_errors_format(int64_t mark, char *out);
ATTR_NODISCARD bool view_errors_parse(struct str text, int64_t *out);

struct view_errors_queue {
    struct str name; /* internal name of a queue, or a version */
    int64_t count;
};

struct view_errors_group {
    int64_t mark;
    int64_t count; /* failed attempts */
    int64_t jobs;
    int64_t dead; /* of the jobs */
    struct wall first_seen, last_seen;
    struct id example;        /* the job with the latest failure of the group */
    struct str example_error; /* its error message */
    struct view_errors_queue queues[VIEW_ERRORS_QUEUES];
    size_t queue_count;
    struct view_errors_queue versions[VIEW_ERRORS_VERSIONS];
    size_t version_count;
    int64_t steps[VIEW_ERRORS_STEPS]; /* failures in equal parts of the range */
};

struct view_errors {
    struct str ns;        /* namespace of the caller; empty: default, which sees all */
    struct str scope;     /* queues that the caller may see (core/queue_scope.h); empty: all */
    struct str queue;     /* internal name; empty: any */
    struct wall from, to; /* both inclusive */
    uint32_t limit;       /* maximum of groups, at most VIEW_ERRORS_GROUPS_MAX */
    /* result */
    struct view_errors_group *groups; /* in the arena, most frequent first */
    size_t count;
    int64_t total; /* failed attempts of all groups */
};

/* Inside view_ask.run. ERR_TOO_LARGE if the arena is full. */
ATTR_NODISCARD enum err_code view_errors_run(struct view_reader *r, struct view_errors *e,
                                             struct arena *a, struct err *err);
