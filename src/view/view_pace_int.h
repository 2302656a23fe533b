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
    int64_t began_ns, began_ran_ns; /* the turn: the time, and what the thread had run by then */
    uint64_t newest;                /* entry that changed a job, then */
    int64_t took_ns, took_ran_ns;   /* the last turns: how long they took, and ran */
    int64_t asked_ns;               /* when somebody last waited for the copy */
    int64_t rested_ns;              /* when it last had to rest */
};

/* What a turn was like. */
struct view_turn {
    int64_t ran_ns;
    int64_t took_ns, took_ran_ns; /* as above */
    bool changed;                 /* some job, meanwhile */
    uint64_t behind;              /* ids that wait to be written */
    int64_t asked_ms;             /* since somebody last waited for the copy */
};

/* A turn begins, on the thread that takes it. */
void view_pace__begin(struct view_pace *p, const struct engine_feed *feed);
void view_pace__asked(struct view_pace *p);
/* How long to rest after the turn; 0: not at all. */
int64_t view_pace__rest_ms(struct view_pace *p, const struct engine_feed *feed);
int64_t view_pace__rule(const struct view_turn *t); /* the rule alone */
/* Has it rested lately, and nobody asked? What is not urgent then waits. */
bool view_pace__is_pressed(const struct view_pace *p);
/* How long changes are collected, when that is linger_ms while nobody asks. */
int64_t view_pace__linger_ms(const struct view_pace *p, int64_t linger_ms);

/* Jobs change faster than the copy can follow at once: since when. 0: they do not. */
struct view_flood {
    int64_t since_ns;
};

/* A turn is over, and so many ids wait. */
void view_pace__turned(struct view_flood *f, uint64_t behind, struct mono now);
/* How long a question waits for the copy, when that is wait_ms at other times. */
int64_t view_pace__wait_ms(const struct view_flood *f, struct mono now, int64_t wait_ms);
