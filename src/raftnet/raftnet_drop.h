/*
 * Raftnet_drop: disconnects a node that is no longer allowed to connect. A part of raftnet.h.
 */
#pragma once

#include <stdint.h>

struct raftnet;

/* Close what this node has dialled. When it dials again, it is looked at anew, and told. */
void raftnet_drop(struct raftnet *net, uint64_t id);
