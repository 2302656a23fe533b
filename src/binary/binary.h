/*
 * Binary: the binary worker protocol (rpc.md, appendix A) on a port of its own.
 *
 * Clients send frames and need not wait for answers: each has a number, and its answer has the
 * same. A worker says once what it wants and how many jobs it has room for (credits); jobs are
 * pushed to it when they come, and it is told when one of them is cancelled. The rules are those of
 * svc/, as for every other dialect.
 *
 * All connections belong to one thread, which asks the engine and writes the answers.
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
