/*
 * Queue_limits: whether a job of a queue may be claimed now: its pause, its concurrency and its
 * throttle, which counts claims in a ring.
 */
#include <stdlib.h>

#include "base/check.h"
#include "base/pack.h"
#include "fsm/apply/apply_int.h"

/* The key of a throttle record is a queue's internal name and a few bytes. */
enum { KEY_BYTES_MAX = 1024 };

/* The place in the ring, big-endian, after a NUL. */
enum { PLACE_BYTES = 4, KEY_TAIL_BYTES = 1 + PLACE_BYTES };

struct wall queue_limits__throttled_until(const struct queue *q, struct wall now)
{
    if (q->rec.throttle_rate == 0 || q->rec.throttle_claims < q->rec.throttle_rate) {
        return WALL_NONE;
    }
    CHECK(q->claims != NULL);
    /* The claim that must have left the window: the oldest of the last throttle_rate claims. */
    struct wall oldest = {.ns = q->claims[q->rec.throttle_claims % q->rec.throttle_rate]};
    struct wall until = wall_add_ms(oldest, q->rec.throttle_window_ms);
    return until.ns <= now.ns ? WALL_NONE : until;
}

bool queue_limits__open(const struct queue *q, struct wall now, struct wall *out_until)
{
    *out_until = WALL_NONE;
    if (q->rec.paused || q->gone) {
        return false;
    }
    if (q->rec.max_concurrency > 0 && q->live_count[JOB_ACTIVE] >= q->rec.max_concurrency) {
        return false;
    }
    *out_until = queue_limits__throttled_until(q, now);
    return out_until->ns == 0;
}

/* The number of claims that the throttle allows now. Claims in the ring are in order of time, so
 * those that have left the window are the first ones. */
static uint32_t throttle_places(const struct queue *q, struct wall now)
{
    uint32_t rate = q->rec.throttle_rate;
    uint64_t claims = q->rec.throttle_claims;
    uint32_t kept = claims < rate ? (uint32_t)claims : rate;
    uint32_t low = 0;
    uint32_t high = kept;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        struct wall at = {.ns = q->claims[(claims - kept + middle) % rate]};
        if (wall_add_ms(at, q->rec.throttle_window_ms).ns <= now.ns) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    CHECK(low <= kept);
    CHECK(kept <= rate);
    return rate - kept + low;
}

uint32_t queue_limits__places_unpaused(const struct queue *q, struct wall now)
{
    uint32_t places = UINT32_MAX;
    if (q->rec.max_concurrency > 0) {
        uint32_t active = q->live_count[JOB_ACTIVE];
        places = active < q->rec.max_concurrency ? q->rec.max_concurrency - active : 0;
    }
    if (q->rec.throttle_rate > 0) {
        uint32_t through = throttle_places(q, now);
        places = through < places ? through : places;
    }
    return places;
}

uint32_t queue_limits__places(const struct queue *q, struct wall now)
{
    struct wall until;
    return queue_limits__open(q, now, &until) ? queue_limits__places_unpaused(q, now) : 0;
}

/* The key of a place in the ring of claims. */
static struct str throttle_key(const struct queue *q, uint32_t place, struct buf *out)
{
    buf_clear(out);
    buf_add_str(out, q->node.key);
    buf_add_char(out, '\0');
    pack_u32_be(out, place);
    return buf_str(out);
}

void queue_limits__count_claim(struct machine *m, struct queue *q)
{
    if (q->rec.throttle_rate == 0) {
        return;
    }
    uint32_t place = (uint32_t)(q->rec.throttle_claims % q->rec.throttle_rate);
    struct buf key;
    struct buf value;
    buf_init(&key, KEY_BYTES_MAX);
    buf_init(&value, sizeof(int64_t));
    CHECK(q->claims != NULL);
    CHECK(place < q->rec.throttle_rate);
    q->claims[place] = m->now.ns;
    q->rec.throttle_claims++;
    pack_i64(&value, m->now.ns);
    store_put(&m->store, STORE_KIND_THROTTLE, throttle_key(q, place, &key), buf_str(&value));
    queues__touch(m, q);
    CHECK(!key.overflow);
    CHECK(!value.overflow);
    buf_deinit(&key);
    buf_deinit(&value);
}

/* Allocate a ring for `rate` claims; NULL if rate is 0. */
static int64_t *new_ring(uint32_t rate)
{
    int64_t *claims = rate == 0 ? NULL : calloc(rate, sizeof *claims);
    CHECK(rate == 0 || claims != NULL);
    return claims;
}

void queue_limits__drop_throttle(struct machine *m, struct queue *q)
{
    if (q->rec.throttle_rate == 0) {
        return;
    }
    /* All places of the ring: keys from name NUL up to name SOH. */
    struct buf from;
    struct buf until;
    buf_init(&from, KEY_BYTES_MAX);
    buf_init(&until, KEY_BYTES_MAX);
    buf_add_char(&from, STORE_KIND_THROTTLE);
    buf_add_str(&from, q->node.key);
    buf_add_str(&until, buf_str(&from));
    buf_add_char(&from, '\0');
    buf_add_char(&until, '\1');
    CHECK(!from.overflow);
    CHECK(!until.overflow);
    kv_delete_range(m->store.batch, STORE_META, buf_str(&from), buf_str(&until));
    buf_deinit(&from);
    buf_deinit(&until);
    free(q->claims);
    q->claims = NULL;
    q->rec.throttle_rate = 0;
    q->rec.throttle_window_ms = 0;
    q->rec.throttle_claims = 0;
    queues__touch(m, q);
}

bool queue_limits__set_throttle(struct machine *m, struct queue *q, uint32_t rate,
                                int64_t window_ms)
{
    if (q->rec.throttle_rate == rate && q->rec.throttle_window_ms == window_ms) {
        return false;
    }
    queue_limits__drop_throttle(m, q);
    q->rec.throttle_rate = rate;
    q->rec.throttle_window_ms = window_ms;
    q->claims = new_ring(rate);
    CHECK(q->rec.throttle_claims == 0);
    queues__touch(m, q);
    return true;
}

static void load_claim(void *data, struct str rest, struct str value)
{
    struct machine *m = data;
    struct unpack u = unpack_from(value);
    int64_t at = unpack_i64(&u);
    bool sound = unpack_done(&u) && rest.len > KEY_TAIL_BYTES;
    struct queue *q = sound ? queues__find(m, str_from(rest.ptr, rest.len - KEY_TAIL_BYTES)) : NULL;
    struct unpack place_bytes =
        unpack_from(sound ? str_from_offset(rest, rest.len - PLACE_BYTES) : STR_EMPTY);
    uint32_t place = unpack_u32_be(&place_bytes);
    if (q == NULL || place >= q->rec.throttle_rate) {
        check_fatal("a throttle record of queue '" STR_FMT "' does not fit it", STR_ARG(rest));
    }
    q->claims[place] = at;
}

void queue_limits__load(struct machine *m)
{
    for (uint32_t i = 0; i < m->queue_count; i++) {
        m->queues[i]->claims = new_ring(m->queues[i]->rec.throttle_rate);
    }
    store_each(&m->store, STORE_KIND_THROTTLE, load_claim, m);
}
