#include "fsm/command/command_check.h"

#include "base/check.h"
#include "base/limits.h"
#include "core/queue_name.h"
#include "json/json_scan.h"

/* A position in a list, for a path such as "jobs[3].queue". */
struct place {
    bool in_list;
    const char *list;
    size_t index;
    bool deep; /* values may contain values of clients, so be nested as deep as a document */
};

static const struct place top = {0};

/* Write the path of a field: "jobs[3].queue", "queues[3]" for an element without fields, or only
 * the field at the top level. */
static const char *path_of(const struct place *at, const char *field, char *out, size_t size)
{
    struct buf b;
    buf_init(&b, size - 1);
    if (at->in_list) {
        buf_printf(&b, "%s[%zu]%s", at->list, at->index, *field == '\0' ? "" : ".");
    }
    buf_printf(&b, "%s", field);
    memcpy(out, b.ptr, b.len);
    out[b.len] = '\0';
    buf_deinit(&b);
    return out;
}

enum { PATH_BYTES = 128 };
static enum err_code bad(const struct place *at, const char *field, const char *what,
                         struct err *err)
{
    char path[PATH_BYTES];
    return err_set(err, ERR_VALIDATION, "%s %s", path_of(at, field, path, sizeof path), what);
}

static enum err_code too_long(const struct place *at, const char *field, size_t len, size_t max,
                              enum err_code code, struct err *err)
{
    char path[PATH_BYTES];
    return err_set(err, code, "%s too large: %zu bytes (max %zu)",
                   path_of(at, field, path, sizeof path), len, max);
}

static enum err_code check_some_text(const struct place *at, const char *field, struct str s,
                                     size_t max, struct err *err)
{
    if (s.len > max) {
        return too_long(at, field, s.len, max, ERR_VALIDATION, err);
    }
    return str_is_utf8(s) ? ERR_OK : bad(at, field, "is not valid UTF-8", err);
}

/* Check a text of at most max bytes. Most texts are empty. */
static inline enum err_code check_text(const struct place *at, const char *field, struct str s,
                                       size_t max, struct err *err)
{
    return s.len == 0 ? ERR_OK : check_some_text(at, field, s, max, err);
}

static enum err_code check_queue_name(const struct place *at, const char *field, struct str s,
                                      struct err *err)
{
    if (s.len == 0) {
        return bad(at, field, "is required", err);
    }
    if (check_text(at, field, s, LIMIT_INTERNAL_NAME_BYTES, err) != ERR_OK) {
        return err->code;
    }
    return str_has_control(s) ? bad(at, field, "contains a control character", err) : ERR_OK;
}

static enum err_code check_some_json(const struct place *at, const char *field, struct str s,
                                     size_t max, struct err *err)
{
    if (s.len > max) {
        return too_long(at, field, s.len, max, ERR_FIELD_TOO_LARGE, err);
    }
    if (!str_eq(s, STR("{}")) &&
        (at->deep ? json_scan_check(s, err) : json_scan_check_value(s, err)) != ERR_OK) {
        char path[PATH_BYTES];
        return err_wrap(err, "%s", path_of(at, field, path, sizeof path));
    }
    return ERR_OK;
}

/* Check a JSON value or an empty text. */
static inline enum err_code check_json(const struct place *at, const char *field, struct str s,
                                       size_t max, struct err *err)
{
    return s.len == 0 ? ERR_OK : check_some_json(at, field, s, max, err);
}

/* Tags are an object. Its values can be any JSON, as other servers of this API accept. */
static enum err_code check_tags(const struct place *at, struct str tags, struct err *err)
{
    if (tags.len == 0) {
        return ERR_OK;
    }
    struct json_scan s = json_scan_from(tags);
    struct json_value key, value;
    size_t count = 0;
    if (check_json(at, "tags", tags, LIMIT_OP_BYTES, err) != ERR_OK) {
        return err->code;
    }
    if (!json_scan_enter_object(&s)) {
        return bad(at, "tags", "must be an object", err);
    }
    while (json_scan_next_key(&s, &key) && json_scan_value(&s, &value)) {
        if (++count > LIMIT_TAGS) {
            return bad(at, "tags", "has more than 64 pairs", err);
        }
        /* Of a text, the decoded length is limited, however it is escaped. */
        size_t value_len =
            value.type == JSON_TYPE_STRING ? json_value_text_len(value) : value.text.len;
        if (json_value_text_len(key) > LIMIT_TAG_KEY_BYTES) {
            return bad(at, "tags", "has a key of more than 128 bytes", err);
        }
        if (value_len > LIMIT_TAG_VALUE_BYTES) {
            return bad(at, "tags", "has a value of more than 1024 bytes", err);
        }
    }
    return ERR_OK;
}

