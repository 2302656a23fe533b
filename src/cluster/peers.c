#include "cluster/peers.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/check.h"
#include "base/fault.h"
#include "base/pack.h"
#include "cluster/wire.h"
#include "log/log.h"
#include "os/os_file.h"
#include "raftlog/snapshots.h"
#include "raftnet/raftnet_drop.h"

enum { GROUP = 0, FETCH_TRIES = 20, FETCH_PAUSE_MS = 300 };

/* Sends a checkpoint, on its own thread. */
struct sender {
    struct msg msg; /* sent when it ends */
    struct peers *peers;
    struct sender *next;
    pthread_t thread;
    struct raftnet_link link;
    uint64_t cluster;
};

/* A received snapshot that waits for its files. */
struct fetch {
    struct msg msg;
    struct peers *peers;
    pthread_t thread;
    struct raft_message message; /* delivered when the files are here */
    char *address;               /* of the sender */
    struct ship_fetch job;
    char *texts;     /* copies of texts, for the thread */
    bool unreadable; /* the state machine cannot read it */
    enum err_code code;
    struct err err;
};

struct peers {
    uv_loop_t *loop;
    struct mailbox *box;
    struct peers_hooks hooks;
    struct peers_reader reader;
    struct peers_refusals refusals;
    char *refused_checkpoint; /* the id of the last refused one; NULL: none */
    struct str secret;
    struct raftnet_link_tls tls;
    uint64_t rate_bytes;
    struct os_file_path dir;
    struct raftnet *net;
    struct raft_io *io;
    raft_io_recv_cb recv;
    bool silent, closing;
    atomic_bool stop; /* stops the threads */

    struct sender *senders;
    unsigned sender_count;
    unsigned invite_count; /* invitations in progress */
    struct fetch *fetch;   /* NULL: none */
    struct ship_progress progress;
    atomic_uint_fast64_t fetched_bytes;

    bool net_closed;
    void (*closed)(void *data);
    void *closed_data;
};

static void maybe_closed(struct peers *p)
{
    if (p->closing && p->net_closed && p->senders == NULL && p->fetch == NULL &&
        p->invite_count == 0) {
        void (*closed)(void *data) = p->closed;
        void *data = p->closed_data;
        free(p->refused_checkpoint);
        free(p);
        closed(data);
    }
}

/* Messages of other nodes start threads, so a thread that cannot be started is not a broken
 * invariant. */
static bool start_thread(pthread_t *out, void *(*run)(void *), void *data)
{
    return !FAULT(PEER_THREAD) && pthread_create(out, NULL, run, data) == 0;
}

/* --- admission --- */

static const char same_identity[] =
    "two nodes have the same identity: one of them uses a copy of the other's data directory";

/* Check an invitation from a node that has proved that it knows the secret. The node must belong to
 * a cluster and name this node, and this node must not belong to another cluster. */
static bool admit_invite(struct peers *p, const struct raftnet_shake *s,
                         enum raftnet_shake_refusal *out_why, struct err *err)
{
    const struct raftnet_shake_node *self = raftnet_self(p->net);
    *out_why = RAFTNET_SHAKE_OTHER;
    if (s->other.id == self->id) {
        (void)err_set(err, ERR_FORBIDDEN, "%s", same_identity);
    } else if (!str_eq(s->invited, self->name)) {
        *out_why = RAFTNET_SHAKE_TARGET;
        (void)err_set(err, ERR_FORBIDDEN, "the node at this address is named \"" STR_FMT "\"",
                      STR_ARG(self->name));
    } else if (s->other.cluster == 0) {
        (void)err_set(err, ERR_FORBIDDEN, "a node that has not joined a cluster yet cannot invite");
    } else if (self->cluster != 0 && self->cluster != s->other.cluster) {
        *out_why = RAFTNET_SHAKE_CLUSTER;
        (void)err_set(err, ERR_FORBIDDEN, "the node belongs to a different cluster");
    } else if (p->hooks.adopt(p->hooks.data, s->other.cluster, err)) {
        log_info("invitation accepted", LOG_STR("from", s->other.name),
                 LOG_STR("address", s->other.address));
        return true; /* may be a repetition: the response was lost */
    }
    return false;
}

