/*
 * Commands on webhooks, with few ids, so that webhooks are replaced, deleted and created again.
 */
#include "sim/model_sim/generate_int.h"

enum { WEBHOOKS_MAX = 6, MARKS_MAX = 4 };

static const struct model_webhook *some_webhook(struct generate *g)
{
    const struct model_list *all = &g->model->webhooks;
    return all->count == 0 ? NULL : all->at[generate_pick_below(g, all->count)];
}

static struct str some_id(struct generate *g)
{
    const struct model_webhook *h = some_webhook(g);
    if (h == NULL || generate_pick_chance(g, 20)) {
        return GENERATE_TEXT(g, STR("h0"), STR("h1"), STR("acme::h1"));
    }
    return h->id;
}

static void put(struct generate *g, struct command *out)
{
    bool new_one = g->model->webhooks.count < WEBHOOKS_MAX && generate_pick_chance(g, 30);
    out->type = COMMAND_WEBHOOK_PUT;
    out->webhook_put = (struct command_webhook_put){
        .id = new_one ? STR_EMPTY : some_id(g),
        .keep_secret = generate_pick_chance(g, 30),
        .webhook =
            {
                .ns = GENERATE_TEXT(g, STR_EMPTY, STR_EMPTY, STR("acme")),
                .url = GENERATE_TEXT(g, STR("http://a/"), STR("https://b/c")),
                .events = GENERATE_TEXT(g, STR("*"), STR("dead\njob.failed"), STR_EMPTY),
                .secret = GENERATE_TEXT(g, STR_EMPTY, STR("x"), STR("yz")),
                .retry_limit = (uint32_t)GENERATE_NUMBER(g, 1, 3, 25),
                .enabled = generate_pick_chance(g, 70),
            },
    };
}

static void mark(struct generate *g, struct command *out)
{
    size_t count = generate_pick_below(g, MARKS_MAX);
    struct command_webhook_mark_item *items = generate_pick_alloc(g, count * sizeof *items);
    for (size_t i = 0; i < count; i++) {
        const struct model_webhook *h = some_webhook(g);
        items[i].id = some_id(g);
        items[i].position = generate_pick_below(g, g->model->next_event + 3);
        if (h != NULL && generate_pick_chance(g, 90)) {
            items[i].id = h->id;
            items[i].created_at.ns =
                h->record.created_at.ns - (generate_pick_chance(g, 10) ? 1 : 0);
        }
        if (generate_pick_chance(g, 60)) {
            items[i].attempted = true;
            items[i].status = (uint32_t)GENERATE_NUMBER(g, 0, 200, 500);
            items[i].error = GENERATE_TEXT(g, STR_EMPTY, STR("http 500"));
            items[i].at = g->clock;
        }
    }
    out->type = COMMAND_WEBHOOK_MARK;
    out->webhook_mark = (struct command_webhook_mark){.items = items, .count = count};
}

void generate_webhook_any(struct generate *g, struct command *out)
{
    size_t dice = generate_pick_below(g, 100);
    if (dice < 45) {
        put(g, out);
    } else if (dice < 55) {
        out->type = COMMAND_WEBHOOK_DELETE;
        out->webhook_delete.id = some_id(g);
    } else {
        mark(g, out);
    }
}
