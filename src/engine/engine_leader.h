/*
 * Engine_leader: the current leader, for components that send requests to it. A part of engine.h.
 *
 * A notifier (engine_notifier_open) reports changes: its told function is called when another node
 * becomes leader, when there is no leader, and when information about the leader changes.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "store/store_node.h"

struct engine;

struct engine_leader {
    uint64_t id;   /* 0: no leader is known */
    bool self;     /* this node is the leader and accepts commands */
    uint64_t term; /* grows with every leader */
    char name[STORE_NODE_NAME_BYTES_MAX + 1];
    char address[STORE_NODE_ADDRESS_BYTES_MAX + 1]; /* for peers */
    char http_url[STORE_NODE_URL_BYTES_MAX + 1];    /* of its API; empty while unknown */
};

/* False if there is no leader. Any thread. */
bool engine_leader(struct engine *e, struct engine_leader *out);

/* Whether this node is a candidate: it has lost its leader and asks for votes. Any thread. */
bool engine_stands(const struct engine *e);

/* How old the state that is read here may be: it contains everything that the leader had committed
 * that many milliseconds ago. 0 on the leader; -1 if the node has not caught up since its start.
 * Any thread. */
int64_t engine_leader_lag_ms(const struct engine *e);

/* Wait until there is a leader; false after the timeout. Any thread except the core thread. */
bool engine_leader_wait(struct engine *e, int64_t timeout_ms);