static bool admit(void *data, const struct raftnet_shake *s, enum raftnet_shake_refusal *out_why,
                  struct err *err)
{
    struct peers *p = data;
    const struct raftnet_shake_node *self = raftnet_self(p->net);
    if (p->hooks.is_removed(p->hooks.data, s->other.id)) {
        *out_why = RAFTNET_SHAKE_REMOVED;
        (void)err_set(err, ERR_FORBIDDEN, "this node was removed from the cluster");
    } else if (s->purpose == RAFTNET_SHAKE_INVITE) {
        return admit_invite(p, s, out_why, err);
    } else if (self->cluster == 0) {
        *out_why = RAFTNET_SHAKE_OTHER;
        (void)err_set(err, ERR_FORBIDDEN, "the node has not joined a cluster yet");
    } else if (s->other.cluster != self->cluster) {
        *out_why = RAFTNET_SHAKE_CLUSTER;
        (void)err_set(err, ERR_FORBIDDEN,
                      "the node \"" STR_FMT "\" at this address belongs to a different cluster; it "
                      "may have lost its data directory and created a new one",
                      STR_ARG(self->name));
    } else if (s->target != self->id) {
        *out_why = RAFTNET_SHAKE_TARGET;
        (void)err_set(
            err, ERR_FORBIDDEN,
            "a different node responds at this address; it may have lost its data directory");
    } else if (s->other.id == self->id) {
        *out_why = RAFTNET_SHAKE_OTHER;
        (void)err_set(err, ERR_FORBIDDEN, "%s", same_identity);
    } else {
        return true;
    }
    return false;
}

static void met(void *data, const struct raftnet_shake_node *from)
{
    struct peers *p = data;
    p->hooks.met(p->hooks.data, from);
}

static void refused(void *data, uint64_t id, enum raftnet_shake_refusal why, const char *text)
{
    struct peers *p = data;
    log_warn("peer does not accept this node", LOG_U64("peer", id), LOG_Z("reason", text));
    if (why == RAFTNET_SHAKE_REMOVED) {
        p->hooks.removed(p->hooks.data, text);
    }
}

static void lost(void *data, uint64_t id)
{
    struct peers *p = data;
    p->hooks.lost(p->hooks.data, id);
}

/* --- unreadable entries and snapshots --- */

/* Log each reason only once, because the sender keeps retrying. */
static void refuse(struct peers *p, uint64_t from, const char *what, const char *why)
{
    char error[sizeof p->refusals.error];
    (void)snprintf(error, sizeof error, "%s: %.150s", what, why);
    p->refusals.total++;
    if (strcmp(error, p->refusals.error) != 0) {
        memcpy(p->refusals.error, error, sizeof error);
        log_error("this version cannot read the leader's messages", LOG_U64("from", from),
                  LOG_Z("error", error),
                  LOG_Z("meaning", "this node falls behind until it is upgraded"),
                  LOG_Z("remedy", "install the leader's version on this node"));
    }
}

/* Truncate an append before the first entry that this version cannot read. */
static void look_at_entries(struct peers *p, uint64_t from, struct raft_message *m)
{
    const struct raft_append_entries *a = &m->append_entries;
    struct err err;
    for (unsigned i = 0; i < a->n_entries && p->reader.entry != NULL; i++) {
        const struct raft_entry *e = &a->entries[i];
        if (e->type == RAFT_COMMAND &&
            p->reader.entry(p->reader.data, str_from(e->buf.base, e->buf.len), &err) != ERR_OK) {
            char what[64];
            (void)snprintf(what, sizeof what, "entry %llu", a->prev_log_index + i + 1);
            refuse(p, from, what, err.msg);
            wire_cut(m, i);
            return;
        }
    }
    if (a->n_entries > 0) {
        p->refusals.error[0] = '\0'; /* readable again: another leader or version */
    }
}

