/*
 * Invariants of all nodes, checked entry by entry.
 *
 *   - At one index all nodes have the same state: the rolling hash after every entry, and after
 *     some entries the digest of all that is stored, no matter how the node reached the state.
 *   - No entry is missing in a state.
 *   - Stamps never decrease.
 *   - A named command is executed once. A repeated request has the same answer.
 *   - A request creates each of its new jobs once (they have markers).
 *   - A lease token is assigned once.
 *   - The first ticks of a new leader end no lease that its holder had no chance to renew.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "base/check.h"
#include "base/hash.h"
#include "sim/whole_sim/whole.h"
#include "store/store_job.h"

enum { DIGEST_EVERY = 16, LEASES_MAX = 256 };

/* ---- marks ---- */

struct whole_mark *whole_truth_mark(struct map *map, const void *key, size_t len, bool *out_new)
{
    struct map_node *found = map_find(map, str_from(key, len));
    *out_new = found == NULL;
    if (found != NULL) {
        return CONTAINER_OF(found, struct whole_mark, node);
    }
    struct whole_mark *m = calloc(1, sizeof *m);
    CHECK(m != NULL && len <= sizeof m->key);
    memcpy(m->key, key, len);
    m->node.key = str_from(m->key, len);
    map_add(map, &m->node);
    return m;
}

static void free_mark(struct map_node *node, void *data)
{
    map_remove(data, node);
    free(CONTAINER_OF(node, struct whole_mark, node));
}

void whole_truth_forget(struct map *map)
{
    map_each(map, free_mark, map);
    map_deinit(map);
}

/* ---- states ---- */

void whole_truth_complete(struct whole *w, const struct whole_node *n, raft_index index)
{
    for (raft_index i = machine_applied_index(n->machine) + 1; i <= index; i++) {
        if (w->truth[i].seen) {
            sim_violation(w->sim,
                          "the state of node %u, which ends with entry %" PRIu64
                          ", goes on behind %llu without %llu",
                          n->sim->index + 1, machine_applied_index(n->machine), index, i);
        }
    }
}

static void compare(struct whole *w, const struct whole_node *n, raft_index index)
{
    struct whole_truth *t = &w->truth[index];
    if (machine_state_hash(n->machine) != t->hash) {
        sim_violation(w->sim, "node %u has another state than others at entry %llu",
                      n->sim->index + 1, index);
    } else if (index % DIGEST_EVERY == 0) {
        uint64_t digest = machine_digest(n->machine) | 1;
        t->digest = t->digest == 0 ? digest : t->digest;
        if (t->digest != digest) {
            sim_violation(w->sim, "node %u has stored other bytes than others at entry %llu",
                          n->sim->index + 1, index);
        }
    }
}

void whole_truth_opened(struct whole *w, const struct whole_node *n)
{
    uint64_t index = machine_applied_index(n->machine);
    if (index == 0) {
        return;
    }
    CHECK(index < SIM_INDEX_MAX);
    if (!w->truth[index].seen) {
        sim_violation(w->sim, "node %u has a state of entry %" PRIu64 ", which nobody applied",
                      n->sim->index + 1, index);
    } else {
        compare(w, n, index);
    }
}

/* ---- commands ---- */

static uint64_t token_of(const struct result_item *item)
{
    struct job j;
    struct err err;
    return item->doc.len > 0 && store_job_decode_head(item->id, item->doc, &j, &err) == ERR_OK
               ? j.lease_token
               : 0;
}

