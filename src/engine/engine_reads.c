#include "engine/engine_reads.h"

void engine_reads_heard(struct engine_told *t, uint64_t id, uint8_t version)
{
    struct engine_told_node *n = engine_told_by(t, id);
    if (n != NULL) {
        n->version = version;
    }
}

uint8_t engine_reads_least(const struct engine_told *t, uint64_t id, uint8_t so_far)
{
    const struct engine_told_node *n = engine_told_find(t, id);
    uint8_t version = n == NULL || n->version == 0 ? ENGINE_READS_SILENT : n->version;
    return version < so_far ? version : so_far;
}
