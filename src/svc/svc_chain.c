#include "svc/svc_chain.h"

#include "base/limits.h"
#include "core/queue_name.h"
#include "fsm/command/push_target.h"
#include "json/json_object.h"
#include "json/json_scan.h"
#include "svc/svc_names.h"

static const struct json_field step_rows[] = {
    JSON_STR(struct svc_chain_step, queue, 0, LIMIT_INTERNAL_NAME_BYTES,
             JSON_NO_CONTROL | JSON_INSISTED, "Queue of the step's job.",
             .told_max = LIMIT_QUEUE_NAME_BYTES),
    JSON_RAW(struct svc_chain_step, payload, LIMIT_RESULT_BYTES, 0,
             "Object that is merged into the payload of the step's job. That of the first step is "
             "the payload of the chain's first job if the request has none."),
    JSON_OBJECT(struct svc_chain_step, push, struct svc_push, &svc_push_schema, 0,
                "Target URL if the server delivers the step's job. That of the first step is the "
                "target of the chain's first job if the request has none."),
};
static const struct json_schema step_schema = JSON_SCHEMA(struct svc_chain_step, step_rows);

static const struct json_field chain_rows[] = {
    JSON_OBJECTS(struct svc_chain, steps, steps_count, struct svc_chain_step, &step_schema, 0,
                 LIMIT_CHAIN_STEPS, JSON_INSISTED, "Steps in order. The first step is this job.",
                 .told_min = 2),
    JSON_RAW(struct svc_chain, on_failure, LIMIT_RESULT_BYTES, JSON_DEEP,
             "Step to run if a step fails, its queue, \"stop\" or \"continue\".",
             .told_type = "string | {any}"),
    JSON_OBJECT(struct svc_chain, on_exit, struct svc_chain_step, &step_schema, 0,
                "Step that always runs at the end."),
};
const struct json_schema svc_chain_schema = JSON_SCHEMA(struct svc_chain, chain_rows);

/* From the client to the store */

/* A chain on its way to the stored form. Of a raw chain_config, unknown members are kept. */
struct writing {
    const struct svc_caller *who;
    const char *field; /* its name in the request */
    struct json_write *w;
};

#define NAME(text)                                                                                 \
    {                                                                                              \
        .ptr = (text), .len = sizeof(text) - 1                                                     \
    }
static const struct str step_names[] = {NAME("queue"), NAME("payload"), NAME("push")};
/* The last is written by svc_chain_add_dependencies, except in a restore. */
static const struct str chain_names[] = {NAME("steps"), NAME("on_failure"), NAME("on_exit"),
                                         NAME("depends_on")};
#undef NAME

/* Write the members of a raw object that have other names; raw may be empty. */
static void write_others(struct writing *to, struct str raw, const struct str *names, size_t count)
{
    struct json_scan s = json_scan_from(raw);
    struct json_value key, value;
    struct str name;
    struct err err;
    if (json_scan_peek(&s) != JSON_TYPE_OBJECT || !json_scan_enter_object(&s)) {
        return;
    }
    while (json_scan_next_key(&s, &key) && json_scan_value(&s, &value) &&
           json_value_text(key, to->who->arena, &name, &err) == ERR_OK) {
        size_t i = 0;
        while (i < count && !str_eq(name, names[i])) {
            i++;
        }
        if (i == count) {
            json_write_key(to->w, name);
            json_write_raw(to->w, value.text);
        }
    }
}

/* raw is the step as it was sent in a raw chain_config, else empty. */
static enum err_code write_step(struct writing *to, const struct svc_chain_step *step,
                                struct str raw, struct err *err)
{
    struct str queue;
    if (svc_names_internal(to->who, "queue", step->queue, &queue, err) != ERR_OK) {
        return err->code;
    }
    json_write_object(to->w);
    json_write_key(to->w, STR("queue"));
    json_write_str(to->w, queue);
    if (step->payload.len > 0) {
        json_write_key(to->w, STR("payload"));
        json_write_raw(to->w, step->payload);
    }
    if (step->push != NULL) {
        struct str push;
        if (svc_push_define(to->who, step->push, &push, err) != ERR_OK) {
            return err->code;
        }
        json_write_key(to->w, STR("push"));
        json_write_raw(to->w, push);
    }
    write_others(to, raw, step_names, COUNT_OF(step_names));
    json_write_end(to->w);
    return ERR_OK;
}