/* A step or a handler of a chain: an object with a queue. */
static enum err_code check_step(const struct place *at, struct json_value v, const char *missing,
                                struct json_value *out_queue, struct err *err)
{
    if (v.type != JSON_TYPE_OBJECT || !json_scan_member(v.text, STR("queue"), out_queue) ||
        out_queue->type != JSON_TYPE_STRING || out_queue->text.len <= 2) {
        return err_set(err, ERR_VALIDATION, "%s", missing);
    }
    struct buf name;
    buf_init(&name, out_queue->text.len);
    json_value_text_buf(*out_queue, &name);
    struct json_value push;
    enum err_code code = check_queue_name(at, "chain step queue", buf_str(&name), err);
    if (code == ERR_OK && json_scan_member(v.text, STR("push"), &push) &&
        push.type == JSON_TYPE_OBJECT) {
        code = command_push__check_target(push.text, false, err);
    }
    buf_deinit(&name);
    return code;
}

static enum err_code check_handler(const struct place *at, struct str config, const char *name,
                                   bool words, struct err *err)
{
    struct json_value v, queue;
    char missing[64];
    struct buf b;
    if (!json_scan_member(config, str_from_z(name), &v) || v.type == JSON_TYPE_NULL) {
        return ERR_OK;
    }
    if (words && v.type == JSON_TYPE_STRING && json_value_text_eq(v, STR("continue"))) {
        return ERR_OK;
    }
    buf_init(&b, sizeof missing - 1);
    buf_printf(&b, "chain.%s has empty queue", name);
    memcpy(missing, b.ptr, b.len);
    missing[b.len] = '\0';
    buf_deinit(&b);
    return check_step(at, v, missing, &queue, err);
}

static enum err_code check_steps(const struct place *at, const struct job *j, struct err *err)
{
    struct json_value steps, v, queue = {0};
    size_t count = 0;
    if (!json_scan_member(j->chain_config, STR("steps"), &steps) || steps.type != JSON_TYPE_ARRAY) {
        return bad(at, "chain.steps", "is required", err);
    }
    struct json_scan s = json_scan_from(steps.text);
    bool entered = json_scan_enter_array(&s);
    while (entered && json_scan_next_element(&s) && json_scan_value(&s, &v)) {
        if (check_step(at, v, "chain step has empty queue", &queue, err) != ERR_OK) {
            return err->code;
        }
        if (count == 0 && !json_value_text_eq(queue, j->queue)) {
            return bad(at, "chain.steps[0].queue", "must equal queue", err);
        }
        if (++count > LIMIT_CHAIN_STEPS) {
            return bad(at, "chain.steps", "has more than 100 steps", err);
        }
    }
    return count < 2 ? bad(at, "chain.steps", "needs at least two steps", err) : ERR_OK;
}

static enum err_code check_chain(const struct place *at, const struct command_new *new,
                                 struct err *err)
{
    struct str config = new->job.chain_config;
    struct json_scan s = json_scan_from(config);
    struct place deep = *at;
    deep.deep = true; /* the limit for its payloads was checked when they were read */
    if (check_json(&deep, "chain_config", config, LIMIT_RESULT_BYTES, err) != ERR_OK) {
        return err->code;
    }
    if (config.len > 0 && json_scan_peek(&s) != JSON_TYPE_OBJECT) {
        return bad(at, "chain_config", "must be an object", err);
    }
    if (!new->starts_chain) {
        return ERR_OK;
    }
    if (check_steps(at, &new->job, err) != ERR_OK ||
        check_handler(at, config, "on_failure", true, err) != ERR_OK) {
        return err->code;
    }
    return check_handler(at, config, "on_exit", false, err);
}

/* Check the integers of a new job. */
static enum err_code check_new_numbers(const struct place *at, const struct command_new *new,
                                       struct err *err)
{
    static const struct {
        const char *field;
        size_t offset; /* of an int64_t */
    } rows[] = {
        {"retry_base_delay", offsetof(struct command_new, job.retry_base_ms)},
        {"retry_max_delay", offsetof(struct command_new, job.retry_max_ms)},
        {"expire_after", offsetof(struct command_new, expire_after_ms)},
        {"scheduled_at", offsetof(struct command_new, job.scheduled_at.ns)},
        {"agent.max_iterations", offsetof(struct command_new, job.agent.max_iterations)},
        {"agent.max_cost_usd", offsetof(struct command_new, job.agent.max_cost_nusd)},
        {"agent.iteration_timeout", offsetof(struct command_new, job.agent.timeout_ms)},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        const void *value = (const char *)new + rows[i].offset;
        if (*(const int64_t *)value < 0) {
            return bad(at, rows[i].field, "must not be negative", err);
        }
    }
    if (new->job.max_retries > INT32_MAX) {
        return bad(at, "max_retries", "must not be negative", err);
    }
    return ERR_OK;
}

