/*
 * Transfer: hands leadership over to another voter, before a leader stops or is removed.
 *
 *            transfer_start        the target has everything       raft reports the end
 *   IDLE -------------------> DRAINING -------------------> ASKED -------------------> IDLE
 *                               ^                             |
 *                               +------- still leading -------+
 *
 * The transfer is abandoned if the target does not catch up within an election timeout, after
 * TRANSFER_TRIES_MAX attempts, or if another member leads.
 *
 * libraft's own transfer asks the target as soon as everything has been sent to it. The target
 * ignores a request that names entries it does not have; then nothing happens, and no callback
 * reports it. libraft also keeps a pointer to its request after the callback. Therefore one request
 * exists as long as raft does; nothing is submitted during a transfer; the target is asked after it
 * has confirmed the last entry; and afterwards the current leader is checked.
 *
 * Everything runs on raft's thread. The owner calls transfer_step after each event that reached
 * raft (guard_hooks.delivered).
 */
#pragma once

#include <stdbool.h>

#include <raft.h>

#include "base/attr.h"
#include "base/err.h"

enum { TRANSFER_TRIES_MAX = 3 };

enum transfer_state { TRANSFER_IDLE, TRANSFER_DRAINING, TRANSFER_ASKED };

struct transfer {
    /* set by the caller */
    void (*done)(struct transfer *t, bool moved); /* once, from transfer_step */
    void *data;

    /* private */
    struct raft *raft;
    struct raft_transfer request;
    enum transfer_state state;
    raft_id target;
    raft_time since; /* start of this attempt */
    unsigned tries;
    bool over; /* raft no longer uses the request */
};

/* t must live as long as raft. */
void transfer_init(struct transfer *t, struct raft *raft);

/* Start a transfer; done is called unless raft is closed first. ERR_LEADER_UNAVAILABLE: this node
 * is not leader; ERR_CONFLICT: a transfer is in progress; ERR_NOT_FOUND: the target is not another
 * voter. */
ATTR_NODISCARD enum err_code transfer_start(struct transfer *t, raft_id target, struct err *err);

/* Is a transfer in progress? Then neither entries nor membership changes may be submitted. */
bool transfer_is_on(const struct transfer *t);

/* Continue the transfer, if possible. */
void transfer_step(struct transfer *t);
