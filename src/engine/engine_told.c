#include "engine/engine_told.h"

static size_t position(const struct engine_told *t, uint64_t id)
{
    size_t i = 0;
    while (i < t->count && t->node[i].id != id) {
        i++;
    }
    return i;
}

const struct engine_told_node *engine_told_find(const struct engine_told *t, uint64_t id)
{
    size_t at = position(t, id);
    return at < t->count ? &t->node[at] : NULL;
}

struct engine_told_node *engine_told_by(struct engine_told *t, uint64_t id)
{
    size_t at = position(t, id);
    if (at == LIMIT_NODES) {
        return NULL;
    }
    t->count += at == t->count ? 1 : 0;
    t->node[at].id = id;
    return &t->node[at];
}
