#include "engine/engine_room.h"

#include <stdbool.h>

void engine_room_heard(struct engine_room *r, uint64_t id, uint8_t level, int64_t now_ms)
{
    size_t at = r->count;
    for (size_t i = 0; i < r->count; i++) {
        at = r->told[i].id == id ? i : at;
    }
    if (at == LIMIT_NODES) {
        return; /* ignore the report */
    }
    r->told[at].id = id;
    r->told[at].level = level;
    r->told[at].at_ms = now_ms;
    r->count += at == r->count ? 1 : 0;
}

/* The level of a member; own, which makes it no target, if it is not known. */
static unsigned level_of(const struct engine_room *r, uint64_t id, unsigned own, int64_t now_ms)
{
    for (size_t i = 0; i < r->count; i++) {
        if (r->told[i].id == id && now_ms - r->told[i].at_ms <= ENGINE_ROOM_FRESH_MS) {
            return r->told[i].level;
        }
    }
    return own;
}

uint64_t engine_room_choose(const struct engine_room *r, const struct node_member *members,
                            size_t count, enum engine_space_level own, int64_t now_ms)
{
    const struct node_member *best = NULL;
    unsigned least = own;
    for (size_t i = 0; i < count; i++) {
        const struct node_member *m = &members[i];
        unsigned level = level_of(r, m->id, own, now_ms);
        if (m->self || m->role != NODE_VOTER || !m->net.connected || m->installing ||
            level >= own) {
            continue;
        }
        bool further = best == NULL || m->match_index > best->match_index;
        if (level < least || (level == least && further)) {
            best = m;
            least = level;
        }
    }
    return best == NULL ? 0 : best->id;
}