static void answer_of(struct whole_answer *a, const struct command *c, struct id name,
                      const struct result *r)
{
    *a = (struct whole_answer){
        .name = name, .type = c->type, .code = r->code, .id = r->id, .affected = r->affected};
    /* Whether a seal created the job of the callback is known at the end of its entry. The answer
     * to a repeated request does not contain it. */
    struct id made = c->type == COMMAND_BATCH_SEAL ? ID_NONE : r->id;
    a->print = hash_bytes(a->code, made.b, ID_BYTES);
    a->print = hash_u64(a->print + a->affected);
    for (uint32_t i = 0; i < r->count && i < WHOLE_ITEMS; i++) {
        const struct result_item *item = &r->items[i];
        a->item[i].id = item->id;
        a->item[i].status = item->status;
        a->item[i].token = c->type == COMMAND_CLAIM ? token_of(item) : 0;
        a->print = hash_bytes(a->print + item->status, item->id.b, ID_BYTES);
        a->print = hash_u64(a->print + a->item[i].token);
        a->count++;
    }
}

/* A repeated answer leaves out claimed jobs that the caller no longer holds. */
static bool is_less_of_a_claim(const struct whole_answer *a)
{
    return a->type == COMMAND_CLAIM && a->code == ERR_OK;
}

static void check_name(struct whole *w, raft_index index, const struct whole_answer *a)
{
    bool happened = a->code == ERR_OK && !(a->type == COMMAND_CLAIM && a->count == 0);
    bool is_new;
    if (id_is_none(a->name) || (!happened && a->code != ERR_OK)) {
        return;
    }
    if (!happened && map_find(&w->names, str_from(a->name.b, ID_BYTES)) == NULL) {
        return;
    }
    struct whole_mark *m = whole_truth_mark(&w->names, a->name.b, ID_BYTES, &is_new);
    if (is_new) {
        m->index = index;
        m->print = a->print;
        return;
    }
    w->count.answered_again++;
    if (m->print != a->print && !is_less_of_a_claim(a)) {
        sim_violation(w->sim, "what happened at entry %" PRIu64 " happens again at %llu: %s",
                      m->index, index, command_word(a->type));
    }
}

static void note_lease(struct whole *w, raft_index index, struct id job)
{
    bool is_new;
    whole_truth_mark(&w->leases, job.b, ID_BYTES, &is_new)->index = index;
}

static void check_tokens(struct whole *w, raft_index index, const struct whole_answer *a)
{
    for (uint32_t i = 0; a->type == COMMAND_CLAIM && i < a->count; i++) {
        bool is_new;
        struct whole_mark *m =
            whole_truth_mark(&w->tokens, &a->item[i].token, sizeof a->item[i].token, &is_new);
        if (is_new) {
            m->id = a->name;
            m->index = index;
            note_lease(w, index, a->item[i].id);
        } else if (id_is_none(a->name) || !id_eq(m->id, a->name)) {
            sim_violation(w->sim,
                          "the lease token %" PRIu64 " of entry %" PRIu64
                          " is given out again at %llu",
                          a->item[i].token, m->index, index);
        }
    }
}

static void check_markers(struct whole *w, const struct command *c, const struct whole_answer *a)
{
    for (uint32_t i = 0; c->type == COMMAND_ENQUEUE && i < a->count; i++) {
        bool is_new;
        struct str payload = c->enqueue.jobs[i].job.payload;
        if (a->item[i].status == RESULT_DUPLICATE) {
            continue;
        }
        CHECK(payload.len <= sizeof((struct whole_mark *)0)->key);
        struct whole_mark *m = whole_truth_mark(&w->markers, payload.ptr, payload.len, &is_new);
        if (is_new) {
            m->id = a->item[i].id;
        } else if (!id_eq(m->id, a->item[i].id)) {
            sim_violation(w->sim, "one request has made two jobs: " STR_FMT, STR_ARG(payload));
        }
    }
}

/* ---- entries ---- */

