/*
 * Raftnet_drop: hang up on a node that may not talk to us any more. A part of raftnet.h.
 */
#pragma once

#include <stdint.h>

struct raftnet;

/* Close what this node has dialled. When it dials again, it is looked at anew, and told. */
void raftnet_drop(struct raftnet *net, uint64_t id);
