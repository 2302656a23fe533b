/*
 * Sim_message: messages that the network keeps for some time.
 */
#pragma once

#include <raft.h>

/* Copy a message into memory that raft will own. Drop frees a message that raft never received. */
void sim_message_copy(const struct raft_message *from, struct raft_message *to);
void sim_message_drop(struct raft_message *m);
