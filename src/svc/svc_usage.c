#include "svc/svc_usage.h"

#include "base/limits.h"
#include "core/job.h"

static int64_t not_negative(int64_t v)
{
    return v < 0 ? 0 : v;
}

enum err_code svc_usage_tokens(const struct svc_usage *in, struct store_tokens *out,
                               struct err *err)
{
    if (in == NULL) {
        *out = (struct store_tokens){0};
        return ERR_OK;
    }
    double cost = in->cost_usd > 0 ? in->cost_usd : 0;
    if (cost > SVC_USAGE_USD_MAX) {
        return err_set(err, ERR_VALIDATION, "usage.cost_usd: expected at most %d, got %g",
                       SVC_USAGE_USD_MAX, cost);
    }
    const struct {
        const char *field;
        struct str text;
    } names[] = {{"model", str_trim(in->model)}, {"provider", str_trim(in->provider)}};
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        if (names[i].text.len > LIMIT_MODEL_NAME_BYTES) {
            return err_set(err, ERR_VALIDATION, "usage.%s too large: %zu bytes (max %d)",
                           names[i].field, names[i].text.len, LIMIT_MODEL_NAME_BYTES);
        }
    }
    *out = (struct store_tokens){
        .input = not_negative(in->input_tokens),
        .output = not_negative(in->output_tokens),
        .cache_creation = not_negative(in->cache_creation_tokens),
        .cache_read = not_negative(in->cache_read_tokens),
        .cost_nusd = (int64_t)(cost * (double)JOB_NUSD_PER_USD + 0.5),
        .model = names[0].text,
        .provider = names[1].text,
    };
    return ERR_OK;
}