/* raw: the array in a raw chain_config, else null. */
static enum err_code write_steps(struct writing *to, const struct svc_chain *chain,
                                 struct json_value raw, struct err *err)
{
    struct json_scan s = json_scan_from(raw.text);
    const bool is_raw = raw.type == JSON_TYPE_ARRAY && json_scan_enter_array(&s);
    if (chain->steps_count == 0 && !is_raw) {
        return ERR_OK; /* a new chain without steps is refused later, with a better message */
    }
    json_write_key(to->w, STR("steps"));
    json_write_array(to->w);
    for (size_t i = 0; i < chain->steps_count; i++) {
        struct json_value v = {.type = JSON_TYPE_NULL};
        bool sent = is_raw && json_scan_next_element(&s) && json_scan_value(&s, &v);
        if (write_step(to, &chain->steps[i], sent ? v.text : STR_EMPTY, err) != ERR_OK) {
            return err_wrap(err, "%s.steps[%zu]", to->field, i);
        }
    }
    json_write_end(to->w);
    return ERR_OK;
}

/* Decode on_failure: a step, a queue name or "continue". "stop" and "" give neither. */
static enum err_code read_on_failure(const struct writing *to, struct str raw,
                                     struct svc_chain_step *out_step, bool *out_continue,
                                     struct err *err)
{
    struct json_value v;
    struct str word;
    *out_step = (struct svc_chain_step){0};
    *out_continue = false;
    if (json_scan_first(raw, &v, err) != ERR_OK) {
        return err->code;
    }
    if (v.type == JSON_TYPE_OBJECT) {
        if (json_schema_decode(&step_schema, raw, to->who->arena, out_step, err) != ERR_OK) {
            return err_wrap(err, "%s.on_failure", to->field);
        }
        return out_step->queue.len == 0
                   ? err_set(err, ERR_VALIDATION, "%s.on_failure has empty queue", to->field)
                   : ERR_OK;
    }
    if (v.type != JSON_TYPE_STRING) {
        return err_set(err, ERR_PARSE, "%s.on_failure: expected an object or a string, got %s",
                       to->field, json_value_type_name(v.type));
    }
    if (json_value_text(v, to->who->arena, &word, err) != ERR_OK) {
        return err->code;
    }
    *out_continue = str_eq(word, STR("continue"));
    if (!*out_continue && !str_eq(word, STR("stop"))) {
        out_step->queue = word;
    }
    return ERR_OK;
}

static enum err_code write_on_failure(struct writing *to, struct str value, bool is_raw,
                                      struct err *err)
{
    struct svc_chain_step step;
    bool goes_on;
    if (value.len == 0) {
        return ERR_OK;
    }
    if (read_on_failure(to, value, &step, &goes_on, err) != ERR_OK) {
        return err->code;
    }
    if (goes_on) {
        json_write_key(to->w, STR("on_failure"));
        json_write_str(to->w, STR("continue"));
    } else if (step.queue.len > 0) {
        json_write_key(to->w, STR("on_failure"));
        return write_step(to, &step, is_raw ? value : STR_EMPTY, err) == ERR_OK
                   ? ERR_OK
                   : err_wrap(err, "%s.on_failure", to->field);
    }
    return ERR_OK;
}

static enum err_code write_on_exit(struct writing *to, const struct svc_chain_step *step,
                                   struct str raw, struct err *err)
{
    if (step == NULL) {
        return ERR_OK;
    }
    json_write_key(to->w, STR("on_exit"));
    return write_step(to, step, raw, err) == ERR_OK ? ERR_OK
                                                    : err_wrap(err, "%s.on_exit", to->field);
}

/* Write the members of chain_config into an open object; raw is empty unless they come from a raw
 * chain_config. */
static enum err_code write_chain(struct writing *to, const struct svc_chain *chain, struct str raw,
                                 struct err *err)
{
    enum { STEPS, ON_FAILURE, ON_EXIT, COUNT };
    const size_t own = to->who->restores ? COUNT : COUNT_OF(chain_names);
    struct json_value m[COUNT] = {0};
    const bool is_raw = raw.len > 0 && json_scan_members(raw, chain_names, COUNT, m);
    if (write_steps(to, chain, m[STEPS], err) != ERR_OK ||
        write_on_failure(to, chain->on_failure, is_raw, err) != ERR_OK ||
        write_on_exit(to, chain->on_exit, m[ON_EXIT].text, err) != ERR_OK) {
        return err->code;
    }
    write_others(to, raw, chain_names, own);
    return ERR_OK;
}

