#include "server/server_members.h"

#include <uv.h>

#include "base/check.h"
#include "fsm/command/command.h"

enum { SILENT_MS = 3000 }; /* a member without contact for this long does not count as alive */

struct look {
    struct engine_call call;
    struct engine *e;
    struct engine_cluster_status *out;
    bool leads;
    uv_sem_t over;
};

static void look_run(struct engine_call *call, struct machine *m)
{
    struct look *l = CONTAINER_OF(call, struct look, call);
    (void)m;
    engine_cluster_status(l->e, l->out);
    l->leads = engine_leads(l->e);
}

static void look_done(struct engine_call *call)
{
    uv_sem_post(&CONTAINER_OF(call, struct look, call)->over);
}

bool server_members_look(struct engine *e, struct engine_cluster_status *out, bool *out_leads)
{
    struct look l = {.call = {.run = look_run, .done = look_done}, .e = e, .out = out};
    CHECK(uv_sem_init(&l.over, 0) == 0);
    bool asked = engine_run(e, &l.call);
    if (asked) {
        uv_sem_wait(&l.over);
    }
    uv_sem_destroy(&l.over);
    *out_leads = l.leads;
    return asked;
}

bool server_members_is_voter(const struct engine_cluster_node *n)
{
    return n->in_group && n->role == NODE_VOTER && n->state == STORE_NODE_MEMBER;
}

bool server_members_majority_without(const struct engine_cluster_status *members, uint64_t id)
{
    unsigned voters = 0;
    unsigned alive = 0;
    for (size_t i = 0; i < members->count; i++) {
        const struct engine_cluster_node *n = &members->nodes[i];
        if (n->id != id && server_members_is_voter(n)) {
            voters++;
            alive += n->self || (n->last_contact_ms >= 0 && n->last_contact_ms <= SILENT_MS);
        }
    }
    return alive > voters / 2;
}

struct removal {
    struct engine_op op;
    uv_sem_t over;
};

static void removal_done(struct engine_op *op)
{
    uv_sem_post(&CONTAINER_OF(op, struct removal, op)->over);
}

enum err_code server_members_take_out(struct engine *e, uint64_t id, struct err *err)
{
    struct command command = {.type = COMMAND_NODE_STATE};
    struct removal r;
    command.node_state.id = id;
    command.node_state.state = STORE_NODE_LEAVING;
    engine_op_init(&r.op);
    r.op.done = removal_done;
    CHECK(uv_sem_init(&r.over, 0) == 0);
    if (engine_op_prepare(e, &r.op, &command, err) == ERR_OK) {
        engine_submit(e, &r.op);
        uv_sem_wait(&r.over);
        *err = r.op.err;
    }
    uv_sem_destroy(&r.over);
    engine_op_deinit(&r.op);
    return err->code;
}
