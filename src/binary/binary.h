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
    struct budget *budget;   /* of all memory that requests can claim; NULL: none */
    const char *address;     /* as that of the HTTP API */
    struct auth_table *auth; /* keys, one of which a client shows first */
    struct audit *audit;     /* who was refused; NULL: nothing is written down */
    struct str password; /* or this one; without either those on this machine may do everything */
    bool open_access;    /* …and all others too */
    /* May a credential from this address be looked at; and what it was. NULL: always. */
    bool (*may_try)(void *data, struct str address, struct str credential);
    void (*tried)(void *data, struct str address, struct str credential, bool right);
    void *data;
};

ATTR_NODISCARD enum err_code binary_open(const struct binary_config *config, struct binary **out,
                                         struct err *err);
/* Connections end; what was claimed for them and not sent goes back. NULL is fine. */
void binary_close(struct binary *b);

/* Where it listens. */
const struct http_addr *binary_addr(const struct binary *b);
