#include <raft.h>

#include "raftlog/wal.h"

void wal_content_clear(struct wal_content *c)
{
    for (size_t i = 0; i < c->count; i++) {
        raft_free(c->entry[i].buf.base);
    }
    raft_free(c->entry);
    c->entry = NULL;
    c->count = 0;
}