static enum err_code check_new_texts(const struct place *at, const struct job *j, struct err *err)
{
    static const struct {
        const char *field;
        size_t offset; /* of a struct str */
        size_t max;
    } rows[] = {
        {"unique_key", offsetof(struct job, unique_key), LIMIT_UNIQUE_KEY_BYTES},
        {"parent_id", offsetof(struct job, parent_id), LIMIT_NAME_BYTES},
        {"chain_id", offsetof(struct job, chain_id), LIMIT_NAME_BYTES},
        {"agent.iteration_timeout", offsetof(struct job, agent.timeout), LIMIT_NAME_BYTES},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        const void *text = (const char *)j + rows[i].offset;
        if (check_text(at, rows[i].field, *(const struct str *)text, rows[i].max, err) != ERR_OK) {
            return err->code;
        }
    }
    return ERR_OK;
}

static enum err_code check_payload(const struct place *at, struct str payload, bool is_json,
                                   const struct command_limits *limits, struct err *err)
{
    size_t max = limits->payload_bytes == 0 ? LIMIT_OP_BYTES : limits->payload_bytes;
    if (payload.len == 0) {
        return bad(at, "payload", "is required", err);
    }
    if (payload.len > max) {
        /* The contract specifies this message. */
        return at->in_list ? err_set(err, ERR_FIELD_TOO_LARGE,
                                     "job %zu payload too large: %zu bytes (max %zu)", at->index,
                                     payload.len, max)
                           : too_long(at, "payload", payload.len, max, ERR_FIELD_TOO_LARGE, err);
    }
    if (is_json) {
        DCHECK(json_scan_check(payload, err) == ERR_OK);
        return ERR_OK;
    }
    return check_json(at, "payload", payload, max, err);
}

static enum err_code check_new(const struct place *at, const struct command_new *new,
                               const struct command_limits *limits, struct err *err)
{
    const struct job *j = &new->job;
    if (check_queue_name(at, "queue", j->queue, err) != ERR_OK ||
        check_payload(at, j->payload, new->payload_is_json, limits, err) != ERR_OK ||
        check_new_texts(at, j, err) != ERR_OK || check_new_numbers(at, new, err) != ERR_OK ||
        check_tags(at, j->tags, err) != ERR_OK ||
        check_json(at, "checkpoint", j->checkpoint, LIMIT_RESULT_BYTES, err) != ERR_OK ||
        check_chain(at, new, err) != ERR_OK) {
        return err->code;
    }
    if (command_push__check_target(j->push, new->push_is_target, err) != ERR_OK) {
        return at->in_list ? err_wrap(err, "%s[%zu]", at->list, at->index) : err->code;
    }
    if (j->waits_for.len / ID_BYTES > LIMIT_DEPENDS_ON) {
        return bad(at, "depends_on", "has more than 1000 ids", err);
    }
    return ERR_OK;
}

static enum err_code check_callback(struct str queue, struct str payload,
                                    const struct command_limits *limits, struct err *err)
{
    size_t max = limits->payload_bytes == 0 ? LIMIT_OP_BYTES : limits->payload_bytes;
    if (queue.len > 0 && check_queue_name(&top, "batch.callback_queue", queue, err) != ERR_OK) {
        return err->code;
    }
    return check_json(&top, "batch.callback_payload", payload, max, err);
}

static enum err_code check_enqueue(const struct command *c, const struct command_limits *limits,
                                   struct err *err)
{
    const struct command_enqueue *e = &c->enqueue;
    struct place at = {.in_list = e->is_list || e->count != 1, .list = "jobs"};
    if (e->count == 0) {
        return err_set(err, ERR_VALIDATION, "jobs array is required");
    }
    if (e->count > LIMIT_ENQUEUE_BATCH) {
        return err_set(err, ERR_VALIDATION, "jobs has more than %d items", LIMIT_ENQUEUE_BATCH);
    }
    for (at.index = 0; at.index < e->count; at.index++) {
        if (check_new(&at, &e->jobs[at.index], limits, err) != ERR_OK) {
            return err->code;
        }
    }
    if (check_text(&top, "Idempotency-Key", e->idempotency_key, LIMIT_REPLY_KEY_BYTES, err) !=
        ERR_OK) {
        return err->code;
    }
    return e->has_batch ? check_callback(e->callback_queue, e->callback_payload, limits, err)
                        : ERR_OK;
}

