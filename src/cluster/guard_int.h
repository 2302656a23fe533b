/*
 * Guard_int: shared by the files of the guard.
 *
 *   guard.c        installing and closing, the role, the first entry of a term, the hooks
 *   guard_recv.c   what raft receives
 *   guard_store.c  what raft stores: entries, snapshots
 *   guard_send.c   what raft sends
 *   guard_log.c    queries about the log that raft has in memory
 */
#pragma once

#include "cluster/guard.h"

/* Entries being written to disk. */
struct guard_append {
    struct guard_append *next;
    struct guard *guard;
    struct raft_io_append below;
    struct raft_io_append *req; /* raft's own */
    raft_io_append_cb cb;
    raft_term term; /* when it was submitted */
    bool answers;   /* of a follower: its end is reported to the leader */
    struct guard_answer answer;
};

/* A snapshot being written to disk: raft's own, or one that replaces the whole state. */
struct guard_put {
    struct guard *guard;
    struct raft_io_snapshot_put below;
    struct raft_io_snapshot_put *req;
    raft_io_snapshot_put_cb cb;
    struct raft_snapshot snapshot; /* raft's, with the true term */
    raft_term term;                /* when it was submitted */
    bool installs;
    bool parked; /* ended after the guard stopped */
};

/* A message being sent to a peer. */
struct guard_send {
    struct guard_send *next;
    struct guard *guard;
    struct guard_peer *peer;
    struct raft_io_send below;
    struct raft_io_send *req;
    raft_io_send_cb cb; /* NULL: raft needs no callback */
    struct raft_message message;
    uint64_t bytes;
    unsigned sent; /* number of entries passed on */
    bool under_way;
    int status;
    char address[];
};

static inline bool guard__on(const struct guard *g, enum guard_rule rule)
{
    return (g->off & (1U << rule)) == 0;
}

/* raft_init puts raft into io->data, guard_install the guard into raft->data. */
static inline struct guard *guard__of(const struct raft_io *io)
{
    const struct raft *raft = io->data;
    return raft->data;
}

/* Stop raft. The hook is called at the end of this event or the next one. */
void guard__stop(struct guard *g, enum guard_rule rule, const char *reason);

/* Call at the end of each event, outside of raft. g may be freed by this. */
void guard__event_over(struct guard *g);

/* Hold back a success that arrives before the leader has stored the first entry of its term. */
void guard__hold_ack(struct guard *g, struct raft_message *m);

/* The peer with this id; created if it is new. */
struct guard_peer *guard__peer(struct guard *g, raft_id id);

/* --- guard_recv.c --- */

void guard_recv__deliver(struct guard *g, struct raft_message *m);

/* Free the memory that raft would take over. */
void guard_recv__drop(struct raft_message *m);

/* Is data in raft's memory still being written to disk? Then raft must not stand for election, and
 * its log must not be rewritten. */
bool guard_recv__must_be_calm(const struct guard *g);

/* Deliver the message that was held back, if it is allowed now. */
void guard_recv__release(struct guard *g);

/* --- guard_store.c --- */

int guard_store__load(struct raft_io *io, raft_term *term, raft_id *voted_for,
                      struct raft_snapshot **snapshot, raft_index *start_index,
                      struct raft_entry *entries[], size_t *n_entries);
int guard_store__append(struct raft_io *io, struct raft_io_append *req,
                        const struct raft_entry entries[], unsigned n, raft_io_append_cb cb);
int guard_store__truncate(struct raft_io *io, raft_index index);
int guard_store__snapshot_put(struct raft_io *io, unsigned trailing,
                              struct raft_io_snapshot_put *req,
                              const struct raft_snapshot *snapshot, raft_io_snapshot_put_cb cb);
int guard_store__fsm_snapshot(struct raft_fsm *fsm, struct raft_buffer *bufs[], unsigned *n_bufs);

/* Is a membership in the log uncommitted? Then there is no snapshot. */
bool guard_store__is_undecided(const struct raft *r);

/* Raft is closing: return the operations that ended after the guard stopped. */
void guard_store__release(struct guard *g);

/* --- guard_send.c --- */

int guard_send__send(struct raft_io *io, struct raft_io_send *req,
                     const struct raft_message *message, raft_io_send_cb cb);

/* Report ended sends to raft. Call outside of raft. */
void guard_send__settle(struct guard *g);

/* Raft is closing: cancel waiting messages. */
void guard_send__cancel(struct guard *g);

/* --- guard_log.c --- */

raft_index guard_log__last_index(const struct raft *r);

/* 0 if the log in memory does not have the entry. */
raft_term guard_log__term_at(const struct raft *r, raft_index index);

/* The first index at which the log differs from these entries; 0 if there is none, or if raft would
 * refuse the entries. */
raft_index guard_log__conflict(const struct raft *r, const struct raft_append_entries *entries);

/* Size of the entries in memory from this index on. */
uint64_t guard_log__bytes_from(const struct raft *r, raft_index index);

/* Is there a membership entry at or after this index? */
bool guard_log__has_change_from(const struct raft *r, raft_index index);
