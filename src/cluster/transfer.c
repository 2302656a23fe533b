#include "cluster/transfer.h"

#include "base/check.h"

static void transfer_move(struct transfer *t, enum transfer_state to)
{
    static const unsigned allowed[] = {
        [TRANSFER_IDLE] = 1U << TRANSFER_DRAINING,
        [TRANSFER_DRAINING] = 1U << TRANSFER_ASKED | 1U << TRANSFER_IDLE,
        [TRANSFER_ASKED] = 1U << TRANSFER_DRAINING | 1U << TRANSFER_IDLE,
    };
    CHECK((allowed[t->state] & 1U << to) != 0);
    t->state = to;
}

static const struct raft_progress *progress_of(const struct raft *r, raft_id id)
{
    for (unsigned i = 0; i < r->configuration.n; i++) {
        const struct raft_server *server = &r->configuration.servers[i];
        if (server->id == id && server->role == RAFT_VOTER) {
            return &r->leader_state.progress[i];
        }
    }
    return NULL;
}

/* The target has every entry, and all are applied here: no waiting request can lose its entry. */
static bool is_drained(const struct transfer *t)
{
    const struct raft_progress *p = progress_of(t->raft, t->target);
    raft_index last = raft_last_index(t->raft);
    return p != NULL && p->match_index == last && raft_last_applied(t->raft) == last;
}

static bool is_too_late(const struct transfer *t)
{
    struct raft *r = t->raft;
    return r->io->time(r->io) - t->since >= r->election_timeout;
}

static void request_cb(struct raft_transfer *request)
{
    struct transfer *t = request->data;
    t->over = true;
}

static bool ask(struct transfer *t)
{
    t->over = false;
    t->tries++;
    t->request.data = t;
    return raft_transfer(t->raft, &t->request, t->target, request_cb) == 0;
}

static void finish(struct transfer *t)
{
    raft_id leader = 0;
    const char *address = NULL;
    raft_leader(t->raft, &leader, &address);
    transfer_move(t, TRANSFER_IDLE);
    t->done(t, leader == t->target);
}

void transfer_init(struct transfer *t, struct raft *raft)
{
    *t = (struct transfer){.raft = raft};
}

enum err_code transfer_start(struct transfer *t, raft_id target, struct err *err)
{
    struct raft *r = t->raft;
    CHECK(t->done != NULL);
    if (t->state != TRANSFER_IDLE) {
        return err_set(err, ERR_CONFLICT, "a leadership transfer is already in progress");
    }
    if (r->state != RAFT_LEADER) {
        return err_set_default(err, ERR_LEADER_UNAVAILABLE);
    }
    if (target == r->id || progress_of(r, target) == NULL) {
        return err_set(err, ERR_NOT_FOUND, "node '%llu' is not another voting member", target);
    }
    t->target = target;
    t->tries = 0;
    t->since = r->io->time(r->io);
    transfer_move(t, TRANSFER_DRAINING);
    return ERR_OK;
}

bool transfer_is_on(const struct transfer *t)
{
    return t->state != TRANSFER_IDLE;
}

/* Advance the transfer, if there is one. Transfers advance only here. */
void transfer_step(struct transfer *t)
{
    bool leads = t->raft->state == RAFT_LEADER;
    switch (t->state) {
    case TRANSFER_IDLE:
        break;
    case TRANSFER_DRAINING:
        if (!leads || is_too_late(t)) {
            finish(t);
        } else if (is_drained(t) && ask(t)) {
            transfer_move(t, TRANSFER_ASKED);
        }
        break;
    case TRANSFER_ASKED:
        if (t->over && leads && t->tries < TRANSFER_TRIES_MAX) {
            t->since = t->raft->io->time(t->raft->io);
            transfer_move(t, TRANSFER_DRAINING);
        } else if (t->over) {
            finish(t);
        }
        break;
    default:
        UNREACHABLE("a transfer has three states");
    }
}