static enum err_code check_claim(const struct command *c, const struct command_limits *limits,
                                 struct err *err)
{
    const struct command_claim *cl = &c->claim;
    struct place at = {.in_list = true, .list = "queues"};
    (void)limits;
    if (cl->queue_count == 0) {
        return err_set(err, ERR_VALIDATION, "queues is required");
    }
    if (cl->queue_count > LIMIT_CLAIM_QUEUES) {
        return err_set(err, ERR_VALIDATION, "queues has more than %d names", LIMIT_CLAIM_QUEUES);
    }
    for (at.index = 0; at.index < cl->queue_count; at.index++) {
        if (check_queue_name(&at, "", cl->queues[at.index], err) != ERR_OK) {
            return err->code;
        }
    }
    if (check_text(&top, "namespace", cl->ns, LIMIT_NAMESPACE_BYTES, err) != ERR_OK ||
        check_text(&top, "worker_id", cl->worker_id, LIMIT_WORKER_ID_BYTES, err) != ERR_OK ||
        check_text(&top, "hostname", cl->hostname, LIMIT_WORKER_ID_BYTES, err) != ERR_OK ||
        check_text(&top, "version", cl->version, LIMIT_WORKER_VERSION_BYTES, err) != ERR_OK) {
        return err->code;
    }
    if (cl->lease_ms < 1 || cl->lease_ms > LIMIT_LEASE_S_MAX * 1000LL) {
        return bad(&top, "lease_duration", "must be 1 to 86400 seconds", err);
    }
    if (cl->count < 1 || cl->count > LIMIT_CLAIM_COUNT) {
        return bad(&top, "count", "must be 1 to 512", err);
    }
    return ERR_OK;
}

static enum err_code check_usage(const struct place *at, const struct store_tokens *t,
                                 struct err *err)
{
    if (t->input < 0 || t->output < 0 || t->cache_creation < 0 || t->cache_read < 0 ||
        t->cost_nusd < 0) {
        return bad(at, "usage", "must not be negative", err);
    }
    if (check_text(at, "usage.model", t->model, LIMIT_MODEL_NAME_BYTES, err) != ERR_OK) {
        return err->code;
    }
    return check_text(at, "usage.provider", t->provider, LIMIT_MODEL_NAME_BYTES, err);
}

static enum err_code check_next(const struct command_claim *next,
                                const struct command_limits *limits, struct err *err)
{
    struct command c = {.type = COMMAND_CLAIM, .claim = *next};
    return check_claim(&c, limits, err) == ERR_OK ? ERR_OK : err_wrap(err, "next");
}

static enum err_code check_ack(const struct command *c, const struct command_limits *limits,
                               struct err *err)
{
    struct place at = {.in_list = c->ack.lenient, .list = "acks"};
    if (c->ack.count == 0) {
        return err_set(err, ERR_VALIDATION, "acks array is required");
    }
    if (c->ack.count > LIMIT_ACK_BATCH) {
        return err_set(err, ERR_VALIDATION, "ack batch exceeds maximum of %d items",
                       LIMIT_ACK_BATCH);
    }
    for (at.index = 0; at.index < c->ack.count; at.index++) {
        const struct command_ack_item *it = &c->ack.items[at.index];
        if (it->has_result && it->result.len == 0) {
            return bad(&at, "result", "is empty", err);
        }
        if (check_json(&at, "result", it->result, LIMIT_RESULT_BYTES, err) != ERR_OK ||
            check_json(&at, "checkpoint", it->checkpoint, LIMIT_RESULT_BYTES, err) != ERR_OK ||
            check_text(&at, "hold_reason", it->hold_reason, LIMIT_REASON_BYTES, err) != ERR_OK ||
            check_text(&at, "exit_reason", it->exit_reason, LIMIT_REASON_BYTES, err) != ERR_OK ||
            check_usage(&at, &it->usage, err) != ERR_OK) {
            return err->code;
        }
    }
    return c->ack.next == NULL ? ERR_OK : check_next(c->ack.next, limits, err);
}

