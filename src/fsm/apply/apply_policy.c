/*
 * Approval policies: creating and deleting them (http-api.md 17.4).
 */
#include "base/limits.h"
#include "fsm/apply/apply_int.h"

/* The maximum number of policies. Entries before version 3 keep their lower limit. */
static uint32_t policies_max(const struct machine *m)
{
    return m->entry_version < 3 ? LIMIT_OLD_POLICIES : LIMIT_POLICIES;
}

void apply_policy_put(struct machine *m, const struct command *command, struct result *r)
{
    struct store_policy rec = command->policy_put.policy;
    if (m->policy_count >= policies_max(m)) {
        entry__refuse(m, r, ERR_POLICY, "the server already has %u approval policies, the maximum",
                      policies_max(m));
        return;
    }
    rec.created_at = m->now;
    r->id = ids__new(m);
    policies__add(m, r->id, &rec);
}

void apply_policy_delete(struct machine *m, const struct command *command, struct result *r)
{
    struct id id = command->policy_delete.id;
    if (!policies__remove(m, id)) {
        entry__refuse(m, r, ERR_NOT_FOUND, "approval policy \"" STR_FMT "\" not found",
                      STR_ARG(entry__id_text(m, id, ID_POLICY)));
    }
}

bool apply_policy__restore(struct machine *m, struct id id, const struct store_policy *rec)
{
    if (policies__is_known(m, id)) {
        return true;
    }
    if (m->policy_count >= policies_max(m)) {
        return false;
    }
    policies__add(m, id, rec);
    return true;
}
