/*
 * Server_members: the members of the cluster, for threads that may block.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/attr.h"
#include "engine/engine.h"
#include "engine/engine_cluster.h"

/* Call it on any thread but the core's. False if the engine is stopping. */
ATTR_NODISCARD bool server_members_look(struct engine *e, struct engine_cluster_status *out,
                                        bool *out_leads);

bool server_members_is_voter(const struct engine_cluster_node *n);

/* Would a majority of the remaining voters be alive, in the view of the leader, without this
 * one? */
bool server_members_majority_without(const struct engine_cluster_status *members, uint64_t id);

/* Remove the member. Returns when the removal is decided, which is before it is complete. Call it
 * on any thread but the core's. */
ATTR_NODISCARD enum err_code server_members_take_out(struct engine *e, uint64_t id,
                                                     struct err *err);
