/*
 * Sim_io: a disk and a network for a simulated node, between the guard and libraft's fixture.
 *
 * The fixture provides the network and the clock. Everything that takes time is an empty append to
 * the fixture's disk, which calls back when the time has passed.
 */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/attr.h"
#include "base/check.h"
#include "lib/sim.h"
#include "lib/sim_message.h"

enum { FULL_MS = 20 }; /* interval at which writes to a full disk are retried */

enum sim_job_kind {
    JOB_WRITE,
    JOB_PUT,
    JOB_GET,
    JOB_WORK,
    JOB_QUEUED,
    JOB_SEND,
    JOB_LOST,
    JOB_LATE, /* a message that has arrived and is delivered later */
};

/* A request of raft that has not ended yet. */
struct sim_job {
    struct sim_job *next;
    struct sim_node *node;
    enum sim_job_kind kind;
    union {
        struct {
            struct raft_io_append *req;
            raft_io_append_cb cb;
            raft_index first;
            raft_index end; /* entries from this index on have been cut off meanwhile */
            unsigned n;
            const struct raft_entry *entries;
        } write;
        struct {
            struct raft_io_snapshot_put *req;
            raft_io_snapshot_put_cb cb;
            unsigned trailing;
            bool installs;
            const struct raft_snapshot *snapshot;
        } put;
        struct {
            struct raft_io_snapshot_get *req;
            raft_io_snapshot_get_cb cb;
        } get;
        struct {
            struct raft_io_async_work *req;
            raft_io_async_work_cb cb;
        } work;
        struct {
            struct raft_io_send below;
            struct raft_io_send *req;
            raft_io_send_cb cb;
            struct raft_message message;
        } send;
        struct raft_message late;
    };
};

static struct sim_node *node_of(const struct raft_io *io)
{
    struct raft_fixture_server *server = CONTAINER_OF(io, struct raft_fixture_server, io);
    unsigned index = (unsigned)(server->id - 1);
    struct raft_fixture *f = CONTAINER_OF(server - index, struct raft_fixture, servers);
    return &CONTAINER_OF(f, struct sim, fixture)->node[index];
}

/* ---- jobs ---- */

static struct sim_job *job_new(struct sim_node *n, enum sim_job_kind kind)
{
    struct sim_job *job = calloc(1, sizeof *job);
    CHECK(job != NULL);
    job->node = n;
    job->kind = kind;
    struct sim_job **tail = &n->jobs;
    while (*tail != NULL) {
        tail = &(*tail)->next;
    }
    *tail = job;
    return job;
}

static void job_unlink(struct sim_job *job)
{
    struct sim_job **at = &job->node->jobs;
    while (*at != job) {
        at = &(*at)->next;
    }
    *at = job->next;
}

/* A timer, implemented by the fixture's disk. */
struct sim_timer {
    struct raft_io_append ring;
    struct sim_node *node;
    unsigned life;       /* of the node; after that life the timer has no effect */
    struct sim_job *job; /* NULL: the oldest write, so that writes end in order */
};

static void ring_cb(struct raft_io_append *ring, int status);

static void timer_start(struct sim_node *n, struct sim_job *job, unsigned ms)
{
    struct sim_timer *t = calloc(1, sizeof *t);
    CHECK(t != NULL);
    *t = (struct sim_timer){.node = n, .life = n->life, .job = job};
    raft_fixture_set_disk_latency(&n->sim->fixture, n->index, ms);
    CHECK(n->below.append(n->io, &t->ring, NULL, 0, ring_cb) == 0);
}

/* ---- the end of a job ---- */

/* A cut reaches the disk with the write after it, or before a snapshot shortens the log. */
static void cut_out(struct sim_node *n)
{
    if (n->cut_from != 0) {
        sim_disk_cut(&n->disk, n->cut_from);
        n->cut_from = 0;
    }
}