static enum err_code check_fail(const struct command *c, const struct command_limits *limits,
                                struct err *err)
{
    (void)limits;
    if (check_text(&top, "error", c->fail.error, LIMIT_ERROR_BYTES, err) != ERR_OK) {
        return err->code;
    }
    return check_text(&top, "backtrace", c->fail.backtrace, LIMIT_BACKTRACE_BYTES, err);
}

static enum err_code check_heartbeat(const struct command *c, const struct command_limits *limits,
                                     struct err *err)
{
    struct place at = {.in_list = true, .list = "jobs"};
    (void)limits;
    if (c->heartbeat.count > LIMIT_HEARTBEAT_JOBS) {
        return err_set(err, ERR_VALIDATION, "jobs has more than %d items", LIMIT_HEARTBEAT_JOBS);
    }
    if (check_text(&top, "namespace", c->heartbeat.ns, LIMIT_NAMESPACE_BYTES, err) != ERR_OK) {
        return err->code;
    }
    for (at.index = 0; at.index < c->heartbeat.count; at.index++) {
        const struct command_heartbeat_item *it = &c->heartbeat.items[at.index];
        if (check_json(&at, "progress", it->progress, LIMIT_PROGRESS_BYTES, err) != ERR_OK ||
            check_json(&at, "checkpoint", it->checkpoint, LIMIT_RESULT_BYTES, err) != ERR_OK ||
            check_usage(&at, &it->usage, err) != ERR_OK) {
            return err->code;
        }
    }
    return ERR_OK;
}

static enum err_code check_jobs(const struct command *c, const struct command_limits *limits,
                                struct err *err)
{
    const struct command_jobs *j = &c->jobs;
    (void)limits;
    if (j->count == 0 || j->count > LIMIT_BULK_SYNC) {
        return err_set(err, ERR_BULK, "job_ids must have 1 to %d ids in one step", LIMIT_BULK_SYNC);
    }
    if ((j->action == COMMAND_JOB_MOVE &&
         check_queue_name(&top, "queue", j->queue, err) != ERR_OK) ||
        check_text(&top, "filter.queue", j->fit.queue, LIMIT_INTERNAL_NAME_BYTES, err) != ERR_OK) {
        return err->code;
    }
    return check_text(&top, "reason", j->reason, LIMIT_REASON_BYTES, err);
}

static enum err_code check_replay(const struct command *c, const struct command_limits *limits,
                                  struct err *err)
{
    (void)limits;
    return c->replay.from < 1 ? err_set(err, ERR_VALIDATION, "from must be > 0") : ERR_OK;
}

static enum err_code check_queue(const struct command *c, const struct command_limits *limits,
                                 struct err *err)
{
    const struct command_queue *q = &c->queue;
    (void)limits;
    if (check_queue_name(&top, "queue", q->name, err) != ERR_OK) {
        return err->code;
    }
    if (q->action != COMMAND_QUEUE_THROTTLE) {
        return ERR_OK;
    }
    if (q->rate == 0 || q->window_ms <= 0) {
        return err_set(err, ERR_VALIDATION, "rate and window_ms must be positive");
    }
    return q->rate > LIMIT_THROTTLE_RATE
               ? err_set(err, ERR_VALIDATION, "rate must be at most %d", LIMIT_THROTTLE_RATE)
               : ERR_OK;
}

static enum err_code check_nothing(const struct command *c, const struct command_limits *limits,
                                   struct err *err)
{
    (void)c;
    (void)limits;
    (void)err;
    return ERR_OK;
}

static enum err_code check_purge(const struct command *c, const struct command_limits *limits,
                                 struct err *err)
{
    (void)limits;
    return c->purge.retention_ms < 0 ? bad(&top, "retention", "must not be negative", err) : ERR_OK;
}

static enum err_code check_batch_open(const struct command *c, const struct command_limits *limits,
                                      struct err *err)
{
    return check_callback(c->batch_open.callback_queue, c->batch_open.callback_payload, limits,
                          err);
}

static enum err_code check_schedule_put(const struct command *c,
                                        const struct command_limits *limits, struct err *err)
{
    const struct store_schedule *s = &c->schedule_put.schedule;
    if (s->name.len == 0 || s->cron.len == 0) {
        return bad(&top, s->name.len == 0 ? "name" : "cron", "is required", err);
    }
    if (check_text(&top, "name", s->name, LIMIT_INTERNAL_NAME_BYTES, err) != ERR_OK ||
        check_queue_name(&top, "queue", s->queue, err) != ERR_OK ||
        check_text(&top, "cron", s->cron, LIMIT_NAME_BYTES, err) != ERR_OK ||
        check_text(&top, "timezone", s->timezone, LIMIT_NAME_BYTES, err) != ERR_OK ||
        check_text(&top, "unique_key", s->unique_key, LIMIT_UNIQUE_KEY_BYTES, err) != ERR_OK ||
        check_payload(&top, s->payload, false, limits, err) != ERR_OK ||
        command_push__check_target(s->push, false, err) != ERR_OK) {
        return err->code;
    }
    return check_tags(&top, s->tags, err);
}

