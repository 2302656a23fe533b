/*
 * Machine_nodes: the members of the cluster, as recorded in the state. A part of machine.h. The
 * texts are valid until the next apply.
 */
#pragma once

#include <stdint.h>

#include "store/store_node.h"

struct machine;

uint32_t machine_nodes_count(const struct machine *m);
const struct store_node *machine_nodes_at(const struct machine *m, uint32_t i);

/* NULL if there is none. */
const struct store_node *machine_nodes_find(const struct machine *m, uint64_t id);

/* Number of writes of member records since the machine was opened. */
uint64_t machine_nodes_changes(const struct machine *m);
