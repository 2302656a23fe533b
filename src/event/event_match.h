/*
 * Event_match: which events a reader wants.
 *
 * Types are bits: the patterns of a reader are converted once to the set of matching types, so that
 * checking an event takes a few comparisons. The dimensions of a filter are joined by AND, the
 * values of one by OR.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/buf.h"
#include "base/id.h"
#include "base/str.h"
#include "store/store_event.h"

#define EVENT_MATCH_ALL UINT32_MAX

/* The types that match a pattern: a type's word, the same with "job." in front for types of
 * jobs, or either with the wildcards '*' and '?'; case-insensitive. A word that is not a type
 * matches none. */
uint32_t event_match_types(struct str pattern);

/* The types that match any of the patterns; all types without patterns. '*' matches every type,
 * including those of queues. False with the first pattern that matches none. */
ATTR_NODISCARD bool event_match_read_types(const struct str *patterns, size_t count, uint32_t *out,
                                           struct str *out_unknown);

/* Write the message that refuses a word that is not a type. It lists all types, so it is too long
 * for a struct err. */
enum { EVENT_MATCH_REFUSAL_BYTES = 512 };
void event_match_refuse(const char *field, struct str type, struct buf *out);

struct event_match {
    struct str ns;    /* namespace of the reader; empty: sees everything */
    struct str scope; /* queues that it may see (core/queue_scope.h); empty: all */
    uint32_t types;   /* EVENT_MATCH_ALL without a filter */
    bool by_queue;
    const struct str *queues; /* internal names */
    size_t queue_count;
    bool by_job;
    const struct id *jobs;
    size_t job_count;
};

bool event_match_fits(const struct event_match *m, const struct store_event *e);

/* Does every event match? */
bool event_match_is_open(const struct event_match *m);
