#include "lib/sim_message.h"

#include <string.h>

#include "base/check.h"

static void *bytes_copy(const void *from, size_t len)
{
    void *to = raft_malloc(len + 1);
    CHECK(to != NULL);
    if (len > 0) {
        memcpy(to, from, len);
    }
    return to;
}

/* Copy all entries in one batch, like messages from the network. */
static void copy_entries(const struct raft_append_entries *from, struct raft_append_entries *to)
{
    size_t len = 0;
    if (from->n_entries == 0) {
        to->entries = NULL;
        return;
    }
    for (unsigned i = 0; i < from->n_entries; i++) {
        len += from->entries[i].buf.len;
    }
    char *batch = raft_malloc(len + 1);
    to->entries = raft_malloc(from->n_entries * sizeof *to->entries);
    CHECK(batch != NULL && to->entries != NULL);
    char *at = batch;
    for (unsigned i = 0; i < from->n_entries; i++) {
        const struct raft_entry *e = &from->entries[i];
        memcpy(at, e->buf.base, e->buf.len);
        to->entries[i] = *e;
        to->entries[i].buf.base = at;
        to->entries[i].batch = batch;
        at += e->buf.len;
    }
}

void sim_message_copy(const struct raft_message *from, struct raft_message *to)
{
    *to = *from;
    if (from->type == RAFT_IO_APPEND_ENTRIES) {
        copy_entries(&from->append_entries, &to->append_entries);
    } else if (from->type == RAFT_IO_INSTALL_SNAPSHOT) {
        const struct raft_install_snapshot *s = &from->install_snapshot;
        raft_configuration_init(&to->install_snapshot.conf);
        for (unsigned i = 0; i < s->conf.n; i++) {
            const struct raft_server *m = &s->conf.servers[i];
            CHECK(raft_configuration_add(&to->install_snapshot.conf, m->id, m->address, m->role) ==
                  0);
        }
        to->install_snapshot.data.base = bytes_copy(s->data.base, s->data.len);
    }
}

void sim_message_drop(struct raft_message *m)
{
    if (m->type == RAFT_IO_APPEND_ENTRIES && m->append_entries.n_entries > 0) {
        raft_free(m->append_entries.entries[0].batch);
        raft_free(m->append_entries.entries);
    } else if (m->type == RAFT_IO_INSTALL_SNAPSHOT) {
        raft_configuration_close(&m->install_snapshot.conf);
        raft_free(m->install_snapshot.data.base);
    }
}