static void check_tick(struct whole *w, struct whole_node *n, raft_index index, struct wall now)
{
    raft_term term = sim_term_at(n->sim, index);
    struct wall until = wall_add_ms(w->began_at[term], WHOLE_HEARD_MS);
    struct id ids[LEASES_MAX];
    bool more;
    until = until.ns < now.ns ? until : now;
    uint32_t count = machine_ending_leases(n->machine, until, ids, LEASES_MAX, &more);
    for (uint32_t i = 0; i < count; i++) {
        const struct map_node *node = map_find(&w->leases, str_from(ids[i].b, ID_BYTES));
        CHECK(node != NULL);
        raft_index touched = CONTAINER_OF(node, struct whole_mark, node)->index;
        if (w->truth[touched].term != term) {
            sim_violation(w->sim,
                          "the leader of term %llu takes a lease that could not be renewed: it is "
                          "of entry %llu and ends at %llu",
                          term, touched, index);
        }
    }
}

void whole_truth_before(struct whole *w, struct whole_node *n, raft_index index, struct str entry)
{
    struct command_entry e;
    struct command c;
    struct err err;
    struct str bytes;
    if (w->truth[index].seen || command_entry_decode(entry, &e, &err) != ERR_OK) {
        return;
    }
    while (command_entry_next(&e, &bytes)) {
        arena_reset(w->arena);
        if (command_decode(bytes, w->arena, &c, &err) == ERR_OK && c.type == COMMAND_TICK) {
            check_tick(w, n, index, e.now);
        }
    }
}

static void look_at_command(struct whole *w, raft_index index, const struct command *c,
                            const struct whole_answer *a)
{
    check_name(w, index, a);
    check_tokens(w, index, a);
    check_markers(w, c, a);
    for (size_t i = 0; c->type == COMMAND_HEARTBEAT && i < a->count; i++) {
        if (a->item[i].status == RESULT_OK) {
            note_lease(w, index, a->item[i].id);
        }
    }
}

static void first_look(struct whole *w, struct whole_node *n, raft_index index, struct str entry)
{
    struct whole_truth *t = &w->truth[index];
    struct command_entry e;
    struct str bytes;
    struct err err;
    uint32_t count = 0;
    const struct result *results = machine_results(n->machine, &count);
    CHECK(command_entry_decode(entry, &e, &err) == ERR_OK);
    if (w->last_seen != 0 && e.now.ns < w->truth[w->last_seen].stamp_ns) {
        sim_violation(w->sim, "the stamp of entry %llu is before that of %llu", index,
                      w->last_seen);
    }
    *t = (struct whole_truth){.seen = true,
                              .hash = machine_state_hash(n->machine),
                              .stamp_ns = e.now.ns,
                              .term = sim_term_at(n->sim, index),
                              .count = count,
                              .answer = calloc(count + 1, sizeof *t->answer)};
    CHECK(t->answer != NULL);
    w->last_seen = index;
    for (uint32_t i = 0; command_entry_next(&e, &bytes); i++) {
        struct command c;
        arena_reset(w->arena);
        CHECK(command_decode(bytes, w->arena, &c, &err) == ERR_OK);
        CHECK(!results[i].postponed && !(results[i].more && c.type != COMMAND_TICK));
        answer_of(&t->answer[i], &c, e.name, &results[i]);
        sim_upset_trace(&w->story, "entry %llu of node %u: %s, %u jobs, %s", index,
                        n->sim->index + 1, command_word(c.type), t->answer[i].count,
                        results[i].code == ERR_OK ? "done" : err_wire(results[i].code));
        look_at_command(w, index, &c, &t->answer[i]);
    }
}

void whole_truth_after(struct whole *w, struct whole_node *n, raft_index index, struct str entry)
{
    if (!w->truth[index].seen) {
        first_look(w, n, index, entry);
    }
    compare(w, n, index);
}

void whole_truth_free(struct whole *w)
{
    for (size_t i = 0; i < SIM_INDEX_MAX; i++) {
        free(w->truth[i].answer);
    }
    whole_truth_forget(&w->names);
    whole_truth_forget(&w->tokens);
    whole_truth_forget(&w->markers);
    whole_truth_forget(&w->leases);
}
