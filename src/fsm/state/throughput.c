#include "fsm/state/throughput.h"

#include "base/check.h"

void throughput_begin(struct throughput *t, struct wall now, bool repeated)
{
    int64_t number = throughput_minute_number(now);
    CHECK(number >= 0);
    t->now = now;
    t->entry++;
    t->repeated = repeated;
    t->slot = (unsigned)(number % THROUGHPUT_MINUTES);
    if (t->minutes[t->slot].number != number) {
        t->minutes[t->slot] = (struct throughput_minute){.number = number};
    }
}

void throughput_add(struct throughput *t, enum throughput_kind kind)
{
    CHECK(kind < THROUGHPUT_KIND_COUNT);
    CHECK(t->entry > 0);
    t->minutes[t->slot].count[kind]++;
    t->of[kind].last = t->now;
    if (t->repeated) {
        return;
    }
    t->of[kind].total++;
    if (t->last_entry[kind] != t->entry) {
        t->last_entry[kind] = t->entry;
        t->of[kind].entries++;
    }
}

void throughput_add_event(struct throughput *t, enum store_event_type type)
{
    switch ((int)type) {
    case STORE_EVENT_ENQUEUED:
        throughput_add(t, THROUGHPUT_ENQUEUED);
        break;
    case STORE_EVENT_COMPLETED:
        throughput_add(t, THROUGHPUT_COMPLETED);
        break;
    case STORE_EVENT_FAILED:
        throughput_add(t, THROUGHPUT_FAILED);
        break;
    case STORE_EVENT_PROMOTED:
        throughput_add(t, THROUGHPUT_PROMOTED);
        break;
    case STORE_EVENT_RECLAIMED:
        throughput_add(t, THROUGHPUT_RECLAIMED);
        break;
    case STORE_EVENT_EXPIRED:
        throughput_add(t, THROUGHPUT_EXPIRED);
        break;
    default:
        break;
    }
}

struct throughput_minute throughput_minute(const struct throughput *t, int64_t number)
{
    CHECK(number >= 0);
    const struct throughput_minute *kept = &t->minutes[number % THROUGHPUT_MINUTES];
    return kept->number == number ? *kept : (struct throughput_minute){.number = number};
}
