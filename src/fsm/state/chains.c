/*
 * Chains: when a step ends, the next one is created in the same entry (http-api.md 6.8).
 *
 * The definition is stored with every job of the chain, as chain_config:
 *   {"steps":[{"queue","payload"?}…],"on_failure"?:{…}|"continue","on_exit"?:{…}}
 * A client may also have sent a raw chain_config. Parts that do not have this shape are ignored.
 */
#include "base/check.h"
#include "base/limits.h"
#include "fsm/apply/apply_int.h"
#include "json/json_object.h"
#include "json/json_scan.h"
#include "json/json_write.h"

/* A step or handler: the queue, payload and target of its job. */
struct step {
    struct str queue;
    struct str payload; /* an object, or empty */
    struct str push;    /* an object: the target, if the server delivers the job; else empty */
};

static bool read_step(struct machine *m, struct json_value v, struct step *out)
{
    struct json_value queue;
    struct json_value payload;
    struct json_value push;
    struct err ignored;
    if (v.type != JSON_TYPE_OBJECT || !json_scan_member(v.text, STR("queue"), &queue) ||
        queue.type != JSON_TYPE_STRING ||
        json_value_text(queue, m->arena, &out->queue, &ignored) != ERR_OK || out->queue.len == 0 ||
        out->queue.len > LIMIT_INTERNAL_NAME_BYTES || str_has_control(out->queue)) {
        return false;
    }
    out->payload = STR_EMPTY;
    if (json_scan_member(v.text, STR("payload"), &payload) && payload.type == JSON_TYPE_OBJECT) {
        out->payload = payload.text;
    }
    out->push = STR_EMPTY;
    if (json_scan_member(v.text, STR("push"), &push) && push.type == JSON_TYPE_OBJECT) {
        out->push = push.text;
    }
    return true;
}

static bool read_handler(struct machine *m, const struct job *j, struct str name, struct step *out)
{
    struct json_value v;
    return json_scan_member(j->chain_config, name, &v) && read_step(m, v, out);
}

/* Read the step with the given number. False if there is none. */
static bool find_step(struct machine *m, const struct job *j, int32_t number, struct step *out)
{
    struct json_value steps;
    struct json_value v;
    if (!json_scan_member(j->chain_config, STR("steps"), &steps) || steps.type != JSON_TYPE_ARRAY) {
        return false;
    }
    struct json_scan s = json_scan_from(steps.text);
    if (!json_scan_enter_array(&s)) {
        return false;
    }
    for (int32_t i = 0; json_scan_next_element(&s) && json_scan_value(&s, &v); i++) {
        if (i == number) {
            return read_step(m, v, out);
        }
    }
    return false;
}

static void create(struct machine *m, const struct job *from, const struct step *step,
                   int32_t number, struct str payload)
{
    struct job j = {
        JOB_DEFAULTS,         .queue = step->queue,       .payload = payload,
        .push = step->push,   .chain_id = from->chain_id, .chain_config = from->chain_config,
        .chain_step = number, .has_chain_step = true};
    jobs__create(m, &j);
}

/* Convert a text to a JSON string, in the entry's memory. */
static struct str quoted(struct machine *m, struct str text)
{
    struct buf out;
    buf_init(&out, SIZE_MAX);
    struct json_write w = json_write_to(&out);
    json_write_str(&w, text);
    json_write_finish(&w);
    return entry__keep(m, &out);
}

static struct str merged(struct machine *m, const struct json_object_pair *pairs, size_t count,
                         struct str over)
{
    struct buf out;
    buf_init(&out, SIZE_MAX);
    json_object_override(&out, pairs, count, over);
    return entry__keep(m, &out);
}

/* Build the payload of the next step or of the exit handler: information about the previous job,
 * and the payload of the definition, whose members take precedence. */
static struct str next_payload(struct machine *m, const struct job *j,
                               const struct job_end_ack *ack, const struct step *step,
                               bool exit_handler)
{
    struct json_object_pair pairs[3];
    size_t n = 0;
    pairs[n++] = (struct json_object_pair){.key = STR("previous_job_id"),
                                           .value = quoted(m, entry__id_text(m, j->id, ID_JOB))};
    if (ack->has_result) {
        pairs[n++] = (struct json_object_pair){.key = STR("previous_result"), .value = ack->result};
    }
    if (exit_handler && ack->exit_reason.len > 0) {
        pairs[n++] = (struct json_object_pair){.key = STR("exit_reason"),
                                               .value = quoted(m, ack->exit_reason)};
    }
    return merged(m, pairs, n, step->payload);
}

static bool is_step(const struct job *j)
{
    /* A client may have sent any number. After INT32_MAX there can be no next step. */
    return j->has_chain_step && j->chain_step >= 0 && j->chain_step < INT32_MAX &&
           j->chain_config.len > 0;
}

void chains__completed(struct machine *m, const struct job *j, const struct job_end_ack *ack)
{
    struct step step;
    if (!is_step(j)) {
        return;
    }
    if (!ack->exit && find_step(m, j, j->chain_step + 1, &step)) {
        create(m, j, &step, j->chain_step + 1, next_payload(m, j, ack, &step, false));
    } else if (read_handler(m, j, STR("on_exit"), &step)) {
        create(m, j, &step, JOB_STEP_ON_EXIT, next_payload(m, j, ack, &step, true));
    }
}

/* Is on_failure the word "continue"? Then a dead step does not stop the chain. */
static bool continues_after_death(const struct job *j)
{
    struct json_value v;
    return json_scan_member(j->chain_config, STR("on_failure"), &v) && v.type == JSON_TYPE_STRING &&
           json_value_text_eq(v, STR("continue"));
}

void chains__dead(struct machine *m, const struct job *j, struct str error)
{
    struct step step;
    int32_t number = JOB_STEP_ON_FAILURE;
    if (!is_step(j)) {
        return;
    }
    if (continues_after_death(j)) {
        number = j->chain_step + 1;
        if (!find_step(m, j, number, &step)) {
            return;
        }
    } else if (!read_handler(m, j, STR("on_failure"), &step)) {
        return;
    }
    struct buf failed_step;
    buf_init(&failed_step, 16);
    buf_printf(&failed_step, "%d", j->chain_step);
    struct json_object_pair pairs[] = {
        {.key = STR("failed_job_id"), .value = quoted(m, entry__id_text(m, j->id, ID_JOB))},
        {.key = STR("failed_step"), .value = buf_str(&failed_step)},
        {.key = STR("error"), .value = quoted(m, error)},
    };
    create(m, j, &step, number, merged(m, pairs, COUNT_OF(pairs), step.payload));
    buf_deinit(&failed_step);
}