static enum err_code check_webhook_put(const struct command *c, const struct command_limits *limits,
                                       struct err *err)
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
    if (check_text(&top, "id", c->webhook_put.id, LIMIT_INTERNAL_NAME_BYTES, err) != ERR_OK ||
        check_text(&top, "namespace", h->ns, LIMIT_NAME_BYTES, err) != ERR_OK ||
        check_text(&top, "queue_scope", h->scope, LIMIT_QUEUE_SCOPE_BYTES, err) != ERR_OK ||
        check_text(&top, "url", h->url, LIMIT_WEBHOOK_URL_BYTES, err) != ERR_OK) {
        return err->code;
    }
    return check_text(&top, "secret", h->secret, LIMIT_WEBHOOK_SECRET_BYTES, err);
}

static enum err_code check_policy_put(const struct command *c, const struct command_limits *limits,
                                      struct err *err)
{
    const struct store_policy *p = &c->policy_put.policy;
    (void)limits;
    if (p->name.len == 0) {
        return err_set(err, ERR_POLICY, "name is required");
    }
    if (check_text(&top, "namespace", p->ns, LIMIT_NAME_BYTES, err) != ERR_OK ||
        check_text(&top, "name", p->name, LIMIT_NAME_BYTES, err) != ERR_OK ||
        check_text(&top, "tag_key", p->tag_key, LIMIT_TAG_KEY_BYTES, err) != ERR_OK ||
        check_text(&top, "tag_value", p->tag_value, LIMIT_TAG_VALUE_BYTES, err) != ERR_OK) {
        return err->code;
    }
    if (p->ns.len > 0 && p->all_namespaces) {
        return bad(&top, "all_namespaces", "requires a policy of the default namespace", err);
    }
    if (p->queue.len == 0) {
        return ERR_OK;
    }
    if (check_queue_name(&top, "queue", p->queue, err) != ERR_OK) {
        return err->code;
    }
    /* Such a policy would never hold a job. */
    return p->all_namespaces || queue_name_is_of(p->ns, p->queue)
               ? ERR_OK
               : bad(&top, "queue", "belongs to another namespace: set all_namespaces", err);
}

static enum err_code check_bulk_put(const struct command *c, const struct command_limits *limits,
                                    struct err *err)
{
    const struct command_bulk_put *b = &c->bulk_put;
    (void)limits;
    if (b->count > LIMIT_BULK_IDS) {
        return err_set(err, ERR_BULK, "job_ids has more than %d ids", LIMIT_BULK_IDS);
    }
    if (b->filter.len > 0 && b->count > 0) {
        return err_set(err, ERR_BULK, "exactly one of filter and job_ids must be set");
    }
    if (b->action == COMMAND_JOB_MOVE &&
        check_queue_name(&top, "move_to_queue", b->queue, err) != ERR_OK) {
        return err->code;
    }
    if (check_json(&top, "filter", b->filter, LIMIT_BULK_FILTER_BYTES, err) != ERR_OK ||
        check_text(&top, "namespace", b->ns, LIMIT_NAME_BYTES, err) != ERR_OK ||
        check_text(&top, "filter.queue", b->fit.queue, LIMIT_INTERNAL_NAME_BYTES, err) != ERR_OK ||
        check_text(&top, "queue_scope", b->scope, LIMIT_QUEUE_SCOPE_BYTES, err) != ERR_OK) {
        return err->code;
    }
    return check_text(&top, "reason", b->reason, LIMIT_REASON_BYTES, err);
}

static enum err_code check_bulk_step(const struct command *c, const struct command_limits *limits,
                                     struct err *err)
{
    (void)limits;
    return c->bulk_step.count > LIMIT_BULK_CHUNK
               ? err_set(err, ERR_BULK, "a step must have at most %d ids", LIMIT_BULK_CHUNK)
               : ERR_OK;
}

static enum err_code check_bulk_end(const struct command *c, const struct command_limits *limits,
                                    struct err *err)
{
    (void)limits;
    return check_text(&top, "error", c->bulk_end.error, LIMIT_REASON_BYTES, err);
}