static void write_out(struct sim_job *job, unsigned n_entries)
{
    struct sim_node *n = job->node;
    cut_out(n);
    for (unsigned i = 0; i < n_entries && job->write.first + i < job->write.end; i++) {
        raft_index index = job->write.first + i;
        if (!sim_disk_append(&n->disk, index, &job->write.entries[i])) {
            sim_violation(n->sim, "node %u writes entry %llu behind %llu", n->index + 1, index,
                          n->disk.first + n->disk.count - 1);
            return;
        }
    }
}

static void put_out(struct sim_job *job)
{
    struct sim_node *n = job->node;
    cut_out(n);
    if (job->put.installs) {
        n->sim->count.installs++;
        n->next_index = job->put.snapshot->index + 1;
        sim_disk_replace(&n->disk, job->put.snapshot);
    } else {
        sim_disk_put(&n->disk, job->put.snapshot, job->put.trailing);
    }
}

static void send_end(struct sim_job *job, int status)
{
    if (job->send.cb != NULL) {
        job->send.cb(job->send.req, status);
    }
}

/* End the job and report its status to raft. */
static void job_end(struct sim_job *job, int status)
{
    struct raft_snapshot *snapshot = NULL;
    job_unlink(job);
    switch (job->kind) {
    case JOB_WRITE:
        job->node->writes--;
        job->write.cb(job->write.req, status);
        break;
    case JOB_PUT:
        job->put.cb(job->put.req, status);
        break;
    case JOB_GET:
        snapshot = status == 0 ? sim_disk_snapshot(&job->node->disk) : NULL;
        job->get.cb(job->get.req, snapshot, snapshot != NULL ? 0 : RAFT_NOTFOUND);
        break;
    case JOB_WORK:
        job->work.cb(job->work.req, status);
        break;
    case JOB_SEND:
        job->node->sends--;
        send_end(job, status);
        break;
    case JOB_QUEUED:
    case JOB_LOST:
        send_end(job, status);
        break;
    case JOB_LATE:
        if (status == 0) {
            job->node->recv(job->node->io, &job->late);
        } else {
            sim_message_drop(&job->late);
        }
        break;
    default:
        UNREACHABLE("a job has a kind");
    }
    free(job);
}

static struct sim_job *oldest_write(struct sim_node *n)
{
    struct sim_job *job = n->jobs;
    while (job->kind != JOB_WRITE) {
        job = job->next;
    }
    return job;
}

static void sent_cb(struct raft_io_send *below, int status)
{
    job_end(CONTAINER_OF(below, struct sim_job, send.below), status);
}

/* Pass the message to the network. The fixture copies the entries later. */
static void send_out(struct sim_job *job)
{
    struct sim_node *n = job->node;
    job->kind = JOB_SEND;
    n->sends++;
    CHECK(n->below.send(n->io, &job->send.below, &job->send.message, sent_cb) == 0);
}

/* On a full disk, entries wait, and so does a snapshot that replaces the log. A snapshot taken by
 * raft itself fails. */
static bool must_wait(const struct sim_job *job)
{
    return job == NULL || (job->kind == JOB_PUT && job->put.installs);
}

static void ring_cb(struct raft_io_append *ring, int status)
{
    struct sim_timer *t = CONTAINER_OF(ring, struct sim_timer, ring);
    struct sim_node *n = t->node;
    bool is_over = t->life != n->life;
    struct sim_job *job = t->job;
    free(t);
    if (is_over) {
        return;
    }
    if (n->full && must_wait(job)) {
        timer_start(n, job, FULL_MS);
        return;
    }
    if (job == NULL) {
        job = oldest_write(n);
        if (n->write_fails || n->write_failed) { /* nothing is written after a gap */
            n->write_fails = false;
            n->write_failed = true;
            status = RAFT_IOERR;
        } else {
            write_out(job, job->write.n);
        }
    } else if (job->kind == JOB_QUEUED) {
        send_out(job);
        return;
    } else if (n->full && (job->kind == JOB_PUT || job->kind == JOB_WORK)) {
        status = RAFT_NOSPACE;
    } else if (job->kind == JOB_PUT) {
        put_out(job);
    } else if (job->kind == JOB_WORK) {
        status = job->work.req->work(job->work.req);
    }
    job_end(job, status);
}

