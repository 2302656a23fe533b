#include "cluster/tell.h"

#include <stdlib.h>

#include "base/check.h"

void tell_init(struct tell *t, struct raft *raft)
{
    *t = (struct tell){.raft = raft};
}

static void sent_cb(struct raft_io_send *req, int status)
{
    (void)status; /* if the send failed, the next heartbeat has the commit index */
    free(req);
}

static void send_to(const struct tell *t, const struct raft_server *server)
{
    struct raft *r = t->raft;
    struct raft_io_send *req = calloc(1, sizeof *req);
    CHECK(req != NULL);
    /* The leader's log ends with the last committed entry, so the message commits nothing else. */
    const struct raft_message message = {.type = RAFT_IO_APPEND_ENTRIES,
                                         .server_id = server->id,
                                         .server_address = server->address,
                                         .append_entries = {.term = r->current_term,
                                                            .prev_log_index = r->commit_index,
                                                            .prev_log_term = r->current_term,
                                                            .leader_commit = r->commit_index}};
    if (r->io->send(r->io, req, &message, sent_cb) != 0) {
        free(req);
    }
}

void tell_look(struct tell *t)
{
    const struct raft *r = t->raft;
    if (r->state != RAFT_LEADER || r->configuration.n < 2 ||
        r->commit_index < raft_last_index(t->raft)) {
        return;
    }
    for (unsigned i = 0; i < r->configuration.n && i < TELL_MEMBERS_MAX; i++) {
        const struct raft_server *server = &r->configuration.servers[i];
        bool told = t->members[i].id == server->id && t->members[i].index == r->commit_index;
        if (server->id != r->id && !told &&
            r->leader_state.progress[i].match_index == r->commit_index) {
            t->members[i].id = server->id;
            t->members[i].index = r->commit_index;
            send_to(t, server);
        }
    }
}
