/*
 * Pace: how long the writer rests after a turn, and how long a question waits for it.
 *
 * The copy may be late, the jobs may not. While the processors are busy, each row that is written
 * is time that a client waits; so the writer then takes a twentieth of one, half of one when it is
 * late, and the more the further it is behind. A burst is over before it costs much; what goes on
 * for long is followed at a distance. It does not rest when there are processors to spare, nor when
 * no job has changed meanwhile, nor when somebody has asked lately: who looks wants to see.
 *
 * The processors are busy when the writer itself has to wait for one, or for the disk: when its
 * last turns took much longer than they ran.
 *
 * Full text is nearly half of the work, and few ask for it: while the writer has to rest, it waits,
 * up to a number of texts that are indexed in a second or two.
 *
 * A question waits for what was answered before it. While jobs change faster than the copy can
 * follow at once, and go on doing so, that moment has passed when it is reached: a question then
 * waits for a moment only, and its answer says how much is missing.
 */
#include "os/os_clock.h"
#include "view/view_pace_int.h"

enum {
    SHARE_LEAST = 50, /* of a processor, in thousandths… */
    SHARE_LATE = 500,
    SHARE_ALL = 1000,
    LATE = 100000, /* …when so many ids wait: two seconds' worth of a busy server */
    REST_MS_MAX = 1000,
    ASKED_MS = 5000,   /* lately */
    PRESSED_MS = 2000, /* after a rest; longer than any */
    BEHIND_MAX = 2000000,
    WAITED_PART = 4,    /* of the time of the turns, spent waiting: the processors are busy */
    TURNS = 4,          /* whose times count, about */
    HASTE = 4,          /* times as often are changes looked for while somebody asks */
    FLOOD_BEHIND = 256, /* ids that still wait after each turn… */
    FLOOD_MS = 2000,    /* …for so long: a burst is over before */
    FLOOD_WAIT_MS = 20,
};

void view_pace__begin(struct view_pace *p, const struct engine_feed *feed)
{
    p->newest = engine_feed_newest(feed);
    p->began_ns = os_clock_mono().ns;
    p->began_ran_ns = os_clock_thread_ns();
}

/* Between two points, in a straight line. */
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

void view_pace__turned(struct view_flood *f, uint64_t behind, struct mono now)
{
    if (behind < FLOOD_BEHIND) {
        f->since_ns = 0;
    } else if (f->since_ns == 0) {
        f->since_ns = now.ns;
    }
}

int64_t view_pace__wait_ms(const struct view_flood *f, struct mono now, int64_t wait_ms)
{
    bool flood = f->since_ns != 0 && now.ns - f->since_ns >= FLOOD_MS * NS_PER_MS;
    return flood && wait_ms > FLOOD_WAIT_MS ? FLOOD_WAIT_MS : wait_ms;
}
