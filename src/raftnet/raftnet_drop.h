/*
 * Raftnet_drop: disconnects a node that is no longer allowed to connect. A part of raftnet.h.
 */
#pragma once

#include <stdint.h>

struct raftnet;

/* Close the connections that this node has dialled. When it dials again, it is checked again and
 * gets the reason. */
void raftnet_drop(struct raftnet *net, uint64_t id);
