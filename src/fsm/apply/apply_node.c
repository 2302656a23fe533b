/*
 * The records of the cluster's members: a short list in the order of their numbers.
 *
 * The number of a removed member is kept, so that the node can learn why it is refused, and so that
 * it cannot become a member again with a log that the others no longer have.
 */
#include <stdlib.h>

#include "base/check.h"
#include "base/limits.h"
#include "base/pack.h"
#include "fsm/apply/apply_int.h"

static void set_record(struct node_record *n, const struct store_node *rec)
{
    char *old = n->texts;
    n->rec = *rec;
    struct str *texts[] = {&n->rec.name, &n->rec.address, &n->rec.http_url, &n->rec.version};
    n->texts = entry__own_texts(texts, COUNT_OF(texts));
    free(old);
}

static struct node_record *add(struct machine *m, const struct store_node *rec)
{
    uint32_t at = m->node_count;
    m->nodes = realloc(m->nodes, (m->node_count + 1) * sizeof *m->nodes);
    CHECK(m->nodes != NULL);
    for (; at > 0 && m->nodes[at - 1].rec.id > rec->id; at--) {
        m->nodes[at] = m->nodes[at - 1];
    }
    m->nodes[at] = (struct node_record){0};
    set_record(&m->nodes[at], rec);
    m->node_count++;
    return &m->nodes[at];
}

static void key_of(uint64_t id, char out[sizeof(uint64_t)])
{
    uint64_t be = htobe64(id);
    memcpy(out, &be, sizeof be);
}

static void write_record(struct machine *m, const struct node_record *n)
{
    char key[sizeof(uint64_t)];
    key_of(n->rec.id, key);
    buf_clear(&m->store.scratch);
    store_node_encode(&n->rec, &m->store.scratch);
    store_put(&m->store, STORE_KIND_NODE, str_from(key, sizeof key), buf_str(&m->store.scratch));
    m->node_changes++;
}

/* Make room for another member: the first removed one is deleted. False if none was removed. */
static bool make_room(struct machine *m)
{
    char key[sizeof(uint64_t)];
    if (m->node_count < LIMIT_NODES) {
        return true;
    }
    for (uint32_t i = 0; i < m->node_count; i++) {
        if (m->nodes[i].rec.state == STORE_NODE_REMOVED) {
            key_of(m->nodes[i].rec.id, key);
            store_delete(&m->store, STORE_KIND_NODE, str_from(key, sizeof key));
            free(m->nodes[i].texts);
            m->node_count--;
            memmove(&m->nodes[i], &m->nodes[i + 1], (m->node_count - i) * sizeof *m->nodes);
            return true;
        }
    }
    return false;
}

static bool is_taken(struct machine *m, const struct store_node *rec, struct result *r)
{
    for (uint32_t i = 0; i < m->node_count; i++) {
        const struct store_node *other = &m->nodes[i].rec;
        if (other->id == rec->id || other->state == STORE_NODE_REMOVED) {
            continue;
        }
        bool same = str_eq(other->name, rec->name) || str_eq(other->address, rec->address);
        if (same && other->state == STORE_NODE_LEAVING) {
            entry__refuse(m, r, ERR_UNHEALTHY,
                          "member \"" STR_FMT "\" is still leaving: try again later",
                          STR_ARG(other->name));
            return true;
        }
        if (str_eq(other->name, rec->name)) {
            entry__refuse(m, r, ERR_CONFLICT,
                          "a node named \"" STR_FMT "\" is already a member; if it lost its "
                          "data directory, remove it from the cluster first",
                          STR_ARG(rec->name));
            return true;
        }
        if (str_eq(other->address, rec->address)) {
            entry__refuse(m, r, ERR_CONFLICT,
                          "the address " STR_FMT " belongs to member \"" STR_FMT "\"",
                          STR_ARG(rec->address), STR_ARG(other->name));
            return true;
        }
    }
    return false;
}

void apply_node_put(struct machine *m, const struct command *command, struct result *r)
{
    struct store_node rec = command->node_put.node;
    struct node_record *known = machine_nodes__find(m, rec.id);
    if (known != NULL && known->rec.state == STORE_NODE_REMOVED) {
        entry__refuse(m, r, ERR_CONFLICT,
                      "node \"" STR_FMT "\" was removed from the cluster; it can rejoin with "
                      "an empty data directory",
                      STR_ARG(known->rec.name));
        return;
    }
    if (is_taken(m, &rec, r)) {
        return;
    }
    if (known == NULL && !make_room(m)) {
        entry__refuse(m, r, ERR_CONFLICT, "the cluster already has %d members, the maximum",
                      LIMIT_NODES);
        return;
    }
    if (known == NULL) {
        rec.state = STORE_NODE_MEMBER;
        known = add(m, &rec);
        r->affected = 1;
    } else {
        rec.state = known->rec.state;
        set_record(known, &rec);
    }
    write_record(m, known);
    markers__first_seen(m, STORE_MARKER_NODE, STR_EMPTY, rec.version);
}

void apply_node_state(struct machine *m, const struct command *command, struct result *r)
{
    struct node_record *known = machine_nodes__find(m, command->node_state.id);
    if (known == NULL) {
        entry__refuse(m, r, ERR_NOT_FOUND, "no such node");
        return;
    }
    if (command->node_state.state > known->rec.state) {
        known->rec.state = command->node_state.state;
        write_record(m, known);
        r->affected = 1;
    }
}

static void load_node(void *data, struct str rest, struct str value)
{
    struct machine *m = data;
    struct unpack u = unpack_from(rest);
    struct store_node rec;
    uint64_t id = unpack_u64_be(&u);
    if (!unpack_done(&u) || !store_node_decode(id, value, &rec)) {
        check_fatal("the record of a node cannot be read");
    }
    (void)add(m, &rec);
}

void apply_node__load(struct machine *m)
{
    store_each(&m->store, STORE_KIND_NODE, load_node, m);
}

void apply_node__close(struct machine *m)
{
    for (uint32_t i = 0; i < m->node_count; i++) {
        free(m->nodes[i].texts);
    }
    free(m->nodes);
}
