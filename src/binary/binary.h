/*
 * Binary: the binary worker protocol (rpc.md, appendix A), on its own port.
 *
 * Clients can send frames without waiting for responses: each frame has a number, which its
 * response repeats. A worker subscribes once, with its queues and the number of jobs it has room
 * for (credits). The server pushes jobs to it as they arrive, and tells it when one of its jobs is
 * cancelled. svc/ implements the rules, as for every other protocol.
 *
 * One thread owns all connections. It sends commands to the engine and writes the responses.
 */
#pragma once

#include <stdint.h>

#include "auth/auth_table.h"
#include "base/attr.h"
#include "base/budget.h"
#include "base/err.h"
#include "base/str.h"
#include "engine/engine.h"
#include "http/http_addr.h"

struct audit;
struct binary;

struct binary_config {
    struct engine *engine;
    struct budget *budget;   /* limits the memory of all requests; NULL: no limit */
    const char *address;     /* in the same format as that of the HTTP API */
    struct auth_table *auth; /* the API keys */
    struct audit *audit;     /* records refused clients; NULL: none */
    struct str password; /* admin password; if there is neither it nor a key, local clients need no
                            credential */
    bool open_access;    /* in that case, remote clients need none either */
    /* Limit failed logins: may_try decides whether a credential may be checked, tried reports
     * whether it was right. NULL: no limit. */
    bool (*may_try)(void *data, struct str address, struct str credential);
    void (*tried)(void *data, struct str address, struct str credential, bool right);
    void *data;
};

ATTR_NODISCARD enum err_code binary_open(const struct binary_config *config, struct binary **out,
                                         struct err *err);
/* Close all connections; jobs that were claimed but not sent are returned. NULL is allowed. */
void binary_close(struct binary *b);

/* The address of the listener. */
const struct http_addr *binary_addr(const struct binary *b);