/* ---- the functions in raft_io ---- */

/* Like fit_log of cluster/disk_io.c: a log that does not continue the snapshot was about to be
 * replaced by it. */
static void fit_log(struct sim_disk *d)
{
    raft_index index = d->has_snapshot ? d->snapshot.index : 0;
    bool has_it = d->first <= index && index < d->first + d->count;
    if (d->first <= index && (!has_it || sim_disk_term_at(d, index) != d->snapshot.term)) {
        sim_disk_cut(d, 0);
        d->first = index + 1;
    }
}

/* NOLINTNEXTLINE(readability-function-size): raft's signature */
static int io_load(struct raft_io *io, raft_term *term, raft_id *voted_for,
                   struct raft_snapshot **snapshot, raft_index *start_index,
                   struct raft_entry *entries[], size_t *n_entries)
{
    struct sim_node *n = node_of(io);
    struct sim_disk *d = &n->disk;
    n->cut_from = 0;
    if (!n->sim->options.log_unfit) {
        fit_log(d);
    }
    *term = d->term;
    *voted_for = d->vote;
    *start_index = d->first;
    *snapshot = sim_disk_snapshot(d);
    *n_entries = sim_disk_read(d, entries);
    n->next_index = d->first + d->count;
    return 0;
}

static int io_bootstrap(struct raft_io *io, const struct raft_configuration *members)
{
    struct sim_node *n = node_of(io);
    struct sim_disk *d = &n->disk;
    CHECK(d->term == 0);
    d->term = 1;
    if (n->sim->options.compacted) {
        uint64_t nothing[3] = {0}; /* no checkpoint and no values */
        struct raft_buffer buf = {.base = nothing, .len = sizeof nothing};
        const struct raft_snapshot first = {.index = 1,
                                            .term = 1,
                                            .configuration = *members,
                                            .configuration_index = 1,
                                            .bufs = &buf,
                                            .n_bufs = 1};
        sim_disk_replace(d, &first);
        return 0;
    }
    struct raft_entry first = {.term = 1, .type = RAFT_CHANGE};
    CHECK(raft_configuration_encode(members, &first.buf) == 0);
    CHECK(sim_disk_append(d, 1, &first));
    raft_free(first.buf.base);
    return 0;
}

static int io_set_term(struct raft_io *io, raft_term term)
{
    struct sim_disk *d = &node_of(io)->disk;
    d->term = term;
    d->vote = 0;
    return 0;
}

static int io_set_vote(struct raft_io *io, raft_id vote)
{
    struct sim_node *n = node_of(io);
    sim_check_vote(n, vote);
    n->disk.vote = vote;
    return 0;
}

static int io_append(struct raft_io *io, struct raft_io_append *req,
                     const struct raft_entry entries[], unsigned n_entries, raft_io_append_cb cb)
{
    struct sim_node *n = node_of(io);
    struct sim_job *job = job_new(n, JOB_WRITE);
    job->write.req = req;
    job->write.cb = cb;
    job->write.first = n->next_index;
    job->write.end = n->next_index + n_entries;
    job->write.n = n_entries;
    job->write.entries = entries;
    n->next_index += n_entries;
    n->writes++;
    timer_start(n, NULL, n->disk_ms);
    return 0;
}

/* Writes in progress are cut, too: the disk executes its operations in order. */
static int io_truncate(struct raft_io *io, raft_index index)
{
    struct sim_node *n = node_of(io);
    n->sim->count.cuts++;
    n->cut_from = n->cut_from == 0 || index < n->cut_from ? index : n->cut_from;
    n->next_index = index;
    for (struct sim_job *job = n->jobs; job != NULL; job = job->next) {
        if (job->kind == JOB_WRITE && job->write.end > index) {
            job->write.end = index;
        }
    }
    return 0;
}