static enum err_code define(const struct svc_caller *who, const char *field,
                            const struct svc_chain *chain, struct str raw, struct str *out,
                            struct err *err)
{
    struct buf b;
    buf_init(&b, LIMIT_OP_BYTES);
    struct json_write w = json_write_to(&b);
    struct writing to = {.who = who, .field = field, .w = &w};
    json_write_object(&w);
    if (write_chain(&to, chain, raw, err) != ERR_OK) {
        buf_deinit(&b);
        return err->code;
    }
    json_write_end(&w);
    json_write_finish(&w);
    return svc_caller_keep(who, &b, out, err);
}

enum err_code svc_chain_define(const struct svc_caller *who, const struct svc_chain *chain,
                               struct str *out, struct err *err)
{
    return define(who, "chain", chain, STR_EMPTY, out, err);
}

/* Payload limit in bytes; 0: none. A caller without an engine has no settings. */
static size_t payload_max(const struct svc_caller *who)
{
    return who->engine == NULL ? 0 : engine_settings(who->engine)->limits.payload_bytes;
}

/* Check a step or a handler. Values of other types are left to command_check. */
static enum err_code check_step(const struct svc_caller *who, struct json_value step,
                                struct err *err)
{
    const size_t max = payload_max(who);
    struct json_value v;
    struct str queue;
    if (step.type != JSON_TYPE_OBJECT) {
        return ERR_OK;
    }
    if (max > 0 && json_scan_member(step.text, STR("payload"), &v) && v.text.len > max) {
        return err_set(err, ERR_FIELD_TOO_LARGE, "payload too large: %zu bytes (max %zu)",
                       v.text.len, max);
    }
    if (!json_scan_member(step.text, STR("queue"), &v) || v.type != JSON_TYPE_STRING) {
        return ERR_OK;
    }
    if (json_value_text(v, who->arena, &queue, err) != ERR_OK ||
        svc_names_target(who, "queue", queue, &queue, err) != ERR_OK) {
        return err->code;
    }
    return str_has_control(queue)
               ? err_set(err, ERR_VALIDATION, "queue contains a control character")
               : ERR_OK;
}

enum err_code svc_chain_check(const struct svc_caller *who, const char *field, struct str config,
                              struct err *err)
{
    static const char *const handlers[] = {"on_failure", "on_exit"};
    struct json_value v;
    for (size_t i = 0; i < COUNT_OF(handlers); i++) {
        if (json_scan_member(config, str_from_z(handlers[i]), &v) &&
            check_step(who, v, err) != ERR_OK) {
            return err_wrap(err, "%s.%s", field, handlers[i]);
        }
    }
    if (!json_scan_member(config, STR("steps"), &v) || v.type != JSON_TYPE_ARRAY) {
        return ERR_OK;
    }
    struct json_scan s = json_scan_from(v.text);
    bool inside = json_scan_enter_array(&s);
    for (size_t i = 0; inside && json_scan_next_element(&s) && json_scan_value(&s, &v); i++) {
        if (check_step(who, v, err) != ERR_OK) {
            return err_wrap(err, "%s.steps[%zu]", field, i);
        }
    }
    return ERR_OK;
}

enum err_code svc_chain_adopt(const struct svc_caller *who, struct str raw, struct str *out,
                              struct err *err)
{
    struct svc_chain chain;
    /* A backup of the default namespace has what its server stored, with internal names. */
    if (raw.len == 0 || (who->restores && who->ns.len == 0 && who->scope.len == 0)) {
        *out = raw;
        return ERR_OK;
    }
    if (json_schema_decode(&svc_chain_schema, raw, who->arena, &chain, err) != ERR_OK) {
        return json_schema_inside("chain_config", err);
    }
    return define(who, "chain_config", &chain, raw, out, err);
}

enum err_code svc_chain_add_dependencies(const struct svc_caller *who, struct str config,
                                         struct str waits_for, struct str *out, struct err *err)
{
    struct buf ids, b;
    buf_init(&ids, LIMIT_OP_BYTES);
    buf_init(&b, LIMIT_OP_BYTES);
    struct json_write w = json_write_to(&ids);
    json_write_array(&w);
    for (size_t at = 0; at < waits_for.len; at += ID_BYTES) {
        char text[ID_TEXT_MAX];
        size_t len = id_format(id_from_bytes(waits_for.ptr + at), ID_JOB, text);
        json_write_str(&w, str_from(text, len));
    }
    json_write_end(&w);
    json_write_finish(&w);
    struct json_object_pair pair = {.key = STR("depends_on"), .value = buf_str(&ids)};
    json_object_complete(&b, config, &pair, 1);
    buf_deinit(&ids);
    return svc_caller_keep(who, &b, out, err);
}

/* From the store to the client */

