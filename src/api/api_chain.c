#include "api/api_chain_int.h"
#include "base/check.h"
#include "base/limits.h"
#include "json/json_object.h"
#include "json/json_scan.h"

static const struct json_field step_rows[] = {
    JSON_STR(struct api_chain_step, queue, 0, LIMIT_QUEUE_NAME_BYTES,
             JSON_NO_CONTROL | JSON_INSISTED, "Where its job goes."),
    JSON_RAW(struct api_chain_step, payload, LIMIT_RESULT_BYTES, 0,
             "Object whose members the job's payload has, too."),
};
static const struct json_schema step_schema = JSON_SCHEMA(struct api_chain_step, step_rows);

static const struct json_field chain_rows[] = {
    JSON_OBJECTS(struct api_chain, steps, steps_count, struct api_chain_step, &step_schema, 0,
                 LIMIT_CHAIN_STEPS, JSON_INSISTED, "The first is this job.", .told_min = 2),
    JSON_RAW(struct api_chain, on_failure, LIMIT_RESULT_BYTES, 0,
             "Handler, queue of a handler, \"stop\" or \"continue\".",
             .told_type = "string | {any}"),
    JSON_OBJECT(struct api_chain, on_exit, struct api_chain_step, &step_schema, 0,
                "Handler for the end."),
};
const struct json_schema api_chain__schema = JSON_SCHEMA(struct api_chain, chain_rows);

/* From the client to the store */

static bool write_step(struct api_call *c, struct json_write *w, const struct api_chain_step *step,
                       struct err *err)
{
    struct str queue;
    if (!api_names__internal(c, "queue", step->queue, &queue, err)) {
        return false;
    }
    json_write_object(w);
    json_write_key(w, STR("queue"));
    json_write_str(w, queue);
    api_document__raw(w, "payload", step->payload);
    json_write_end(w);
    return true;
}

static bool write_steps(struct api_call *c, struct json_write *w, const struct api_chain *chain,
                        struct err *err)
{
    if (chain->steps_count == 0) {
        return true; /* one that begins a chain is refused later, with the right words */
    }
    api_document__array(w, "steps");
    for (size_t i = 0; i < chain->steps_count; i++) {
        if (!write_step(c, w, &chain->steps[i], err)) {
            return false;
        }
    }
    json_write_end(w);
    return true;
}

/* What on_failure means: a step, the word "continue" or, for "" and "stop", neither. */
static bool read_on_failure(struct api_call *c, struct str raw, struct api_chain_step *out_step,
                            bool *out_continue, struct err *err)
{
    struct json_value v;
    struct str word;
    *out_step = (struct api_chain_step){0};
    *out_continue = false;
    if (json_scan_first(raw, &v, err) != ERR_OK) {
        return false;
    }
    if (v.type == JSON_TYPE_OBJECT) {
        if (json_schema_decode(&step_schema, raw, c->arena, out_step, err) != ERR_OK) {
            (void)err_wrap(err, "chain.on_failure");
            return false;
        }
        if (out_step->queue.len == 0) {
            (void)err_set(err, ERR_VALIDATION, "chain.on_failure has empty queue");
            return false;
        }
        return true;
    }
    if (v.type != JSON_TYPE_STRING) {
        (void)err_set(err, ERR_PARSE, "chain.on_failure: expected an object or a string, got %s",
                      json_value_type_name(v.type));
        return false;
    }
    if (json_value_text(v, c->arena, &word, err) != ERR_OK) {
        return false;
    }
    *out_continue = str_eq(word, STR("continue"));
    if (!*out_continue && !str_eq(word, STR("stop"))) {
        out_step->queue = word;
    }
    return true;
}

static bool write_on_failure(struct api_call *c, struct json_write *w, struct str raw,
                             struct err *err)
{
    struct api_chain_step step;
    bool goes_on;
    if (raw.len == 0) {
        return true;
    }
    if (!read_on_failure(c, raw, &step, &goes_on, err)) {
        return false;
    }
    if (goes_on) {
        api_document__text(w, "on_failure", STR("continue"));
    } else if (step.queue.len > 0) {
        json_write_key(w, STR("on_failure"));
        return write_step(c, w, &step, err);
    }
    return true;
}

