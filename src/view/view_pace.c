/*
 * Pace: how long the writer rests after a turn, and how long a question waits for it.
 *
 * The view may be late, but jobs must not be delayed. While the processors are busy, each row that
 * is written costs clients time. The writer then uses a twentieth of a processor, half of one if it
 * is late, and more the further behind it is. So a short burst is over before the writer costs
 * much, and under permanent load the view stays behind. The writer does not rest if there are idle
 * processors, if no job has changed meanwhile, or if a question was asked recently: then current
 * results are wanted.
 *
 * The processors are considered busy if the writer itself has to wait for a processor or the disk:
 * if its last turns took much longer than their CPU time.
 *
 * Full text is nearly half of the work and is rarely searched. While the writer has to rest, full
 * text waits, up to a number of texts that are indexed in a second or two.
 *
 * A question waits until the view contains the changes that were acknowledged before it. If jobs
 * change faster than the view can follow, for some time, the view would reach that point too late.
 * A question then waits only a moment, and its response reports how much is missing. The view may
 * catch up now and then meanwhile. A question that comes at such a moment waits as usual, because
 * little is missing.
 */
#include "os/os_clock.h"
#include "view/view_pace_int.h"

enum {
    SHARE_LEAST = 50, /* shares of a processor, in thousandths */
    SHARE_LATE = 500,
    SHARE_ALL = 1000,
    LATE = 100000, /* SHARE_LATE applies with this many ids waiting: two seconds of a busy server */
    REST_MS_MAX = 1000,
    ASKED_MS = 5000,   /* a question is recent for this long */
    PRESSED_MS = 2000, /* pressed for this long after a rest; longer than any rest */
    BEHIND_MAX = 2000000,
    WAITED_PART = 4, /* the processors are busy if 1/WAITED_PART of the time was waiting */
    TURNS = 4,       /* approximate number of turns in the sums */
    HASTE = 4, /* factor by which changes are written sooner if a question was asked recently */
    FLOOD_BEHIND = 256, /* flood: this many ids still wait after nearly every turn… */
    FLOOD_MS = 2000,    /* …for this long; a burst is shorter. Also how long it takes to end */
    FLOOD_WAIT_MS = 20,
};

void view_pace__begin(struct view_pace *p, const struct engine_feed *feed)
{
    p->newest = engine_feed_newest(feed);
    p->began_ns = os_clock_mono().ns;
    p->began_ran_ns = os_clock_thread_ns();
}

/* Interpolate linearly between two points. */
static int64_t between(int64_t at, int64_t from, int64_t to, int64_t first, int64_t last)
{
    return first + (last - first) * (at - from) / (to - from);
}

int64_t view_pace__rule(const struct view_turn *t)
{
    bool crowded = (t->took_ns - t->took_ran_ns) * WAITED_PART > t->took_ns && t->changed;
    if (!crowded || t->asked_ms < ASKED_MS || t->behind >= BEHIND_MAX) {
        return 0;
    }
    int64_t behind = (int64_t)t->behind;
    int64_t share = behind < LATE ? between(behind, 0, LATE, SHARE_LEAST, SHARE_LATE)
                                  : between(behind, LATE, BEHIND_MAX, SHARE_LATE, SHARE_ALL);
    int64_t ms = t->ran_ns / NS_PER_MS * (SHARE_ALL - share) / share;
    return ms < REST_MS_MAX ? ms : REST_MS_MAX;
}

static int64_t asked_ms(const struct view_pace *p)
{
    return (os_clock_mono().ns - p->asked_ns) / NS_PER_MS;
}

int64_t view_pace__rest_ms(struct view_pace *p, const struct engine_feed *feed)
{
    int64_t ran_ns = os_clock_thread_ns() - p->began_ran_ns;
    int64_t took_ns = os_clock_mono().ns - p->began_ns;
    p->took_ns += took_ns - p->took_ns / TURNS;
    p->took_ran_ns += ran_ns - p->took_ran_ns / TURNS;
    struct view_turn turn = {.ran_ns = ran_ns,
                             .took_ns = p->took_ns,
                             .took_ran_ns = p->took_ran_ns,
                             .changed = engine_feed_newest(feed) != p->newest,
                             .behind = engine_feed_waiting(feed),
                             .asked_ms = asked_ms(p)};
    int64_t ms = view_pace__rule(&turn);
    p->rested_ns = ms > 0 ? os_clock_mono().ns : p->rested_ns;
    return ms;
}

bool view_pace__is_pressed(const struct view_pace *p)
{
    int64_t rested_ms = (os_clock_mono().ns - p->rested_ns) / NS_PER_MS;
    return p->rested_ns != 0 && rested_ms < PRESSED_MS && asked_ms(p) >= ASKED_MS;
}

void view_pace__asked(struct view_pace *p)
{
    p->asked_ns = os_clock_mono().ns;
}

int64_t view_pace__linger_ms(const struct view_pace *p, int64_t linger_ms)
{
    return asked_ms(p) < ASKED_MS ? linger_ms / HASTE : linger_ms;
}

/* Has the view been caught up for long? */
static bool is_calm(const struct view_flood *f, struct mono now)
{
    return f->caught_up && now.ns - f->last_ns >= FLOOD_MS * NS_PER_MS;
}

void view_pace__turned(struct view_flood *f, uint64_t behind, struct mono now)
{
    if (is_calm(f, now)) {
        f->since_ns = 0;
    }
    f->caught_up = behind < FLOOD_BEHIND;
    if (!f->caught_up) {
        f->since_ns = f->since_ns == 0 ? now.ns : f->since_ns;
        f->last_ns = now.ns;
    }
}

int64_t view_pace__wait_ms(const struct view_flood *f, uint64_t behind, struct mono now,
                           int64_t wait_ms)
{
    bool flood = f->since_ns != 0 && now.ns - f->since_ns >= FLOOD_MS * NS_PER_MS &&
                 !is_calm(f, now) && behind >= FLOOD_BEHIND;
    return flood && wait_ms > FLOOD_WAIT_MS ? FLOOD_WAIT_MS : wait_ms;
}
