/*
 * Guard_send: sends the messages of raft.
 *
 * Raft does not handle a send that fails immediately: one of its functions then frees the entries
 * of a message twice, others never try again. Its callbacks must not run inside the call either. So
 * every send is accepted, and a failed one ends with RAFT_NOCONNECTION at the end of the event:
 * raft treats it as a lost message.
 *
 * Long appends are sent in pieces, each one when the piece before it has been written. The send
 * ends after the last piece, because until then raft must keep the entries. Further appends to that
 * peer wait in a queue: the peer would refuse them, because it lacks the entries before them.
 */
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "cluster/guard_int.h"

/* The value of PROGRESS__PROBE in raft: the leader does not know yet which entries the peer has. */
enum { PROGRESS_PROBE = 0 };

static uint64_t entries_bytes(const struct raft_entry *entries, unsigned n)
{
    uint64_t bytes = 0;
    for (unsigned i = 0; i < n; i++) {
        bytes += sizeof entries[i] + entries[i].buf.len;
    }
    return bytes;
}

/* The number of entries, starting at `from`, that form a piece: as many as fit, at least one. */
static unsigned piece_length(const struct guard *g, const struct raft_append_entries *a,
                             unsigned from)
{
    unsigned n = a->n_entries - from;
    if (!guard__on(g, GUARD_CHUNK)) {
        return n;
    }
    uint64_t bytes = 0;
    for (unsigned i = 0; i < n; i++) {
        bytes += entries_bytes(&a->entries[from + i], 1);
        if (bytes > g->chunk_bytes && i > 0) {
            return i;
        }
    }
    return n;
}

/* A copy of the message with n of its entries, starting at `from`. */
static struct raft_message piece_of(const struct raft_message *whole, unsigned from, unsigned n)
{
    struct raft_message piece = *whole;
    struct raft_append_entries *a = &piece.append_entries;
    if (from > 0) {
        a->prev_log_index += from;
        a->prev_log_term = a->entries[from - 1].term;
        a->entries += from;
    }
    a->n_entries = n;
    /* Otherwise the peer would treat entries of its own log after this piece as committed. */
    if (a->leader_commit > a->prev_log_index + n) {
        a->leader_commit = a->prev_log_index + n;
    }
    return piece;
}

static bool is_append(const struct guard_send *s)
{
    return s->message.type == RAFT_IO_APPEND_ENTRIES;
}

static bool is_probe(const struct guard *g, raft_id id)
{
    const struct raft *r = g->raft;
    for (unsigned i = 0; r->state == RAFT_LEADER && i < r->configuration.n; i++) {
        if (r->configuration.servers[i].id == id) {
            return r->leader_state.progress[i].state == PROGRESS_PROBE;
        }
    }
    return false;
}

/* End the send. guard_send__settle reports it to raft. */
static void end(struct guard_send *s, int status)
{
    struct guard *g = s->guard;
    CHECK(s->peer->queued_bytes >= s->bytes);
    s->status = status;
    s->peer->queued_bytes -= s->bytes;
    s->next = g->over;
    g->over = s;
}

/* End the append that is being sent. After a failure, end those queued behind it as well. */
static void end_first(struct guard_peer *peer, int status)
{
    do {
        struct guard_send *s = peer->sending;
        CHECK(s != NULL);
        CHECK(s->peer == peer);
        peer->sending = s->next;
        end(s, status);
    } while (status != 0 && peer->sending != NULL);
}

static void sent_cb(struct raft_io_send *below, int status);

static int hand_over(struct guard_send *s, const struct raft_message *message)
{
    struct guard *g = s->guard;
    return g->below.send(g->io, &s->below, message, sent_cb);
}

/* Send the next piece of an append. Fails if its term is over, because the peer would refuse it. */
static int hand_over_piece(struct guard_send *s)
{
    const struct raft_append_entries *a = &s->message.append_entries;
    if (a->term != s->guard->raft->current_term) {
        return RAFT_CANCELED;
    }
    unsigned n = piece_length(s->guard, a, s->sent);
    struct raft_message piece = piece_of(&s->message, s->sent, n);
    CHECK(!s->under_way);
    s->sent += n;
    CHECK(s->sent <= a->n_entries);
    s->under_way = true;
    return hand_over(s, &piece);
}

/* Send the next piece of the first append in the queue, unless a piece is being written. */
static void peer_go_on(struct guard_peer *peer)
{
    while (peer->sending != NULL && !peer->sending->under_way) {
        int rv = hand_over_piece(peer->sending);
        if (rv != 0) {
            end_first(peer, rv);
        }
    }
}

static void sent_cb(struct raft_io_send *below, int status)
{
    struct guard_send *s = below->data;
    struct guard *g = s->guard;
    struct guard_peer *peer = s->peer;
    s->under_way = false;

    if (peer->sending != s) {
        end(s, status);
    } else if (status != 0 || g->closing) {
        end_first(peer, status != 0 ? status : RAFT_CANCELED);
    } else {
        if (s->sent == s->message.append_entries.n_entries) {
            end_first(peer, 0);
        }
        peer_go_on(peer);
    }
    guard_send__settle(g);
}

