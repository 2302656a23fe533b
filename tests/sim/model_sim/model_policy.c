/*
 * Approval policies of the model (http-api.md 17.4).
 */
#include "sim/model_sim/model_int.h"

struct model_policy *model_find_policy(const struct model *m, struct id id)
{
    for (size_t i = 0; i < m->policies.count; i++) {
        struct model_policy *p = m->policies.at[i];
        if (id_eq(p->id, id)) {
            return p;
        }
    }
    return NULL;
}

void model_policy_put(struct model *m, const struct command_policy_put *c, struct result *out)
{
    if (m->policies.count == 256) {
        model_refuse(out, ERR_POLICY);
        return;
    }
    struct model_policy *p = model_alloc(m, sizeof *p);
    p->id = out->id = model_next_id(m);
    p->record = c->policy;
    p->record.ns = model_keep(m, c->policy.ns);
    p->record.name = model_keep(m, c->policy.name);
    p->record.queue = model_keep(m, c->policy.queue);
    p->record.tag_key = model_keep(m, c->policy.tag_key);
    p->record.tag_value = model_keep(m, c->policy.tag_value);
    p->record.created_at = m->now;
    model_list_add(&m->policies, p);
}

void model_policy_delete(struct model *m, const struct command_policy_delete *c, struct result *out)
{
    struct model_policy *p = model_find_policy(m, c->id);
    if (p == NULL) {
        model_refuse(out, ERR_NOT_FOUND);
        return;
    }
    model_list_remove(&m->policies, p);
}

/* Generated jobs have at most one tag, {"t":"v"}. */
static bool tag_holds(const struct store_policy *p, const struct job *j)
{
    bool has = j->tags.len > 0 && str_eq(p->tag_key, STR("t"));
    return str_eq(p->tag_value, has ? STR("v") : STR_EMPTY);
}

/* Generated jobs are in the namespace acme or in the default one. */
static bool means(const struct store_policy *p, struct str queue)
{
    bool acme = queue.len > 6 && memcmp(queue.ptr, "acme::", 6) == 0;
    return p->all_namespaces || str_eq(p->ns, acme ? STR("acme") : STR_EMPTY);
}

struct str model_policy_of(const struct model *m, const struct job *j)
{
    for (size_t i = m->policies.count; i > 0; i--) {
        const struct model_policy *p = m->policies.at[i - 1];
        unsigned asked = 0;
        unsigned held = 0;
        if (p->record.queue.len > 0) {
            asked++;
            held += str_eq(p->record.queue, j->queue) ? 1 : 0;
        }
        if (p->record.tag_key.len > 0) {
            asked++;
            held += tag_holds(&p->record, j) ? 1 : 0;
        }
        if (p->record.enabled && means(&p->record, j->queue) && held > 0 &&
            (!p->record.all || held == asked)) {
            return p->record.name;
        }
    }
    return STR_EMPTY;
}