static enum err_code check_bulk_queue(const struct command *c, const struct command_limits *limits,
                                      struct err *err)
{
    (void)limits;
    return check_queue_name(&top, "queue", c->bulk_queue.name, err) != ERR_OK
               ? err->code
               : check_text(&top, "namespace", c->bulk_queue.ns, LIMIT_NAME_BYTES, err);
}

/* Check that the machine can continue with the job in its state. */
static enum err_code check_restored_state(const struct place *at, const struct job *j,
                                          struct err *err)
{
    if (j->created_at.ns <= 0) {
        return bad(at, "created_at", "is required", err);
    }
    if ((j->state == JOB_SCHEDULED || j->state == JOB_RETRYING) && j->scheduled_at.ns <= 0) {
        return bad(at, "scheduled_at", "is required in this state", err);
    }
    if (j->state == JOB_ACTIVE && (j->lease_expires_at.ns <= 0 || j->started_at.ns <= 0)) {
        return bad(at, "lease_expires_at", "and started_at are required in state active", err);
    }
    if (j->expire_at.ns < 0 || j->started_at.ns < 0 || j->completed_at.ns < 0 ||
        j->failed_at.ns < 0 || j->cancelled_at.ns < 0 || j->lease_expires_at.ns < 0) {
        return bad(at, "times", "must not be before 1970", err);
    }
    return j->error_count > LIMIT_JOB_ERRORS || j->iteration_count > LIMIT_RESTORE_ROWS ||
                   j->usage_count > LIMIT_RESTORE_ROWS
               ? bad(at, "errors, iterations and usage", "are too many", err)
               : ERR_OK;
}

static enum err_code check_restored_job(const struct place *at,
                                        const struct command_restore_item *i, struct err *err)
{
    static const struct command_limits any_payload = {0};
    const struct job *j = &i->job;
    if (id_is_none(i->id)) {
        return bad(at, "id", "is required", err);
    }
    if (check_new(at, &(struct command_new){.job = *j}, &any_payload, err) != ERR_OK ||
        check_restored_state(at, j, err) != ERR_OK ||
        check_json(at, "progress", j->progress, LIMIT_PROGRESS_BYTES, err) != ERR_OK ||
        check_json(at, "result", j->result, LIMIT_RESULT_BYTES, err) != ERR_OK ||
        check_text(at, "worker_id", j->worker_id, LIMIT_WORKER_ID_BYTES, err) != ERR_OK ||
        check_text(at, "hostname", j->hostname, LIMIT_WORKER_ID_BYTES, err) != ERR_OK) {
        return err->code;
    }
    return check_text(at, "hold_reason", j->hold_reason, LIMIT_REASON_BYTES, err);
}

static enum err_code check_restored_queue(const struct place *at,
                                          const struct command_restore_item *i, struct err *err)
{
    const struct store_queue *q = &i->queue;
    if (check_queue_name(at, "name", i->name, err) != ERR_OK) {
        return err->code;
    }
    if ((q->throttle_rate == 0) != (q->throttle_window_ms == 0) || q->throttle_window_ms < 0 ||
        q->throttle_rate > LIMIT_THROTTLE_RATE) {
        return bad(at, "rate_limit", "and rate_window_ms must be positive or left out", err);
    }
    return q->created_at.ns < 0 ? bad(at, "created_at", "must not be before 1970", err) : ERR_OK;
}

static enum err_code check_restored_row(const struct place *at,
                                        const struct command_restore_item *i, struct err *err)
{
    if (i->kind == COMMAND_RESTORE_ERROR) {
        return check_text(at, "error", i->error.error, LIMIT_ERROR_BYTES, err) != ERR_OK
                   ? err->code
                   : check_text(at, "backtrace", i->error.backtrace, LIMIT_BACKTRACE_BYTES, err);
    }
    if (i->kind == COMMAND_RESTORE_USAGE) {
        return check_usage(at, &i->usage.tokens, err);
    }
    const struct store_iteration *n = &i->iteration;
    if (check_json(at, "checkpoint", n->checkpoint, LIMIT_RESULT_BYTES, err) != ERR_OK ||
        check_json(at, "result", n->result, LIMIT_RESULT_BYTES, err) != ERR_OK ||
        check_text(at, "hold_reason", n->hold_reason, LIMIT_REASON_BYTES, err) != ERR_OK) {
        return err->code;
    }
    return check_usage(at, &n->tokens, err);
}

