/*
 * Commands on approval policies. They are rare, so that most agents are not held.
 */
#include "sim/model_sim/generate_int.h"

enum { POLICIES_MAX = 4 };

static struct id some_policy(struct generate *g)
{
    const struct model_list *all = &g->model->policies;
    if (all->count == 0 || generate_pick_chance(g, 10)) {
        return generate_pick_id(g, GENERATE_ANY);
    }
    return ((const struct model_policy *)all->at[generate_pick_below(g, all->count)])->id;
}

void generate_policy_any(struct generate *g, struct command *out)
{
    if (g->model->policies.count >= POLICIES_MAX || generate_pick_chance(g, 50)) {
        out->type = COMMAND_POLICY_DELETE;
        out->policy_delete.id = some_policy(g);
        return;
    }
    out->type = COMMAND_POLICY_PUT;
    out->policy_put.policy = (struct store_policy){
        .ns = GENERATE_TEXT(g, STR_EMPTY, STR_EMPTY, STR("acme")),
        .name = GENERATE_TEXT(g, STR("look"), STR("twice")),
        .queue = generate_pick_chance(g, 50) ? generate_pick_queue(g) : STR_EMPTY,
        .tag_key = GENERATE_TEXT(g, STR_EMPTY, STR("t"), STR("u")),
        .tag_value = GENERATE_TEXT(g, STR_EMPTY, STR("v"), STR("w")),
        .all = generate_pick_chance(g, 50),
        .enabled = generate_pick_chance(g, 80),
    };
    struct store_policy *p = &out->policy_put.policy;
    p->all_namespaces = p->ns.len == 0 && generate_pick_chance(g, 50);
}
