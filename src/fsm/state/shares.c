/*
 * Shares: how much each namespace uses of a limit that all namespaces share.
 *
 * The counts are not stored: they are computed from the records that are counted, also at start.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "base/check.h"
#include "fsm/apply/apply_int.h"
#include "fsm/state/shares_int.h"

struct share {
    struct map_node node;
    uint64_t used;
    char name[];
};

static struct share *find(const struct shares *s, struct str ns)
{
    struct map_node *n = map_find(&s->names, ns);
    return n == NULL ? NULL : CONTAINER_OF(n, struct share, node);
}

static struct share *need(struct shares *s, struct str ns)
{
    struct share *share = find(s, ns);
    if (share == NULL) {
        share = calloc(1, sizeof *share + ns.len);
        CHECK(share != NULL);
        if (ns.len > 0) {
            memcpy(share->name, ns.ptr, ns.len);
        }
        share->node.key = str_from(share->name, ns.len);
        map_add(&s->names, &share->node);
    }
    return share;
}

void shares__take(struct shares *s, struct str ns, uint64_t amount)
{
    if (amount > 0) {
        need(s, ns)->used += amount;
        s->used += amount;
    }
}

void shares__give_back(struct shares *s, struct str ns, uint64_t amount)
{
    if (amount == 0) {
        return;
    }
    struct share *share = find(s, ns);
    CHECK(share != NULL);
    CHECK(share->used >= amount);
    share->used -= amount;
    s->used -= amount;
    if (share->used == 0) {
        map_remove(&s->names, &share->node);
        free(share);
    }
}

static bool fits(uint64_t max, uint64_t used, uint64_t amount)
{
    return used <= max && amount <= max - used;
}

bool shares__fit(const struct shares *s, struct str name, uint64_t amount, uint64_t own_max,
                 uint64_t max)
{
    const struct share *share = find(s, name);
    return fits(own_max, share == NULL ? 0 : share->used, amount) && fits(max, s->used, amount);
}

bool shares__have_room(struct machine *m, const struct shares *s, struct str ns, uint64_t amount,
                       const struct shares_limit *limit, struct result *r)
{
    const struct share *share = find(s, ns);
    uint64_t own = share == NULL ? 0 : share->used;
    if (!fits(limit->max / 2, own, amount)) {
        entry__refuse(m, r, ERR_QUOTA,
                      "namespace \"" STR_FMT "\" may have %" PRIu64 " %s, has %" PRIu64
                      ", and the request needs %" PRIu64 " more; %s",
                      STR_ARG(ns.len == 0 ? STR("default") : ns), limit->max / 2, limit->what, own,
                      amount, limit->advice);
        return false;
    }
    if (!fits(limit->max, s->used, amount)) {
        entry__refuse(m, r, ERR_QUOTA,
                      "the server may have %" PRIu64 " %s, has %" PRIu64
                      ", and the request needs %" PRIu64 " more; %s",
                      limit->max, limit->what, s->used, amount, limit->advice);
        return false;
    }
    return true;
}

static void free_share(struct map_node *n, void *data)
{
    map_remove(data, n);
    free(CONTAINER_OF(n, struct share, node));
}

void shares__forget(struct shares *s)
{
    map_each(&s->names, free_share, &s->names);
    map_deinit(&s->names);
    *s = (struct shares){.used = 0};
}

void shares__close(struct shares *s)
{
    CHECK(s->used == 0);
    CHECK(s->names.count == 0);
    map_deinit(&s->names);
}
