#include "fsm/machine_nodes.h"

#include "base/check.h"
#include "fsm/apply/apply_int.h"

struct node_record *machine_nodes__find(const struct machine *m, uint64_t id)
{
    for (uint32_t i = 0; i < m->node_count; i++) {
        if (m->nodes[i].rec.id == id) {
            return &m->nodes[i];
        }
    }
    return NULL;
}

uint32_t machine_nodes_count(const struct machine *m)
{
    return m->node_count;
}

const struct store_node *machine_nodes_at(const struct machine *m, uint32_t i)
{
    CHECK(i < m->node_count);
    return &m->nodes[i].rec;
}

const struct store_node *machine_nodes_find(const struct machine *m, uint64_t id)
{
    const struct node_record *n = machine_nodes__find(m, id);
    return n == NULL ? NULL : &n->rec;
}

uint64_t machine_nodes_changes(const struct machine *m)
{
    return m->node_changes;
}
