#include "raftnet/raftnet_drop.h"

#include "raftnet/raftnet_int.h"

void raftnet_drop(struct raftnet *net, uint64_t id)
{
    struct raftnet_conn *next = NULL;
    for (struct raftnet_conn *c = net->conns; c != NULL; c = next) {
        next = c->next;
        if (c->peer == NULL && c->up && c->shake.other.id == id) {
            raftnet_conn__close(c, "it was removed");
        }
    }
}
