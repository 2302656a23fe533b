/*
 * Chains of the model (http-api.md 6.8).
 */
#include "sim/model_sim/model_chain.h"

#include "base/buf.h"
#include "base/check.h"
#include "json/json_object.h"
#include "json/json_write.h"
#include "sim/model_sim/model_int.h"

enum { TEXT_BYTES = 1 << 20, PAIRS_MAX = 4 };

/* clang-format off */
const struct model_chain model_chain_table[] = {
    {.config = STR("{\"steps\":[{\"queue\":\"q0\"},{\"queue\":\"q1\",\"payload\":{\"k\":1}}]}"),
     .step_count = 2,
     .steps = {{.queue = STR("q0")}, {.queue = STR("q1"), .payload = STR("{\"k\":1}")}}},

    {.config = STR("{\"steps\":[{\"queue\":\"q1\"},{\"queue\":\"q1\",\"payload\":7},{\"queue\":\"q0\"}],"
                   "\"on_failure\":{\"queue\":\"q2\"},\"on_exit\":{\"queue\":\"q0\",\"payload\":{\"exit_reason\":\"mine\",\"z\":[1]}}}"),
     .step_count = 3,
     .steps = {{.queue = STR("q1")}, {.queue = STR("q1"), .payload = STR("7")}, {.queue = STR("q0")}},
     .on_failure = {.queue = STR("q2")},
     .on_exit = {.queue = STR("q0"), .payload = STR("{\"exit_reason\":\"mine\",\"z\":[1]}")}},

    {.config = STR("{\"steps\":[{\"queue\":\"q0\"},{\"queue\":\"q2\",\"payload\":{\"previous_result\":0,\"error\":false}},{\"queue\":\"q1\"}],"
                   "\"on_failure\":\"continue\",\"on_exit\":{\"queue\":\"q1\"}}"),
     .step_count = 3,
     .steps = {{.queue = STR("q0")}, {.queue = STR("q2"), .payload = STR("{\"previous_result\":0,\"error\":false}")}, {.queue = STR("q1")}},
     .on_exit = {.queue = STR("q1")},
     .on_failure_continue = true},

    {.config = STR("{\"steps\":[{\"queue\":\"q2\"},{\"queue\":\"q0\"}],"
                   "\"on_failure\":{\"queue\":\"q1\",\"payload\":{\"failed_step\":\"x\",\"why\":{\"a\":[1,2]}}}}"),
     .step_count = 2,
     .steps = {{.queue = STR("q2")}, {.queue = STR("q0")}},
     .on_failure = {.queue = STR("q1"), .payload = STR("{\"failed_step\":\"x\",\"why\":{\"a\":[1,2]}}")}},

    {.config = STR("{\"steps\":[{\"queue\":\"q0\",\"payload\":{\"unused\":1}},{\"queue\":\"q0\",\"payload\":{\"previous_job_id\":null}}],"
                   "\"on_failure\":\"continue\"}"),
     .step_count = 2,
     .steps = {{.queue = STR("q0")}, {.queue = STR("q0"), .payload = STR("{\"previous_job_id\":null}")}},
     .on_failure_continue = true},
};
/* clang-format on */
const size_t model_chain_count = COUNT_OF(model_chain_table);

const struct model_chain *model_chain_find(struct str config)
{
    for (size_t i = 0; i < model_chain_count; i++) {
        struct str text = model_chain_table[i].config;
        text.len--; /* the closing brace */
        if (str_starts_with(config, text)) {
            return &model_chain_table[i];
        }
    }
    return NULL;
}

/* The chain that j is a step of. Handlers are not steps and start nothing. Free: neither does a
 * step with the largest possible number. */
static const struct model_chain *chain_of(const struct job *j)
{
    return j->has_chain_step && j->chain_step >= 0 && j->chain_step < INT32_MAX
               ? model_chain_find(j->chain_config)
               : NULL;
}

static struct str quoted(struct model *m, struct str text)
{
    struct buf out;
    buf_init(&out, TEXT_BYTES);
    struct json_write w = json_write_to(&out);
    json_write_str(&w, text);
    struct str kept = model_keep(m, buf_str(&out));
    buf_deinit(&out);
    return kept;
}

static struct str number(struct model *m, int64_t value)
{
    struct buf out;
    buf_init(&out, TEXT_BYTES);
    buf_printf(&out, "%lld", (long long)value);
    struct str kept = model_keep(m, buf_str(&out));
    buf_deinit(&out);
    return kept;
}

/* Values that are passed from one job to the next. The step's own payload overrides them. */
struct handed {
    struct json_object_pair pairs[PAIRS_MAX];
    size_t count;
};

static void hand(struct handed *h, struct str key, struct str value)
{
    CHECK(h->count < PAIRS_MAX);
    h->pairs[h->count++] = (struct json_object_pair){.key = key, .value = value};
}

static void create(struct model *m, const struct job *from, const struct model_chain_target *to,
                   int32_t step, const struct handed *h)
{
    struct buf payload;
    buf_init(&payload, TEXT_BYTES);
    json_object_override(&payload, h->pairs, h->count, to->payload);
    (void)model_job_create(m, &(struct job){
                                  .queue = to->queue,
                                  .payload = buf_str(&payload),
                                  .priority = JOB_PRIORITY_NORMAL,
                                  .backoff = JOB_BACKOFF_EXPONENTIAL,
                                  .max_retries = 3,
                                  .retry_base_ms = 5000,
                                  .retry_max_ms = 600000,
                                  .chain_id = from->chain_id,
                                  .chain_config = from->chain_config,
                                  .chain_step = step,
                                  .has_chain_step = true,
                              });
    buf_deinit(&payload);
}

void model_chain_advance(struct model *m, const struct model_job *j,
                         const struct command_ack_item *ack)
{
    const struct model_chain *chain = chain_of(&j->doc);
    if (chain == NULL) {
        return;
    }
    struct handed h = {.count = 0};
    hand(&h, STR("previous_job_id"), quoted(m, model_id_text(m, j->doc.id, ID_JOB)));
    if (ack->has_result) {
        hand(&h, STR("previous_result"), ack->result);
    }
    size_t next = (size_t)j->doc.chain_step + 1;
    if (ack->step_status != COMMAND_STEP_EXIT && next < chain->step_count) {
        create(m, &j->doc, &chain->steps[next], (int32_t)next, &h);
        return;
    }
    if (chain->on_exit.queue.len > 0) {
        if (ack->exit_reason.len > 0) {
            hand(&h, STR("exit_reason"), quoted(m, ack->exit_reason));
        }
        create(m, &j->doc, &chain->on_exit, JOB_STEP_ON_EXIT, &h);
    }
}

void model_chain_step_died(struct model *m, const struct model_job *j, struct str error)
{
    const struct model_chain *chain = chain_of(&j->doc);
    if (chain == NULL) {
        return;
    }
    struct handed h = {.count = 0};
    hand(&h, STR("failed_job_id"), quoted(m, model_id_text(m, j->doc.id, ID_JOB)));
    hand(&h, STR("failed_step"), number(m, j->doc.chain_step));
    hand(&h, STR("error"), quoted(m, error));
    if (chain->on_failure.queue.len > 0) {
        create(m, &j->doc, &chain->on_failure, JOB_STEP_ON_FAILURE, &h);
        return;
    }
    size_t next = (size_t)j->doc.chain_step + 1;
    if (chain->on_failure_continue && next < chain->step_count) {
        create(m, &j->doc, &chain->steps[next], (int32_t)next, &h);
    }
}
