/*
 * Sums of usage: each report is counted in the hour and queue in which it was made. Counting begins
 * with the first report in an entry of version 13. Earlier reports are counted when their job is
 * removed.
 */
#include "sim/model_sim/model_int.h"

static bool begin(struct model *m)
{
    if (!m->counting && m->version >= COMMAND_ENTRY_EXACT) {
        m->counting = true;
        m->first_counted = m->next_row;
    }
    return m->counting;
}

struct model_tally *model_find_tally(const struct model *m, uint32_t hour,
                                     const struct store_tally_name *name)
{
    for (size_t i = m->tallies.count; i > 0; i--) {
        struct model_tally *t = m->tallies.at[i - 1];
        if (t->hour == hour && str_eq(t->name.queue, name->queue) &&
            str_eq(t->name.first, name->first) && str_eq(t->name.second, name->second)) {
            return t;
        }
    }
    return NULL;
}

static void count(struct model *m, const struct model_job *j, const struct store_tokens *tokens,
                  struct wall at)
{
    struct store_tally_name name = {j->doc.queue, tokens->model, tokens->provider};
    uint32_t hour = (uint32_t)(at.ns / NS_PER_S / 3600);
    struct model_tally *t = model_find_tally(m, hour, &name);
    if (t == NULL) {
        t = model_alloc(m, sizeof *t);
        *t = (struct model_tally){.hour = hour,
                                  .name = {model_keep(m, name.queue), model_keep(m, name.first),
                                           model_keep(m, name.second)}};
        model_list_add(&m->tallies, t);
    }
    store_tally_add(&t->sums,
                    &(struct store_tally){tokens->input, tokens->output, tokens->cache_creation,
                                          tokens->cache_read, tokens->cost_nusd, 1});
}

void model_tally_report(struct model *m, const struct model_job *j,
                        const struct store_tokens *tokens)
{
    if (begin(m)) {
        count(m, j, tokens, m->now);
    }
}

void model_tally_settle(struct model *m, const struct model_job *j)
{
    if (j->usages == NULL || !begin(m)) {
        return;
    }
    for (const struct model_usage *u = j->usages; u != NULL; u = u->next) {
        if (u->row.row < m->first_counted) {
            count(m, j, &u->row.tokens, u->row.created_at);
        }
    }
}
