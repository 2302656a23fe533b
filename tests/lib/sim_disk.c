#include "lib/sim_disk.h"

#include <stdlib.h>
#include <string.h>

#include "base/check.h"

static struct raft_buffer bytes_copy(const struct raft_buffer *from)
{
    struct raft_buffer to = {.base = malloc(from->len + 1), .len = from->len};
    CHECK(to.base != NULL);
    memcpy(to.base, from->base, from->len);
    return to;
}

/* ---- the log ---- */

bool sim_disk_append(struct sim_disk *d, raft_index index, const struct raft_entry *e)
{
    if (index != d->first + d->count) {
        return false;
    }
    CHECK(d->count < SIM_INDEX_MAX);
    d->entry[d->count++] =
        (struct sim_entry){.term = e->term, .type = e->type, .bytes = bytes_copy(&e->buf)};
    return true;
}

void sim_disk_cut(struct sim_disk *d, raft_index from)
{
    while (d->count > 0 && d->first + d->count > from) {
        d->count--;
        free(d->entry[d->count].bytes.base);
    }
}

static void forget(struct sim_disk *d, raft_index up_to)
{
    size_t n = 0;
    while (n < d->count && d->first + n <= up_to) {
        free(d->entry[n].bytes.base);
        n++;
    }
    memmove(d->entry, d->entry + n, (d->count - n) * sizeof d->entry[0]);
    d->count -= n;
    d->first += n;
}

raft_term sim_disk_term_at(const struct sim_disk *d, raft_index index)
{
    if (index >= d->first && index < d->first + d->count) {
        return d->entry[index - d->first].term;
    }
    return d->has_snapshot && d->snapshot.index == index ? d->snapshot.term : 0;
}

size_t sim_disk_read(const struct sim_disk *d, struct raft_entry **out_entries)
{
    size_t len = 0;
    for (size_t i = 0; i < d->count; i++) {
        len += d->entry[i].bytes.len;
    }
    *out_entries = NULL;
    if (d->count == 0) {
        return 0;
    }
    char *batch = raft_malloc(len + 1);
    struct raft_entry *entries = raft_malloc(d->count * sizeof *entries);
    CHECK(batch != NULL && entries != NULL);
    char *at = batch;
    for (size_t i = 0; i < d->count; i++) {
        const struct sim_entry *e = &d->entry[i];
        memcpy(at, e->bytes.base, e->bytes.len);
        entries[i] = (struct raft_entry){.term = e->term,
                                         .type = e->type,
                                         .buf = {.base = at, .len = e->bytes.len},
                                         .batch = batch};
        at += e->bytes.len;
    }
    *out_entries = entries;
    return d->count;
}

/* ---- the snapshot ---- */

static void members_copy(const struct raft_configuration *from, struct raft_configuration *to)
{
    raft_configuration_init(to);
    for (unsigned i = 0; i < from->n; i++) {
        const struct raft_server *s = &from->servers[i];
        CHECK(raft_configuration_add(to, s->id, s->address, s->role) == 0);
    }
}

static void snapshot_copy(const struct raft_snapshot *from, struct raft_snapshot *to)
{
    *to = *from;
    members_copy(&from->configuration, &to->configuration);
    size_t len = 0;
    for (unsigned i = 0; i < from->n_bufs; i++) {
        len += from->bufs[i].len;
    }
    to->n_bufs = 1;
    to->bufs = raft_malloc(sizeof to->bufs[0]);
    CHECK(to->bufs != NULL);
    char *base = raft_malloc(len + 1);
    CHECK(base != NULL);
    to->bufs[0] = (struct raft_buffer){.base = base, .len = len};
    for (unsigned i = 0; i < from->n_bufs; i++) {
        memcpy(base, from->bufs[i].base, from->bufs[i].len);
        base += from->bufs[i].len;
    }
}

static void snapshot_drop(struct sim_disk *d)
{
    if (d->has_snapshot) {
        raft_configuration_close(&d->snapshot.configuration);
        raft_free(d->snapshot.bufs[0].base);
        raft_free(d->snapshot.bufs);
        d->has_snapshot = false;
    }
}

struct raft_snapshot *sim_disk_snapshot(const struct sim_disk *d)
{
    if (!d->has_snapshot) {
        return NULL;
    }
    struct raft_snapshot *s = raft_malloc(sizeof *s);
    CHECK(s != NULL);
    snapshot_copy(&d->snapshot, s);
    return s;
}

void sim_disk_put(struct sim_disk *d, const struct raft_snapshot *snapshot, unsigned trailing)
{
    snapshot_drop(d);
    snapshot_copy(snapshot, &d->snapshot);
    d->has_snapshot = true;
    if (snapshot->index > trailing) {
        forget(d, snapshot->index - trailing);
    }
}

void sim_disk_replace(struct sim_disk *d, const struct raft_snapshot *snapshot)
{
    sim_disk_cut(d, 0);
    d->first = snapshot->index + 1;
    sim_disk_put(d, snapshot, 0);
}

void sim_disk_free(struct sim_disk *d)
{
    sim_disk_cut(d, 0);
    snapshot_drop(d);
}
