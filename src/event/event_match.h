/*
 * Event_match: which events a reader wants.
 *
 * Types are bits: a pattern is turned into the set of types that it fits once, when the reader
 * comes, so that asking about an event is a few comparisons. The dimensions of a filter are joined
 * by AND, the values of one by OR.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/err.h"
#include "base/id.h"
#include "base/str.h"
#include "store/store_event.h"

#define EVENT_MATCH_ALL UINT32_MAX

/* The types that a pattern fits: a type's word, the same behind "job." for those of a job, or
 * either with '*' for any run of characters and '?' for one; letters in any case. A word that is no
 * type fits none. */
uint32_t event_match_types(struct str pattern);

/* The types that any of the patterns fits, all without one; '*' is every type, of queues too. One
 * that fits none is refused by name. */
ATTR_NODISCARD enum err_code event_match_read_types(const struct str *patterns, size_t count,
                                                    uint32_t *out, struct err *err);

/* A word that is no type: an error that lists those there are. */
enum err_code event_match_refuse(const char *field, struct str type, struct err *err);

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

/* Does it let every event through? */
bool event_match_is_open(const struct event_match *m);
