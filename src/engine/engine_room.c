#include "engine/engine_room.h"

#include <stdbool.h>

void engine_room_heard(struct engine_told *t, uint64_t id, uint8_t level, int64_t now_ms)
{
    struct engine_told_node *n = engine_told_by(t, id);
    if (n != NULL) {
        n->level = level;
        n->level_ms = now_ms;
    }
}

/* The level of a member; own, which makes it no target, if it is not known. */
static unsigned level_of(const struct engine_told *t, uint64_t id, unsigned own, int64_t now_ms)
{
    const struct engine_told_node *n = engine_told_find(t, id);
    bool known = n != NULL && n->level_ms > 0 && now_ms - n->level_ms <= ENGINE_ROOM_FRESH_MS;
    return known ? n->level : own;
}

uint64_t engine_room_choose(const struct engine_told *t, const struct node_member *members,
                            size_t count, enum engine_space_level own, int64_t now_ms)
{
    const struct node_member *best = NULL;
    unsigned least = own;
    for (size_t i = 0; i < count; i++) {
        const struct node_member *m = &members[i];
        unsigned level = level_of(t, m->id, own, now_ms);
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
