/*
 * Checks of schedules, webhooks and approval policies.
 */
#include "base/limits.h"
#include "core/queue_name.h"
#include "fsm/command/command_check_int.h"

enum err_code command_check__schedule_put(const struct command *c,
                                          const struct command_limits *limits, struct err *err)
{
    const struct store_schedule *s = &c->schedule_put.schedule;
    if (s->name.len == 0 || s->cron.len == 0) {
        return field__bad(&field__top, s->name.len == 0 ? "name" : "cron", "is required", err);
    }
    if (field__text(&field__top, "name", s->name, LIMIT_INTERNAL_NAME_BYTES, err) != ERR_OK ||
        field__queue_name(&field__top, "queue", s->queue, err) != ERR_OK ||
        field__text(&field__top, "cron", s->cron, LIMIT_NAME_BYTES, err) != ERR_OK ||
        field__text(&field__top, "timezone", s->timezone, LIMIT_NAME_BYTES, err) != ERR_OK ||
        field__text(&field__top, "unique_key", s->unique_key, LIMIT_UNIQUE_KEY_BYTES, err) !=
            ERR_OK ||
        command_check__payload(&field__top, s->payload, false, &command_names_http, limits, err) !=
            ERR_OK ||
        command_push__check_target(s->push, false, err) != ERR_OK) {
        return err->code;
    }
    return field__tags(&field__top, s->tags, err);
}

enum err_code command_check__webhook_put(const struct command *c,
                                         const struct command_limits *limits, struct err *err)
{
    const struct store_webhook *h = &c->webhook_put.webhook;
    bool http = str_starts_with(h->url, STR("http://")) || str_starts_with(h->url, STR("https://"));
    (void)limits;
    if (!http || str_has_control(h->url) || memchr(h->url.ptr, ' ', h->url.len)) {
        return err_set(err, ERR_WEBHOOK, "url must start with http:// or https://");
    }
    if (h->retry_limit == 0 || h->retry_limit > LIMIT_WEBHOOK_ATTEMPTS) {
        return err_set(err, ERR_WEBHOOK, "retry_limit must be at most %d", LIMIT_WEBHOOK_ATTEMPTS);
    }
    if (field__text(&field__top, "id", c->webhook_put.id, LIMIT_INTERNAL_NAME_BYTES, err) !=
            ERR_OK ||
        field__text(&field__top, "namespace", h->ns, LIMIT_NAME_BYTES, err) != ERR_OK ||
        field__text(&field__top, "queue_scope", h->scope, LIMIT_QUEUE_SCOPE_BYTES, err) != ERR_OK ||
        field__text(&field__top, "url", h->url, LIMIT_WEBHOOK_URL_BYTES, err) != ERR_OK) {
        return err->code;
    }
    return field__text(&field__top, "secret", h->secret, LIMIT_WEBHOOK_SECRET_BYTES, err);
}

enum err_code command_check__policy_put(const struct command *c,
                                        const struct command_limits *limits, struct err *err)
{
    const struct store_policy *p = &c->policy_put.policy;
    (void)limits;
    if (p->name.len == 0) {
        return err_set(err, ERR_POLICY, "name is required");
    }
    if (field__text(&field__top, "namespace", p->ns, LIMIT_NAME_BYTES, err) != ERR_OK ||
        field__text(&field__top, "name", p->name, LIMIT_NAME_BYTES, err) != ERR_OK ||
        field__text(&field__top, "tag_key", p->tag_key, LIMIT_TAG_KEY_BYTES, err) != ERR_OK ||
        field__text(&field__top, "tag_value", p->tag_value, LIMIT_TAG_VALUE_BYTES, err) != ERR_OK) {
        return err->code;
    }
    if (p->ns.len > 0 && p->all_namespaces) {
        return field__bad(&field__top, "all_namespaces",
                          "requires a policy of the default namespace", err);
    }
    if (p->queue.len == 0) {
        return ERR_OK;
    }
    if (field__queue_name(&field__top, "queue", p->queue, err) != ERR_OK) {
        return err->code;
    }
    /* Such a policy would never hold a job. */
    return p->all_namespaces || queue_name_is_of(p->ns, p->queue)
               ? ERR_OK
               : field__bad(&field__top, "queue",
                            "belongs to another namespace: set all_namespaces", err);
}