static int io_snapshot_put(struct raft_io *io, unsigned trailing, struct raft_io_snapshot_put *req,
                           const struct raft_snapshot *snapshot, raft_io_snapshot_put_cb cb)
{
    struct sim_node *n = node_of(io);
    struct sim_job *job = job_new(n, JOB_PUT);
    job->put.req = req;
    job->put.cb = cb;
    job->put.trailing = trailing;
    job->put.installs = n->raft->last_stored == 0;
    job->put.snapshot = snapshot;
    timer_start(n, job, n->work_ms);
    return 0;
}

static int io_snapshot_get(struct raft_io *io, struct raft_io_snapshot_get *req,
                           raft_io_snapshot_get_cb cb)
{
    struct sim_node *n = node_of(io);
    struct sim_job *job = job_new(n, JOB_GET);
    job->get.req = req;
    job->get.cb = cb;
    timer_start(n, job, n->disk_ms);
    return 0;
}

static int io_async_work(struct raft_io *io, struct raft_io_async_work *req,
                         raft_io_async_work_cb cb)
{
    struct sim_node *n = node_of(io);
    struct sim_job *job = job_new(n, JOB_WORK);
    job->work.req = req;
    job->work.cb = cb;
    timer_start(n, job, n->work_ms);
    return 0;
}

/* True with this probability, per thousand. */
static bool happens(struct sim *sim, unsigned per_mille)
{
    return per_mille > 0 && rng_below(&sim->rng, 1000) < per_mille;
}

/* A message with more than one entry must not exceed the limit. */
static void check_length(struct sim_node *n, const struct raft_message *m)
{
    uint64_t limit = n->sim->options.chunk_bytes;
    const struct raft_append_entries *a = &m->append_entries;
    uint64_t bytes = 0;
    for (unsigned i = 0; m->type == RAFT_IO_APPEND_ENTRIES && i < a->n_entries; i++) {
        bytes += sizeof a->entries[i] + a->entries[i].buf.len;
    }
    if (limit != 0 && bytes > limit && a->n_entries > 1) {
        sim_violation(n->sim, "node %u sends %llu bytes of entries at once", n->index + 1,
                      (unsigned long long)bytes);
    }
}

static int io_send(struct raft_io *io, struct raft_io_send *req, const struct raft_message *m,
                   raft_io_send_cb cb)
{
    struct sim_node *n = node_of(io);
    struct sim *sim = n->sim;
    if (m->server_id == 0 || m->server_address == NULL) {
        sim_violation(sim, "node %u sends to nobody", n->index + 1);
        return RAFT_NOCONNECTION;
    }
    check_length(n, m);
    unsigned to = (unsigned)(m->server_id - 1);
    enum sim_fate fate = sim->fate != NULL ? sim->fate(sim, n->index, to, m) : SIM_SENT;
    if (happens(sim, sim->net.lost)) {
        sim->count.lost++;
        fate = SIM_LOST;
    }
    struct sim_job *job = job_new(n, fate == SIM_SENT ? JOB_QUEUED : JOB_LOST);
    job->send.req = req;
    job->send.cb = cb;
    job->send.message = *m;
    if (fate == SIM_SENT && n->send_ms == 0) {
        send_out(job);
    } else if (fate != SIM_STALLED) {
        timer_start(n, job, n->send_ms);
    }
    return 0;
}

/* Deliver the message later, after others that were sent after it. */
static void delay(struct sim_node *n, const struct raft_message *m)
{
    struct sim_job *job = job_new(n, JOB_LATE);
    job->late = *m;
    /* The original address is freed when the sender crashes. */
    job->late.server_address = n->sim->fixture.servers[m->server_id - 1].address;
    timer_start(n, job, 1 + (unsigned)rng_below(&n->sim->rng, n->sim->net.late_ms));
}

