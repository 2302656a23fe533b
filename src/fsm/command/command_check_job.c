/*
 * Checks of new jobs and of the chains that they begin.
 */
#include "base/check.h"
#include "base/limits.h"
#include "fsm/command/command_check_int.h"
#include "json/json_scan.h"

/* A step or a handler of a chain: an object with a queue. */
static enum err_code check_step(const struct field_place *at, struct json_value v,
                                const char *missing, struct json_value *out_queue, struct err *err)
{
    if (v.type != JSON_TYPE_OBJECT || !json_scan_member(v.text, STR("queue"), out_queue) ||
        out_queue->type != JSON_TYPE_STRING || out_queue->text.len <= 2) {
        return err_set(err, ERR_VALIDATION, "%s", missing);
    }
    struct buf name;
    buf_init(&name, out_queue->text.len);
    json_value_text_buf(*out_queue, &name);
    struct json_value push;
    enum err_code code = field__queue_name(at, "chain step queue", buf_str(&name), err);
    if (code == ERR_OK && json_scan_member(v.text, STR("push"), &push) &&
        push.type == JSON_TYPE_OBJECT) {
        code = command_push__check_target(push.text, false, err);
    }
    buf_deinit(&name);
    return code;
}

static enum err_code check_handler(const struct field_place *at, struct str config,
                                   const char *name, bool words, struct err *err)
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

static enum err_code check_steps(const struct field_place *at, const struct job *j, struct err *err)
{
    struct json_value steps, v, queue = {0};
    size_t count = 0;
    if (!json_scan_member(j->chain_config, STR("steps"), &steps) || steps.type != JSON_TYPE_ARRAY) {
        return field__bad(at, "chain.steps", "is required", err);
    }
    struct json_scan s = json_scan_from(steps.text);
    bool entered = json_scan_enter_array(&s);
    while (entered && json_scan_next_element(&s) && json_scan_value(&s, &v)) {
        if (check_step(at, v, "chain step has empty queue", &queue, err) != ERR_OK) {
            return err->code;
        }
        if (count == 0 && !json_value_text_eq(queue, j->queue)) {
            return field__bad(at, "chain.steps[0].queue", "must equal queue", err);
        }
        if (++count > LIMIT_CHAIN_STEPS) {
            return field__bad(at, "chain.steps", "has more than 100 steps", err);
        }
    }
    return count < 2 ? field__bad(at, "chain.steps", "needs at least two steps", err) : ERR_OK;
}

static enum err_code check_chain(const struct field_place *at, const struct command_new *new,
                                 struct err *err)
{
    struct str config = new->job.chain_config;
    struct json_scan s = json_scan_from(config);
    struct field_place deep = *at;
    deep.deep = true; /* the limit for its payloads was checked when they were read */
    if (field__json(&deep, "chain_config", config, LIMIT_RESULT_BYTES, err) != ERR_OK) {
        return err->code;
    }
    if (config.len > 0 && json_scan_peek(&s) != JSON_TYPE_OBJECT) {
        return field__bad(at, "chain_config", "must be an object", err);
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
static enum err_code check_new_numbers(const struct field_place *at, const struct command_new *new,
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
            return field__bad(at, rows[i].field, "must not be negative", err);
        }
    }
    if (new->job.max_retries > INT32_MAX) {
        return field__bad(at, "max_retries", "must not be negative", err);
    }
    return ERR_OK;
}

static enum err_code check_new_texts(const struct field_place *at, const struct job *j,
                                     struct err *err)
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
        if (field__text(at, rows[i].field, *(const struct str *)text, rows[i].max, err) != ERR_OK) {
            return err->code;
        }
    }
    return ERR_OK;
}

/* The contracts specify this message: "payload", whatever the field is called (rpc.md 1.4). */
static enum err_code refuse_large_payload(const struct field_place *at, size_t len, size_t max,
                                          const struct command_names *names, struct err *err)
{
    enum err_code code =
        field__too_long(&field__top, "payload", len, max, ERR_FIELD_TOO_LARGE, err);
    if (!at->in_list) {
        return code;
    }
    return names->numbers_payloads
               ? err_set(err, code, "job %zu payload too large: %zu bytes (max %zu)", at->index,
                         len, max)
               : err_wrap(err, "%s[%zu]", at->list, at->index);
}

enum err_code command_check__payload(const struct field_place *at, struct str payload, bool is_json,
                                     const struct command_names *names,
                                     const struct command_limits *limits, struct err *err)
{
    size_t max = limits->payload_bytes == 0 ? LIMIT_OP_BYTES : limits->payload_bytes;
    if (payload.len == 0) {
        return field__bad(at, names->payload, "is required", err);
    }
    if (payload.len > max) {
        return refuse_large_payload(at, payload.len, max, names, err);
    }
    if (is_json) {
        DCHECK(json_scan_check(payload, err) == ERR_OK);
        return ERR_OK;
    }
    return field__json(at, names->payload, payload, max, err);
}

enum err_code command_check__new(const struct field_place *at, const struct command_new *new,
                                 const struct command_names *names,
                                 const struct command_limits *limits, struct err *err)
{
    const struct job *j = &new->job;
    if (field__queue_name(at, "queue", j->queue, err) != ERR_OK ||
        command_check__payload(at, j->payload, new->payload_is_json, names, limits, err) !=
            ERR_OK ||
        check_new_texts(at, j, err) != ERR_OK || check_new_numbers(at, new, err) != ERR_OK ||
        field__tags(at, j->tags, err) != ERR_OK ||
        field__json(at, "checkpoint", j->checkpoint, LIMIT_RESULT_BYTES, err) != ERR_OK ||
        check_chain(at, new, err) != ERR_OK) {
        return err->code;
    }
    if (command_push__check_target(j->push, new->push_is_target, err) != ERR_OK) {
        return at->in_list ? err_wrap(err, "%s[%zu]", at->list, at->index) : err->code;
    }
    if (j->waits_for.len / ID_BYTES > LIMIT_DEPENDS_ON) {
        return field__bad(at, "depends_on", "has more than 1000 ids", err);
    }
    return ERR_OK;
}

enum err_code command_check__callback(struct str queue, struct str payload,
                                      const struct command_limits *limits, struct err *err)
{
    size_t max = limits->payload_bytes == 0 ? LIMIT_OP_BYTES : limits->payload_bytes;
    if (queue.len > 0 &&
        field__queue_name(&field__top, "batch.callback_queue", queue, err) != ERR_OK) {
        return err->code;
    }
    return field__json(&field__top, "batch.callback_payload", payload, max, err);
}
