#include "fsm/command/command_policy.h"

#include "fsm/command/command.h"

/* A policy is encoded as its record. */
void command_policy__encode_put(const struct command *c, struct buf *out)
{
    store_record_encode_policy(&c->policy_put.policy, out);
}

void command_policy__decode_put(struct unpack *u, struct arena *a, struct command *c)
{
    (void)a;
    if (!store_record_decode_policy(unpack_bytes(u, unpack_left(u)), &c->policy_put.policy)) {
        u->bad = true;
    }
}

void command_policy__encode_delete(const struct command *c, struct buf *out)
{
    buf_add(out, c->policy_delete.id.b, ID_BYTES);
}

void command_policy__decode_delete(struct unpack *u, struct arena *a, struct command *c)
{
    (void)a;
    c->policy_delete.id = id_unpack(u);
}