/* The id of the manifest's checkpoint, from malloc. */
static char *checkpoint_name(struct str manifest)
{
    struct arena *arena = arena_new(MANIFEST_BYTES_MAX);
    struct manifest m;
    struct err err;
    char *name = NULL;
    if (manifest_decode(manifest, arena, &m, &err) == ERR_OK) {
        name = strndup(m.checkpoint.ptr, m.checkpoint.len);
        CHECK(name != NULL);
    }
    arena_free(arena);
    return name;
}

static bool was_refused(const struct peers *p, const struct raft_install_snapshot *s)
{
    if (p->refused_checkpoint == NULL) {
        return false;
    }
    char *name = checkpoint_name(str_from(s->data.base, s->data.len));
    bool same = name != NULL && strcmp(name, p->refused_checkpoint) == 0;
    free(name);
    return same;
}

/* Do not fetch this checkpoint again; another one may be readable. */
static void refuse_checkpoint(struct peers *p, const struct fetch *f)
{
    struct os_file_path snapshots = os_file_join(p->dir.z, "snapshots");
    char what[64];
    (void)snprintf(what, sizeof what, "checkpoint of entry %llu",
                   f->message.install_snapshot.last_index);
    refuse(p, p->progress.from, what, f->err.msg);
    free(p->refused_checkpoint);
    p->refused_checkpoint = checkpoint_name(f->job.manifest);
    if (p->refused_checkpoint != NULL) {
        struct os_file_path path = snapshots_path(snapshots.z, str_from_z(p->refused_checkpoint));
        os_file_discard(path.z);
    }
}

/* --- incoming snapshots: first fetch the files --- */

static void fetch_free(struct fetch *f)
{
    free(f->address);
    free(f->texts);
    free(f);
}

static void deliver(struct peers *p, struct raft_message *m, uint64_t id, const char *address)
{
    m->server_id = id;
    m->server_address = address;
    p->recv(p->io, m);
}

static void end_fetch(struct fetch *f)
{
    struct peers *p = f->peers;
    p->fetch = NULL;
    p->progress.running = false;
    (void)snprintf(p->progress.error, sizeof p->progress.error, "%.*s",
                   (int)sizeof p->progress.error - 1, f->code == ERR_OK ? "" : f->err.msg);
    if (f->code == ERR_OK && !p->closing && !p->silent) {
        p->progress.fetched_total++;
        log_info("checkpoint fetched", LOG_U64("from", p->progress.from),
                 LOG_U64("index", f->message.install_snapshot.last_index),
                 LOG_U64("bytes", p->progress.bytes_total));
        deliver(p, &f->message, p->progress.from, f->address);
    } else if (f->unreadable) {
        refuse_checkpoint(p, f);
        wire_clear(&f->message);
    } else {
        /* Raft offers a snapshot again; files that are already here are not fetched twice. */
        log_warn("checkpoint could not be fetched", LOG_U64("from", p->progress.from),
                 LOG_Z("error", f->err.msg));
        wire_clear(&f->message);
    }
    fetch_free(f);
    maybe_closed(p);
}

static void fetched(struct msg *m)
{
    struct fetch *f = CONTAINER_OF(m, struct fetch, msg);
    CHECK(pthread_join(f->thread, NULL) == 0);
    end_fetch(f);
}

static void look_at_state(struct fetch *f)
{
    const struct peers_reader *reader = &f->peers->reader;
    struct os_file_path snapshots = os_file_join(f->job.dir, "snapshots");
    char *name = checkpoint_name(f->job.manifest);
    if (name != NULL && reader->state != NULL) {
        struct os_file_path path = snapshots_path(snapshots.z, str_from_z(name));
        f->code = reader->state(reader->data, path.z, &f->err);
        f->unreadable = f->code == ERR_CORRUPT;
    }
    free(name);
}