static enum err_code check_restored(const struct place *at, const struct command_restore_item *i,
                                    const struct command_limits *limits, struct err *err)
{
    struct command put = {.type = COMMAND_SCHEDULE_PUT};
    const char *large = command_restore__large_counter(i);
    if (large != NULL) {
        return bad(at, large, "is too large", err);
    }
    switch ((int)i->kind) {
    case COMMAND_RESTORE_QUEUE:
        return check_restored_queue(at, i, err);
    case COMMAND_RESTORE_SCHEDULE:
        put.schedule_put.schedule = i->schedule;
        return check_schedule_put(&put, limits, err);
    case COMMAND_RESTORE_BATCH:
        return check_callback(i->batch.callback_queue, i->batch.callback_payload, limits, err);
    case COMMAND_RESTORE_JOB:
        return check_restored_job(at, i, err);
    case COMMAND_RESTORE_WEBHOOK:
        put.webhook_put = (struct command_webhook_put){.id = i->name, .webhook = i->webhook};
        return i->name.len == 0 ? bad(at, "id", "is required", err)
                                : check_webhook_put(&put, limits, err);
    case COMMAND_RESTORE_POLICY:
        put.policy_put.policy = i->policy;
        return check_policy_put(&put, limits, err);
    case COMMAND_RESTORE_BUDGET:
        return command_access__check_record(STORE_ACCESS_BUDGET, i->name, i->budget.body, err);
    default: /* the decoder has checked the sums */
        return i->kind == COMMAND_RESTORE_TALLY ? ERR_OK : check_restored_row(at, i, err);
    }
}

static enum err_code check_restore(const struct command *c, const struct command_limits *limits,
                                   struct err *err)
{
    struct place at = {.in_list = true, .list = "items", .deep = true};
    enum err_code code = ERR_OK;
    for (at.index = 0; at.index < c->restore.count && code == ERR_OK; at.index++) {
        code = check_restored(&at, &c->restore.items[at.index], limits, err);
    }
    return code;
}

static enum err_code (*const checks[])(const struct command *c, const struct command_limits *limits,
                                       struct err *err) = {
    [COMMAND_ENQUEUE] = check_enqueue,
    [COMMAND_CLAIM] = check_claim,
    [COMMAND_ACK] = check_ack,
    [COMMAND_FAIL] = check_fail,
    [COMMAND_HEARTBEAT] = check_heartbeat,
    [COMMAND_JOBS] = check_jobs,
    [COMMAND_REPLAY] = check_replay,
    [COMMAND_QUEUE] = check_queue,
    [COMMAND_TICK] = check_nothing,
    [COMMAND_PURGE] = check_purge,
    [COMMAND_BATCH_OPEN] = check_batch_open,
    [COMMAND_BATCH_SEAL] = check_nothing,
    [COMMAND_SCHEDULE_PUT] = check_schedule_put,
    [COMMAND_SCHEDULE_DELETE] = check_nothing,
    [COMMAND_SCHEDULE_FIRE] = check_nothing,
    [COMMAND_WEBHOOK_PUT] = check_webhook_put,
    [COMMAND_WEBHOOK_DELETE] = check_nothing,
    [COMMAND_WEBHOOK_MARK] = check_nothing,
    [COMMAND_BULK_PUT] = check_bulk_put,
    [COMMAND_BULK_STEP] = check_bulk_step,
    [COMMAND_BULK_END] = check_bulk_end,
    [COMMAND_BULK_QUEUE] = check_bulk_queue,
    [COMMAND_RESTORE] = check_restore,
    [COMMAND_POLICY_PUT] = check_policy_put,
    [COMMAND_POLICY_DELETE] = check_nothing,
    [COMMAND_ACCESS] = command_access__check,
    [COMMAND_AUDIT] = command_access__check_audit,
    [COMMAND_RETURN] = check_nothing, /* the machine skips jobs that this claim does not hold */
    [COMMAND_PUSH_CLAIM] = command_push__check_claim,
    [COMMAND_PUSH_FINISH] = command_push__check_finish,
    [COMMAND_NAMED_PUT] = command_push__check_put,
    [COMMAND_NAMED_PURGE] = check_nothing,
    [COMMAND_NODE_PUT] = command_node__check_put,
    [COMMAND_NODE_STATE] = check_nothing,
};
_Static_assert(COUNT_OF(checks) == COMMAND_TYPE_LAST + 1, "every command is checked");

enum err_code command_check(const struct command *c, const struct command_limits *limits,
                            struct err *err)
{
    CHECK(command_exists(c->type));
    return checks[c->type](c, limits, err);
}
