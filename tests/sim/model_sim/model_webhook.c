/*
 * Webhooks of the model (http-api.md 16).
 */
#include "sim/model_sim/model_int.h"

struct model_webhook *model_find_webhook(const struct model *m, struct str id)
{
    for (size_t i = 0; i < m->webhooks.count; i++) {
        struct model_webhook *h = m->webhooks.at[i];
        if (str_eq(h->id, id)) {
            return h;
        }
    }
    return NULL;
}

static struct model_webhook *create(struct model *m, const struct command_webhook_put *c,
                                    struct result *out)
{
    struct model_webhook *h = model_alloc(m, sizeof *h);
    h->id = model_keep(m, c->id);
    if (c->id.len == 0) {
        out->id = model_next_id(m);
        struct str name = model_id_text(m, out->id, STR("wh_"));
        struct str ns = c->webhook.ns;
        size_t prefix = ns.len == 0 ? 0 : ns.len + 2;
        char *text = model_alloc(m, prefix + name.len);
        if (ns.len > 0) {
            memcpy(text, ns.ptr, ns.len);
            memcpy(text + ns.len, "::", 2);
        }
        memcpy(text + prefix, name.ptr, name.len);
        h->id = str_from(text, prefix + name.len);
    }
    h->record.created_at = m->now;
    h->record.position = m->next_event - 1;
    model_list_add(&m->webhooks, h);
    return h;
}

void model_webhook_put(struct model *m, const struct command_webhook_put *c, struct result *out)
{
    struct model_webhook *h = c->id.len == 0 ? NULL : model_find_webhook(m, c->id);
    if (h == NULL && (c->keep_secret || m->webhooks.count == 256)) {
        model_refuse(out, ERR_WEBHOOK);
        return;
    }
    if (h == NULL) {
        h = create(m, c, out);
    } else if (!h->record.enabled && c->webhook.enabled) {
        h->record.position = m->next_event - 1;
    }
    h->record.ns = model_keep(m, c->webhook.ns);
    h->record.url = model_keep(m, c->webhook.url);
    h->record.events = model_keep(m, c->webhook.events);
    h->record.retry_limit = c->webhook.retry_limit;
    h->record.enabled = c->webhook.enabled;
    if (!c->keep_secret) {
        h->record.secret = model_keep(m, c->webhook.secret);
    }
}

void model_webhook_delete(struct model *m, const struct command_webhook_delete *c,
                          struct result *out)
{
    struct model_webhook *h = model_find_webhook(m, c->id);
    if (h == NULL) {
        model_refuse(out, ERR_NOT_FOUND);
        return;
    }
    model_list_remove(&m->webhooks, h);
}

void model_webhook_mark(struct model *m, const struct command_webhook_mark *c)
{
    for (size_t i = 0; i < c->count; i++) {
        const struct command_webhook_mark_item *it = &c->items[i];
        struct model_webhook *h = model_find_webhook(m, it->id);
        if (h == NULL || h->record.created_at.ns != it->created_at.ns) {
            continue;
        }
        h->record.position = it->position > h->record.position ? it->position : h->record.position;
        if (it->attempted) {
            h->record.last_status = it->status;
            h->record.last_error = model_keep(m, it->error);
            h->record.last_delivery_at = it->at;
        }
    }
}