static void *fetch_main(void *data)
{
    struct fetch *f = data;
    const struct timespec pause = {.tv_nsec = FETCH_PAUSE_MS * NS_PER_MS};
    (void)pthread_setname_np(pthread_self(), "fetch");
    for (int i = 0; i < FETCH_TRIES; i++) {
        f->code = ship_fetch(&f->job, &f->err);
        if (f->code != ERR_IO || atomic_load(f->job.stop)) {
            break;
        }
        (void)nanosleep(&pause, NULL); /* the next attempt continues where this one stopped */
    }
    if (f->code == ERR_OK) {
        look_at_state(f);
    }
    bool posted = mailbox_post(f->peers->box, &f->msg);
    CHECK(posted);
    return NULL;
}

static uint64_t manifest_bytes(struct str bytes)
{
    struct arena *arena = arena_new(MANIFEST_BYTES_MAX);
    struct manifest m;
    struct err err;
    uint64_t total = 0;
    if (manifest_decode(bytes, arena, &m, &err) == ERR_OK) {
        total = snapshots_bytes(&m);
    }
    arena_free(arena);
    return total;
}

/* A copy of our identity for the thread, which does not see later changes. */
static struct raftnet_shake_node copy_self(const struct raftnet_shake_node *self, char **out_texts)
{
    struct raftnet_shake_node copy = *self;
    struct str *texts[] = {&copy.name, &copy.address, &copy.http_url, &copy.version};
    char *memory = malloc(4 * RAFTNET_SHAKE_TEXT_BYTES_MAX + 1);
    size_t at = 0;
    CHECK(memory != NULL);
    for (size_t i = 0; i < COUNT_OF(texts); i++) {
        if (texts[i]->len > 0) {
            memcpy(memory + at, texts[i]->ptr, texts[i]->len);
        }
        texts[i]->ptr = memory + at;
        at += texts[i]->len;
    }
    *out_texts = memory;
    return copy;
}

static void fetch_begin(struct peers *p, const struct raftnet_shake_node *from,
                        struct raft_message *m)
{
    const struct raft_install_snapshot *s = &m->install_snapshot;
    struct fetch *f = calloc(1, sizeof *f);
    CHECK(f != NULL);
    f->peers = p;
    f->msg.deliver = fetched;
    f->message = *m;
    f->address = strndup(from->address.ptr, from->address.len);
    CHECK(f->address != NULL);
    atomic_store(&p->fetched_bytes, 0);
    f->job = (struct ship_fetch){
        .dir = p->dir.z,
        .manifest = str_from(s->data.base, s->data.len),
        .target = {.address = f->address,
                   .id = from->id,
                   .self = copy_self(raftnet_self(p->net), &f->texts),
                   .secret = p->secret,
                   .tls = p->tls,
                   .timeout_ms = SHIP_TIMEOUT_MS},
        .stop = &p->stop,
        .done_bytes = &p->fetched_bytes,
    };
    p->progress.running = true;
    p->progress.from = from->id;
    p->progress.bytes_total = manifest_bytes(f->job.manifest);
    p->fetch = f;
    log_info("fetching checkpoint", LOG_U64("from", from->id), LOG_U64("index", s->last_index),
             LOG_U64("bytes", p->progress.bytes_total));
    if (!start_thread(&f->thread, fetch_main, f)) {
        f->code = err_set(&f->err, ERR_OVERLOADED, "no thread is left");
        end_fetch(f);
    }
}

/* --- invitations --- */

static void invited(struct msg *m)
{
    struct peers_invite *i = CONTAINER_OF(m, struct peers_invite, msg);
    struct peers *p = i->peers;
    CHECK(pthread_join(i->thread, NULL) == 0);
    free(i->texts);
    p->invite_count--;
    i->done(i); /* may free i */
    maybe_closed(p);
}

static void *invite_main(void *data)
{
    struct peers_invite *i = data;
    (void)pthread_setname_np(pthread_self(), "invite");
    if (raftnet_stream_invite(&i->target, i->name, &i->id, &i->voter, &i->err) == ERR_OK) {
        err_clear(&i->err);
    }
    bool posted = mailbox_post(i->peers->box, &i->msg);
    CHECK(posted);
    return NULL;
}

