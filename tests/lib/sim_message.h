/*
 * Sim_message: messages that the network keeps for a while.
 */
#pragma once

#include <raft.h>

/* A message with memory of its own, as raft takes it over; and the end of one that raft never saw.
 */
void sim_message_copy(const struct raft_message *from, struct raft_message *to);
void sim_message_drop(struct raft_message *m);
