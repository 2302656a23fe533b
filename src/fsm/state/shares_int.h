/*
 * Shares: how much each namespace uses of a limit that all namespaces share (shares.c).
 *
 * One namespace gets at most half of the limit, so that it cannot use up the room of the others.
 */
#pragma once

#include "base/map.h"
#include "base/str.h"

struct machine;
struct result;

struct shares {
    struct map names; /* namespaces that use any */
    uint64_t used;    /* by all namespaces */
};

struct shares_limit {
    uint64_t max;
    const char *what;   /* what is limited, for the error message */
    const char *advice; /* what the caller can do, for the error message */
};

void shares__take(struct shares *s, struct str ns, uint64_t amount);
void shares__give_back(struct shares *s, struct str ns, uint64_t amount);
/* May `name` use this much more? It may use up to own_max itself, and up to max together with all
 * others. */
bool shares__fit(const struct shares *s, struct str name, uint64_t amount, uint64_t own_max,
                 uint64_t max);
/* May the namespace use this much more? If not, refuse. */
bool shares__have_room(struct machine *m, const struct shares *s, struct str ns, uint64_t amount,
                       const struct shares_limit *limit, struct result *r);
void shares__forget(struct shares *s); /* everything is given back at once */
void shares__close(struct shares *s);  /* everything must have been given back */
