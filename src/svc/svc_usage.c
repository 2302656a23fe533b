#include "svc/svc_usage.h"

#include <math.h>

#include "base/limits.h"
#include "core/job.h"

static int64_t not_negative(int64_t v)
{
    return v < 0 ? 0 : v;
}

enum err_code svc_usage_nusd(const char *field, double usd, int64_t *out, struct err *err)
{
    if (isnan(usd) || usd > SVC_USAGE_USD_MAX) {
        return err_set(err, ERR_VALIDATION, "%s: expected at most %d, got %g", field,
                       SVC_USAGE_USD_MAX, usd);
    }
    *out = usd > 0 ? (int64_t)(usd * (double)JOB_NUSD_PER_USD + 0.5) : 0;
    return ERR_OK;
}

enum err_code svc_usage_tokens(const struct svc_usage *in, struct store_tokens *out,
                               struct err *err)
{
    if (in == NULL) {
        *out = (struct store_tokens){0};
        return ERR_OK;
    }
    int64_t cost_nusd;
    if (svc_usage_nusd("usage.cost_usd", in->cost_usd, &cost_nusd, err) != ERR_OK) {
        return err->code;
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
        .cost_nusd = cost_nusd,
        .model = names[0].text,
        .provider = names[1].text,
    };
    return ERR_OK;
}
