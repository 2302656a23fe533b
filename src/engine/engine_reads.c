#include "engine/engine_reads.h"

void engine_reads_heard(struct engine_reads *r, uint64_t id, uint8_t version)
{
    size_t at = r->count;
    for (size_t i = 0; i < r->count; i++) {
        at = r->told[i].id == id ? i : at;
    }
    if (at == LIMIT_NODES) {
        return; /* ignore the report */
    }
    r->told[at].id = id;
    r->told[at].version = version;
    r->count += at == r->count ? 1 : 0;
}

uint8_t engine_reads_least(const struct engine_reads *r, uint64_t id, uint8_t so_far)
{
    uint8_t version = ENGINE_READS_SILENT;
    for (size_t i = 0; i < r->count; i++) {
        version = r->told[i].id == id ? r->told[i].version : version;
    }
    return version < so_far ? version : so_far;
}
