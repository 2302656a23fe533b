/*
 * Scenes about raft's memory: what it frees while a message still refers to it, and how long its
 * log may get. Freed memory is filled with garbage and kept, so that a read after free always gets
 * the garbage.
 */
#include <stdlib.h>
#include <string.h>

#include "sim/guard_sim/scene.h"

struct block {
    struct block *next;
    size_t size;
    bool is_freed;
    max_align_t bytes[];
};

struct heap {
    struct block *freed;
    bool twice; /* a block was freed twice */
};

static void *block_alloc(void *data, size_t size)
{
    (void)data;
    struct block *b = malloc(sizeof *b + size);
    CHECK(b != NULL);
    *b = (struct block){.size = size};
    return b->bytes;
}

static void *block_calloc(void *data, size_t count, size_t size)
{
    void *bytes = block_alloc(data, count * size);
    memset(bytes, 0, count * size);
    return bytes;
}

static void block_free(void *data, void *bytes)
{
    struct heap *heap = data;
    if (bytes == NULL) {
        return;
    }
    struct block *b = CONTAINER_OF(bytes, struct block, bytes);
    if (b->is_freed) {
        heap->twice = true;
        return;
    }
    b->is_freed = true;
    memset(bytes, 0xdd, b->size);
    b->next = heap->freed;
    heap->freed = b;
}

static void *block_realloc(void *data, void *bytes, size_t size)
{
    void *larger = block_alloc(data, size);
    if (bytes != NULL) {
        size_t old_size = CONTAINER_OF(bytes, struct block, bytes)->size;
        memcpy(larger, bytes, old_size < size ? old_size : size);
        block_free(data, bytes);
    }
    return larger;
}

/* Delay long messages of node 0 to nodes 3 and 4 before they are sent. */
static enum sim_fate entries_wait(struct sim *sim, unsigned from, unsigned to,
                                  const struct raft_message *m)
{
    unsigned *waiting = sim->data;
    bool is_long = m->type == RAFT_IO_APPEND_ENTRIES && m->append_entries.n_entries >= 10;
    bool waits = from == 0 && to >= 3 && is_long;
    *waiting += waits;
    sim->node[from].send_ms = waits ? 500 : 0;
    return SIM_SENT;
}

static bool two_wait(struct sim *sim, void *arg)
{
    (void)arg;
    const unsigned *waiting = sim->data;
    return *waiting == 2;
}

static void write_ten(struct sim *sim)
{
    for (unsigned i = 0; i < 10; i++) {
        reach(sim, sim_submit(sim, &sim->node[0], 8) != 0);
    }
    reach(sim, scene_until_applied(sim, 0, sim_last_index(&sim->node[0])));
}

/* The leader has read its log from the disk into one block of memory, and sends parts of it to two
 * nodes that lack different amounts. Then a snapshot replaces the log. When the first message is
 * sent, raft finds no entry in its log that uses the block. */
static bool shared_memory(unsigned off)
{
    unsigned waiting = 0;
    struct sim *sim = scene_new(&(struct sim_options){.voters = 5, .nodes = 5, .off = off});
    struct sim_node *n = &sim->node[0];
    sim_crash(sim, &sim->node[3], 0);
    write_ten(sim);
    reach(sim, sim_run(sim, 200));
    sim_crash(sim, &sim->node[4], 0);
    write_ten(sim);
    reach(sim, sim_run(sim, 200));
    sim_crash(sim, n, 0);
    sim_restart(sim, n);
    reach(sim, sim_elect(sim, 0, SCENE_MS));
    reach(sim, sim_until_leader(sim, SCENE_MS));

    sim->data = &waiting;
    sim->fate = entries_wait;
    sim_restart(sim, &sim->node[3]);
    sim_restart(sim, &sim->node[4]);
    reach(sim, sim_until(sim, two_wait, NULL, SCENE_MS));
    raft_set_snapshot_threshold(n->raft, 1);
    reach(sim, sim_submit(sim, n, 8) != 0);
    reach(sim, sim_run(sim, 200));
    reach(sim, n->disk.has_snapshot && n->raft->log.offset == n->raft->log.snapshot.last_index);
    (void)sim_run(sim, 2000);
    return scene_end(sim, true);
}

bool scene_shared_memory(unsigned off)
{
    struct heap heap = {0};
    struct raft_heap functions = {.data = &heap,
                                  .malloc = block_alloc,
                                  .free = block_free,
                                  .calloc = block_calloc,
                                  .realloc = block_realloc};
    raft_heap_set(&functions);
    bool holds = shared_memory(off);
    raft_heap_set_default();
    while (heap.freed != NULL) {
        struct block *b = heap.freed;
        heap.freed = b->next;
        free(b);
    }
    return holds && !heap.twice;
}

enum { LOG_LIMIT = 4000, LOG_VALUE_BYTES = 400, LOG_VALUES = 30 };

static void write_values(struct sim *sim, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        reach(sim, sim_submit(sim, &sim->node[0], LOG_VALUE_BYTES) != 0);
        reach(sim, scene_until_applied(sim, 0, sim_last_index(&sim->node[0])));
    }
    (void)sim_run(sim, 1000);
}

/* Node 2 takes no snapshot while much is written. Then it takes one although nobody writes, and
 * catches up. The count of its log stays right. */
bool scene_long_log(unsigned off)
{
    struct sim *sim = scene_new(&(struct sim_options){.voters = 3, .nodes = 3, .off = off});
    struct sim_node *slow = &sim->node[2];
    slow->guard.log_bytes_max = LOG_LIMIT;
    for (unsigned i = 0; i < 4; i++) {
        write_values(sim, LOG_VALUES);
    }
    raft_index last = sim_last_index(&sim->node[0]);
    bool holds = slow->guard.log_bytes <= LOG_LIMIT + LOG_VALUE_BYTES;
    reach(sim, !holds || raft_last_applied(slow->raft) < last);
    for (unsigned i = 0; i < LOG_VALUES && raft_last_applied(slow->raft) < last; i++) {
        raft_set_snapshot_threshold(slow->raft, 1);
        guard_snapshot_soon(&slow->guard);
        (void)sim_run(sim, 1000);
        holds = holds && slow->guard.log_bytes <= LOG_LIMIT + LOG_VALUES * LOG_VALUE_BYTES;
    }
    reach(sim, raft_last_applied(slow->raft) == last);
    return scene_end(sim, holds);
}
