/*
 * View_pace: slows the writer down in favor of client requests, and limits how long a question
 * waits for the writer. view_pace.c has the rules.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/clock.h"
#include "engine/engine_feed.h"

struct view_pace {
    int64_t began_ns, began_ran_ns; /* start of the turn: time, and CPU time of the thread */
    uint64_t newest;                /* last entry that had changed a job by then */
    int64_t took_ns, took_ran_ns;   /* recent turns: elapsed time and CPU time */
    int64_t asked_ns;               /* when a question last waited for the view */
    int64_t rested_ns;              /* when the writer last had to rest */
};

/* Measurements of a turn. */
struct view_turn {
    int64_t ran_ns;
    int64_t took_ns, took_ran_ns; /* as above */
    bool changed;                 /* a job changed meanwhile */
    uint64_t behind;              /* ids waiting to be written */
    int64_t asked_ms;             /* since a question last waited for the view */
};

/* Begin a turn, on the writer thread. */
void view_pace__begin(struct view_pace *p, const struct engine_feed *feed);
void view_pace__asked(struct view_pace *p);
/* How long to rest after the turn; 0: not at all. */
int64_t view_pace__rest_ms(struct view_pace *p, const struct engine_feed *feed);
int64_t view_pace__rule(const struct view_turn *t); /* only the rule */
/* Did the writer have to rest recently, while nobody searched? Then work that is not urgent waits.
 */
bool view_pace__is_pressed(const struct view_pace *p);
/* How long to collect changes: linger_ms while nobody searches, less otherwise. */
int64_t view_pace__linger_ms(const struct view_pace *p, int64_t linger_ms);

/* Since when jobs change faster than the view can follow, and when that was last seen; 0: they do
 * not. */
struct view_flood {
    int64_t since_ns, last_ns;
    bool caught_up; /* at the end of the last turn */
};

/* A turn ended, and `behind` ids are waiting. */
void view_pace__turned(struct view_flood *f, uint64_t behind, struct mono now);
/* How long a question waits for the view, which is `behind` ids behind: wait_ms, or less during a
 * flood. */
int64_t view_pace__wait_ms(const struct view_flood *f, uint64_t behind, struct mono now,
                           int64_t wait_ms);