/* Write a step with the caller's name of its queue. */
static void show_step(const struct svc_caller *who, struct json_value step, bool secrets,
                      struct json_write *w)
{
    struct json_scan s = json_scan_from(step.text);
    struct json_value key;
    struct json_value value;
    struct str name;
    struct str queue;
    struct err err;
    if (step.type != JSON_TYPE_OBJECT || !json_scan_enter_object(&s)) {
        json_write_raw(w, step.text);
        return;
    }
    json_write_object(w);
    while (json_scan_next_key(&s, &key) && json_scan_value(&s, &value)) {
        if (json_value_text(key, who->arena, &name, &err) != ERR_OK) {
            continue; /* invalid surrogate escape: the server writes no such name */
        }
        json_write_key(w, name);
        if (str_eq(name, STR("queue")) && value.type == JSON_TYPE_STRING &&
            json_value_text(value, who->arena, &queue, &err) == ERR_OK) {
            json_write_str(w, svc_names_visible(who, queue));
        } else if (str_eq(name, STR("push")) && value.type == JSON_TYPE_OBJECT && !secrets) {
            push_target_show(value.text, w);
        } else {
            json_write_raw(w, value.text);
        }
    }
    json_write_end(w);
}

static void show_steps(const struct svc_caller *who, struct json_value steps, bool secrets,
                       struct json_write *w)
{
    struct json_scan s = json_scan_from(steps.text);
    struct json_value v;
    if (steps.type != JSON_TYPE_ARRAY || !json_scan_enter_array(&s)) {
        json_write_raw(w, steps.text);
        return;
    }
    json_write_array(w);
    while (json_scan_next_element(&s) && json_scan_value(&s, &v)) {
        show_step(who, v, secrets, w);
    }
    json_write_end(w);
}

static void show(const struct svc_caller *who, struct str config, bool secrets,
                 struct json_write *w)
{
    struct json_scan s = json_scan_from(config);
    struct json_value key;
    struct json_value value;
    struct str name;
    struct err err;
    if (!json_scan_enter_object(&s)) {
        json_write_raw(w, config);
        return;
    }
    json_write_object(w);
    while (json_scan_next_key(&s, &key) && json_scan_value(&s, &value)) {
        if (json_value_text(key, who->arena, &name, &err) != ERR_OK) {
            continue;
        }
        json_write_key(w, name);
        if (str_eq(name, STR("steps"))) {
            show_steps(who, value, secrets, w);
        } else {
            show_step(who, value, secrets, w);
        }
    }
    json_write_end(w);
}

void svc_chain_show(const struct svc_caller *who, struct str config, struct json_write *w)
{
    show(who, config, false, w);
}

void svc_chain_show_whole(const struct svc_caller *who, struct str config, struct json_write *w)
{
    show(who, config, true, w);
}

/* Is it true of a step or a handler? */
static bool any_step(const struct svc_caller *who, struct str config,
                     bool (*is_true)(const struct svc_caller *who, struct json_value step))
{
    struct json_value steps;
    struct json_value v;
    bool found = (json_scan_member(config, STR("on_failure"), &v) && is_true(who, v)) ||
                 (json_scan_member(config, STR("on_exit"), &v) && is_true(who, v));
    if (json_scan_member(config, STR("steps"), &steps) && steps.type == JSON_TYPE_ARRAY) {
        struct json_scan s = json_scan_from(steps.text);
        bool inside = json_scan_enter_array(&s);
        while (inside && !found && json_scan_next_element(&s) && json_scan_value(&s, &v)) {
            found = is_true(who, v);
        }
    }
    return found;
}

static bool is_redacted_step(const struct svc_caller *who, struct json_value step)
{
    (void)who;
    struct json_value push;
    return step.type == JSON_TYPE_OBJECT && json_scan_member(step.text, STR("push"), &push) &&
           push.type == JSON_TYPE_OBJECT && push_target_is_redacted(push.text);
}

bool svc_chain_is_redacted(struct str config)
{
    return any_step(NULL, config, is_redacted_step);
}

static bool is_foreign_step(const struct svc_caller *who, struct json_value step)
{
    struct json_value v;
    struct str queue;
    struct err err;
    return step.type == JSON_TYPE_OBJECT && json_scan_member(step.text, STR("queue"), &v) &&
           v.type == JSON_TYPE_STRING && json_value_text(v, who->arena, &queue, &err) == ERR_OK &&
           !queue_name_is_visible(who->ns, queue);
}

bool svc_chain_is_foreign(const struct svc_caller *who, struct str config)
{
    return any_step(who, config, is_foreign_step);
}