enum err_code peers_invite(struct peers *p, struct peers_invite *i, struct err *err)
{
    if (p->closing || p->silent || p->box == NULL) {
        return err_set_default(err, ERR_STOPPING);
    }
    if (p->invite_count >= PEERS_INVITES_MAX) {
        return err_set(err, ERR_OVERLOADED, "%d nodes are being invited already: try again later",
                       PEERS_INVITES_MAX);
    }
    i->peers = p;
    i->msg.deliver = invited;
    i->target = (struct raftnet_stream_target){.address = i->address,
                                               .self = copy_self(raftnet_self(p->net), &i->texts),
                                               .secret = p->secret,
                                               .tls = p->tls,
                                               .timeout_ms = PEERS_INVITE_MS};
    if (!start_thread(&i->thread, invite_main, i)) {
        free(i->texts);
        return err_set(err, ERR_OVERLOADED,
                       "no thread is left to invite the node: try again later");
    }
    p->invite_count++;
    return ERR_OK;
}

/* --- outgoing checkpoints --- */

static void sent_all(struct msg *m)
{
    struct sender *s = CONTAINER_OF(m, struct sender, msg);
    struct peers *p = s->peers;
    struct sender **at = &p->senders;
    CHECK(pthread_join(s->thread, NULL) == 0);
    while (*at != s) {
        at = &(*at)->next;
    }
    *at = s->next;
    p->sender_count--;
    free(s);
    maybe_closed(p);
}

static void *send_main(void *data)
{
    struct sender *s = data;
    struct peers *p = s->peers;
    (void)pthread_setname_np(pthread_self(), "ship");
    ship_serve(&s->link, p->dir.z, s->cluster, p->rate_bytes, &p->stop);
    bool posted = mailbox_post(p->box, &s->msg);
    CHECK(posted);
    return NULL;
}

static void stream(void *data, struct raftnet_link *link, const struct raftnet_shake_node *from)
{
    struct peers *p = data;
    if (p->closing || p->silent || p->box == NULL || p->sender_count >= SHIP_SENDERS_MAX) {
        raftnet_link_close(link);
        return;
    }
    struct sender *s = calloc(1, sizeof *s);
    CHECK(s != NULL);
    *s = (struct sender){.peers = p, .link = *link, .next = p->senders};
    s->cluster = raftnet_self(p->net)->cluster;
    s->msg.deliver = sent_all;
    if (!start_thread(&s->thread, send_main, s)) {
        log_warn("checkpoint not sent: no thread is left", LOG_U64("to", from->id));
        raftnet_link_close(link);
        free(s);
        return;
    }
    p->senders = s;
    p->sender_count++;
}

/* --- frames --- */

static void take_raft(struct peers *p, const struct raftnet_shake_node *from, struct str body)
{
    char address[RAFTNET_SHAKE_TEXT_BYTES_MAX + 1];
    struct raft_message m;
    struct err err;
    if (wire_decode(body, &m, &err) != ERR_OK) {
        log_error("peer sent invalid data", LOG_STR("node_id", from->name),
                  LOG_Z("error", err.msg));
        return;
    }
    bool is_vote = m.type == RAFT_IO_REQUEST_VOTE;
    if (p->recv == NULL || (is_vote && m.request_vote.candidate_id != from->id)) {
        wire_clear(&m);
        return;
    }
    if (m.type == RAFT_IO_INSTALL_SNAPSHOT) {
        if (p->fetch != NULL || was_refused(p, &m.install_snapshot)) {
            wire_clear(&m); /* one at a time: the snapshot being fetched may be enough */
        } else {
            fetch_begin(p, from, &m);
        }
        return;
    }
    if (m.type == RAFT_IO_APPEND_ENTRIES) {
        look_at_entries(p, from->id, &m);
    }
    (void)snprintf(address, sizeof address, STR_FMT, STR_ARG(from->address));
    bool is_append = m.type == RAFT_IO_APPEND_ENTRIES;
    uint64_t commit = is_append ? m.append_entries.leader_commit : 0;
    deliver(p, &m, from->id, address);
    if (is_append) {
        p->hooks.committed(p->hooks.data, commit);
    }
}

