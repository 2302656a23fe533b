/*
 * Svc_usage: usage reports of workers (http-api.md 6.11).
 */
#pragma once

#include <stdint.h>

#include "base/err.h"
#include "base/str.h"
#include "store/store_rows.h"

enum { SVC_USAGE_USD_MAX = 1000000 };

struct svc_usage {
    int64_t input_tokens, output_tokens, cache_creation_tokens, cache_read_tokens;
    double cost_usd;
    struct str model, provider;
};

/* Convert dollars to billionths. Negative amounts become 0. NaN is refused like amounts that are
 * too large: no limit could be compared with it. The error names the field. */
ATTR_NODISCARD enum err_code svc_usage_nusd(const char *field, double usd, int64_t *out,
                                            struct err *err);

/* Convert a usage report. Negative numbers become 0, names are trimmed; NULL means no report. */
ATTR_NODISCARD enum err_code svc_usage_tokens(const struct svc_usage *in, struct store_tokens *out,
                                              struct err *err);