/* Limit the response to the entries of the request. False if it must not be sent at all. */
static bool answer_is_honest(const struct guard *g, struct raft_append_entries_result *result)
{
    CHECK(g->answer != NULL);
    if (result->rejected != 0) {
        return true;
    }
    if (g->answer->late && guard__on(g, GUARD_LATE)) {
        return false;
    }
    if (result->last_log_index > g->answer->cap && guard__on(g, GUARD_HONEST)) {
        result->last_log_index = g->answer->cap;
    }
    return true;
}

/* Raft answers a pre-vote with the candidate's own next term. A candidate that is refused because
 * of its old term must learn the current one. Otherwise it could never win, even if no other member
 * has all of its entries. */
static void vote_tells_term(const struct guard *g, struct raft_request_vote_result *result)
{
    bool is_refused_pre_vote = result->pre_vote == raft_tribool_true && !result->vote_granted;
    if (is_refused_pre_vote && result->term < g->raft->current_term &&
        guard__on(g, GUARD_PRE_VOTE)) {
        result->term = g->raft->current_term;
    }
}

static bool may_be_sent(const struct guard *g, struct guard_send *s)
{
    struct raft_message *m = &s->message;
    if (guard__on(g, GUARD_ADDRESS) && (m->server_id == 0 || m->server_address == NULL)) {
        return false;
    }
    if (m->type == RAFT_IO_APPEND_ENTRIES_RESULT &&
        !answer_is_honest(g, &m->append_entries_result)) {
        return false;
    }
    if (m->type == RAFT_IO_REQUEST_VOTE_RESULT) {
        vote_tells_term(g, &m->request_vote_result);
    }
    bool is_too_much = s->peer->queued_bytes > g->queue_bytes;
    return !is_too_much || !guard__on(g, GUARD_QUEUE);
}

static struct guard_send *send_new(struct guard *g, struct raft_io_send *req,
                                   const struct raft_message *message, raft_io_send_cb cb)
{
    size_t address_len = message->server_address == NULL ? 0 : strlen(message->server_address);
    struct guard_send *s = calloc(1, sizeof *s + address_len + 1);
    CHECK(s != NULL);
    s->guard = g;
    s->req = req;
    s->cb = cb;
    s->message = *message;
    s->below.data = s;
    s->peer = guard__peer(g, message->server_id);
    if (message->server_address != NULL) {
        /* The address belongs to raft's configuration, which may change while this waits. */
        memcpy(s->address, message->server_address, address_len);
        s->message.server_address = s->address;
    }
    return s;
}

/* Measure the message. True if it has to be sent in pieces. */
static bool send_measure(struct guard_send *s)
{
    struct guard *g = s->guard;
    struct raft_append_entries *a = &s->message.append_entries;
    s->bytes = sizeof s->message;
    if (!is_append(s)) {
        return false;
    }
    unsigned n = piece_length(g, a, 0);
    if (n < a->n_entries && is_probe(g, s->peer->id)) {
        /* One piece is enough to probe what the peer has; raft then sends the rest. */
        s->message = piece_of(&s->message, 0, n);
    }
    /* Count only the first piece: the rest is in raft's log anyway. */
    s->bytes += entries_bytes(a->entries, n);
    return n < a->n_entries;
}

int guard_send__send(struct raft_io *io, struct raft_io_send *req,
                     const struct raft_message *message, raft_io_send_cb cb)
{
    struct guard *g = guard__of(io);
    struct guard_send *s = send_new(g, req, message, cb);
    struct guard_peer *peer = s->peer;
    bool in_pieces = send_measure(s);
    bool ok = may_be_sent(g, s);
    peer->queued_bytes += s->bytes;
    if (!ok) {
        end(s, RAFT_NOCONNECTION);
    } else if (is_append(s) && (in_pieces || peer->sending != NULL)) {
        struct guard_send **tail = &peer->sending;
        while (*tail != NULL) {
            tail = &(*tail)->next;
        }
        *tail = s;
        peer_go_on(peer);
    } else {
        int rv = hand_over(s, &s->message);
        if (rv != 0) {
            end(s, rv);
        }
    }
    return 0;
}

void guard_send__settle(struct guard *g)
{
    while (g->over != NULL) {
        struct guard_send *s = g->over;
        g->over = s->next;
        if (s->cb != NULL) {
            s->cb(s->req, s->status);
        }
        free(s);
    }
}

void guard_send__cancel(struct guard *g)
{
    for (struct guard_peer *peer = g->peers; peer != NULL; peer = peer->next) {
        struct guard_send *first = peer->sending;
        if (first == NULL) {
            continue;
        }
        /* The first one ends when its current piece has been written. */
        CHECK(first->under_way);
        while (first->next != NULL) {
            struct guard_send *s = first->next;
            first->next = s->next;
            end(s, RAFT_CANCELED);
        }
    }
    guard_send__settle(g);
}