static void received(void *data, const struct raftnet_shake_node *from,
                     const struct raftnet_frame *f)
{
    struct peers *p = data;
    struct unpack u = unpack_from(f->body);
    if (p->closing || p->silent || f->group != GROUP) {
        return;
    }
    if (p->hooks.is_removed(p->hooks.data, from->id)) {
        raftnet_drop(p->net, from->id); /* it gets the reason when it dials again */
        return;
    }
    if (f->kind == RAFTNET_FRAME_RAFT) {
        take_raft(p, from, f->body);
    } else if (f->kind == RAFTNET_FRAME_HASH) {
        uint64_t index = unpack_u64(&u);
        uint64_t hash = unpack_u64(&u);
        if (unpack_done(&u)) {
            p->hooks.hashed(p->hooks.data, from->id, index, hash);
        }
    } else if (f->kind == RAFTNET_FRAME_READS) {
        uint8_t version = unpack_u8(&u);
        if (unpack_done(&u) && version > 0) {
            p->hooks.reads(p->hooks.data, from->id, version);
        }
    } else if (f->kind == RAFTNET_FRAME_SPACE) {
        uint8_t level = unpack_u8(&u);
        if (unpack_done(&u)) {
            p->hooks.space(p->hooks.data, from->id, level);
        }
    }
}

struct sending {
    struct raftnet_send net;
    struct raft_io_send *req;
    raft_io_send_cb cb; /* NULL: no callback */
};

static void sent(struct raftnet_send *net, bool written)
{
    struct sending *s = CONTAINER_OF(net, struct sending, net);
    struct raft_io_send *req = s->req;
    raft_io_send_cb cb = s->cb;
    buf_deinit(&s->net.frame);
    free(s);
    if (cb != NULL) {
        cb(req, written ? 0 : RAFT_NOCONNECTION);
    }
}

static struct sending *sending_new(void)
{
    struct sending *s = calloc(1, sizeof *s);
    CHECK(s != NULL);
    s->net.done = sent;
    buf_init(&s->net.frame, RAFTNET_FRAME_HEAD_BYTES + RAFTNET_FRAME_BODY_BYTES_MAX);
    raftnet_frame_begin(&s->net.frame);
    return s;
}

/* False if the node cannot be reached; s is freed then. */
static bool go(struct peers *p, uint64_t id, const char *address, uint8_t kind, struct sending *s)
{
    const char *known = p->hooks.address(p->hooks.data, id);
    raftnet_frame_end(&s->net.frame, kind, GROUP, raftnet_self(p->net)->cluster);
    if (raftnet_send(p->net, id, known != NULL ? known : address, &s->net)) {
        return true;
    }
    buf_deinit(&s->net.frame);
    free(s);
    return false;
}

static int transport_send(void *data, struct raft_io_send *req, const struct raft_message *message,
                          raft_io_send_cb cb)
{
    struct peers *p = data;
    if (p->closing || p->silent) {
        return RAFT_NOCONNECTION;
    }
    struct sending *s = sending_new();
    s->req = req;
    s->cb = cb;
    wire_encode(message, &s->net.frame);
    if (s->net.frame.overflow) {
        buf_deinit(&s->net.frame);
        free(s);
        return RAFT_TOOBIG;
    }
    return go(p, message->server_id, message->server_address, RAFTNET_FRAME_RAFT, s)
               ? 0
               : RAFT_NOCONNECTION;
}

void peers_send_hash(struct peers *p, uint64_t id, const char *address, uint64_t index,
                     uint64_t hash)
{
    if (!p->closing && !p->silent) {
        struct sending *s = sending_new();
        pack_u64(&s->net.frame, index);
        pack_u64(&s->net.frame, hash);
        (void)go(p, id, address, RAFTNET_FRAME_HASH, s);
    }
}

