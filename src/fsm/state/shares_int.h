/*
 * Shares: what namespaces use of something that the server has a limit for (shares.c).
 *
 * One namespace gets at most half of the limit, so that it cannot take all of it from the others.
 */
#pragma once

#include "base/map.h"
#include "base/str.h"

struct machine;
struct result;

struct shares {
    struct map names; /* of namespaces that use some */
    uint64_t used;    /* by all */
};

struct shares_limit {
    uint64_t max;
    const char *what;   /* there may be so many of */
    const char *advice; /* to whoever gets no more */
};

void shares__take(struct shares *s, struct str ns, uint64_t amount);
void shares__give_back(struct shares *s, struct str ns, uint64_t amount);
/* May the namespace have so much more? If not, r refuses. */
bool shares__have_room(struct machine *m, const struct shares *s, struct str ns, uint64_t amount,
                       const struct shares_limit *limit, struct result *r);
void shares__close(struct shares *s); /* everything has been given back */