static void recv_cb(struct raft_io *io, struct raft_message *m)
{
    struct sim_node *n = node_of(io);
    struct sim *sim = n->sim;
    if (n->down) {
        sim_message_drop(m);
        return;
    }
    if (happens(sim, sim->net.twice)) {
        struct raft_message copy;
        sim_message_copy(m, &copy);
        sim->count.twice++;
        delay(n, &copy);
    }
    if (happens(sim, sim->net.late)) {
        sim->count.late++;
        delay(n, m);
    } else {
        n->recv(io, m);
    }
}

static int io_start(struct raft_io *io, unsigned msecs, raft_io_tick_cb tick, raft_io_recv_cb recv)
{
    struct sim_node *n = node_of(io);
    n->recv = recv;
    return n->below.start(io, msecs, tick, recv_cb);
}

/* A crash. Raft's requests only end so that it frees their memory. */
static void io_close(struct raft_io *io, raft_io_close_cb cb)
{
    struct sim_node *n = node_of(io);
    CHECK(n->sends == 0);
    n->life++;
    while (n->jobs != NULL) {
        job_end(n->jobs, RAFT_CANCELED);
    }
    cb(io);
}

static int io_random(struct raft_io *io, int min, int max)
{
    struct sim_node *n = node_of(io);
    if (n->election_ms != 0) {
        return (int)n->election_ms;
    }
    return min + (int)rng_below(&n->sim->rng, (uint64_t)(max - min));
}

void sim_io_install(struct sim_node *n)
{
    struct raft_io *io = n->io;
    n->below = *io;
    n->disk.first = 1;
    io->version = 2;
    io->load = io_load;
    io->bootstrap = io_bootstrap;
    io->set_term = io_set_term;
    io->set_vote = io_set_vote;
    io->append = io_append;
    io->truncate = io_truncate;
    io->snapshot_put = io_snapshot_put;
    io->snapshot_get = io_snapshot_get;
    io->async_work = io_async_work;
    io->send = io_send;
    io->start = io_start;
    io->close = io_close;
    io->random = io_random;
}

void sim_io_flush_cut(struct sim_node *n)
{
    cut_out(n);
}

/* A snapshot from the leader is stored in two steps: its description, then the log is replaced. */
static void half_install(struct sim_node *n)
{
    struct sim_job *job = n->jobs;
    while (job != NULL && !(job->kind == JOB_PUT && job->put.installs)) {
        job = job->next;
    }
    if (job != NULL && rng_below(&n->sim->rng, 2) == 0) {
        sim_disk_put(&n->disk, job->put.snapshot, UINT_MAX);
        n->sim->count.half_installs++;
    }
}

void sim_io_keep(struct sim_node *n, unsigned kept)
{
    half_install(n);
    for (struct sim_job *job = n->jobs; job != NULL && kept > 0; job = job->next) {
        if (job->kind == JOB_WRITE) {
            unsigned count = kept < job->write.n ? kept : job->write.n;
            write_out(job, count);
            kept -= count;
        }
    }
}

/* The disk executes its operations in order, so a crash tears the first unfinished write. */
void sim_io_tear(struct sim_node *n)
{
    struct sim *sim = n->sim;
    half_install(n);
    struct sim_job *job = n->jobs;
    while (job != NULL && job->kind != JOB_WRITE) {
        job = job->next;
    }
    unsigned count = job == NULL || job->write.end <= job->write.first
                         ? 0
                         : (unsigned)(job->write.end - job->write.first);
    if (count > 0) {
        struct raft_entry damaged = {0};
        bool counts = sim->options.torn_counts;
        unsigned kept = sim_torn(&sim->rng, job->write.first, job->write.entries, count,
                                 counts ? &damaged : NULL);
        write_out(job, kept);
        if (damaged.buf.base != NULL) {
            CHECK(sim_disk_append(&n->disk, job->write.first + kept, &damaged));
            raft_free(damaged.buf.base);
        }
        sim->count.torn += kept < count;
    }
}