static bool write_on_exit(struct api_call *c, struct json_write *w,
                          const struct api_chain_step *step, struct err *err)
{
    if (step == NULL) {
        return true;
    }
    json_write_key(w, STR("on_exit"));
    return write_step(c, w, step, err);
}

/* The members of chain_config into an object that is open. */
static bool write_chain(struct api_call *c, struct json_write *w, const struct api_chain *chain,
                        struct err *err)
{
    return write_steps(c, w, chain, err) && write_on_failure(c, w, chain->on_failure, err) &&
           write_on_exit(c, w, chain->on_exit, err);
}

bool api_chain__define(struct api_call *c, const struct api_chain *chain, struct str *out,
                       struct err *err)
{
    struct buf b;
    api_call__buf(c, &b);
    struct json_write w = json_write_to(&b);
    json_write_object(&w);
    bool good = write_chain(c, &w, chain, err);
    if (good) {
        json_write_end(&w);
        json_write_finish(&w);
        *out = api_call__keep(c, &b);
    }
    buf_deinit(&b);
    return good;
}

bool api_chain__adopt(struct api_call *c, struct str raw, struct str *out, struct err *err)
{
    struct api_chain chain;
    struct json_value ids;
    if (raw.len == 0 || c->ns.len == 0) {
        *out = raw;
        return true;
    }
    if (json_schema_decode(&api_chain__schema, raw, c->arena, &chain, err) != ERR_OK) {
        (void)err_wrap(err, "chain_config");
        return false;
    }
    if (!api_chain__define(c, &chain, out, err)) {
        return false;
    }
    if (json_scan_member(raw, STR("depends_on"), &ids)) {
        struct json_object_pair pair = {.key = STR("depends_on"), .value = ids.text};
        struct buf b;
        api_call__buf(c, &b);
        json_object_complete(&b, *out, &pair, 1);
        *out = api_call__keep(c, &b);
    }
    return true;
}

struct str api_chain__add_dependencies(struct api_call *c, struct str config, struct str waits_for)
{
    struct buf ids;
    struct buf b;
    api_call__buf(c, &ids);
    api_call__buf(c, &b);
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
    enum err_code refused = buf_error(&ids);
    buf_deinit(&ids);
    if (refused != ERR_OK) {
        arena_spoil(c->arena, refused);
    }
    return api_call__keep(c, &b);
}

/* From the store to the client */

/* A step with the name of its queue as the caller sees it. */
static void show_step(struct json_write *w, const struct api_call *c, struct json_value step)
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
        if (json_value_text(key, c->arena, &name, &err) != ERR_OK) {
            continue; /* half a character: nothing of ours has such a name */
        }
        json_write_key(w, name);
        if (str_eq(name, STR("queue")) && value.type == JSON_TYPE_STRING &&
            json_value_text(value, c->arena, &queue, &err) == ERR_OK) {
            json_write_str(w, api_names__visible(c, queue));
        } else {
            json_write_raw(w, value.text);
        }
    }
    json_write_end(w);
}

static void show_steps(struct json_write *w, const struct api_call *c, struct json_value steps)
{
    struct json_scan s = json_scan_from(steps.text);
    struct json_value v;
    if (steps.type != JSON_TYPE_ARRAY || !json_scan_enter_array(&s)) {
        json_write_raw(w, steps.text);
        return;
    }
    json_write_array(w);
    while (json_scan_next_element(&s) && json_scan_value(&s, &v)) {
        show_step(w, c, v);
    }
    json_write_end(w);
}

void api_chain__write(struct json_write *w, const struct api_call *c, struct str config)
{
    struct json_scan s = json_scan_from(config);
    struct json_value key;
    struct json_value value;
    struct str name;
    struct err err;
    if (config.len == 0) {
        return;
    }
    json_write_key(w, STR("chain_config"));
    if (c->ns.len == 0 || !json_scan_enter_object(&s)) {
        json_write_raw(w, config);
        return;
    }
    json_write_object(w);
    while (json_scan_next_key(&s, &key) && json_scan_value(&s, &value)) {
        if (json_value_text(key, c->arena, &name, &err) != ERR_OK) {
            continue;
        }
        json_write_key(w, name);
        if (str_eq(name, STR("steps"))) {
            show_steps(w, c, value);
        } else {
            show_step(w, c, value);
        }
    }
    json_write_end(w);
}