static void send_byte(struct peers *p, uint64_t id, const char *address, uint8_t kind, uint8_t byte)
{
    if (!p->closing && !p->silent) {
        struct sending *s = sending_new();
        pack_u8(&s->net.frame, byte);
        (void)go(p, id, address, kind, s);
    }
}

void peers_send_reads(struct peers *p, uint64_t id, const char *address, uint8_t version)
{
    send_byte(p, id, address, RAFTNET_FRAME_READS, version);
}

void peers_send_space(struct peers *p, uint64_t id, const char *address, uint8_t level)
{
    send_byte(p, id, address, RAFTNET_FRAME_SPACE, level);
}

/* --- open and close --- */

static void transport_start(void *data, struct raft_io *io, raft_io_recv_cb recv)
{
    struct peers *p = data;
    p->io = io;
    p->recv = recv;
}

static void net_closed(void *data)
{
    struct peers *p = data;
    p->net_closed = true;
    maybe_closed(p);
}

void peers_close(struct peers *p, void (*closed)(void *data), void *data)
{
    p->closing = true;
    p->closed = closed;
    p->closed_data = data;
    atomic_store(&p->stop, true);
    raftnet_close(p->net, net_closed, p);
}

static void transport_close(void *data, void (*closed)(void *closed_data), void *closed_data)
{
    peers_close(data, closed, closed_data);
}

struct disk_io_transport peers_transport(struct peers *p)
{
    return (struct disk_io_transport){
        .data = p, .start = transport_start, .send = transport_send, .close = transport_close};
}

enum err_code peers_open(uv_loop_t *loop, const struct peers_config *config, const char *dir,
                         struct peers **out_peers, struct err *err)
{
    struct peers *p = calloc(1, sizeof *p);
    CHECK(p != NULL);
    p->loop = loop;
    p->hooks = config->hooks;
    p->secret = config->secret;
    p->tls = config->tls;
    p->rate_bytes = config->rate_bytes;
    (void)snprintf(p->dir.z, sizeof p->dir.z, "%s", dir);
    const struct raftnet_config net = {.loop = loop,
                                       .bind = config->bind,
                                       .secret = config->secret,
                                       .tls = config->tls,
                                       .hooks = {.data = p,
                                                 .admit = admit,
                                                 .met = met,
                                                 .received = received,
                                                 .stream = stream,
                                                 .refused = refused,
                                                 .lost = lost}};
    if (raftnet_open(&net, &p->net, err) != ERR_OK) {
        free(p);
        return err->code;
    }
    ship_clean(dir);
    raftnet_set_self(p->net, &config->self);
    *out_peers = p;
    return ERR_OK;
}

void peers_attach(struct peers *p, struct mailbox *box)
{
    p->box = box;
}

void peers_set_reader(struct peers *p, const struct peers_reader *reader)
{
    p->reader = *reader;
}

void peers_refusals(const struct peers *p, struct peers_refusals *out)
{
    *out = p->refusals;
}

uint16_t peers_port(const struct peers *p)
{
    return raftnet_port(p->net);
}

void peers_set_self(struct peers *p, const struct raftnet_shake_node *self)
{
    raftnet_set_self(p->net, self);
}

const struct raftnet_shake_node *peers_self(const struct peers *p)
{
    return raftnet_self(p->net);
}

void peers_set_silent(struct peers *p, bool silent)
{
    p->silent = silent;
    raftnet_set_open(p->net, !silent);
}

enum err_code peers_reload_tls(struct peers *p, struct err *err)
{
    return raftnet_reload_tls(p->net, err);
}

void peers_stats(const struct peers *p, uint64_t id, struct raftnet_peer_stats *out)
{
    raftnet_peer_stats(p->net, id, out);
}

void peers_fetch_status(const struct peers *p, struct ship_progress *out)
{
    *out = p->progress;
    out->bytes_done = atomic_load(&p->fetched_bytes);
}
