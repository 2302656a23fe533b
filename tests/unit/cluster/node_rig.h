/*
 * Node_rig: a node in a temporary folder, its loop, and a state machine that outlives it, for
 * tests.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <uv.h>

#include "cluster/node.h"
#include "lib/tmpdir.h"

/* A state machine that stores the number of applied entries and a hash over all of them. A
 * checkpoint is one file. It has a lock, because checkpoints are made on another thread. */
struct node_toy {
    uv_mutex_t lock;
    struct {
        uint64_t applied_index, count, hash;
    } state;
    unsigned applies, checkpoints, restores; /* calls in this life */
    uint64_t checkpoint_index; /* of the newest checkpoint, if that is newer than its snapshot */
    bool refuses_checkpoints;
    bool leads;
    unsigned leads_changes;
};

/* A node, its loop and its toy, which outlives the node. */
struct node_rig {
    struct tmpdir dir;
    struct node_config config;
    uv_loop_t loop;
    struct node_toy toy;
    struct node *node;
    bool closed;
};

struct node_rig_proposal {
    struct node_propose p;
    struct node_rig *rig;
    bool done;
    bool inside; /* node_propose has not returned yet */
};

/* The node is not opened yet; its settings may be changed. */
int node_rig_setup(void **state);
int node_rig_teardown(void **state);

ATTR_NODISCARD enum err_code node_rig_try_open(struct node_rig *r, struct err *err);
void node_rig_open(struct node_rig *r); /* returns when it leads */
void node_rig_begin_close(struct node_rig *r);
void node_rig_close(struct node_rig *r); /* returns when it is closed */
void node_rig_run_until_leads(struct node_rig *r);

/* Simulate the loss of the state machine's disk. */
void node_rig_lose_state(struct node_rig *r);

void node_rig_start(struct node_rig *r, struct node_rig_proposal *a, size_t len);
/* Propose and wait. Returns the error code. */
enum err_code node_rig_propose(struct node_rig *r, size_t len);

struct node_status node_rig_status(struct node_rig *r);

/* Add a voter that does not exist: the node leads no longer. */
void node_rig_add_voter(struct node_rig *r);
